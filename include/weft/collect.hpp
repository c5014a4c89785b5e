// What a loop makes, as a vector in the order of the range. (rayon: map, filter and collect.)
//
//   std::vector<double> roots = weft::collect(0, n, [&](int i) { return std::sqrt(x[i]); });
//   auto primes = weft::collect(0, n, [](int i) { return is_prime(i) ? std::optional(i) : std::nullopt; });
//
// The range is divided as for_each divides it, only when somebody starves. Each part that is divided off has a vector
// of its own, which is moved behind the one before it when both are done. So the order is that of the range whoever ran
// what, and nobody locks. Nobody's help: one vector, as in a loop with push_back.
#pragma once
#include "weft/detail/language.hpp"  // before all others

#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "weft/detail/iterators.hpp"
#include "weft/for_each.hpp"

namespace weft {
namespace detail {

template <class Made> struct made_of {
  using type = Made;
  template <class X> static void put(std::vector<type>& into, X&& x) { into.push_back(static_cast<X&&>(x)); }
};
template <class Item> struct made_of<std::optional<Item>> {
  using type = Item;
  template <class X> static void put(std::vector<type>& into, X&& x) {
    if (x.has_value()) into.push_back(*static_cast<X&&>(x));
  }
};
template <class At, class Map> using made_by =
    made_of<std::remove_cvref_t<decltype(call_item(std::declval<here&>(), std::declval<Map&>(), std::declval<At&>()))>>;

template <class At, class Map> struct collection : says_parts {
  using made = made_by<At, Map>;
  using items = std::vector<typename made::type>;
  collection(At first, std::uint64_t many, items& v, Map& m) : from(first), n(many), into(v), map(m) {}
  void operator()(here& at) { run(at, from, n); }
  [[nodiscard]] std::uint64_t parts() const noexcept { return n; }

  void run(here& at, At next, std::uint64_t left) {
    for (bool begins = true; left != 0; begins = false) {
      if (stopped_in_loop(at, left, begins)) [[unlikely]]
        leave_off(at, left);
      if (left > 1 && somebody_starves(at)) [[unlikely]] {
        divide(at, next, left);
        break;
      }
      std::uint64_t some = left / looks_per_range + 1;
      left -= some;
      for (; some != 0; --some, ++next) made::put(into, call_item(at, map, next));
    }
    loop_is_over(at);
  }
  void divide(here& at, At next, std::uint64_t left) {
    const std::uint64_t half = left / 2;
    items behind;
    fork_join(at, collection(next, half, into, map), collection(advanced(next, half), left - half, behind, map));
    into.insert(into.end(), std::make_move_iterator(behind.begin()), std::make_move_iterator(behind.end()));
  }

  At from;
  std::uint64_t n;
  items& into;
  Map& map;
};

}  // namespace detail

// Returns what map(i) returns for each i of [from, to), or for iterators map(*i), in that order; of an std::optional
// what it holds, if anything, so that map is a filter, too. map(at, i) if it takes a weft::here&. `from` and `to`:
// integers, or random-access iterators; an empty vector if to <= from. map is called in any order and on any worker.
// Who: any thread, as fork_join. Cost: a push_back for each item, and each is moved once more for each division that it
// comes behind; a look at one word for each thirty-second of what is left. Errors: as for_each; std::bad_alloc.
template <class From, class To, class Map> [[nodiscard]] auto collect(here& at, From from, To to, Map map) {
  using index = typename detail::common<From, To>::type;
  const index begin = static_cast<index>(from);
  typename detail::collection<index, Map>::items all;
  detail::collection<index, Map>(begin, detail::distance_of(begin, static_cast<index>(to)), all, map)(at);
  return all;
}
template <class From, class To, class Map>
  requires(!std::is_same_v<From, here>)
[[nodiscard]] auto collect(From from, To to, Map map) {
  return detail::with_here([&](here& at) { return collect(at, from, to, std::move(map)); });
}

}  // namespace weft

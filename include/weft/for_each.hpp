// Loops whose iterations may run at the same time, and sums over ranges that come out the same to the bit.
//
//   weft::for_each(0, n, [&](int i) { y[i] += a * x[i]; });
//   weft::for_each(v.begin(), v.end(), [](item& x) { x.update(); });
//   double dot = weft::reduce(0, n, 0.0, [&](int i) { return x[i] * y[i]; });
//   double most = weft::reduce(0, n, 0.0, larger, [&](int i) { return x[i]; });
//
// for_each divides what is left of its range only when somebody starves, and looks for that after each thirty-second of
// it: so there is no grain to choose, and a loop that nobody helps with is a plain loop but for a few forks. reduce
// divides its range the same way whoever helps. Both may be called wherever fork_join may, and what is said there holds
// for their bodies.
#pragma once
#include "weft/detail/language.hpp"  // before all others

#include <cstdint>
#include <type_traits>
#include <utility>

#include "weft/detail/iterators.hpp"
#include "weft/fork_join.hpp"

namespace weft {
namespace detail {

// What a body gets: the index itself, or what an iterator stands for.
template <class At> decltype(auto) item(At at) {
  if constexpr (std::is_integral_v<At>)
    return at;
  else
    return *at;
}
template <class At, class Body> decltype(auto) call_item(here& here_now, Body& body, At at) {
  if constexpr (std::is_invocable_v<Body&, here&, decltype(item(at))>)
    return body(here_now, item(at));
  else
    return body(item(at));
}
template <class At> std::uint64_t distance_of(At from, At to) {
  if constexpr (std::is_integral_v<At>)
    return from < to ? static_cast<std::uint64_t>(to) - static_cast<std::uint64_t>(from) : 0;
  else
    return from < to ? static_cast<std::uint64_t>(to - from) : 0;
}
template <class At> At advanced(At from, std::uint64_t n) {
  if constexpr (std::is_integral_v<At>)
    return static_cast<At>(static_cast<std::uint64_t>(from) + n);
  else
    return from + static_cast<typename std::iterator_traits<At>::difference_type>(n);
}

// Of two integers their common type, so that for_each(0, v.size(), ...) means what it says.
template <class From, class To> struct common {
  using type = From;
};
template <class From, class To>
  requires(std::is_integral_v<From> && std::is_integral_v<To>)
struct common<From, To> : std::common_type<From, To> {};

inline constexpr std::uint64_t looks_per_range = 32;

template <bool Counted, class At, class Body> void for_each_on(here& at, At from, std::uint64_t n, Body& body);
template <bool Counted, class At, class Body> struct each_of : says_parts {
  each_of(At first, std::uint64_t many, Body& b) : from(first), n(many), body(b) {}
  void operator()(here& at) { for_each_on<Counted>(at, from, n, body); }
  [[nodiscard]] std::uint64_t parts() const noexcept { return Counted ? n : 0; }
  At from;
  std::uint64_t n;
  Body& body;
};

// Counted: iterations that are not begun are parts; else they are pieces of something else.
template <bool Counted, class At, class Body> void for_each_on(here& at, At from, std::uint64_t n, Body& body) {
  for (bool begins = true; n != 0; begins = false) {
    if (stopped_in_loop(at, n, begins)) [[unlikely]]
      leave_off(at, Counted ? n : 0);
    if (n > 1 && somebody_starves(at)) [[unlikely]] {
      const std::uint64_t half = n / 2;
      fork_join(at, each_of<Counted, At, Body>(from, half, body),
                each_of<Counted, At, Body>(advanced(from, half), n - half, body));
      break;
    }
    std::uint64_t some = n / looks_per_range + 1;
    n -= some;
    for (; some != 0; --some, ++from) static_cast<void>(call_item(at, body, from));
  }
  loop_is_over(at);
}

inline constexpr std::uint64_t reduce_leaf = 512;
struct added {
  template <class A, class B> auto operator()(A&& a, B&& b) const { return std::forward<A>(a) + std::forward<B>(b); }
};

template <class Value, class At, class Op, class Map>
Value reduce_on(here& at, At from, std::uint64_t n, Op& op, Map& map);
template <class Value, class At, class Op, class Map> struct sum_of : says_parts {
  sum_of(At first, std::uint64_t many, Op& o, Map& m) : from(first), n(many), op(o), map(m) {}
  Value operator()(here& at) { return reduce_on<Value>(at, from, n, op, map); }
  [[nodiscard]] std::uint64_t parts() const noexcept { return n; }
  At from;
  std::uint64_t n;
  Op& op;
  Map& map;
};

template <class Value, class At, class Op, class Map>
Value reduce_on(here& at, At from, std::uint64_t n, Op& op, Map& map) {
  if (n <= reduce_leaf) {
    Value sum = call_item(at, map, from);
    for (++from; --n != 0; ++from) sum = op(std::move(sum), call_item(at, map, from));
    return sum;
  }
  const std::uint64_t half = (n / 2 + reduce_leaf - 1) / reduce_leaf * reduce_leaf;
  using sum = sum_of<Value, At, Op, Map>;
  auto [a, b] = fork_join(at, sum(from, half, op, map), sum(advanced(from, half), n - half, op, map));
  return op(std::move(a), std::move(b));
}

}  // namespace detail

// Calls body(i) for each i of [from, to), or for iterators body(*i), in any order and on any worker; body(at, i) if it
// takes a weft::here&. `from` and `to`: integers, or random-access iterators; an empty range if to <= from.
// Cost: of a loop, and a look at one word for each thirty-second of what is left. Errors: rethrows what a body threw -
// if several did, the one of the smallest index that was begun; iterations after it may or may not have run. A
// cancelled_error if iterations have not begun because a finish around is cancelled (weft/cancellation.hpp).
template <class From, class To, class Body> void for_each(here& at, From from, To to, Body&& body) {
  using index = typename detail::common<From, To>::type;
  const index begin = static_cast<index>(from), end = static_cast<index>(to);
  detail::for_each_on<true>(at, begin, detail::distance_of(begin, end), body);
}
template <class From, class To, class Body> void for_each(From from, To to, Body&& body) {
  detail::with_here([&](here& at) { for_each(at, from, to, body); });
}

// Returns op(init, all map(i) for i in [from, to) combined by op); `init` if that is empty. Always combined the same
// way - 512 neighbours from the left, those as a tree that only the length decides - so the result is the same to the
// bit for every number of workers, on every machine, also where op is not quite associative, as the addition of
// doubles. What is combined is of init's type. Cost: a fork for every 512 items. Errors: as for_each.
template <class From, class To, class Value, class Op, class Map>
[[nodiscard]] Value reduce(here& at, From from, To to, Value init, Op op, Map map) {
  using index = typename detail::common<From, To>::type;
  const index begin = static_cast<index>(from);
  const std::uint64_t n = detail::distance_of(begin, static_cast<index>(to));
  if (n == 0) return init;
  if (detail::stopped(at)) [[unlikely]]
    detail::leave_off(at, n);
  return op(std::move(init), detail::reduce_on<Value>(at, begin, n, op, map));
}
template <class From, class To, class Value, class Op, class Map>
[[nodiscard]] Value reduce(From from, To to, Value init, Op op, Map map) {
  return detail::with_here([&](here& at) { return reduce(at, from, to, std::move(init), op, map); });
}

// The same with + as op: the sum of all map(i).
template <class From, class To, class Value, class Map>
[[nodiscard]] Value reduce(here& at, From from, To to, Value init, Map map) {
  return reduce(at, from, to, std::move(init), detail::added(), std::move(map));
}
template <class From, class To, class Value, class Map>
[[nodiscard]] Value reduce(From from, To to, Value init, Map map) {
  return reduce(from, to, std::move(init), detail::added(), std::move(map));
}

}  // namespace weft

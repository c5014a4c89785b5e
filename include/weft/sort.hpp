// Sorting, by as many workers as have nothing better to do.
//
//   weft::sort(v.begin(), v.end());                                          // nothing is allocated
//   weft::stable_sort(people.begin(), people.end(), by_name);                // equal ones stay in their order
//   weft::integer_sort(edges.begin(), edges.end(), [](const edge& e) { return e.from; });
//
// Ranges are of random-access iterators to values, not to proxies. All may be called wherever fork_join may, also with
// a weft::here& first, and what is said there of waits and of WEFT_SERIAL holds for their comparisons. Which of equal
// values comes first after weft::sort may depend on who had nothing to do; the other two always do the same.
#pragma once
#include "weft/detail/language.hpp"  // before all others

#include <type_traits>

#include "weft/detail/iterators.hpp"
#include "weft/detail/merge_sort.hpp"
#include "weft/detail/quicksort.hpp"
#include "weft/detail/radix_sort.hpp"

namespace weft {
namespace detail::sorting {

struct ascending {
  template <class A, class B> bool operator()(const A& a, const B& b) const noexcept(noexcept(a < b)) { return a < b; }
};
struct itself {
  template <class Value> Value operator()(const Value& x) const noexcept { return x; }
};

// What lies in one piece is sorted by its address: the same for vectors, arrays and spans, compiled once.
template <class At> auto address(At at, count n) {
  if constexpr (std::contiguous_iterator<At>)
    return n == 0 ? nullptr : __builtin_addressof(*at);
  else
    return at;
}

// Calls f(first, n), unless the range is in order, or in the opposite one and then turned round: as a whole, and each
// run of equal values back.
template <class At, class Less, class F> void unless_in_order(At first, At last, Less& less, F f) {
  static_assert(std::is_same_v<std::iter_reference_t<At>, value_of<At>&>, "weft: sorts values, not proxies");
  const count n = last <= first ? 0 : static_cast<count>(last - first);
  const auto in_order = [&](count i) { return !less(*plus(first, i), *plus(first, i - 1)); };
  count run = 1;
  while (run < n && in_order(run)) ++run;
  if (run >= n) return;
  if (!less(*first, *plus(first, run - 1)))  // all equal so far
    while (run < n && !less(*plus(first, run - 1), *plus(first, run))) ++run;
  if (run < n) return f(address(first, n), n);
  reverse(first, n);
  for (count from = 0, to = 1; to <= n; ++to)
    if (to == n || less(*plus(first, from), *plus(first, to))) {
      if (to - from > 1) reverse(plus(first, from), to - from);
      from = to;
    }
}

}  // namespace detail::sorting

// Sorts [first, last) so that no value is less(it, one before it). Not stable. less: a strict weak order, called on
// any worker, several at the same time.
// Cost: O(n log n) comparisons and moves in all, O(n) one after the other; no memory but the stack's.
// Errors: rethrows what `less` threw - if several calls did, any of them; a cancelled_error if it is not begun or left
// off because a finish around is cancelled (weft/cancellation.hpp), which counts as one part that was not begun. The
// range then holds its values in some order.
template <std::random_access_iterator At, class Less> void sort(here& at, At first, At last, Less less) {
  namespace s = detail::sorting;
  detail::as_one_part(at, [&] {
    s::unless_in_order(first, last, less, [&](auto a, s::count n) {
      unsigned bad = 1;
      for (s::count k = n; k != 0; k /= 2) ++bad;
      s::quicksort(at, a, n, less, bad, false);
    });
  });
}
template <std::random_access_iterator At, class Less> void sort(At first, At last, Less less) {
  detail::with_here([&](here& at) { sort(at, first, last, std::move(less)); });
}
template <std::random_access_iterator At> void sort(here& at, At first, At last) {
  sort(at, first, last, detail::sorting::ascending());
}
template <std::random_access_iterator At> void sort(At first, At last) {
  sort(first, last, detail::sorting::ascending());
}

// The same, and equal values stay in the order they had.
// Cost: O(n log n) comparisons in all, O((log n)^3) one after the other unless the range begins in order, and room for
// n values; O(n (log n)^2) moves where there is no such room, or where moving a value may throw.
// Errors: as sort; values that memcpy may not copy may have been moved from then.
template <std::random_access_iterator At, class Less> void stable_sort(here& at, At first, At last, Less less) {
  namespace s = detail::sorting;
  detail::as_one_part(
      at, [&] { s::unless_in_order(first, last, less, [&](auto a, s::count n) { s::stable(at, a, n, less); }); });
}
template <std::random_access_iterator At, class Less> void stable_sort(At first, At last, Less less) {
  detail::with_here([&](here& at) { stable_sort(at, first, last, std::move(less)); });
}
template <std::random_access_iterator At> void stable_sort(here& at, At first, At last) {
  stable_sort(at, first, last, detail::sorting::ascending());
}
template <std::random_access_iterator At> void stable_sort(At first, At last) {
  stable_sort(first, last, detail::sorting::ascending());
}

// Sorts by key_of(value), an integer of any width, signed or not: the lowest first, and values of one key stay in the
// order they had. (The highest first: return ~key.) key_of: called on any worker, some ten times for a value; it must
// not throw. Twice as fast as sort for ten million numbers.
// Cost: O(n) for keys of one width, and room for n values; without that, and for values that memcpy may not copy, that
// of stable_sort. Errors: a cancelled_error, as sort.
template <std::random_access_iterator At, class KeyOf> void integer_sort(here& at, At first, At last, KeyOf key_of) {
  namespace s = detail::sorting;
  using value = s::value_of<At>;
  const auto less = [&](const value& x, const value& y) { return key_of(x) < key_of(y); };
  detail::as_one_part(at, [&] {
    s::unless_in_order(first, last, less, [&](auto a, s::count n) {
      if constexpr (std::is_trivially_copyable_v<value>)
        s::by_keys(at, a, n, key_of);
      else
        s::stable(at, a, n, less);
    });
  });
}
template <std::random_access_iterator At, class KeyOf> void integer_sort(At first, At last, KeyOf key_of) {
  detail::with_here([&](here& at) { integer_sort(at, first, last, std::move(key_of)); });
}
template <std::random_access_iterator At> void integer_sort(here& at, At first, At last) {
  integer_sort(at, first, last, detail::sorting::itself());
}
template <std::random_access_iterator At> void integer_sort(At first, At last) {
  integer_sort(first, last, detail::sorting::itself());
}

}  // namespace weft

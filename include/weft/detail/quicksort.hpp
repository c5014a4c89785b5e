// An unstable sort in place. Quicksort whose partition has no branch that depends on a comparison: Lomuto's, with one
// value held aside so that each step is two copies and an addition (Edelkamp & Weiss, BlockQuicksort, ESA 2016, on why
// branches cost more than copies; the cyclic form is common knowledge since). What is heavy to copy is swapped by
// Hoare's. Values equal to a pivot seen before go to one side and are done, bad pivots shuffle a few values, and too
// many of them end in heapsort (Peters, Pattern-defeating Quicksort, 2021; Musser, Introsort, 1997): O(n log n) always.
// While others starve a long range is partitioned in pieces at the same time, and what lies on the wrong side is
// exchanged (after Francis & Pannan, A parallel partition for enhanced parallel quicksort, 1992).
// Invariant: whenever a comparison runs, the range holds what it held, in some order, or what is held aside goes back.
#pragma once
#include <cstddef>
#include <cstdint>

#include "weft/detail/small_sort.hpp"
#include "weft/fork_join.hpp"

namespace weft::detail::sorting {

inline constexpr count forked_min = 1024;      // a fork is a few nanoseconds, a partition of this one microsecond
inline constexpr count piece_min = 32 * 1024;  // of a partition by several
inline constexpr count pieces_max = 64;

template <class At> void swap_at(At a, At b) {
  using std::swap;
  swap(*a, *b);
}

// Moves the values for which is_low holds to the front of n, at least one, and returns how many they are.
template <class At, class Low> count partition_lightly(At first, count n, Low is_low) {
  using value = value_of<At>;
  At low = first, hole = first;
  const At end = plus(first, n);
  const value aside = *first;
  try {
    const auto step = [&](At at) __attribute__((always_inline)) {
      const bool goes = is_low(*at);
      *hole = *low;
      *low = *at;
      hole = at;
      low += goes;
    };
    At at = first + 1;
    for (; end - at >= 4; at += 4) step(at), step(at + 1), step(at + 2), step(at + 3);
    for (; at != end; ++at) step(at);
    const bool goes = is_low(aside);
    *hole = *low;
    *low = aside;
    low += goes;
  } catch (...) {
    *hole = aside;
    throw;
  }
  return static_cast<count>(low - first);
}
template <class At, class Low> count partition_by_swaps(At first, count n, Low is_low) {
  At low = first, high = plus(first, n);
  for (;;) {
    while (low != high && is_low(*low)) ++low;
    if (low == high) break;
    do --high;
    while (low != high && !is_low(*high));
    if (low == high) break;
    swap_at(low, high);
    ++low;
  }
  return static_cast<count>(low - first);
}
template <class At, class Low> count partition(At first, count n, Low is_low) {
  if constexpr (copied_lightly<value_of<At>>)
    return partition_lightly(first, n, is_low);
  else
    return partition_by_swaps(first, n, is_low);
}

// Calls f(at, i) for i of [from, to), each perhaps at the same time.
template <class F> void for_pieces(here& at, count from, count to, F& f) {
  if (to - from == 1) {
    f(at, from);
    return;
  }
  const count middle = from + (to - from) / 2;
  fork_pieces(
      at, [&](here& x) { for_pieces(x, from, middle, f); }, [&](here& x) { for_pieces(x, middle, to, f); });
}

// The stretches of a range, partitioned piece by piece, that lie on the wrong side of `lows`.
struct pieces {
  explicit pieces(count size) : n(size), many(size / piece_min < pieces_max ? size / piece_min : pieces_max) {}

  [[nodiscard]] count begin(count i) const { return n / many * i + (i < n % many ? i : n % many); }
  // What of piece i is on the wrong side: highs below `lows`, or lows above.
  struct stretch {
    count from, length;
  };
  [[nodiscard]] stretch wrong(count i, bool high) const {
    const count middle = begin(i) + low[i];
    const count from = high ? middle : begin(i) < lows ? lows : begin(i);
    const count to = !high ? middle : begin(i + 1) < lows ? begin(i + 1) : lows;
    return {from, from < to ? to - from : 0};
  }

  count n, many, lows = 0;
  count low[pieces_max];  // of each piece
};

// Walks along the stretches of one kind.
struct wrong_walk {
  const pieces& of;
  bool high;
  count i = 0;
  pieces::stretch now = of.wrong(0, high);

  void skip(count n) {
    for (;;) {
      const count some = n < now.length ? n : now.length;
      now.from += some, now.length -= some, n -= some;
      if (now.length != 0 || i + 1 == of.many) return;
      now = of.wrong(++i, high);
    }
  }
};

template <class At, class Low> count partition_by_several(here& at, At first, count n, Low is_low) {
  pieces p(n);
  const auto divide = [&](here&, count i) {
    p.low[i] = partition(plus(first, p.begin(i)), p.begin(i + 1) - p.begin(i), is_low);
  };
  for_pieces(at, 0, p.many, divide);
  for (count i = 0; i < p.many; ++i) p.lows += p.low[i];
  count wrong = 0;
  for (count i = 0; i < p.many; ++i) wrong += p.wrong(i, true).length;
  const auto swap_some = [&](here&, count i) {
    count left = wrong / p.many + (i < wrong % p.many);
    const count skipped = wrong / p.many * i + (i < wrong % p.many ? i : wrong % p.many);
    wrong_walk highs{p, true}, lows{p, false};
    for (highs.skip(skipped), lows.skip(skipped); left != 0;) {
      count some = left < highs.now.length ? left : highs.now.length;
      if (some > lows.now.length) some = lows.now.length;
      At a = plus(first, highs.now.from), b = plus(first, lows.now.from);
      for (count k = 0; k < some; ++k, ++a, ++b) swap_at(a, b);
      left -= some;
      highs.skip(some), lows.skip(some);
    }
  };
  for_pieces(at, 0, p.many, swap_some);
  return p.lows;
}

template <class At, class Less> void by_heap(At first, count n, Less& less) {
  const auto sift = [&](count top, count size) {
    for (count child; (child = 2 * top + 1) < size; top = child) {
      if (child + 1 < size && less(*plus(first, child), *plus(first, child + 1))) ++child;
      if (!less(*plus(first, top), *plus(first, child))) return;
      swap_at(plus(first, top), plus(first, child));
    }
  };
  for (count i = n / 2; i-- > 0;) sift(i, n);
  for (count size = n; size-- > 1;) {
    swap_at(first, plus(first, size));
    sift(0, size);
  }
}

template <class At, class Less> At median(At a, At b, At c, Less& less) {
  const bool ab = less(*a, *b), bc = less(*b, *c), ac = less(*a, *c);
  if (ab == bc) return b;
  return ab == ac ? c : a;
}
// A median of medians of three of n, of more the longer the range is: 3, 9, 27, 81 values.
template <class At, class Less> At guess_median(At first, count n, Less& less) {
  const count part = n / 3;
  const At a = plus(first, part / 2), b = plus(first, part + part / 2), c = plus(first, 2 * part + part / 2);
  if (n < 96) return median(a, b, c, less);
  const count reach = n < 4096 ? 3 : n < 256 * 1024 ? part / 4 : part / 2;
  return median(guess_median(a, reach, less), guess_median(b, reach, less), guess_median(c, reach, less), less);
}

// Swaps a few values about, so that what made this partition bad does not make the next one.
template <class At> void shuffle_some(At first, count n) {
  if (n < 16) return;
  std::uint64_t draw = n;
  for (count i = 0; i < 3; ++i) {
    draw = draw * 0x9e3779b97f4a7c15u + 0x7f4a7c15u;
    swap_at(plus(first, n / 2 - 1 + i), plus(first, static_cast<count>((draw >> 32) % n)));
  }
}

// before: there is a value before `first`, none of these is less than it, and nobody changes it.
template <class At, class Less>
void quicksort(here& at, At first, count n, Less& less, unsigned bad_left, bool before) {
  while (n > small_max<value_of<At>>) {
    if (bad_left == 0) return by_heap(first, n, less);
    swap_at(first, guess_median(first, n, less));
    const At rest = first + 1;
    if (before && !less(*(first - 1), *first)) {  // all that equal it go before it, and are done
      const count equal = partition(rest, n - 1, [&](const value_of<At>& x) { return !less(*first, x); }) + 1;
      first = plus(first, equal), n -= equal;
      continue;
    }
    // a copy stays in a register, where what is stored could change *first for all the compiler knows
    const std::conditional_t<copied_lightly<value_of<At>>, value_of<At>, value_of<At>&> pivot = *first;
    const auto is_low = [&](const value_of<At>& x) { return static_cast<bool>(less(x, pivot)); };
    const count low = n >= 4 * piece_min && somebody_starves(at) ? partition_by_several(at, rest, n - 1, is_low)
                                                                 : partition(rest, n - 1, is_low);
    swap_at(first, plus(first, low));
    const At above = plus(first, low + 1);
    const count high = n - low - 1;
    if ((low < high ? low : high) < n / 8) {
      --bad_left;
      shuffle_some(first, low);
      shuffle_some(above, high);
    }
    if (n >= forked_min) {
      fork_pieces(
          at, [&](here& x) { quicksort(x, first, low, less, bad_left, before); },
          [&](here& x) { quicksort(x, above, high, less, bad_left, true); });
      return;
    }
    if (low < high) {
      quicksort(at, first, low, less, bad_left, before);
      first = above, n = high, before = true;
    } else {
      quicksort(at, above, high, less, bad_left, true);
      n = low;
    }
  }
  sort_small(first, n, less);
}

}  // namespace weft::detail::sorting

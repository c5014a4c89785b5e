// A stable sort with room for as many values again, and one without. Halves are sorted into the one and merged into the
// other, so each level moves each value once. A merge runs from both ends at once, as small_sort.hpp says, and is
// divided at the middle of its longer half (Akl & Santoro, 1987; Cormen et al., ch. 27). Without room the halves are
// merged by rotations (Kim & Kutzner, SymMerge, ESA 2004): O(n log^2 n), and nothing is allocated.
// Invariant, of values that memcpy may copy: what a comparison throws leaves in `a` what was there, in some order.
// Others have then all been moved from, or lie in one of the two.
#pragma once
#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>

#include "weft/detail/quicksort.hpp"

namespace weft::detail::sorting {

inline constexpr count merge_piece = 16 * 1024;

template <class From, class To> void move_over(From from, count n, To to) {
  for (count i = 0; i < n; ++i, ++from, ++to) *to = std::move(*from);
}
// How many of n sorted values come before x, which lies behind them (x_last) or before them.
template <bool x_last, class At, class Value, class Less> count before(At first, count n, const Value& x, Less& less) {
  count from = 0;
  while (n != 0) {
    const At middle = plus(first, from + n / 2);
    if (x_last ? !less(x, *middle) : less(*middle, x))
      from += n / 2 + 1, n -= n / 2 + 1;
    else
      n /= 2;
  }
  return from;
}

// Merges sorted a and b into `to`; of equal ones those of a first.
template <class From, class To, class Less> void merge(From a, count na, From b, count nb, To to, Less& less) {
  using value = value_of<From>;
  if constexpr (copied_lightly<value>) {
    From a_end = plus(a, na), b_end = plus(b, nb);
    To high = plus(to, na + nb);
    for (;;) {  // neither can run out in so many steps
      count steps = static_cast<count>(a_end - a < b_end - b ? a_end - a : b_end - b) / 2;
      if (steps == 0) break;
      for (; steps != 0; --steps) {
        const bool right = less(*b, *a);
        write_one(to, right, *a, *b);
        ++to;
        b += right;
        a += !right;
        const bool left = less(*(b_end - 1), *(a_end - 1));
        --high;
        write_one(high, left, *(b_end - 1), *(a_end - 1));
        a_end -= left;
        b_end -= !left;
      }
    }
    na = static_cast<count>(a_end - a), nb = static_cast<count>(b_end - b);
  }
  for (; na != 0 && nb != 0; ++to) {
    if (less(*b, *a))
      *to = std::move(*b), ++b, --nb;
    else
      *to = std::move(*a), ++a, --na;
  }
  move_over(a, na, to);
  move_over(b, nb, plus(to, na));
}
template <class From, class To, class Less>
void merge_by_several(here& at, From a, count na, From b, count nb, To to, Less& less) {
  if (na + nb <= merge_piece) return merge(a, na, b, nb, to, less);
  const count low_a = na >= nb ? na / 2 : before<true>(a, na, *plus(b, nb / 2), less);
  const count low_b = na >= nb ? before<false>(b, nb, *plus(a, na / 2), less) : nb / 2;
  fork_pieces(
      at, [&](here& x) { merge_by_several(x, a, low_a, b, low_b, to, less); },
      [&](here& x) {
        merge_by_several(x, plus(a, low_a), na - low_a, plus(b, low_b), nb - low_b, plus(to, low_a + low_b), less);
      });
}

// Exchanges of neighbours are stable: the two lie as they did if they are equal.
template <class At, class Less> void by_neighbours(At first, count n, Less& less) {
  for (count last = n; last-- > 1;)
    for (count i = 0; i < last; ++i) exchange(*plus(first, i), *plus(first, i + 1), less);
}
// Sorts n values of `a` in halves of halves, 2^Rounds of them, into b or back into a.
template <unsigned Rounds, class A, class B, class Less> void small_rounds_back(A a, count n, B b, Less& less);
template <unsigned Rounds, class A, class B, class Less> void small_rounds(A a, count n, B b, Less& less) {
  if constexpr (Rounds == 0) {
    by_neighbours(a, n, less);
    move_over(a, n, b);
  } else {
    small_rounds_back<Rounds - 1>(a, n / 2, b, less);
    small_rounds_back<Rounds - 1>(plus(a, n / 2), n - n / 2, plus(b, n / 2), less);
    merge_ends(a, n, b, less);
  }
}
template <unsigned Rounds, class A, class B, class Less> void small_rounds_back(A a, count n, B b, Less& less) {
  if constexpr (Rounds == 0) {
    by_neighbours(a, n, less);
  } else {
    small_rounds<Rounds - 1>(a, n / 2, b, less);
    small_rounds<Rounds - 1>(plus(a, n / 2), n - n / 2, plus(b, n / 2), less);
    try {
      merge_ends(b, n, a, less);
    } catch (...) {
      move_over(b, n, a);
      throw;
    }
  }
}

// Sorts n values of `a` into b, or into a. b: as many values.
template <class A, class B, class Less> void merge_sort(here& at, A a, count n, B b, bool into_b, Less& less) {
  using value = value_of<A>;
  if (n <= small_max<value>) {
    if (!copied_lightly<value> || n < 16) {
      by_insertion(a, n, less);
      if (into_b) move_over(a, n, b);
    } else if constexpr (copied_lightly<value>) {
      into_b ? small_rounds<3>(a, n, b, less) : small_rounds_back<3>(a, n, b, less);
    }
    return;
  }
  const count half = n / 2;
  const auto lower = [&](here& x) { merge_sort(x, a, half, b, !into_b, less); };
  const auto upper = [&](here& x) { merge_sort(x, plus(a, half), n - half, plus(b, half), !into_b, less); };
  if (n >= forked_min)
    fork_pieces(at, lower, upper);
  else
    lower(at), upper(at);
  if (into_b) return merge_by_several(at, a, half, plus(a, half), n - half, b, less);
  try {
    merge_by_several(at, b, half, plus(b, half), n - half, a, less);
  } catch (...) {
    if constexpr (std::is_trivially_copyable_v<value>) move_over(b, n, a);
    throw;
  }
}

template <class At> void reverse(At first, count n) {
  for (count i = 0; i < n / 2; ++i) swap_at(plus(first, i), plus(first, n - 1 - i));
}
template <class At, class Less> void merge_in_place(here& at, At first, count na, count nb, Less& less) {
  if (na == 0 || nb == 0) return;
  const At b = plus(first, na);
  if (na + nb == 2) {
    if (less(*b, *first)) swap_at(first, b);
    return;
  }
  const count low_a = na >= nb ? na / 2 : before<true>(first, na, *plus(b, nb / 2), less);
  const count low_b = na >= nb ? before<false>(b, nb, *plus(first, na / 2), less) : nb / 2;
  reverse(plus(first, low_a), na - low_a);  // three reversals are a rotation
  reverse(b, low_b);
  reverse(plus(first, low_a), na - low_a + low_b);
  const count low = low_a + low_b;
  const auto lower = [&](here& x) { merge_in_place(x, first, low_a, low_b, less); };
  const auto upper = [&](here& x) { merge_in_place(x, plus(first, low), na - low_a, nb - low_b, less); };
  if (na + nb >= forked_min)
    fork_pieces(at, lower, upper);
  else
    lower(at), upper(at);
}
template <class At, class Less> void merge_sort_in_place(here& at, At first, count n, Less& less) {
  if (n <= inserted_max) return by_insertion(first, n, less);
  const auto lower = [&](here& x) { merge_sort_in_place(x, first, n / 2, less); };
  const auto upper = [&](here& x) { merge_sort_in_place(x, plus(first, n / 2), n - n / 2, less); };
  if (n >= forked_min)
    fork_pieces(at, lower, upper);
  else
    lower(at), upper(at);
  merge_in_place(at, first, n / 2, n - n / 2, less);
}

// Room for n values, or nullptr.
template <class Value> class scratch {
 public:
  explicit scratch(count n) noexcept
      : at_(n > static_cast<count>(-1) / sizeof(Value)
                ? nullptr
                : static_cast<Value*>(::operator new(n * sizeof(Value), alignment, std::nothrow))) {}
  ~scratch() {
    for (count i = 0; i < filled_; ++i) at_[i].~Value();
    ::operator delete(at_, alignment);
  }
  scratch(const scratch&) = delete;
  scratch& operator=(const scratch&) = delete;

  [[nodiscard]] Value* get() const noexcept { return at_; }
  template <class At> void take(At first, count n) noexcept {
    for (; filled_ < n; ++filled_) new (at_ + filled_) Value(std::move(*plus(first, filled_)));
  }

 private:
  static constexpr std::align_val_t alignment{alignof(Value) < 64 ? 64 : alignof(Value)};

  Value* at_;
  count filled_ = 0;
};

template <class At, class Less> void stable(here& at, At first, count n, Less& less) {
  using value = value_of<At>;
  if constexpr (std::is_nothrow_move_constructible_v<value> && std::is_nothrow_move_assignable_v<value>) {
    if (n <= small_max<value>) return by_insertion(first, n, less);
    if (scratch<value> room(n); room.get() != nullptr) {
      if constexpr (std::is_trivially_copyable_v<value>) return merge_sort(at, first, n, room.get(), false, less);
      room.take(first, n);
      return merge_sort(at, room.get(), n, first, true, less);
    }
  }
  merge_sort_in_place(at, first, n, less);
}

}  // namespace weft::detail::sorting

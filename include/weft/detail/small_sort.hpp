// Sorting a few: what is left at the leaves of a sort, where a branch that goes the wrong way costs more than the work.
// Up to 8 go through a network of compare-and-exchange in registers (Batcher 1968; those of fewest comparators, Knuth
// vol. 3, 5.3.4). Up to 32 are four such networks and two rounds of merging from both ends at once: two chains of
// loads that do not wait for each other, and no test for the end of a run, for each end yields half of what there is.
// Only for types that memcpy may copy. Others, and leaves that must be stable, go by insertion.
// Invariant: whatever a comparison throws, the range then holds what it held, in some order.
#pragma once
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "weft/detail/iterators.hpp"

namespace weft::detail::sorting {

using count = std::size_t;
template <class At> using value_of = std::iter_value_t<At>;
template <class At> At plus(At at, count n) { return at + static_cast<std::iter_difference_t<At>>(n); }

// Copies are cheap and cannot throw: then a branch that depends on a comparison costs more than a copy too many.
template <class Value> inline constexpr bool copied_lightly =
    std::is_trivially_copyable_v<Value> && sizeof(Value) <= 64;

inline constexpr count network_max = 8;
inline constexpr count merged_max = 32;    // of types copied lightly
inline constexpr count inserted_max = 20;  // of others
template <class Value> inline constexpr count small_max = copied_lightly<Value> ? merged_max : inserted_max;

struct comparator {
  unsigned char low, high;
};
template <count N> struct network;
template <> struct network<2> {
  static constexpr comparator all[] = {{0, 1}};
};
template <> struct network<3> {
  static constexpr comparator all[] = {{0, 2}, {0, 1}, {1, 2}};
};
template <> struct network<4> {
  static constexpr comparator all[] = {{0, 2}, {1, 3}, {0, 1}, {2, 3}, {1, 2}};
};
template <> struct network<5> {
  static constexpr comparator all[] = {{0, 3}, {1, 4}, {0, 2}, {1, 3}, {0, 1}, {2, 4}, {1, 2}, {3, 4}, {2, 3}};
};
template <> struct network<6> {
  static constexpr comparator all[] = {{0, 5}, {1, 3}, {2, 4}, {1, 2}, {3, 4}, {0, 3},
                                       {2, 5}, {0, 1}, {2, 3}, {4, 5}, {1, 2}, {3, 4}};
};
template <> struct network<7> {
  static constexpr comparator all[] = {{0, 6}, {2, 3}, {4, 5}, {0, 2}, {1, 4}, {3, 6}, {0, 1}, {2, 5},
                                       {3, 4}, {1, 2}, {4, 6}, {2, 3}, {4, 5}, {1, 2}, {3, 4}, {5, 6}};
};
template <> struct network<8> {
  static constexpr comparator all[] = {{0, 2}, {1, 3}, {4, 6}, {5, 7}, {0, 4}, {1, 5}, {2, 6}, {3, 7}, {0, 1}, {2, 3},
                                       {4, 5}, {6, 7}, {2, 4}, {3, 5}, {1, 4}, {3, 6}, {1, 2}, {3, 4}, {5, 6}};
};

// Room for values that are copied lightly and need no constructor.
template <class Value, count N> union room {
  room() {}
  Value at[N];
};

// An integer of Value's size, if there is one and all bits of a Value mean something.
template <count Size> struct integer_of {};
template <> struct integer_of<1> {
  using type = std::uint8_t;
};
template <> struct integer_of<2> {
  using type = std::uint16_t;
};
template <> struct integer_of<4> {
  using type = std::uint32_t;
};
template <> struct integer_of<8> {
  using type = std::uint64_t;
};
template <class Value>
concept in_a_register = std::is_scalar_v<Value> && requires { typename integer_of<sizeof(Value)>::type; };

// Writes one of two values without a branch: the processor would guess which, and be wrong half of the time. Compilers
// choose between integers by a conditional move, but branch to load or to choose anything else.
template <class To, class Value>
[[gnu::always_inline]] inline void write_one(To to, bool second, const Value& a, const Value& b) {
  if constexpr (in_a_register<Value>) {
    using integer = typename integer_of<sizeof(Value)>::type;
    const integer x = __builtin_bit_cast(integer, a), y = __builtin_bit_cast(integer, b);
    *to = __builtin_bit_cast(Value, second ? y : x);
  } else {
    *to = second ? b : a;
  }
}

template <class Value, class Less> [[gnu::always_inline]] inline void exchange(Value& a, Value& b, Less& less) {
  const bool wrong = less(b, a);
  if constexpr (std::is_scalar_v<Value> && !std::is_floating_point_v<Value>) {
    const Value low = wrong ? b : a, high = wrong ? a : b;
    a = low, b = high;
  } else if constexpr (in_a_register<Value>) {
    const Value x = a, y = b;
    write_one(&a, wrong, x, y);
    write_one(&b, wrong, y, x);
  } else {
    Value* const both[] = {&a, &b};
    const Value low = *both[wrong], high = *both[!wrong];
    a = low, b = high;
  }
}
template <count N, class At, class Less> void by_network(At first, Less& less) {
  room<value_of<At>, N> r;
  for (count i = 0; i < N; ++i) new (&r.at[i]) value_of<At>(*plus(first, i));
  [&]<count... I>(std::index_sequence<I...>) {
    (exchange(r.at[network<N>::all[I].low], r.at[network<N>::all[I].high], less), ...);
  }(std::make_index_sequence<sizeof(network<N>::all) / sizeof(comparator)>());
  for (count i = 0; i < N; ++i) *plus(first, i) = r.at[i];
}
template <class At, class Less> void by_network(At first, count n, Less& less) {
  switch (n) {
  case 2: return by_network<2>(first, less);
  case 3: return by_network<3>(first, less);
  case 4: return by_network<4>(first, less);
  case 5: return by_network<5>(first, less);
  case 6: return by_network<6>(first, less);
  case 7: return by_network<7>(first, less);
  case 8: return by_network<8>(first, less);
  default: return;
  }
}

// Merges [from, from + n/2) and the rest of n from both ends into `to`. Stable.
template <class From, class To, class Less>
[[gnu::always_inline]] inline void merge_ends(From from, count n, To to, Less& less) {
  const count half = n / 2;
  From a = from, b = plus(from, half);
  From a_end = b, b_end = plus(from, n);  // one past the last of each that is not yet written
  To low = to, high = plus(to, n);
  for (count i = 0; i < half; ++i) {
    const bool right = less(*b, *a);
    write_one(low, right, *a, *b);
    ++low;
    b += right;
    a += !right;
    const bool left = less(*(b_end - 1), *(a_end - 1));
    --high;
    write_one(high, left, *(b_end - 1), *(a_end - 1));
    a_end -= left;
    b_end -= !left;
  }
  if (n % 2 != 0) *low = a < a_end ? *a : *b;
}

template <class At, class Less> void by_insertion(At first, count n, Less& less) {
  for (count i = 1; i < n; ++i) {
    At hole = plus(first, i);
    if (!less(*hole, *(hole - 1))) continue;
    value_of<At> x = std::move(*hole);
    try {
      do {
        *hole = std::move(*(hole - 1));
        --hole;
      } while (hole != first && less(x, *(hole - 1)));
    } catch (...) {
      *hole = std::move(x);
      throw;
    }
    *hole = std::move(x);
  }
}

// n <= small_max. Not stable.
template <class At, class Less> void sort_small(At first, count n, Less& less) {
  using value = value_of<At>;
  if constexpr (!copied_lightly<value>) {
    by_insertion(first, n, less);
  } else if (n <= network_max) {
    by_network(first, n, less);
  } else {
    room<value, merged_max> other;
    const count half = n / 2;
    const At middle = plus(first, half);
    if (n <= 2 * network_max) {
      by_network(first, half, less);
      by_network(middle, n - half, less);
      merge_ends(first, n, other.at, less);
      for (count i = 0; i < n; ++i) *plus(first, i) = other.at[i];
      return;
    }
    by_network(first, half / 2, less);
    by_network(plus(first, half / 2), half - half / 2, less);
    by_network(middle, (n - half) / 2, less);
    by_network(plus(middle, (n - half) / 2), n - half - (n - half) / 2, less);
    merge_ends(first, half, other.at, less);
    merge_ends(middle, n - half, other.at + half, less);
    try {
      merge_ends(other.at, n, first, less);
    } catch (...) {
      for (count i = 0; i < n; ++i) *plus(first, i) = other.at[i];
      throw;
    }
  }
}

}  // namespace weft::detail::sorting

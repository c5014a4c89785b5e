// A stable sort by integer keys, with room for as many values again. Values go there by the highest digit of their
// keys: pieces of the range are counted and spread at the same time (Blelloch, CMU-CS-90-190, 1.4). What then has one
// digit is small enough for a cache, and goes on there from the lowest digit up (Knuth vol. 3, 5.2.5). Bits that no two
// keys differ in cost nothing: keys count from the least one.
#pragma once
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "weft/detail/merge_sort.hpp"

namespace weft::detail::sorting {

inline constexpr unsigned top_bits_max =
    10;  // more places to write to than that, and their pages leave the first caches
inline constexpr unsigned low_bits_max = 11;        // 8 KiB of counts
inline constexpr count radix_min = 512;             // fewer are merged
inline constexpr count cached_bytes = 1024 * 1024;  // of values and of room for them: in a second-level cache
inline constexpr count spread_piece = 256 * 1024;
inline constexpr count spread_pieces_max = 32;

// Keys as unsigned numbers in the same order.
template <class Key> constexpr auto unsigned_key(Key k) {
  static_assert(std::is_integral_v<Key>, "weft: a key is an integer");
  using bits = std::make_unsigned_t<Key>;
  if constexpr (std::is_signed_v<Key>)
    return static_cast<bits>(static_cast<bits>(k) ^ (bits{1} << (sizeof(bits) * 8 - 1)));
  else
    return static_cast<bits>(k);
}

// Keys of values, from the least of them.
template <class KeyOf, class Value> struct keys {
  using type = decltype(unsigned_key(std::declval<KeyOf&>()(std::declval<const Value&>())));
  KeyOf& key_of;
  type least = 0;
  type operator()(const Value& x) const { return static_cast<type>(unsigned_key(key_of(x)) - least); }
};

struct digit {
  unsigned shift, bits;
  template <class Key> [[nodiscard]] count of(Key k) const {
    return static_cast<count>(k >> shift) & ((count{1} << bits) - 1);
  }
};

// What follows has its own copies of key and digit: they stay in registers, where a store might have changed them.
template <class At, class Keys, class Count> void count_digits(At first, count n, Keys key, digit d, Count* counts) {
  for (count i = 0; i < count{1} << d.bits; ++i) counts[i] = 0;
  for (const At end = plus(first, n); first != end; ++first) ++counts[d.of(key(*first))];
}
// Spreads n values by one digit. next: where the first of each digit goes, in `to`.
template <class From, class To, class Keys, class Next>
void spread(From from, count n, To to, Keys key, digit d, Next* next) {
  for (const From end = plus(from, n); from != end; ++from) {
    const value_of<From> x = *from;
    *plus(to, static_cast<count>(next[d.of(key(x))]++)) = x;
  }
}
// From counts to where each begins.
template <class Count> Count begin_each(Count* counts, count many, Count begin) {
  for (count i = 0; i < many; ++i) {
    const Count here_now = counts[i];
    counts[i] = begin;
    begin += here_now;
  }
  return begin;
}

// By the low `bits`, lowest digit first.
template <class A, class B, class Keys>
void by_low_digits(A a, count n, B b, const Keys& key, unsigned bits, bool into_b) {
  std::uint32_t next[count{1} << low_bits_max];
  const unsigned rounds = (bits + low_bits_max - 1) / low_bits_max;
  const unsigned width = (bits + rounds - 1) / rounds;
  bool in_b = false;
  const auto round = [&](auto from, auto to, digit d) {
    count_digits(from, n, key, d, next);
    begin_each<std::uint32_t>(next, count{1} << d.bits, 0);
    spread(from, n, to, key, d, next);
  };
  for (unsigned shift = 0; shift < bits; shift += width, in_b = !in_b) {
    const digit d{shift, bits - shift < width ? bits - shift : width};
    in_b ? round(b, a, d) : round(a, b, d);
  }
  if (in_b && !into_b) move_over(b, n, a);
  if (!in_b && into_b) move_over(a, n, b);
}

// How many bits of `bits` divide so many bytes into what fits a cache with ease.
constexpr unsigned top_bits(count bytes, unsigned bits) {
  unsigned n = 1;
  while (n < top_bits_max && n < bits && bytes >> n > cached_bytes / 4) ++n;
  return n;
}

// A long range while it is spread by one digit: pieces of it, and how many of each digit every piece has.
class spreading {
 public:
  spreading(count n, digit d) noexcept
      : by(d), n_(n), pieces_(n / spread_piece < spread_pieces_max ? n / spread_piece + 1 : spread_pieces_max),
        counts_((pieces_ + 1) << d.bits) {}
  [[nodiscard]] bool has_room() const noexcept { return counts_.get() != nullptr; }
  [[nodiscard]] count pieces() const { return pieces_; }
  [[nodiscard]] count begin(count piece) const {
    return n_ / pieces_ * piece + (piece < n_ % pieces_ ? piece : n_ % pieces_);
  }
  [[nodiscard]] count* of(count piece) const { return counts_.get() + (piece << by.bits); }
  // Where values with digit k begin, once spread.
  [[nodiscard]] count begin_of(count k) const { return k >> by.bits != 0 ? n_ : of(pieces_)[k]; }

  template <class A, class Keys> void count_all(here& at, A a, const Keys& key) {
    const auto some = [&](here&, count i) { count_digits(plus(a, begin(i)), begin(i + 1) - begin(i), key, by, of(i)); };
    for_pieces(at, 0, pieces_, some);
  }
  template <class A, class B, class Keys> void spread_all(here& at, A a, B b, const Keys& key) {
    count so_far = 0;
    for (count k = 0; k < count{1} << by.bits; ++k) {
      of(pieces_)[k] = so_far;
      for (count i = 0; i < pieces_; ++i) {
        const count many = of(i)[k];
        of(i)[k] = so_far;
        so_far += many;
      }
    }
    const auto some = [&](here&, count i) { spread(plus(a, begin(i)), begin(i + 1) - begin(i), b, key, by, of(i)); };
    for_pieces(at, 0, pieces_, some);
  }

  const digit by;

 private:
  count n_, pieces_;
  scratch<count> counts_;
};

template <class A, class B, class Keys>
void radix_sort(here& at, A a, count n, B b, const Keys& key, unsigned bits, bool into_b);

// Spreads n values of `a` over b by a digit that is counted, and sorts what has the same one by the bits below it. Left
// off, it has put back into `a` what there is in b still: that of the digits which were not sorted into `a`.
template <class A, class B, class Keys>
void by_top_digit(here& at, spreading& top, A a, B b, const Keys& key, bool into_b) {
  top.spread_all(at, a, b, key);
  constexpr count sorted = ~count{0};  // where the first piece's next value would go, which nobody asks any more
  const auto go_on = [&](here& x, count k) {
    const count from = top.begin_of(k), n = top.begin_of(k + 1) - from;
    radix_sort(x, plus(b, from), n, plus(a, from), key, top.by.shift, !into_b);
    top.of(0)[k] = sorted;
  };
  try {
    for_pieces(at, 0, count{1} << top.by.bits, go_on);
  } catch (...) {
    for (count k = 0; k < count{1} << top.by.bits; ++k) {
      const count from = top.begin_of(k);
      if (into_b || top.of(0)[k] != sorted) move_over(plus(b, from), top.begin_of(k + 1) - from, plus(a, from));
    }
    throw;
  }
}

// Sorts n values of `a` by the low `bits` of their keys, into b or into a. What is thrown - keys throw nothing, but it
// may be left off - leaves in `a` what was there, in some order.
template <class A, class B, class Keys>
void radix_sort(here& at, A a, count n, B b, const Keys& key, unsigned bits, bool into_b) {
  const count bytes = 2 * n * sizeof(value_of<A>);
  if (n == 0) return;
  if (bits == 0) {
    if (into_b) move_over(a, n, b);
    return;
  }
  if (n >= radix_min) {
    if (bytes <= cached_bytes) return by_low_digits(a, n, b, key, bits, into_b);
    const unsigned width = top_bits(bytes, bits);
    if (spreading top(n, {bits - width, width}); top.has_room()) {
      top.count_all(at, a, key);
      return by_top_digit(at, top, a, b, key, into_b);
    }
  }
  const auto less = [&](const auto& x, const auto& y) { return key(x) < key(y); };
  merge_sort(at, a, n, b, into_b, less);
}

template <class Number> struct span {
  Number least = static_cast<Number>(-1), most = 0;
  void add(Number k) {
    least = k < least ? k : least;
    most = k < most ? most : k;
  }
  [[nodiscard]] unsigned bits() const {
    unsigned n = 0;
    for (Number range = static_cast<Number>(most - least); range != 0; range = static_cast<Number>(range >> 1)) ++n;
    return n;
  }
};

template <class At, class KeyOf> void by_keys(here& at, At first, count n, KeyOf& key_of) {
  using value = value_of<At>;
  keys<KeyOf, value> key{key_of};
  using number = typename keys<KeyOf, value>::type;
  constexpr unsigned key_bits = sizeof(number) * 8;
  const count bytes = 2 * n * sizeof(value);
  const unsigned width = top_bits(bytes, key_bits);
  const scratch<value> room(n);
  spreading top(n, {key_bits - width, width});
  if (room.get() == nullptr || !top.has_room()) {
    const auto less = [&](const value& x, const value& y) { return key(x) < key(y); };
    return merge_sort_in_place(at, first, n, less);
  }
  // The highest digit is counted on the way, for keys that use all their bits.
  span<number> all[spread_pieces_max];
  const auto look = [&](here&, count i) {
    span<number> seen;
    const auto noting = [&, key](const value& x) {
      const number k = key(x);
      seen.add(k);
      return k;
    };
    count_digits(plus(first, top.begin(i)), top.begin(i + 1) - top.begin(i), noting, top.by, top.of(i));
    all[i] = seen;
  };
  for_pieces(at, 0, top.pieces(), look);
  for (count i = 1; i < top.pieces(); ++i) all[0].add(all[i].least), all[0].add(all[i].most);
  const unsigned bits = all[0].bits();
  if (bits + 1 >= key_bits && bytes > cached_bytes) return by_top_digit(at, top, first, room.get(), key, false);
  key.least = all[0].least;
  radix_sort(at, first, n, room.get(), key, bits, false);
}

}  // namespace weft::detail::sorting

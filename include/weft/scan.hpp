// Running sums, for any operation, that come out the same to the bit for every number of workers.
//
//   weft::inclusive_scan(x.begin(), x.end(), y.begin(), 0.0, std::plus<>());    // y[i] = 0.0 + x[0] + ... + x[i]
//   long all = weft::exclusive_scan(0, n, offset.begin(), 0L, std::plus<>(), [&](int i) { return size_of(i); });
//
// A range is blocks of 2,048 items, whoever works on it: item i comes out as op(what is before its block, its block up
// to i). A worker alone goes through the range once. When somebody starves, it goes on with the first half while others
// add up the blocks of the second, which then needs a second pass (Blelloch, CMU-CS-90-190, by blocks).
#pragma once
#include "weft/detail/language.hpp"  // before all others

#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>

#include "weft/for_each.hpp"

namespace weft {
namespace detail {

inline constexpr std::uint64_t scan_block = 2048;

// The sum of each block, then what is before it. Values from the start, so that none is left half made.
template <class Value> class block_sums {
 public:
  block_sums(std::uint64_t n, const Value& init)
      : at_(static_cast<Value*>(::operator new(n * sizeof(Value), std::align_val_t{alignof(Value)}))) {
    try {
      for (; filled_ < n; ++filled_) new (at_ + filled_) Value(init);
    } catch (...) {
      clear();
      throw;
    }
  }
  ~block_sums() { clear(); }
  block_sums(const block_sums&) = delete;
  block_sums& operator=(const block_sums&) = delete;
  Value& operator[](std::uint64_t i) { return at_[i]; }

 private:
  void clear() {
    for (; filled_ != 0; --filled_) at_[filled_ - 1].~Value();
    ::operator delete(at_, std::align_val_t{alignof(Value)});
  }

  Value* at_;
  std::uint64_t filled_ = 0;
};

template <bool Inclusive, class Value, class At, class Out, class Op, class Map> struct scan_of {
  At from;
  std::uint64_t n;
  Out out;
  Op& op;
  Map& map;

  [[nodiscard]] std::uint64_t blocks() const { return (n + scan_block - 1) / scan_block; }
  [[nodiscard]] std::uint64_t items(std::uint64_t block) const {
    return block + 1 == blocks() ? n - block * scan_block : scan_block;
  }
  Value sum(here& at, std::uint64_t block) {
    At x = advanced(from, block * scan_block);
    Value s = call_item(at, map, x);
    for (std::uint64_t left = items(block); --left != 0;) s = op(std::move(s), call_item(at, map, ++x));
    return s;
  }
  // Writes a block, and returns the sum of all up to its end. before: that of all before it.
  Value write(here& at, std::uint64_t block, const Value& before) {
    At x = advanced(from, block * scan_block);
    Out to = out + static_cast<std::iter_difference_t<Out>>(block * scan_block);
    Value s = call_item(at, map, x);
    Value all = op(before, s);
    if constexpr (!Inclusive) *to = before, ++to;
    for (std::uint64_t left = items(block); --left != 0; ++to) {
      s = op(std::move(s), call_item(at, map, ++x));
      *to = std::exchange(all, op(before, s));
    }
    if constexpr (Inclusive) *to = all;
    return all;
  }
  Value run(here& at, std::uint64_t block, std::uint64_t end, Value before) {
    for (; block != end; ++block) {
      if (stopped(at)) [[unlikely]]
        leave_off(at, 0);
      if (end - block > 1 && somebody_starves(at)) return divide(at, block, end, before);
      before = write(at, block, before);
    }
    return before;
  }
  Value divide(here& at, std::uint64_t block, std::uint64_t end, const Value& before) {
    const std::uint64_t middle = block + (end - block) / 2, upper = end - middle;
    block_sums<Value> sums(upper, before);
    auto below = [&](here& x) { return run(x, block, middle, before); };
    const auto add_up = [&](here& x, std::uint64_t i) { sums[i] = sum(x, middle + i); };
    auto [low, done] = fork_join(at, piece(below), each_of<false, std::uint64_t, decltype(add_up)>(0, upper, add_up));
    for (std::uint64_t i = 0; i != upper; ++i) {
      Value up_to = op(low, std::as_const(sums[i]));
      sums[i] = std::exchange(low, std::move(up_to));
    }
    const auto write_out = [&](here& x, std::uint64_t i) { write(x, middle + i, sums[i]); };
    for_each_on<false>(at, std::uint64_t{0}, upper, write_out);
    return std::move(low);
  }
};

struct as_it_is {
  template <class Item> Item operator()(const Item& x) const { return x; }
};

template <bool Inclusive, class From, class To, class Out, class Value, class Op, class Map>
Value scan(here& at, From from, To to, Out out, Value init, Op& op, Map& map) {
  using index = typename common<From, To>::type;
  const index begin = static_cast<index>(from);
  const std::uint64_t n = distance_of(begin, static_cast<index>(to));
  scan_of<Inclusive, Value, index, Out, Op, Map> all{begin, n, out, op, map};
  return as_one_part(at, [&] { return all.run(at, 0, all.blocks(), std::move(init)); });
}

}  // namespace detail

// Writes init op map(x0) op ... op map(xi) to out[i], for each i of [from, to): integers, or random-access iterators,
// of which map gets the index or the item. Returns the last, `init` if there is none. out: a random-access iterator; it
// may be `from`, and may not lie elsewhere in the range. op: associative, or nearly; it takes and returns init's type.
// Cost: two calls of op for each item, by several workers one more and a second call of map for items of later halves,
// and a value for each 2,048 of those; O(n / 2048 + log n) calls one after the other. Errors: as for_each, and a scan
// that is left off counts as one part that was not begun; std::bad_alloc.
template <class From, class To, class Out, class Value, class Op, class Map>
Value inclusive_scan(here& at, From from, To to, Out out, Value init, Op op, Map map) {
  return detail::scan<true>(at, from, to, out, std::move(init), op, map);
}
template <class From, class To, class Out, class Value, class Op, class Map>
  requires(!std::is_same_v<From, here>)
Value inclusive_scan(From from, To to, Out out, Value init, Op op, Map map) {
  return detail::with_here([&](here& at) { return detail::scan<true>(at, from, to, out, std::move(init), op, map); });
}
template <class From, class To, class Out, class Value, class Op>
Value inclusive_scan(From from, To to, Out out, Value init, Op op) {
  return inclusive_scan(from, to, out, std::move(init), op, detail::as_it_is());
}
template <class From, class To, class Out, class Value, class Op>
Value inclusive_scan(here& at, From from, To to, Out out, Value init, Op op) {
  return inclusive_scan(at, from, to, out, std::move(init), op, detail::as_it_is());
}

// The same without the item itself: out[0] is init, out[i] is init op map(x0) op ... op map(x(i-1)). Returns the sum of
// all, which comes after the last.
template <class From, class To, class Out, class Value, class Op, class Map>
Value exclusive_scan(here& at, From from, To to, Out out, Value init, Op op, Map map) {
  return detail::scan<false>(at, from, to, out, std::move(init), op, map);
}
template <class From, class To, class Out, class Value, class Op, class Map>
  requires(!std::is_same_v<From, here>)
Value exclusive_scan(From from, To to, Out out, Value init, Op op, Map map) {
  return detail::with_here([&](here& at) { return detail::scan<false>(at, from, to, out, std::move(init), op, map); });
}
template <class From, class To, class Out, class Value, class Op>
Value exclusive_scan(From from, To to, Out out, Value init, Op op) {
  return exclusive_scan(from, to, out, std::move(init), op, detail::as_it_is());
}
template <class From, class To, class Out, class Value, class Op>
Value exclusive_scan(here& at, From from, To to, Out out, Value init, Op op) {
  return exclusive_scan(at, from, to, out, std::move(init), op, detail::as_it_is());
}

}  // namespace weft

// What a body moves, for modelled machines: data that no access of the task stands for, as in programs made of forks or
// asyncs.
//
//   weft::async(weft::near(next, from, to), [&, from, to] {
//     relax(field, next, from, to);
//     weft::charge(2.0 * (to - from), weft::loads(field, from - 1, to + 1), weft::stores(next, from, to));
//   });
//
// It is said of ranges of addresses that weft::place_memory was told of, and of weft::numa_array. Real machines do
// nothing with it: there the body does what it does. docs/guide/28-memory-model.md.
#pragma once
#include "weft/detail/language.hpp"  // before all others

#include <cstddef>
#include <cstdint>

namespace weft {

// So many bytes from `begin` on, which a body reads, or writes, or both.
struct data_use {
  const void* begin;
  std::uint64_t bytes;
  bool reads;
  bool writes;
};

[[nodiscard]] inline data_use loads(const void* begin, std::uint64_t bytes) noexcept {
  return {begin, bytes, true, false};
}
[[nodiscard]] inline data_use stores(const void* begin, std::uint64_t bytes) noexcept {
  return {begin, bytes, false, true};
}
[[nodiscard]] inline data_use updates(const void* begin, std::uint64_t bytes) noexcept {
  return {begin, bytes, true, true};
}

// The same of the elements [from, to) of an array.
template <class Array>
  requires requires(const Array& a) { sizeof(*a.data()); }
[[nodiscard]] data_use loads(const Array& a, std::size_t from, std::size_t to) noexcept {
  return loads(a.data() + from, (to - from) * sizeof(*a.data()));
}
template <class Array>
  requires requires(const Array& a) { sizeof(*a.data()); }
[[nodiscard]] data_use stores(const Array& a, std::size_t from, std::size_t to) noexcept {
  return stores(a.data() + from, (to - from) * sizeof(*a.data()));
}
template <class Array>
  requires requires(const Array& a) { sizeof(*a.data()); }
[[nodiscard]] data_use updates(const Array& a, std::size_t from, std::size_t to) noexcept {
  return updates(a.data() + from, (to - from) * sizeof(*a.data()));
}

namespace detail {
#ifdef WEFT_SERIAL
inline void charge_with(double, const data_use*, std::size_t) noexcept {}
#else
void charge_with(double nanoseconds, const data_use* uses, std::size_t count);
#endif
}  // namespace detail

// Modelled machine: the running body computes for that time and, in step with it, moves these data: it takes the longer
// of the two, and longer still where others want the same memory (weft/runtime.hpp: charge; docs/guide/28). Caches are
// touched in this order. Nothing for data: charge(ns). Real machine: does nothing.
// Who: bodies, and the main thread between fork and join; elsewhere it does nothing. Cost, modelled: a look-up for each
// chunk (16 KiB) and level of cache. Errors, on a modelled machine: weft::error for bytes that lie in no range that
// place_memory knows, or not wholly in one.
// The model keeps chunks whole: who has moved a part of one finds the rest of it in its cache.
template <class... Uses> void charge(double nanoseconds, const data_use& first, const Uses&... rest) {
  const data_use all[] = {first, rest...};
  detail::charge_with(nanoseconds, all, 1 + sizeof...(rest));
}
// The same for as many as a list has.
inline void charge(double nanoseconds, const data_use* uses, std::size_t count) {
  detail::charge_with(nanoseconds, uses, count);
}

}  // namespace weft

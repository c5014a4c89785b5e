// A word that several threads share, as plain storage. The public headers may not include <atomic> (it alone costs
// 0.25 s per translation unit), and the same object must serve real and modelled machines, so storage and operation are
// apart: a cell only holds the bits, every operation that needs an order goes through the machine (src/machine) and
// from there to src/base/atomic.hpp.
// The owner's inline path needs the operations below and no more.
#pragma once

namespace weft::detail {

template <class T> struct cell {
  static_assert(sizeof(T) <= 8, "a shared word must be lock-free on every machine");
  T raw{};
};

}  // namespace weft::detail

// A test of weak memory has words of its own for all of these (tests/weak/words.hpp).
#ifdef WEFT_CELL_WORDS
#include WEFT_CELL_WORDS
#else
namespace weft::detail {

// Who: anyone. Order: relaxed. Cost: one plain load.
template <class T> [[nodiscard]] inline T peek(const cell<T>& c) noexcept {
  return __atomic_load_n(&c.raw, __ATOMIC_RELAXED);
}

// Who: the only writer of the cell. Order: relaxed. Cost: one plain store.
template <class T> inline void poke(cell<T>& c, T value) noexcept { __atomic_store_n(&c.raw, value, __ATOMIC_RELAXED); }

// What a comparison with a cell costs where the compiler loads an atomic word into a register first: one instruction
// more. These are loads as peek() is.
#if defined(__x86_64__) && defined(__LP64__) && !defined(__SANITIZE_THREAD__)
#define WEFT_COMPARES_IN_MEMORY 1
#endif

// Whether c is not `value`.
template <class T> [[nodiscard, gnu::always_inline]] inline bool is_other(const cell<T*>& c, const T* value) noexcept {
#ifdef WEFT_COMPARES_IN_MEMORY
  bool other;
  asm volatile("cmpq %2, %1" : "=@ccne"(other) : "m"(c.raw), "r"(value));
  return other;
#else
  return peek(c) != value;
#endif
}
// Whether `index` lies before c, both counted round.
[[nodiscard, gnu::always_inline]] inline bool lies_before(unsigned index, const cell<unsigned>& c) noexcept {
#ifdef WEFT_COMPARES_IN_MEMORY
  bool before;
  asm volatile("cmpl %2, %1" : "=@ccs"(before) : "r"(index), "m"(c.raw));
  return before;
#else
  return static_cast<int>(index - peek(c)) < 0;
#endif
}
// Whether c is not 0.
[[nodiscard, gnu::always_inline]] inline bool is_set(const cell<unsigned char>& c) noexcept {
#ifdef WEFT_COMPARES_IN_MEMORY
  bool set;
  asm volatile("cmpb $0, %1" : "=@ccne"(set) : "m"(c.raw));
  return set;
#else
  return peek(c) != 0;
#endif
}
// Whether one of two neighbours is not 0.
[[nodiscard, gnu::always_inline]] inline bool any_of(const cell<unsigned char>& first,
                                                     const cell<unsigned char>& next) noexcept {
#ifdef WEFT_COMPARES_IN_MEMORY
  bool any;
  asm volatile("cmpw $0, %1" : "=@ccne"(any) : "m"(first.raw), "m"(next.raw));
  return any;
#else
  return peek(first) != 0 || peek(next) != 0;
#endif
}

// Who: whoever reads or ends what the cell announces. Order: acquire, release. Cost on x86: a plain load, a plain
// store.
template <class T> [[nodiscard]] inline T peek_acquire(const cell<T>& c) noexcept {
  return __atomic_load_n(&c.raw, __ATOMIC_ACQUIRE);
}
template <class T> inline void poke_release(cell<T>& c, T value) noexcept {
  __atomic_store_n(&c.raw, value, __ATOMIC_RELEASE);
}

// The next of a row of numbers that several threads take. Order: relaxed. Cost: one locked addition.
template <class T> [[nodiscard]] inline T take_number(cell<T>& c) noexcept {
  return __atomic_fetch_add(&c.raw, T{1}, __ATOMIC_RELAXED);
}

// Becomes the smaller of what it is and `value`. Order: relaxed. Cost: a plain load where it is smaller already.
template <class T> inline void lower(cell<T>& c, T value) noexcept {
  T now = peek(c);
  while (value < now && !__atomic_compare_exchange_n(&c.raw, &now, value, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
}

}  // namespace weft::detail
#endif

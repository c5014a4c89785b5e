// The only file that includes <atomic>. All shared words are detail::cell, plain storage; this is what the host machine
// does to them. To model-check a lock-free part, this file is what gets swapped.
// Orders are spelled at every call; no standalone fence exists, because ThreadSanitizer does not see fences.
#pragma once
#include <atomic>

#include "weft/detail/cell.hpp"

namespace weft::base {

using detail::cell;
using order = std::memory_order;
inline constexpr order relaxed = std::memory_order_relaxed;
inline constexpr order acquire = std::memory_order_acquire;
inline constexpr order release = std::memory_order_release;
inline constexpr order acq_rel = std::memory_order_acq_rel;
inline constexpr order seq_cst = std::memory_order_seq_cst;

// Where an access is written, for who passes one on: known where memory is weak (cell.hpp), and nothing elsewhere.
#ifdef WEFT_CELL_WORDS
using place = detail::place_in_code;
template <class T> using atomic_ref = weak::shared_word<T>;
template <class T> [[nodiscard]] atomic_ref<T> shared(cell<T>& c, const place& at) noexcept {
  return atomic_ref<T>(c.raw, &at);
}
#else
struct place {
  [[nodiscard]] static constexpr place current() noexcept { return {}; }
};
#ifdef __cpp_lib_atomic_ref
template <class T> using atomic_ref = std::atomic_ref<T>;
#else
// What of std::atomic_ref is used here, for libc++ before 19, which has none.
template <class T> class atomic_ref {
 public:
  explicit atomic_ref(T& word) noexcept : word_(&word) {}
  T load(order o) const noexcept {
    T value;
    __atomic_load(word_, &value, int(o));
    return value;
  }
  void store(T value, order o) const noexcept { __atomic_store(word_, &value, int(o)); }
  T exchange(T value, order o) const noexcept {
    T before;
    __atomic_exchange(word_, &value, &before, int(o));
    return before;
  }
  bool compare_exchange_strong(T& expected, T value, order met, order failed) const noexcept {
    return __atomic_compare_exchange(word_, &expected, &value, false, int(met), int(failed));
  }
  bool compare_exchange_weak(T& expected, T value, order met, order failed) const noexcept {
    return __atomic_compare_exchange(word_, &expected, &value, true, int(met), int(failed));
  }
  T fetch_add(T n, order o) const noexcept { return __atomic_fetch_add(word_, n, int(o)); }
  T fetch_sub(T n, order o) const noexcept { return __atomic_fetch_sub(word_, n, int(o)); }
  T fetch_or(T n, order o) const noexcept { return __atomic_fetch_or(word_, n, int(o)); }
  T fetch_and(T n, order o) const noexcept { return __atomic_fetch_and(word_, n, int(o)); }

 private:
  static_assert(int(std::memory_order_seq_cst) == __ATOMIC_SEQ_CST && int(relaxed) == __ATOMIC_RELAXED &&
                int(acquire) == __ATOMIC_ACQUIRE && int(release) == __ATOMIC_RELEASE &&
                int(acq_rel) == __ATOMIC_ACQ_REL);
  T* word_;
};
#endif
template <class T> [[nodiscard]] atomic_ref<T> shared(cell<T>& c, place) noexcept { return atomic_ref<T>(c.raw); }
#endif

template <class T> [[nodiscard]] atomic_ref<T> shared(cell<T>& c) noexcept { return atomic_ref<T>(c.raw); }

// The order of a failed compare_exchange: what remains of `o` without its release half.
[[nodiscard]] constexpr order on_failure(order o) noexcept {
  return o == acq_rel ? acquire : o == release ? relaxed : o;
}

}  // namespace weft::base

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

template <class T> [[nodiscard]] std::atomic_ref<T> shared(cell<T>& c) noexcept { return std::atomic_ref<T>(c.raw); }

// The order of a failed compare_exchange: what remains of `o` without its release half.
[[nodiscard]] constexpr order on_failure(order o) noexcept {
  return o == acq_rel ? acquire : o == release ? relaxed : o;
}

}  // namespace weft::base

// A spin lock of one byte for sections of a few instructions. The waiting loop tells the machine how long it has spun,
// so that with more workers than cores the holder gets its core back, and on a virtual machine time passes.
#pragma once
#include <cstdint>

#include "base/atomic.hpp"

namespace weft::base {

// What acquire_lock() does where somebody has the lock.
template <class M> [[gnu::noinline]] void await_lock(detail::cell<std::uint8_t>& lock) noexcept {
  unsigned spins = 0;
  do {
    while (M::load(lock, relaxed) != 0) M::relax(++spins);
  } while (M::exchange(lock, std::uint8_t{1}, acquire) != 0);
}

// Order: acquire; pairs with release(). Cost: one exchange when free.
template <class M> [[gnu::always_inline]] inline void acquire_lock(detail::cell<std::uint8_t>& lock) noexcept {
  if (M::exchange(lock, std::uint8_t{1}, acquire) != 0) [[unlikely]]
    await_lock<M>(lock);
}

template <class M> void release_lock(detail::cell<std::uint8_t>& lock) noexcept {
  M::store(lock, std::uint8_t{0}, release);  // publishes what the section wrote; pairs with acquire_lock
}

// Whether somebody has the lock, for assertions of who must. Takes no turn and no time on a modelled machine.
[[nodiscard]] inline bool held(const detail::cell<std::uint8_t>& lock) noexcept { return detail::peek(lock) != 0; }

template <class M> class locked {
 public:
  [[gnu::always_inline]] explicit locked(detail::cell<std::uint8_t>& lock) noexcept : lock_(lock) {
    acquire_lock<M>(lock_);
  }
  ~locked() { release_lock<M>(lock_); }
  locked(const locked&) = delete;
  locked& operator=(const locked&) = delete;

 private:
  detail::cell<std::uint8_t>& lock_;
};

}  // namespace weft::base

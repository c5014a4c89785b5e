#include "machine/stack.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <new>

#include "base/atomic.hpp"

namespace weft::machine {

namespace {

constexpr int advice_guard_install = 102;  // MADV_GUARD_INSTALL, younger than the C library's headers

detail::cell<std::uint64_t> protected_now;  // stacks whose guard is a protection, in all runtimes

// Returns whether the guard is a protection, which has to be counted.
bool guard_by_protection(void* page, std::size_t bytes) noexcept {
  if (base::shared(protected_now).fetch_add(1, base::relaxed) < stack::protected_max &&
      ::mprotect(page, bytes, PROT_NONE) == 0)
    return true;
  base::shared(protected_now).fetch_sub(1, base::relaxed);
  return false;
}

}  // namespace

stack::stack(std::size_t bytes) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  guard_ = page;
  mapped_ = (bytes + page - 1) / page * page + guard_;
  void* const memory =
      ::mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  mapping_ = static_cast<std::byte*>(memory);
  // Stacks lie side by side in one mapping: a huge page would fill many of them that are hardly used. Not granted
  // where there are no huge pages.
  static_cast<void>(::madvise(memory, mapped_, MADV_NOHUGEPAGE));
  if (::madvise(memory, guard_, advice_guard_install) != 0) protected_ = guard_by_protection(memory, guard_);
}

stack::~stack() {
  if (mapping_ == nullptr) return;
  static_cast<void>(::munmap(mapping_, mapped_));
  if (protected_) base::shared(protected_now).fetch_sub(1, base::relaxed);
}

}  // namespace weft::machine

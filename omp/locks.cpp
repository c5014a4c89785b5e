// Critical sections, atomic blocks, omp_lock_t and omp_nest_lock_t. A lock is a word: free, held, held and awaited. Who
// finds it held lets tasks of its worker run, because the holder may be one of them that was set aside; then it sleeps
// for a moment in the kernel. Guarantee: mutual exclusion, acquire and release; no order among those who wait.
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <ctime>

#include "omp/abi.hpp"
#include "omp/team.hpp"

namespace weft::omp {

namespace {

using word = std::atomic<unsigned>;
static_assert(sizeof(word) == 4 && word::is_always_lock_free);
enum state : unsigned { is_free, is_held, is_awaited };

[[nodiscard]] bool try_lock(word& w) noexcept {
  unsigned expected = is_free;
  return w.compare_exchange_strong(expected, is_held, std::memory_order_acquire, std::memory_order_relaxed);
}

[[gnu::noinline]] void lock_slowly(word& w) noexcept {
  task& t = *here().now;
  for (unsigned i = 0; i < 500 && set().spins; ++i) {
    relax();
    if (w.load(std::memory_order_relaxed) == is_free && try_lock(w)) return;
  }
  while (w.exchange(is_awaited, std::memory_order_acquire) != is_free) {
    before_wait(t);
    yield();
    goes_on(t);
    if (w.load(std::memory_order_relaxed) != is_awaited) continue;
    const timespec moment{0, 1'000'000};  // then tasks of this worker are looked at again
    syscall(SYS_futex, &w, FUTEX_WAIT_PRIVATE, is_awaited, &moment, nullptr, 0);
  }
}

void lock(word& w) noexcept {
  if (!try_lock(w)) [[unlikely]]
    lock_slowly(w);
}

void unlock(word& w) noexcept {
  if (w.exchange(is_free, std::memory_order_release) == is_awaited) [[unlikely]]
    syscall(SYS_futex, &w, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

// A critical section without a name, an atomic block, and the words of named sections: where the linker makes one
// pointer for each name, its storage is the lock.
constinit word unnamed{is_free}, of_atomics{is_free};

[[nodiscard]] word& as_word(void* storage) noexcept { return *static_cast<word*>(storage); }

// omp_nest_lock_t: 16 bytes, aligned to 8. Held by a task (OpenMP 5.2, §18.9).
struct nest {
  word held;
  int depth;
  const void* holder;
};
static_assert(sizeof(nest) == 16);

[[nodiscard]] const void* holder_here() noexcept { return here().now; }

}  // namespace

}  // namespace weft::omp

using namespace weft::omp;

#define WEFT_LOCK_CALL(NAME)                                                                                           \
  WEFT_OMP void NAME##_(void* l) { NAME(l); }

extern "C" {

WEFT_OMP void GOMP_critical_start() { lock(unnamed); }
WEFT_OMP void GOMP_critical_end() { unlock(unnamed); }
WEFT_OMP void GOMP_critical_name_start(void** storage) { lock(as_word(storage)); }
WEFT_OMP void GOMP_critical_name_end(void** storage) { unlock(as_word(storage)); }
WEFT_OMP void GOMP_atomic_start() { lock(of_atomics); }
WEFT_OMP void GOMP_atomic_end() { unlock(of_atomics); }

WEFT_OMP void omp_init_lock(void* l) { as_word(l).store(is_free, std::memory_order_relaxed); }
WEFT_OMP void omp_init_lock_with_hint(void* l, int) { omp_init_lock(l); }
WEFT_OMP void omp_destroy_lock(void*) {}
WEFT_OMP void omp_set_lock(void* l) { lock(as_word(l)); }
WEFT_OMP void omp_unset_lock(void* l) { unlock(as_word(l)); }
WEFT_OMP int omp_test_lock(void* l) { return try_lock(as_word(l)) ? 1 : 0; }

WEFT_OMP void omp_init_nest_lock(void* l) { new (l) nest{{is_free}, 0, nullptr}; }
WEFT_OMP void omp_init_nest_lock_with_hint(void* l, int) { omp_init_nest_lock(l); }
WEFT_OMP void omp_destroy_nest_lock(void*) {}
WEFT_OMP void omp_set_nest_lock(void* l) {
  nest& n = *static_cast<nest*>(l);
  const void* const me = holder_here();
  if (__atomic_load_n(&n.holder, __ATOMIC_RELAXED) != me) {
    lock(n.held);
    __atomic_store_n(&n.holder, me, __ATOMIC_RELAXED);
  }
  ++n.depth;
}
WEFT_OMP void omp_unset_nest_lock(void* l) {
  nest& n = *static_cast<nest*>(l);
  if (--n.depth != 0) return;
  __atomic_store_n(&n.holder, nullptr, __ATOMIC_RELAXED);
  unlock(n.held);
}
WEFT_OMP int omp_test_nest_lock(void* l) {
  nest& n = *static_cast<nest*>(l);
  const void* const me = holder_here();
  if (__atomic_load_n(&n.holder, __ATOMIC_RELAXED) != me) {
    if (!try_lock(n.held)) return 0;
    __atomic_store_n(&n.holder, me, __ATOMIC_RELAXED);
  }
  return ++n.depth;
}

// As Fortran calls them: the lock itself is the argument there, too.
WEFT_LOCK_CALL(omp_init_lock)
WEFT_LOCK_CALL(omp_destroy_lock)
WEFT_LOCK_CALL(omp_set_lock)
WEFT_LOCK_CALL(omp_unset_lock)
}

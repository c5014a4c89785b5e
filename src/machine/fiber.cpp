#include "machine/fiber.hpp"

#include <cxxabi.h>

#include "base/assert.hpp"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WEFT_ASAN 1
#endif
#if __has_feature(thread_sanitizer)
#define WEFT_TSAN 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define WEFT_ASAN 1
#endif
#if defined(__SANITIZE_THREAD__)
#define WEFT_TSAN 1
#endif

#ifdef WEFT_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef WEFT_TSAN
#include <sanitizer/tsan_interface.h>
#endif

#ifdef _LIBCPPABI_VERSION
// libc++abi has the function, with the layout of the Itanium ABI, and does not declare it.
namespace __cxxabiv1 {
extern "C" void* __cxa_get_globals() noexcept;
}
#endif

namespace weft::machine {

namespace fcontext = boost::context::detail;

namespace {

// Each tells its sanitizer one fact about a switch, and is empty without it.
void announce_leave([[maybe_unused]] void** fake_stack, [[maybe_unused]] const void* bottom,
                    [[maybe_unused]] std::size_t bytes, [[maybe_unused]] void* tsan) noexcept {
#ifdef WEFT_ASAN
  __sanitizer_start_switch_fiber(fake_stack, bottom, bytes);
#endif
#ifdef WEFT_TSAN
  __tsan_switch_to_fiber(tsan, 0);
#endif
}

void announce_arrival([[maybe_unused]] void* fake_stack, [[maybe_unused]] const void** left_bottom,
                      [[maybe_unused]] std::size_t* left_bytes) noexcept {
#ifdef WEFT_ASAN
  __sanitizer_finish_switch_fiber(fake_stack, left_bottom, left_bytes);
#endif
}

// The exceptions being handled belong to the stack, but the C++ runtime keeps them per thread. A body may wait inside a
// catch block and continue elsewhere, so they travel with the fiber. (Itanium C++ ABI §2.2.2 fixes this layout.)
struct handled_exceptions {
  void* caught = nullptr;
  unsigned uncaught = 0;

  // libstdc++ declares __cxa_get_globals const, so a compiler may keep its answer over a switch, when it is another
  // thread's. Neither inlined nor known to be without effects, this is asked again each time.
  [[gnu::noinline]] static handled_exceptions& of_this_thread() noexcept {
    asm volatile("" ::: "memory");
    return *reinterpret_cast<handled_exceptions*>(abi::__cxa_get_globals());
  }
};

}  // namespace

struct fiber::message {
  fiber* from;
  fiber* to;
  action* after;
};

fiber::fiber() {
#ifdef WEFT_TSAN
  tsan_ = __tsan_get_current_fiber();
#endif
}

fiber::fiber(std::size_t bytes, void (*entry)(void*), void* argument, const float_control& floats)
    : stack_(bytes), entry_(entry), argument_(argument), floats_(floats) {
  context_ = fcontext::make_fcontext(stack_.top(), stack_.bytes(), &fiber::enter);
  bottom_ = stack_.bottom();
  bytes_ = stack_.bytes();
  where.calls_end = reinterpret_cast<std::uintptr_t>(stack_.top()) - bytes / 2;
#ifdef WEFT_TSAN
  tsan_ = __tsan_create_fiber(0);
#endif
}

fiber::~fiber() {
  if (!stack_.exists()) return;
#ifdef WEFT_TSAN
  __tsan_destroy_fiber(tsan_);
#endif
#ifdef WEFT_ASAN
  // The frames that jump_out() left never took their red zones back, and the next stack may come to lie here.
  __asan_unpoison_memory_region(stack_.bottom(), stack_.bytes());
#endif
}

void fiber::arrived(fcontext::transfer_t t) {
  const message m = *static_cast<message*>(t.data);  // a copy: after run() the sender's stack may be in use again
  m.from->context_ = t.fctx;
  announce_arrival(m.to->fake_stack_, &m.from->bottom_, &m.from->bytes_);
  if (m.after != nullptr) m.after->run(*m.after);
}

void fiber::enter(fcontext::transfer_t t) {
  fiber& here = *static_cast<message*>(t.data)->to;
  handled_exceptions::of_this_thread() = {};
  here.floats_.apply();
  arrived(t);
  here.entry_(here.argument_);
  base::assertion_failed("a fiber's entry ends by jump_out()", __FILE__, __LINE__);
}

void fiber::jump(fiber& to, action* after) {
  WEFT_ASSERT(to.context_ != nullptr);
  message m{this, &to, after};
#ifdef WEFT_TSAN
  // A fiber that stands for a thread's own stack: the thread may be on a fiber of another runtime by now.
  if (!stack_.exists()) tsan_ = __tsan_get_current_fiber();
#endif
  announce_leave(&fake_stack_, to.bottom_, to.bytes_, to.tsan_);
  const fcontext::fcontext_t target = to.context_;
  to.context_ = nullptr;
  const handled_exceptions mine = handled_exceptions::of_this_thread();
  if constexpr (!float_control::travels_by_itself) floats_ = float_control();
  const fcontext::transfer_t t = fcontext::jump_fcontext(target, &m);
  handled_exceptions::of_this_thread() = mine;
  if constexpr (!float_control::travels_by_itself) floats_.apply();
  arrived(t);
}

void fiber::jump_out(fiber& to) {
  message m{this, &to, nullptr};
  announce_leave(nullptr, to.bottom_, to.bytes_, to.tsan_);
  const fcontext::fcontext_t target = to.context_;
  to.context_ = nullptr;
  fcontext::jump_fcontext(target, &m);
  base::assertion_failed("nothing enters a fiber that was left for good", __FILE__, __LINE__);
}

}  // namespace weft::machine

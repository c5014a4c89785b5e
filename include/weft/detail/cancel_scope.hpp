// What a cancellation (weft/cancellation.hpp) knows, and the scopes that can be cancelled by it. How the scheduler
// looks at them: src/sched/fail/cancellation.hpp.
#pragma once
#include <cstdint>
#include <exception>

#include "weft/detail/cell.hpp"

namespace weft::detail {

struct record;
struct engine_base;
struct cancel_scope;

struct cancellation_state {
  cell<std::uint8_t> lock;
  cell<std::uint8_t> cancelled;  // set once
  cell<std::uint64_t> skipped;
  cancel_scope* scopes = nullptr;  // open ones, without those inside another of the same cancellation; under the lock
  std::exception_ptr why;          // set before `cancelled`, and never again
};

#ifndef WEFT_SERIAL

// Cancels s, if it is not: with why, or nullptr for a weft::cancelled_error. Who: any thread. Order: release, pairs
// with whoever reads `cancelled`.
void cancel(cancellation_state& s, std::exception_ptr why) noexcept;
void count_skipped(cancellation_state& s, std::uint64_t parts = 1) noexcept;  // so many more. Who: any thread

// A finish with a cancellation while it is open: r is its record. Its runtime is told for as long as it is cancelled.
struct cancel_scope {
  cancel_scope(cancellation_state& by, record& of_scope, engine_base& e) noexcept;
  ~cancel_scope();
  cancel_scope(const cancel_scope&) = delete;
  cancel_scope& operator=(const cancel_scope&) = delete;

  cancellation_state& of;
  record* r;
  engine_base& engine;
  cancel_scope* before = nullptr;
  cancel_scope* after = nullptr;
  bool is_outermost;  // in no other of the same cancellation, which would count and tell the same
};

// Whether a body in r is in a cancelled scope.
[[nodiscard]] bool is_cancelled_above(const record* r) noexcept;
// What the body of the finish of s has thrown, which is being handled, cancels it. Returns true if instead the body
// gave up because s was cancelled.
[[nodiscard]] bool gave_up(cancel_scope& s) noexcept;
[[nodiscard]] bool is_cancelled_error(const std::exception_ptr& e) noexcept;

#else

inline void cancel(cancellation_state& s, std::exception_ptr why) noexcept {
  static_cast<void>(why);  // nobody is there who would be told
  poke_release(s.cancelled, std::uint8_t{1});
}
inline void count_skipped(cancellation_state& s, std::uint64_t parts = 1) noexcept {
  poke(s.skipped, peek(s.skipped) + parts);  // one thread's
}

#endif

// The same where asyncs are calls: on a thread that no runtime knows, and in serial programs. No body moves to another
// thread there, so the thread knows the innermost.
struct lone_scope {
  inline static thread_local constinit lone_scope* innermost = nullptr;

  explicit lone_scope(cancellation_state& by) noexcept : of(by) {
    for (const lone_scope* x = outer; x != nullptr; x = x->outer) is_outermost = is_outermost && &x->of != &by;
    innermost = this;
  }
  ~lone_scope() { innermost = outer; }
  lone_scope(const lone_scope&) = delete;
  lone_scope& operator=(const lone_scope&) = delete;

  [[nodiscard]] static bool any_cancelled() noexcept {
    for (const lone_scope* x = innermost; x != nullptr; x = x->outer)
      if (peek_acquire(x->of.cancelled) != 0) return true;
    return false;
  }
  // Whether an async that is made now is not called; it is counted then.
  [[nodiscard]] static bool skips() noexcept {
    if (!any_cancelled()) return false;
    count(1);
    return true;
  }
  static void count(std::uint64_t parts) noexcept {
    for (lone_scope* x = innermost; x != nullptr; x = x->outer)
      if (x->is_outermost) count_skipped(x->of, parts);
  }

  cancellation_state& of;
  lone_scope* outer = innermost;
  bool is_outermost = true;
};

}  // namespace weft::detail

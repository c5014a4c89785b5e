// Cancelled scopes (weft/cancellation.hpp) as the scheduler meets them. A scope that can be cancelled is a record like
// that of every finish, which knows its cancellation; a task is in it if the record is among its parents. Nothing is
// told to tasks or queues when it is cancelled: the flag that tasks read while anything has failed (failures.hpp) is up
// for as long as a cancelled scope is open, and behind it each task looks for its scopes before it begins.
// Cost: a walk over the parents of a task, while a scope of this runtime is cancelled (docs/decisions/0032).
// Invariant: a record outlives its children, so the walk finds no parent that is gone; what it reads of one was written
// before the first child was published.
#pragma once
#include <exception>

#include "base/assert.hpp"
#include "weft/detail/cancel_scope.hpp"
#include "weft/detail/record.hpp"

namespace weft::sched {

// The innermost scope that can be cancelled of r and its parents, or nullptr.
[[nodiscard]] inline detail::cancel_scope* cancellable_above(const detail::record* r) noexcept {
  while (r != nullptr && r->kind != detail::record_kind::cancellable_scope) r = r->parent;
  WEFT_ASSERT(r == nullptr || r->cancels->r == r);
  return r != nullptr ? r->cancels : nullptr;
}
[[nodiscard]] inline detail::cancel_scope* cancellable_around(const detail::cancel_scope& s) noexcept {
  return cancellable_above(s.r->parent);
}

// Whether r is a scope whose own cancellation is cancelled.
[[nodiscard]] inline bool is_cancelled(const detail::record* r) noexcept {
  return r != nullptr && r->kind == detail::record_kind::cancellable_scope &&
         detail::peek_acquire(r->cancels->of.cancelled) != 0;
}
// The cancellation that is cancelled of s or the next scope around it, or nullptr. Order: acquire, so that `why` is
// there.
[[nodiscard]] inline detail::cancellation_state* cancelled_around(detail::cancel_scope* s) noexcept {
  for (; s != nullptr; s = cancellable_around(*s))
    if (detail::peek_acquire(s->of.cancelled) != 0) {
      WEFT_ASSERT(s->of.why != nullptr);
      return &s->of;
    }
  return nullptr;
}
[[nodiscard]] inline detail::cancellation_state* cancelled_above(const detail::record* r) noexcept {
  return cancelled_around(cancellable_above(r));
}

// Task r has failed with e.
inline void cancel_around(const detail::record& r, const std::exception_ptr& e) noexcept {
  if (detail::cancel_scope* s = cancellable_above(r.parent)) detail::cancel(s->of, e);
}

// A task in s is not begun, or so many parts of one: so many more in each of the cancellations around it.
inline void count_skipped(detail::cancel_scope* s, std::uint64_t parts = 1) noexcept {
  for (; s != nullptr; s = cancellable_around(*s))
    if (s->is_outermost) detail::count_skipped(s->of, parts);
}

}  // namespace weft::sched

// What of weft::cancellation is no template. A cancellation knows the scopes that are open with it, and tells their
// runtimes once: while it is cancelled, and each is open. Everything here happens under its lock, of a few
// instructions, and nothing that a modelled machine would count: a core that gave up its turn in it would let others
// wait for ever.
#include "weft/cancellation.hpp"

#include <utility>

#include "base/assert.hpp"
#include "base/exception_or.hpp"
#include "base/lock.hpp"
#include "machine/host/host.hpp"
#include "sched/fail/cancellation.hpp"

namespace weft::detail {

namespace {

using lock_guard = base::locked<machine::host>;

[[nodiscard]] bool is_inside_another(const cancel_scope& s) noexcept {
  const cancel_scope* x = sched::cancellable_around(s);
  while (x != nullptr && &x->of != &s.of) x = sched::cancellable_around(*x);
  return x != nullptr;
}

}  // namespace

void cancel(cancellation_state& s, std::exception_ptr why) noexcept {
  if (peek_acquire(s.cancelled) != 0) return;
  if (why == nullptr) why = base::exception_or_bad_alloc([] { return cancelled_error(); });
  const lock_guard hold(s.lock);
  if (peek(s.cancelled) != 0) return;
  s.why = std::move(why);
  for (cancel_scope* x = s.scopes; x != nullptr; x = x->after) x->engine.cancelled(true);
  base::shared(s.cancelled).store(1, base::release);  // publishes why, and that whoever sees this is looked at
}

void count_skipped(cancellation_state& s, std::uint64_t parts) noexcept {
  base::shared(s.skipped).fetch_add(parts, base::relaxed);
}

cancel_scope::cancel_scope(cancellation_state& by, record& of_scope, engine_base& e) noexcept
    : of(by), r(&of_scope), engine(e), is_outermost(!is_inside_another(*this)) {
  WEFT_ASSERT(r->kind == record_kind::scope && !r->has_children);
  r->cancels = this;
  r->kind = record_kind::cancellable_scope;
  if (!is_outermost) return;
  const lock_guard hold(of.lock);
  after = of.scopes;
  if (after != nullptr) after->before = this;
  of.scopes = this;
  if (peek(of.cancelled) != 0) engine.cancelled(true);
}

cancel_scope::~cancel_scope() {
  if (!is_outermost) return;
  const lock_guard hold(of.lock);
  WEFT_ASSERT(of.scopes != nullptr);
  (before == nullptr ? of.scopes : before->after) = after;
  if (after != nullptr) after->before = before;
  if (peek(of.cancelled) != 0) engine.cancelled(false);
}

bool is_cancelled_above(const record* r) noexcept { return sched::cancelled_above(r) != nullptr; }

bool gave_up(cancel_scope& s) noexcept {
  const std::exception_ptr e = std::current_exception();
  const bool gives_up = is_cancelled_error(e) && is_cancelled_above(s.r);
  if (!gives_up) cancel(s.of, e);
  return gives_up && sched::is_cancelled(s.r);
}

bool is_cancelled_error(const std::exception_ptr& e) noexcept {
  try {
    std::rethrow_exception(e);
  } catch (const cancelled_error&) {
    return true;
  } catch (...) {
    return false;
  }
}

}  // namespace weft::detail

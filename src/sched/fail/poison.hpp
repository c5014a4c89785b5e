// What a failure does to other tasks. A task that fails poisons what it would have written; one that would use poisoned
// data is skipped, which counts as failing with the same exception (failures.hpp keeps them and says which one a wait
// gets). A task that has not begun when its scope is cancelled is skipped in the same way, with what cancelled the
// scope (cancellation.hpp). Not on the path of tasks that succeed: they read one flag per access while anything at all
// has failed.
#pragma once
#include <exception>

#include "access/registration.hpp"
#include "access/version.hpp"
#include "base/assert.hpp"
#include "sched/fail/cancellation.hpp"
#include "sched/fail/failures.hpp"
#include "weft/cancellation.hpp"

namespace weft::sched {

template <class M> class poison {
 public:
  explicit poison(failures<M>& all) : failures_(all) {}

  // Whether r must not simply run. Who: r's worker. Cost: one load while nothing has failed.
  [[nodiscard]] bool concerns(detail::record& r) noexcept {
    return failures_.any() && (reads(r) || failures_.any_cancelled());
  }

  // Calls or skips a body that is concerned. Returns whether it was skipped; if it is in no scope that is cancelled,
  // and a wait of the whole program has healed its handles in between, its body is called, and may throw.
  [[nodiscard, gnu::cold]] bool skip(detail::record& r) {
    if (was_refused(r)) {  // and has failed already
      r.invoke(r, detail::errand::destroy);
      return true;
    }
    // A task of the runtime's own is for all.
    detail::cancel_scope* const in = r.internal ? nullptr : scope_of(r);
    if (const detail::cancellation_state* by = cancelled_around(in)) {
      failures_.add(r, by->why, in);
      writes(r, by->why);
      r.invoke(r, detail::errand::destroy);  // behind these: a future learns by its handle why it gets nothing
      count_skipped(in);
      return true;
    }
    std::exception_ptr e;
    for (std::uint32_t i = 0; i < r.access_count && e == nullptr; ++i)
      if (access::has_handle(r.accesses()[i])) e = failures_.of(access::handle_of(r.accesses()[i]));
    if (e != nullptr) fail(r, e);
    r.invoke(r, e == nullptr ? detail::errand::run : detail::errand::destroy);
    if (e == nullptr) return false;
    count_skipped(r.internal ? nullptr : cancellable_above(r.parent));
    return true;
  }
  // Why a task that was skipped was: what its scope was cancelled with, or null if that was not the reason.
  [[nodiscard]] std::exception_ptr cancelled_with(const detail::record& r) noexcept {
    const detail::cancellation_state* by = cancelled_around(scope_of(r));
    return by != nullptr ? by->why : nullptr;
  }

  // Also cancels the scope that r is in, if it can be; but one that gives up because it is cancelled already fails as
  // those that are skipped.
  [[gnu::cold]] void fail(detail::record& r, const std::exception_ptr& e) {
    WEFT_ASSERT(e != nullptr);
    detail::cancel_scope* const in = scope_of(r);
    const bool gives_up = cancelled_around(in) != nullptr && detail::is_cancelled_error(e);
    failures_.add(r, e, gives_up ? in : nullptr);
    writes(r, e);
    if (!gives_up) cancel_around(r, e);
  }

  // Whether nothing in `parent` is to begin any more, because a scope around it is cancelled. Cost: one load while
  // none is.
  [[nodiscard]] bool is_stopped(const detail::record* parent) noexcept {
    return failures_.any_cancelled() && cancelled_above(parent) != nullptr;
  }
  // A body of the fork of b has thrown e, which cancels the scope it is in, as a task that throws does.
  [[gnu::cold]] void cancels(const detail::record& b, const std::exception_ptr& e) noexcept {
    if (cancelled_above(b.parent) == nullptr || !detail::is_cancelled_error(e)) cancel_around(b, e);
  }

  // The second body of the fork of b has thrown e elsewhere, and the first gives up because of that: no join asks for
  // e. The finish that it has cancelled throws it, behind what its tasks throw. Who: the handler of what the first
  // throws.
  [[gnu::cold]] void tell_scope(const detail::record& b, const std::exception_ptr& e) noexcept {
    detail::cancel_scope* const s = cancellable_above(b.parent);
    if (s == nullptr || detail::is_cancelled_error(e) || !detail::is_cancelled_error(std::current_exception())) return;
    detail::record part{};
    part.parent = s->r;
    part.order = ~std::uint64_t{0};
    failures_.add(part, e);
  }

  // What r waits for beside its body has failed with e, as a child of r would: behind its children, and once r is
  // wholly done its own. r itself may not have run yet, nor be entered. Who: whoever ends that.
  [[gnu::cold]] void fail_below(detail::record& r, const std::exception_ptr& e, detail::cancel_scope* in = nullptr) {
    detail::record child{};
    child.parent = &r;
    child.order = ~std::uint64_t{0};
    failures_.add(child, e, in);
  }
  // The event of r, which was entered, has failed with e: as if the body had thrown it.
  [[gnu::cold]] void fail_by_event(detail::record& r, const std::exception_ptr& e) {
    detail::cancel_scope* const in = scope_of(r);
    const bool gives_up = cancelled_around(in) != nullptr && detail::is_cancelled_error(e);
    fail_below(r, e, gives_up ? in : nullptr);
    if (!gives_up) cancel_around(r, e);
  }

  // r is wholly done: what its children threw and nobody waited for is its own, and what r writes is as bad as theirs.
  [[gnu::cold]] void hand_up(detail::record& r) noexcept {
    const std::exception_ptr e = failures_.hand_up(r);
    if (e != nullptr && r.subtasks) writes(r, e);
  }

  // Registration has refused r: what would have been thrown at submission is what it fails with. Nothing of it is
  // registered, so it forgets its accesses. It is still run, as one that is skipped: destroying its body may wait, for
  // a handle that it owns. Who: whoever creates r, which nobody else knows.
  [[gnu::cold]] void refuse(detail::record& r, detail::engine_base* engine, const std::exception_ptr& why) {
    WEFT_ASSERT(why != nullptr && r.state == detail::record_state::filling);
    failures_.add(r, why);
    cancel_around(r, why);
    for (std::uint32_t i = 0; i < r.access_count; ++i) {
      access::entry& a = r.accesses()[i];
      if (is_written(a)) {
        detail::handle_state& h = access::handle_of(a);
        base::locked<M> guard(h.lock);
        if (h.engine != engine && !access::in_use<M>(h)) h.engine = engine;  // as registration would have
        if (h.engine == engine) failures_.poison(h, why);  // what another runtime uses is not ours to poison
      }
      a.handle_and_kind = detail::kind_repeated;
    }
    r.plain = r.subtasks = false;
    r.exclusives = 0;
    WEFT_ASSERT(r.access_count == 0 || was_refused(r));
  }

  // What a wait for h throws, if h is poisoned. Who: has waited for the version, which orders it; why is under a lock.
  void rethrow_for(detail::handle_state& h) {
    if (const std::exception_ptr e = why(h)) std::rethrow_exception(e);
  }
  [[nodiscard]] std::exception_ptr why(detail::handle_state& h) noexcept {
    return M::load(h.poisoned, base::relaxed) || failures_.any_unnoted() ? failures_.of(h) : nullptr;
  }
  // What a wait for the tasks below r throws; nullptr: for all tasks. Those that are missing because r itself was
  // cancelled are no reason to throw.
  void rethrow_below(const detail::record* r) {
    if (!failures_.any()) [[likely]]
      return;
    const failure first = failures_.take(r);
    if (first.exception == nullptr || (first.in != nullptr && is_cancelled(r))) return;
    std::rethrow_exception(first.exception);
  }

 private:
  // Where to look for whether r is cancelled, while anything is.
  [[nodiscard]] detail::cancel_scope* scope_of(const detail::record& r) noexcept {
    if (!failures_.any_cancelled()) return nullptr;
    detail::cancel_scope* const known = failures_.known_cancelled(r.parent);
    return known != nullptr ? known : cancellable_above(r.parent);
  }
  [[nodiscard]] static bool was_refused(detail::record& r) noexcept {
    return r.access_count != 0 && !access::has_handle(r.accesses()[0]);
  }
  // Not what is gone: its handle was destroyed, behind a stall. Elements of a stream that are taken over are nobody
  // else's: those beside them in the buffer are as good as before.
  [[nodiscard]] static bool is_written(const access::entry& a) noexcept {
    return access::has_handle(a) && (access::kind_of(a) & detail::kind_readonly) == 0 && !access::is_resource(a) &&
           access::kind_of(a) != detail::kind_take_over;
  }
  [[nodiscard]] bool reads(detail::record& r) noexcept {
    if (was_refused(r) || (failures_.any_unnoted() && r.access_count != 0)) return true;
    for (std::uint32_t i = 0; i < r.access_count; ++i) {
      const access::entry& a = r.accesses()[i];
      if (!access::has_handle(a)) continue;
      if (M::load(access::handle_of(a).poisoned, base::relaxed)) return true;  // ordered by the version
    }
    return false;
  }
  void writes(detail::record& r, const std::exception_ptr& e) {
    for (std::uint32_t i = 0; i < r.access_count; ++i)
      if (is_written(r.accesses()[i])) failures_.poison(access::handle_of(r.accesses()[i]), e);
  }

  failures<M>& failures_;
};

}  // namespace weft::sched

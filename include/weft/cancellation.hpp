// Cancelling what is not wanted any more: a search that has found, a computation whose first error decides.
//
//   weft::cancellation stop;
//   weft::finish(stop, [&] {
//     for (const part& p : parts)
//       weft::async([&] {
//         if (const auto hit = search(p, stop)) found = hit, stop.cancel();
//       });
//   });
//   if (stop.cancelled()) report(stop.skipped());
//
// A finish with a cancellation is a scope: what is submitted in it belongs to it, also by its tasks, and in further
// finishes inside. It is cancelled by cancel(), or by the first exception of one of its tasks or of its body. Then what
// has not begun is skipped: the body of such a task is not called, its captures are destroyed, its accesses count as
// done, and what it would have written is poisoned, as by a task that failed (docs/guide/37-cancellation.md). So are
// parts of forks, loops, sums, sorts and scans: these throw a cancelled_error then. What else has begun goes on to its
// end; a body that is long asks now and then, and returns early or throws cancelled_error.
#pragma once
#include "weft/detail/language.hpp"  // before all others

#include <cstdint>

#include "weft/detail/cancel_scope.hpp"
#include "weft/error.hpp"
#ifndef WEFT_SERIAL
#include "weft/detail/record.hpp"
#include "weft/detail/worker.hpp"
#endif

namespace weft {
namespace detail {
struct cancellation_of;
}

// What a wait throws for data or tasks that a cancelled scope has not made. A body in a cancelled scope may throw one
// to give up: what it would have written is poisoned, and the finish with that cancellation keeps quiet about it.
class cancelled_error : public error {
 public:
  cancelled_error() : error("weft: what this needs was to be made in a scope that was cancelled") {}
};

// Neither copied nor moved: it is handed along by reference, and outlives its finishes. It may serve several, one after
// the other, side by side, in one another, also of several runtimes, and cancels all of them; there is no way back.
class cancellation {
 public:
  cancellation() noexcept = default;
  cancellation(const cancellation&) = delete;
  cancellation& operator=(const cancellation&) = delete;

  // Who: any thread, as often as it likes; on one that does not belong to a modelled machine's runtime only before the
  // finish or after. Not a signal handler. Order: what came before it comes before what is done by whoever sees
  // cancelled(). What this thread, or one that hears of it, submits from then on is skipped for sure; a task that
  // begins elsewhere at this moment may still run. Cost: a lock, and one more for each finish that is open and in no
  // other with this cancellation.
  void cancel() noexcept { detail::cancel(state_, nullptr); }
  // Whether it is, by cancel() or by an exception. Who: any thread. Order: acquire. Cost: a load.
  [[nodiscard]] bool cancelled() const noexcept { return detail::peek_acquire(state_.cancelled) != 0; }
  // How many tasks of its finishes, and parts of forks and loops in them, were not begun, those in further finishes
  // inside included; tasks that were never
  // submitted, because who would have done it was skipped, are not among them. Who: any thread; after a finish nothing
  // of that is missing.
  [[nodiscard]] std::uint64_t skipped() const noexcept { return detail::peek(state_.skipped); }

 private:
  friend struct detail::cancellation_of;
  detail::cancellation_state state_;
};

// Whether the finish that the caller is in, or one around it, is cancelled. Who: any thread; outside of a finish with a
// cancellation it is false. Order: acquire. Cost: two loads while nothing is cancelled in this runtime, else a walk
// over the finishes and tasks around. In virtual time it takes none.
[[nodiscard]] inline bool cancelled() noexcept {
#ifndef WEFT_SERIAL
  const detail::worker* w = detail::self();
  if (w != nullptr && w->current != nullptr)
    return detail::peek(*w->attention) != 0 && detail::is_cancelled_above(w->current);
#endif
  return detail::lone_scope::any_cancelled();
}

namespace detail {

struct cancellation_of {
  [[nodiscard]] static cancellation_state& state(cancellation& c) noexcept { return c.state_; }
};

}  // namespace detail
}  // namespace weft

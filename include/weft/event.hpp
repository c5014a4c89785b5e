// Events: what happens outside of tasks and ends one of them - a read that has come back, a kernel on a GPU, a message,
// a promise that a later task keeps. A task that completes with an event is done when its body has returned and the
// event was fulfilled; its body only starts things, and its worker goes on meanwhile.
//
//   weft::event arrived;
//   rt.submit(weft::write(page), weft::completes(arrived), [&](buffer& page) {
//     start_read(file, page, [&] { arrived.fulfil(); });    // any thread may call that back, now or later
//   });
//   rt.submit(weft::read(page), parse);                     // after the data is there
//
// Until then the task holds its handles, as with weft::subtasks(), and waits of the program wait for it.
// If the body throws, or is not called because its data is poisoned, the task is over at once and the event with it:
// waits for the event throw, and fulfilling it later does nothing. So a body must not throw and leave behind something
// that still writes to its data.
// One-shot: an event serves one task at most, and is fulfilled once. It may be destroyed as soon as it was fulfilled;
// before that its destructor waits, as a handle's does, if a task completes with it.
// Program that cannot go on: while an event is outstanding on real cores, somebody outside may still fulfil it, so no
// wait is ended; if nothing moves for two seconds, that is said once on stderr, with the names of tasks and events. On
// a modelled machine nobody is outside, and the wait throws the same words.
#pragma once
#include "weft/detail/language.hpp"  // before all others

#include <cstdint>
#include <exception>

#include "weft/detail/event_state.hpp"

namespace weft {

class event {
 public:
  event() noexcept = default;
  explicit event(const char* name) noexcept { state_.name = name; }
  // If a task completes with it and it is not fulfilled: waits for that. Where it can never be, and where somebody else
  // still waits for it, that is said on stderr, and task and waits fail with weft::error.
  ~event();
  event(const event&) = delete;
  event& operator=(const event&) = delete;

  // For reports. `text` must outlive the event (a literal does). Who: one thread, before the event is used.
  void name(const char* text) noexcept { state_.name = text; }
  // nullptr if it was never named.
  [[nodiscard]] const char* name() const noexcept { return state_.name; }

  // It has happened. Before the body has run, too. Order: what the caller did before is visible to whatever comes after
  // the task. Who: any thread, in a task or not; on a modelled machine the one that made the runtime.
  // Cost: a lock of the process, about 50 ns beside what the end of the task makes ready.
  // Errors: weft::error if it was fulfilled, or failed, before.
  void fulfil();
  // It has gone wrong: its task fails as if its body had thrown `why`, once the body has returned, and waits for the
  // event rethrow it. A body that waits for its own children after this gets it there. Errors: as fulfil(), and
  // weft::error for an empty `why`.
  void fail(std::exception_ptr why);
  // A modelled machine fulfils it so many nanoseconds from now; the caller goes on at once. For devices that a model
  // stands for. A worker that sleeps then notices on time; where all are in bodies, the first that looks for work.
  // Errors: weft::error on real cores, where whoever does the work fulfils; for a time that is no number from 0 to
  // 10^15.
  void fulfil_after(double nanoseconds);

  // Returns when it is over. In a body the task is set aside and its worker goes on; on the thread that made the
  // runtime this runs tasks, as other waits do; other threads sleep. Before its first use with a runtime, an event that
  // is waited for outside belongs to none, and the thread just sleeps. Errors: what it failed with; weft::error on a
  // modelled machine if nothing can run any more.
  void wait();
  // Order: acquire. A hint if it says no.
  [[nodiscard]] bool fulfilled() const noexcept { return detail::peek_acquire(state_.over); }

  [[nodiscard]] detail::event_state& state() noexcept { return state_; }

 private:
  detail::event_state state_;
};

namespace detail {
struct completes_clause {
  event& target;
};
}  // namespace detail

// Clause: the task is done only when its body has returned and `e` was fulfilled. Its accesses finish then, as with
// weft::subtasks(), which it implies. Errors: submit throws weft::error if another task completes with `e`, or another
// runtime uses it.
[[nodiscard]] inline detail::completes_clause completes(event& e) noexcept { return {e}; }

// In a body: other ready tasks of this worker go first, then it goes on, perhaps on another worker if it is not pinned;
// at once if there are none. Outside of tasks it does nothing. For bodies that poll something; to wait for a task or an
// event, wait. Cost: about 20 ns if there are none, else two switches of stacks. Errors: weft::error on a modelled
// machine when bodies have yielded a million times in a row and nothing else has happened in the runtime: they wait for
// one another, or for something that no task does.
void yield();

}  // namespace weft

#include "weft/event.hpp"

#include <cstdio>
#include <string>
#include <string_view>

#include "base/exception_or.hpp"
#include "machine/host/host.hpp"
#include "sched/idle/events.hpp"
#include "weft/error.hpp"
#include "weft/poll.hpp"

namespace weft {

namespace detail {

namespace {

using sched::event_board;

// The event is over, by the program. why: what it failed with, or null.
void end(event_state& s, const std::exception_ptr& why) {
  if (s.timed) s.engine->settle_after(s, event_board::at_no_time);  // a modelled machine: one thread
  const event_board::owned_end e = event_board::end_by_program(s, why);
  if (e.engine == nullptr) return sched::wake_all_alone(e.what.waits);
  event_board& board = e.engine->events();
  e.engine->settle(e.what);
  board.end_call();
}

// Whose call a wait is: the runtime of the body, or else of the event, or else of the thread; or nobody's. A runtime
// that the caller may not know of does not end before the call does.
class wait_call {
 public:
  explicit wait_call(event_state& s) {
    const worker* const w = self();
    if (w != nullptr && w->current != nullptr) {
      engine = w->engine;
      return;
    }
    engine = event_board::begin_call_of(s);
    if (engine != nullptr)
      board_ = &engine->events();
    else if (w != nullptr)
      engine = w->engine;
  }
  ~wait_call() {
    if (board_ != nullptr) board_->end_call();
  }
  wait_call(const wait_call&) = delete;
  wait_call& operator=(const wait_call&) = delete;

  engine_base* engine = nullptr;

 private:
  event_board* board_ = nullptr;
};

// Until the event is over, or some runtime's. Who: a thread that is no worker.
void wait_alone(event_state& s) {
  event_wait x;
  x.event = &s;
  x.wake_alone = [](event_wait& of) { machine::host::signal(of.self.signal); };
  if (event_board::list_alone(x)) machine::host::block(x.self.signal);
}

}  // namespace
}  // namespace detail

void event::fulfil() { detail::end(state_, nullptr); }

void event::fail(std::exception_ptr why) {
  if (why == nullptr) throw error("weft: an event fails with an exception; this one is empty");
  detail::end(state_, why);
}

void event::fulfil_after(double nanoseconds) {
  if (!(nanoseconds >= 0 && nanoseconds <= 1e15))
    throw error("weft: an event is to come after " + std::to_string(nanoseconds) + " ns; it must be 0 to 10^15");
  detail::engine_base* engine = sched::event_board::engine_of(state_);
  if (detail::worker* w = detail::self(); engine == nullptr && w != nullptr) engine = w->engine;
  if (engine == nullptr) throw error("weft: an event that belongs to no runtime cannot come at a time of one");
  engine->settle_after(state_, static_cast<std::uint64_t>(nanoseconds * 1000.0 + 0.5));
}

void event::wait() {
  detail::event_state& s = state_;
  for (;;) {
    {
      const detail::wait_call call(s);
      if (call.engine != nullptr) return call.engine->wait_event(s);
    }
    if (fulfilled()) break;
    detail::wait_alone(s);
  }
  if (const std::exception_ptr failure = sched::event_board::failure_of(s); failure != nullptr)
    std::rethrow_exception(failure);
}

event::~event() {
  using kept = sched::event_board::kept;
  if (state_.timed && state_.task == nullptr) state_.engine->settle_after(state_, sched::event_board::at_no_time);
  const kept by = sched::event_board::kept_by(state_);
  if (by == kept::by_nobody) return;
  if (by == kept::by_task) {
    try {
      wait();
    } catch (...) {
      // What it failed with its task says; that it can never come is said below.
    }
    if (fulfilled()) return;
  }
  const bool named = state_.name != nullptr;
  std::fprintf(stderr, "weft: %s%s%s is destroyed before it was fulfilled; what waits for it fails.\n",
               named ? "event '" : "an unnamed event", named ? state_.name : "", named ? "'" : "");
  state_.abandoned = true;
  try {
    detail::end(state_, base::exception_or_bad_alloc([this] {
                  return error("weft: " + sched::name_of(state_) + " was destroyed before it was fulfilled");
                }));
  } catch (...) {
    // Somebody fulfils it at this moment.
  }
}

void yield() {
  detail::worker* w = detail::self();
  if (w != nullptr && w->current != nullptr) w->engine->yield();
}

void poll_while_idle(runtime& rt, bool (*look)(void* with), void* with) {
  sched::event_board& events = detail::engine_of(rt).events();
  if (look != nullptr && !events.hears && std::string_view(rt.machine()) != "host")
    throw error("weft: nobody is outside of a modelled machine, so there is nothing to poll; let its events come at a "
                "time (event::fulfil_after)");
  events.outside.set(look, with);
}

}  // namespace weft

// weft::event, and the table behind src/sched/idle/events.hpp. Here, because src/sched knows no threads.
#include "sched/idle/events.hpp"

#include <cstdio>
#include <mutex>
#include <utility>

#include "access/registration.hpp"
#include "base/assert.hpp"
#include "base/atomic.hpp"
#include "base/exception_or.hpp"
#include "base/printable.hpp"
#include "machine/host/host.hpp"
#include "runtime/engines.hpp"
#include "weft/error.hpp"
#include "weft/event.hpp"

namespace weft {

namespace sched {

namespace {

constinit std::mutex table;
constexpr int lines_max = 8;

[[nodiscard]] std::string name_of(const event_state& s) {
  return s.name != nullptr ? "event '" + base::printable(s.name) + "'" : std::string("an unnamed event");
}
[[nodiscard]] std::string task_name(const detail::record* r) {
  if (r == nullptr) return "a thread outside of tasks";
  return r->name != nullptr ? "task '" + base::printable(r->name) + "'" : std::string("an unnamed task");
}
[[nodiscard]] std::string what(const event_wait& x) {
  if (x.event != nullptr) return name_of(*x.event);
  const std::uint64_t now = access::version_in(detail::peek(x.handle->word));
  return "version " + std::to_string(x.version & access::version_mask) + " of handle " + access::name_of(*x.handle) +
         ", which is at " + std::to_string(now) + ", and nobody has submitted what would bring it";
}

// Both lists are doubly linked by the same names.
template <class T> void link(T*& first, T*& last, T& x) noexcept {
  x.before = last;
  x.after = nullptr;
  (last == nullptr ? first : last->after) = &x;
  last = &x;
}
template <class T> void unlink(T*& first, T*& last, T& x) noexcept {
  (x.before == nullptr ? first : x.before->after) = x.after;
  (x.after == nullptr ? last : x.after->before) = x.before;
  x.before = x.after = nullptr;
}

}  // namespace

// What is done under the lock.
struct event_table {
  // Order: relaxed; nobody relies on being told of more, and what is taken back concerned nobody else.
  static void count(event_board& b, int n) noexcept {
    base::shared(b.outstanding_).fetch_add(static_cast<std::uint32_t>(n), base::relaxed);
  }
  // With nothing left that it concerns s is no runtime's.
  static void let_go(event_state& s) noexcept {
    if (s.task == nullptr && s.waits == nullptr && !s.timed) s.engine = nullptr;
  }
  // s is over; what it concerns is the caller's. Counts stay until settled.
  [[nodiscard]] static event_end end(event_state& s, const std::exception_ptr& why) noexcept {
    WEFT_ASSERT(!s.over.raw);
    event_end e;
    e.failure = why;
    if (s.engine != nullptr) {
      event_board& b = s.engine->events();
      ++b.steps_;
      if (s.task != nullptr) {
        unlink(b.ties_, b.ties_last_, s);
        ++e.count;
      }
      for (event_wait* x = s.waits; x != nullptr; x = x->next) {
        unlink(b.waits_, b.waits_last_, *x);
        ++e.count;
      }
    }
    for (event_wait* x = s.waits; x != nullptr; x = x->next) x->failure = why;
    e.task = std::exchange(s.task, nullptr);
    e.waits = std::exchange(s.waits, nullptr);
    s.engine = nullptr;
    s.failure = why;
    base::shared(s.over).store(true, base::release);  // pairs with fulfilled()
    return e;
  }
};

void event_board::bind(detail::engine_base& engine, event_state& s) {
  const std::scoped_lock hold(table);
  if (s.over.raw || s.engine == &engine) return;
  if (s.engine != nullptr)
    throw error("weft: " + name_of(s) + " is in use by another runtime; an event belongs to one, until it is over");
  s.engine = &engine;
  // Threads that waited for it before it was anybody's look again, and then as guests of the runtime.
  for (event_wait* x = std::exchange(s.waits, nullptr); x != nullptr;) {
    event_wait* const next = x->next;
    machine::host::signal(x->self.signal);
    x = next;
  }
}

bool event_board::list(event_wait& x) {
  const std::scoped_lock hold(table);
  if (event_state* s = x.event; s != nullptr) {
    if (s->over.raw) {
      x.failure = s->failure;
      return false;
    }
    event_wait** last = &s->waits;
    while (*last != nullptr) last = &(*last)->next;
    *last = &x;
  }
  x.next = nullptr;
  link(waits_, waits_last_, x);
  event_table::count(*this, 1);
  return true;
}

bool event_board::delist(event_wait& x) noexcept {
  const std::scoped_lock hold(table);
  if (x.event != nullptr) {
    event_wait** at = &x.event->waits;
    if (x.event->over.raw) return false;
    while (*at != nullptr && *at != &x) at = &(*at)->next;
    if (*at == nullptr) return false;
    *at = x.next;
    event_table::let_go(*x.event);
  }
  unlink(waits_, waits_last_, x);
  event_table::count(*this, -1);
  return true;
}

event_end event_board::abandon(const detail::record& r, const std::exception_ptr& why) noexcept {
  const std::scoped_lock hold(table);
  for (event_state* s = ties_; s != nullptr; s = s->after) {
    if (s->task != &r) continue;
    s->abandoned = true;
    return event_table::end(*s, why);
  }
  return {};
}

void event_board::abandon_all() noexcept {
  const std::exception_ptr why =
      base::exception_or_bad_alloc([] { return error("weft: the runtime of an event ended before it came"); });
  const std::scoped_lock hold(table);
  while (ties_ != nullptr) {
    ties_->abandoned = true;
    static_cast<void>(event_table::end(*ties_, why));  // its task was never done and never will be
  }
  for (event_wait* x = waits_; x != nullptr; x = x->after) {  // of stacks that are gone
    if (x->event == nullptr) continue;
    x->event->waits = nullptr;
    event_table::let_go(*x->event);
  }
  waits_ = waits_last_ = nullptr;
}

event_end event_board::end(event_state& s) noexcept {
  const std::scoped_lock hold(table);
  s.timed = false;
  return s.over.raw ? event_end{} : event_table::end(s, nullptr);
}

void event_board::forget_time(event_state& s) noexcept {
  const std::scoped_lock hold(table);
  s.timed = false;
  event_table::let_go(s);
}

std::exception_ptr event_board::failure_of(event_state& s) noexcept {
  const std::scoped_lock hold(table);
  return s.failure;
}

void event_board::settled(std::uint32_t n) noexcept { base::shared(outstanding_).fetch_sub(n, base::seq_cst); }
std::uint32_t event_board::outstanding() noexcept { return base::shared(outstanding_).load(base::seq_cst); }
void event_board::begin_call() noexcept { base::shared(calls_).fetch_add(1, base::relaxed); }
void event_board::end_call() noexcept { base::shared(calls_).fetch_sub(1, base::release); }
bool event_board::calls_under_way() noexcept { return base::shared(calls_).load(base::acquire) != 0; }

std::string event_board::awaited_by(const detail::record* r) {
  const std::scoped_lock hold(table);
  for (const event_wait* x = waits_; x != nullptr; x = x->after)
    if (x->body == r) return " for " + what(*x);
  return "";
}

std::string event_board::event_of(const detail::record& r) {
  const std::scoped_lock hold(table);
  for (const event_state* s = ties_; s != nullptr; s = s->after)
    if (s->task == &r) return name_of(*s);
  return "an event that is over";
}

std::string event_board::lines() {
  const std::scoped_lock hold(table);
  std::string text;
  int count = 0;
  const auto add = [&](const std::string& line) {
    if (++count <= lines_max) text += "\n  " + line;
  };
  for (const event_state* s = ties_; s != nullptr; s = s->after)
    add(task_name(s->task) + " completes with " + name_of(*s));
  for (const event_wait* x = waits_; x != nullptr; x = x->after) add(task_name(x->body) + " waits for " + what(*x));
  return count <= lines_max ? text : text + "\n  and " + std::to_string(count - lines_max) + " more";
}

}  // namespace sched

namespace detail {

void tie(engine_base& engine, event_state& s, record& r) {
  std::exception_ptr failed_before;
  {
    const std::scoped_lock hold(sched::table);
    if (s.used) throw error("weft: two tasks are to complete with " + sched::name_of(s) + "; an event serves one task");
  }
  engine.events().bind(engine, s);
  {
    const std::scoped_lock hold(sched::table);
    s.used = true;
    if (!s.over.raw) {
      sched::event_board& b = engine.events();
      s.task = &r;
      sched::link(b.ties_, b.ties_last_, s);
      sched::event_table::count(b, 1);
      return;
    }
    failed_before = s.failure;
  }
  if (failed_before != nullptr) engine.fail_with_children(r, failed_before);
  poke(r.pending, peek(r.pending) & ~record::event_bit);  // it has come already
}

void untie(event_state& s) noexcept {
  const std::scoped_lock hold(sched::table);
  s.used = false;
  if (s.task == nullptr) return;
  sched::event_board& b = s.engine->events();
  sched::unlink(b.ties_, b.ties_last_, s);
  sched::event_table::count(b, -1);
  s.task = nullptr;
  sched::event_table::let_go(s);
}

namespace {

// The event is over, by the program. why: what it failed with, or null.
void end(event_state& s, const std::exception_ptr& why) {
  engine_base* engine = nullptr;
  event_end e;
  if (s.timed) s.engine->settle_after(s, sched::event_board::at_no_time);  // a modelled machine: one thread
  {
    const std::scoped_lock hold(sched::table);
    if (s.over.raw) {
      if (s.abandoned) return;
      throw error("weft: " + sched::name_of(s) + " is fulfilled a second time; an event happens once");
    }
    engine = s.engine;
    if (engine != nullptr) engine->events().begin_call();
    e = sched::event_table::end(s, why);
  }
  if (engine == nullptr) {
    for (event_wait* x = e.waits; x != nullptr;) {
      event_wait* const next = x->next;
      machine::host::signal(x->self.signal);
      x = next;
    }
    return;
  }
  sched::event_board& board = engine->events();
  engine->settle(e);
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
    const std::scoped_lock hold(sched::table);
    engine = s.engine != nullptr ? s.engine : w != nullptr ? w->engine : nullptr;
    if (s.engine == nullptr) return;
    board_ = &engine->events();
    board_->begin_call();
  }
  ~wait_call() {
    if (board_ != nullptr) board_->end_call();
  }
  wait_call(const wait_call&) = delete;
  wait_call& operator=(const wait_call&) = delete;

  engine_base* engine = nullptr;

 private:
  sched::event_board* board_ = nullptr;
};

// Until the event is over, or some runtime's. Who: a thread that is no worker.
void wait_alone(event_state& s) {
  event_wait x;
  x.event = &s;
  {
    const std::scoped_lock hold(sched::table);
    if (s.over.raw || s.engine != nullptr) return;
    x.next = s.waits;
    s.waits = &x;
  }
  machine::host::block(x.self.signal);
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
  detail::engine_base* engine = nullptr;
  {
    const std::scoped_lock hold(sched::table);
    engine = state_.engine;
  }
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
  std::exception_ptr failure;
  {
    const std::scoped_lock hold(sched::table);
    failure = s.failure;
  }
  if (failure != nullptr) std::rethrow_exception(failure);
}

event::~event() {
  bool tied = false;
  if (state_.timed && state_.task == nullptr) state_.engine->settle_after(state_, sched::event_board::at_no_time);
  {
    const std::scoped_lock hold(sched::table);
    if (state_.over.raw || (state_.task == nullptr && state_.waits == nullptr)) return;
    tied = state_.task != nullptr;
  }
  if (tied) {
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

}  // namespace weft

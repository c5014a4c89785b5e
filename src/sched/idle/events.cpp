#include "sched/idle/events.hpp"

#include <utility>

#include "access/registration.hpp"
#include "base/assert.hpp"
#include "base/atomic.hpp"
#include "base/exception_or.hpp"
#include "base/printable.hpp"
#include "base/process_lock.hpp"
#include "weft/error.hpp"

namespace weft {

namespace sched {

namespace {

constinit base::process_lock table;
constexpr int lines_max = 8;

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

std::string name_of(const event_state& s) {
  return s.name != nullptr ? "event '" + base::printable(s.name) + "'" : std::string("an unnamed event");
}

void wake_all_alone(event_wait* first) noexcept {
  while (first != nullptr) {
    event_wait* const next = first->next;  // it may be gone when it has been woken
    WEFT_ASSERT(first->wake_alone != nullptr);
    first->wake_alone(*first);
    first = next;
  }
}

void poll_seat::set(look what, void* with) {
  while (base::shared(taken_).exchange(true, base::acquire)) base::let_others_run();
  what_ = what;
  with_ = with;
  detail::poke(any_, what != nullptr);
  base::shared(taken_).store(false, base::release);
}

bool poll_seat::ask() {
  if (!detail::peek(any_) || base::shared(taken_).exchange(true, base::acquire)) return false;
  const bool came = what_ != nullptr && what_(with_);
  base::shared(taken_).store(false, base::release);
  return came;
}

// What is done under the lock.
struct event_table {
  // Order: relaxed; nobody relies on being told of more, and what is taken back concerned nobody else.
  static void count(event_board& b, int n) noexcept {
    base::shared(b.outstanding_).fetch_add(static_cast<std::uint32_t>(n), base::relaxed);
  }
  // As event_board::bind().
  static void bind(detail::engine_base& engine, event_state& s) {
    if (s.over.raw || s.engine == &engine) return;
    if (s.engine != nullptr)
      throw error("weft: " + name_of(s) + " is in use by another runtime; an event belongs to one, until it is over");
    s.engine = &engine;
    // Threads that waited for it before it was anybody's look again, and then as guests of the runtime.
    wake_all_alone(std::exchange(s.waits, nullptr));
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
  const base::process_hold hold(table);
  event_table::bind(engine, s);
}

bool event_board::list(event_wait& x) {
  const base::process_hold hold(table);
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
  const base::process_hold hold(table);
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
  const base::process_hold hold(table);
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
  const base::process_hold hold(table);
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
  const base::process_hold hold(table);
  s.timed = false;
  return s.over.raw ? event_end{} : event_table::end(s, nullptr);
}

void event_board::forget_time(event_state& s) noexcept {
  const base::process_hold hold(table);
  s.timed = false;
  event_table::let_go(s);
}

bool event_board::list_alone(event_wait& x) noexcept {
  WEFT_ASSERT(x.event != nullptr && x.wake_alone != nullptr);
  const base::process_hold hold(table);
  event_state& s = *x.event;
  if (s.over.raw || s.engine != nullptr) return false;
  x.next = s.waits;
  s.waits = &x;
  return true;
}

event_board::owned_end event_board::end_by_program(event_state& s, const std::exception_ptr& why) {
  const base::process_hold hold(table);
  if (s.over.raw) {
    if (s.abandoned) return {};
    throw error("weft: " + name_of(s) + " is fulfilled a second time; an event happens once");
  }
  detail::engine_base* const engine = s.engine;
  if (engine != nullptr) engine->events().begin_call();
  return {engine, event_table::end(s, why)};
}

detail::engine_base* event_board::engine_of(event_state& s) noexcept {
  const base::process_hold hold(table);
  return s.engine;
}

detail::engine_base* event_board::begin_call_of(event_state& s) noexcept {
  const base::process_hold hold(table);
  if (s.engine != nullptr) s.engine->events().begin_call();
  return s.engine;
}

event_board::kept event_board::kept_by(event_state& s) noexcept {
  const base::process_hold hold(table);
  if (s.over.raw || (s.task == nullptr && s.waits == nullptr)) return kept::by_nobody;
  return s.task != nullptr ? kept::by_task : kept::by_waits;
}

std::exception_ptr event_board::failure_of(event_state& s) noexcept {
  const base::process_hold hold(table);
  return s.failure;
}

void event_board::settled(std::uint32_t n) noexcept { base::shared(outstanding_).fetch_sub(n, base::seq_cst); }
std::uint32_t event_board::outstanding() noexcept { return base::shared(outstanding_).load(base::seq_cst); }
void event_board::begin_call() noexcept { base::shared(calls_).fetch_add(1, base::relaxed); }
void event_board::end_call() noexcept { base::shared(calls_).fetch_sub(1, base::release); }
bool event_board::calls_under_way() noexcept { return base::shared(calls_).load(base::acquire) != 0; }

std::string event_board::awaited_by(const detail::record* r) {
  const base::process_hold hold(table);
  for (const event_wait* x = waits_; x != nullptr; x = x->after)
    if (x->body == r) return " for " + what(*x);
  return "";
}

std::string event_board::event_of(const detail::record& r) {
  const base::process_hold hold(table);
  for (const event_state* s = ties_; s != nullptr; s = s->after)
    if (s->task == &r) return name_of(*s);
  return "an event that is over";
}

std::string event_board::lines() {
  const base::process_hold hold(table);
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
    const base::process_hold hold(sched::table);  // all in one, for another thread may do the same with s
    if (s.used) throw error("weft: two tasks are to complete with " + sched::name_of(s) + "; an event serves one task");
    sched::event_table::bind(engine, s);
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
  const base::process_hold hold(sched::table);
  s.used = false;
  if (s.task == nullptr) return;
  sched::event_board& b = s.engine->events();
  sched::unlink(b.ties_, b.ties_last_, s);
  sched::event_table::count(b, -1);
  s.task = nullptr;
  sched::event_table::let_go(s);
}

}  // namespace detail
}  // namespace weft

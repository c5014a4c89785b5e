// Events in the engine (events.hpp): a wait for one, what follows from the end of one, and the turn that a body gives
// up.
#pragma once
#include <exception>
#include <string>

#include "base/exception_or.hpp"
#include "weft/error.hpp"

namespace weft::sched {

template <machine::machine M> void engine<M>::wait_event(event_state& s) {
  check_process();
  visit v(*this);
  const program_call call(context_.ordering);
  worker& w = v.self();
  join_.events.bind(*this, s);
  event_wait x;
  x.event = &s;
  x.self.outer = &x;
  x.body = detail::body_around(w.current);
  if (x.body == nullptr) join_.watch.call();
  if (w.role == role::guest) {
    start_if_paused();
    const typename admission<M>::outside_wait needed(admit_.admission);
    const typename guests<M>::wait known(context_.guests, x.self, nullptr);
    if (join_.events.list(x)) M::block(x.self.signal);
    if (x.self.stalled) join_.stall.raise(false);
  } else {
    const main_wait here(admit_.admission, w);
    if (w.current == nullptr) start_if_paused();
    if (fulfilled(s)) {
      x.failure = event_board::failure_of(s);
    } else {
      admit_.suspension.suspend(w, x.self, {trace::why::event}, [this, &x](worker& last) {
        if (!join_.events.list(x)) context_.placement.place(last, &x.self.r);
      });
      if (x.self.stalled) join_.stall.raise(x.body == nullptr);
    }
  }
  if (x.failure != nullptr) std::rethrow_exception(x.failure);
}

// Where others may look at it, it is a word that moves between cores.
template <machine::machine M> bool engine<M>::fulfilled(event_state& s) {
  return M::unseen::load(s.over, base::acquire);
}

template <machine::machine M> void engine<M>::settle(const event_end& of) {
  check_process();
  const visit v(*this);
  worker& w = v.self();
  if (w.role == role::guest) {
    typename guests<M>::call here(context_.guests);
    return settle_on(w, of);
  }
  const program_call call(context_.ordering);
  settle_on(w, of);
  offer_turn(static_cast<worker&>(*current_worker()));
}

template <machine::machine M> void engine<M>::settle_on(worker& w, const event_end& of) {
  if (of.task != nullptr) one_event_less(w, *of.task, of.failure);
  for (event_wait* x = of.waits; x != nullptr;) {
    event_wait* const next = x->next;
    context_.placement.place(w, &x->self.r);  // x may be gone
    x = next;
  }
  join_.events.settled(of.count);
  // A worker looks for the end before it sleeps; who is none of them does so here.
  if (w.current == nullptr && context_.quiescence.is_over_for_some()) context_.readiness.quiescent(w);
}

// As the end of a child of r, and with a failure that of one that has thrown it.
template <machine::machine M>
void engine<M>::one_event_less(worker& w, detail::record& r, const std::exception_ptr& why) {
  if (why != nullptr) context_.poison.fail_by_event(r, why);
  const std::uint32_t before = M::fetch_sub(r.pending, detail::record::event_bit, base::acq_rel);
  WEFT_ASSERT((before & detail::record::event_bit) != 0);
  if (before == detail::record::event_bit) wholly_done(w, &r);
}

// The body that ran on w has failed or was skipped: the event of its task, if it is still to come, is not waited for.
// A member's body is the body of its team's task, which others of them may still be in.
template <machine::machine M> void engine<M>::abandon_event(worker& w, detail::record& ran, std::exception_ptr why) {
  detail::record& r = teams<M>::is_member(ran) ? *ran.parent : ran;
  if ((detail::peek(r.pending) & detail::record::event_bit) == 0) return;
  if (why == nullptr) why = context_.poison.cancelled_with(r);
  if (why == nullptr)
    why = base::exception_or_bad_alloc(
        [] { return error("weft: the task of an event was skipped, because what it would have used failed"); });
  const event_end e = join_.events.abandon(r, why);
  if (e.task == nullptr) return;  // somebody fulfils it
  const std::uint32_t before = M::fetch_sub(r.pending, detail::record::event_bit, base::acq_rel);
  WEFT_ASSERT((before & detail::record::event_bit) != 0 && before != detail::record::event_bit);  // the body's share
  event_end waits = e;
  waits.task = nullptr;
  settle_on(w, waits);
}

template <machine::machine M> void engine<M>::settle_after(event_state& s, std::uint64_t ps) {
  check_process();
  if (!M::has_alarms())
    throw error("weft: event::fulfil_after is for modelled machines; on real cores fulfil() is called when it happens");
  const visit v(*this);
  const program_call call(context_.ordering);
  if (ps == event_board::at_no_time) return join_.timers.set(s, ps);
  join_.events.bind(*this, s);
  if (fulfilled(s)) throw error("weft: an event that is over is to be fulfilled a second time; an event happens once");
  join_.timers.set(s, machine_.now_ps() + ps);
  offer_turn(static_cast<worker&>(*current_worker()));
}

// In a body. What goes on is queued where all workers look last, so whatever this worker has comes first.
template <machine::machine M> void engine<M>::yield() {
  check_process();
  const visit v(*this);
  const program_call call(context_.ordering);
  worker& w = v.self();
  detail::record* const body = w.current;
  count_yield();
  context_.ordering.yields(body);
  M::give_way();
  if (context_.ordering.chooses()) return offer_turn(w);
  if (context_.attention.paused() || !(deque::has_private(w) || any_visible(w, false))) return;
  waiter self;
  suspension<M>::note_wait(*body, nullptr);
  context_.placement.expose(w);
  const typename readiness<M>::exclusive_wait until_it_goes_on(context_.readiness, w);
  admit_.suspension.set_aside(w, self, [this, &self](worker& here) { context_.placement.yields(here, &self.r); });
  static_cast<worker&>(*current_worker()).current = body;
}

// Bodies that only yield to one another never end where nobody else is there who could help them; timers are.
template <machine::machine M> void engine<M>::count_yield() {
  if (M::admits_strangers()) return;
  const std::uint64_t steps = context_.quiescence.steps() + context_.crew.tasks_begun() + join_.events.steps();
  if (std::exchange(yields_.at, steps) != steps || join_.timers.pending()) yields_.count = 0;
  if (++yields_.count < base::idle_yields_max) return;
  yields_.count = 0;
  throw error("weft: bodies have yielded " + std::to_string(base::idle_yields_max) +
              " times in a row and nothing else has happened: they wait for one another, or for what no task does");
}

}  // namespace weft::sched

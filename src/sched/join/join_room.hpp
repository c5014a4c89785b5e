// What the engine has of this room, in the order of their floors, and the events and the clock's alarms that waits are
// for.
#pragma once
#include "sched/admit/admit_room.hpp"
#include "sched/idle/events.hpp"
#include "sched/idle/polls.hpp"
#include "sched/idle/timers.hpp"
#include "sched/join/branches.hpp"
#include "sched/join/live_view.hpp"
#include "sched/join/pipelines.hpp"
#include "sched/join/scopes.hpp"
#include "sched/join/stall.hpp"
#include "sched/join/waits.hpp"
#include "sched/join/watch.hpp"

namespace weft::sched {

template <class M> struct join_room {
  join_room(detail::engine_base* engine, child_runner<M>& runner, typename timers<M>::settler& settler, context<M>& c,
            admit_room<M>& admit)
      : timers(c.machine, events, settler), polls(events.outside), watch(c, admit.suspension, events, admit.admission),
        stall(c, admit.suspension, events, watch, admit.admission),
        waits(engine, runner, c, admit.stacks, admit.registrar, admit.suspension, stall, events),
        branches(c, admit.suspension, admit.admission, stall), scopes(waits, stall, c.quiescence),
        pipelines(c.machine, c.crew, c.rules), live_view(c) {}

  event_board events;
  sched::timers<M> timers;
  sched::polls<M> polls;
  sched::watch<M> watch;
  sched::stall<M> stall;
  sched::waits<M> waits;
  sched::branches<M> branches;
  sched::scopes<M> scopes;
  sched::pipelines<M, crew<M>> pipelines;
  sched::live_view<M> live_view;
};

}  // namespace weft::sched

// What the engine has of this room, in the order of their floors.
#pragma once
#include <cstddef>

#include "sched/admit/admission.hpp"
#include "sched/admit/creation.hpp"
#include "sched/admit/graphs.hpp"
#include "sched/admit/registrar.hpp"
#include "sched/admit/stacks.hpp"
#include "sched/admit/suspension.hpp"
#include "sched/place/place_room.hpp"

namespace weft::sched {

template <class M> struct admit_room {
  // loop: what a stack that is new begins with, of that engine.
  admit_room(detail::engine_base* engine, context<M>& c, place_room<M>& place, std::size_t stack_bytes,
             void (*loop)(void*), void* engine_address, std::size_t window_tasks)
      : registrar(engine, c.pool, c.recording, c.ordering, c.quiescence, c.placement, c.readiness),
        stacks(stack_bytes, loop, engine_address),
        suspension(c.machine, c.sleep, stacks, c.recording, c.readiness, c.quiescence),
        creation(engine, c, registrar, place.stealing, place.own),
        admission(c, suspension, place.stealing, window_tasks), graphs(c.placement, c.ordering, c.tempo) {}

  sched::registrar<M> registrar;
  sched::stacks<M> stacks;
  sched::suspension<M> suspension;
  sched::creation<M> creation;
  sched::admission<M> admission;
  sched::graphs<M> graphs;
};

}  // namespace weft::sched

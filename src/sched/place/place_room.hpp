// What the engine has of this room, beside what all share (context.hpp).
#pragma once
#include "sched/place/context.hpp"
#include "sched/place/queues.hpp"
#include "sched/place/short_forks.hpp"
#include "sched/place/stealing.hpp"
#include "sched/policies/locality.hpp"

namespace weft::sched {

template <class M> struct place_room {
  explicit place_room(context<M>& c)
      : short_forks(c.machine, c.sleep, c.rules),
        stealing(c.machine, c.sleep, c.crew, c.placement, c.tempo, c.recording), own(c.placement) {}

  sched::locality locality;
  sched::short_forks<M> short_forks;
  sched::stealing<M> stealing;
  own_source<M> own;  // the own deque once more, of who has put tasks there during a search
};

}  // namespace weft::sched

// What the engine has of this room, in the order of their floors.
#pragma once
#include "sched/join/join_room.hpp"
#include "sched/teams/hosting.hpp"
#include "sched/teams/teams.hpp"

namespace weft::sched {

template <class M> struct team_room {
  team_room(context<M>& c, admit_room<M>& admit, join_room<M>& join)
      : teams(c, admit.suspension, join.stall), hosting(c, teams) {}

  sched::teams<M> teams;
  sched::hosting<M> hosting;
};

}  // namespace weft::sched

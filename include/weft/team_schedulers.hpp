// The private schedulers that a team has (TAO §3.1). Each is a header of its own: an object that says what there is to
// do and in which order, and run(t, unit), which all members call. A new one is a file and a line of the list below;
// the conformance suite then runs over it (tests/conformance/team_schedulers.cpp).
//
//   team_table   steps x slots, the slots of a member fixed, a barrier between steps
//   team_graph   units with dependences; who is free takes the unit that has been ready longest
// and, without an object, the loop: team_context::for_each, in even blocks, dynamic or guided.
#pragma once
#include "weft/detail/language.hpp"  // before all others

#include "weft/team_graph.hpp"
#include "weft/team_table.hpp"

namespace weft {

template <class... Schedulers> struct team_scheduler_list {};

using team_schedulers = team_scheduler_list<  //
    team_table,                               //
    team_graph>;

}  // namespace weft

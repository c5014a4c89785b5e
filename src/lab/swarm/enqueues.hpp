// Tasks on their way into task queues and out of them (Swarm §4.2 and §4.7).
#pragma once
#include "lab/swarm/chip.hpp"

namespace weft::swarm {

// A new task goes to a tile of chance. parent: nullptr if nothing can abort who creates it. `from`: its tile.
void send(chip& c, task* parent, unsigned from, const detail::ordered_call& call, cycle at);
// A helper that creates a part of a list, for a task of that timestamp.
void send_helper(chip& c, task* parent, std::uint64_t asked_at, unsigned from, const call_part& part, cycle at);
void arrive(chip& c, task& t);     // a travelling one, or again one that was refused
void come_back(chip& c, task& t);  // an aborted one
// Into the order queue of its tile; an idle core wakes up for it.
void make_idle(chip& c, task& t);
// A core has come for work. Returns the earliest task, no longer idle, or nullptr.
[[nodiscard]] task* take_next(chip& c, tile& where);
void leave_entry(chip& c, task& t);  // of the task queue
// Forgets a task that has not begun.
void drop_unstarted(chip& c, task& t);
// Nothing can abort its parent any more.
void become_parentless(chip& c, task& child);
// An entry of the tile's commit queue is free again.
void wake_waiting(chip& c, tile& where);
// The cores rule of §4.7, and the same where all cores wait for something: if the tile's first idle task precedes all
// that its cores run, the last of these is aborted, and its core is free for it.
void preempt_if_needed(chip& c, tile& where);

}  // namespace weft::swarm

// The words of a report about a program that cannot go on: which task waits for what. And what is left of such a
// program: closures are destroyed, handles are put at rest, so that the runtime and the handles can end.
#pragma once
#include <string>

#include "access/entry.hpp"
#include "sched/idle/events.hpp"
#include "task/pool.hpp"
#include "weft/detail/record.hpp"

namespace weft::sched {

// "version 3 of handle total, which is at 2"; of elements of a stream, which. Who: nobody else changes it, or holder of
// the handle's lock.
[[nodiscard]] std::string describe_wait(const access::entry& a);
// Tasks listed on h, a line each, at most eight. Who: holder of h's lock.
[[nodiscard]] std::string describe_listed(const detail::handle_state& h);
// Every task that is not done, and why. Who: the worker that found everybody asleep; nobody else runs.
[[nodiscard]] std::string describe_stall(task::slabs& records, event_board& events);

// The runtime ends with tasks that can never run. Their closures are destroyed; of a body that waits for ever the stack
// is given back, but not what it owns. Who: the last thread.
void abandon_all(task::slabs& records) noexcept;
// h dies although tasks that can never run still name it: they forget it. Returns whether it was elements of a stream.
// Who: nobody else runs.
bool abandon_uses_of(task::slabs& records, detail::handle_state& h) noexcept;

}  // namespace weft::sched

// Task queues of bounded size that look unbounded (Swarm §4.7): coalescers take tasks that nothing can abort and that
// come late from a queue that is nearly full to memory, and leave a splitter there, which brings them back. Both run on
// cores.
#pragma once
#include "lab/swarm/chip.hpp"

namespace weft::swarm {

// The first task of a tile is never put to memory, so that one at least makes progress between a splitter and the next
// coalescer; and there must be two others to win an entry.
[[nodiscard]] inline bool can_coalesce(const tile& t) noexcept { return t.certain_idle >= 3; }
[[nodiscard]] inline bool must_coalesce(const chip& c, const tile& t) noexcept {
  return !t.coalescing && can_coalesce(t) && t.task_used * 100 >= t.task_entries * c.options.spill_percent;
}
void coalesce(chip& c, core& me);
void split(chip& c, core& me, task& splitter);
// The time of an access to a line that belongs to the chip's own tables.
[[nodiscard]] cycle own_access(chip& c, const core& me, line l, bool write);
[[nodiscard]] inline line own_line(const tile& t, std::uint64_t number) noexcept {
  return t.own_lines + static_cast<line>(number % tile::own_lines_count);
}

}  // namespace weft::swarm

// Selective aborts (Swarm §4.5): a task, its children, and whoever has accessed what it wrote, and so on; nobody else.
// Everything is as it was before them when the call returns. That it takes time is told in its result, and in when the
// tasks and the cores they ran on are there again.
#pragma once
#include <span>

#include "lab/swarm/chip.hpp"

namespace weft::swarm {

enum class cause : std::uint8_t {
  read_after_write,
  write_after_read,
  write_after_write,
  false_positive,
  child,
  data,
  resources,
  error
};

// What an access at a line means for a task that it conflicts with.
[[nodiscard]] cause cause_of(const task& victim, line l, bool write);

struct victim {
  task* who;
  cause why;
  bool discard = false;  // it does not come back
};
// Returns the time until the last of them is rolled back and `from` knows it.
cycle abort_tasks(chip& c, std::span<const victim> victims, unsigned from);

}  // namespace weft::swarm

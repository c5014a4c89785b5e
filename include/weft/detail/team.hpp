// What the members of one team share (weft/team.hpp). The engine makes it, keeps it until the last member has left, and
// alone works on its cells; who waits and who goes on: src/sched/teams.md.
#pragma once
#include <cstdint>

#include "weft/detail/cell.hpp"
#include "weft/detail/record.hpp"

namespace weft {
class team_context;
}

namespace weft::detail {

struct engine_base;

// How many members a task wants, as its clause says.
struct team_clause {
  std::uint16_t least;
  std::uint16_t most;
  bool starts_together;
  // The members begin when all are there, and none is gone before all have come to the end (TAO §5.3: synchronous).
  // Without it they come and go one by one (TAO §3.2). Cost: two barriers.
  [[nodiscard]] constexpr team_clause together() const noexcept { return {least, most, true}; }
};

using team_body = void (*)(record& task, team_context& self);

struct team_state {
  engine_base* engine;
  record* task;
  team_body body;
  std::uint32_t width;
  bool starts_together;
  const void** shown;  // by rank: what a member shows the others in a collective step, between two barriers
  // Members that have not left in the high half, and those of them that the barrier waits for in the low one.
  alignas(64) cell<std::uint64_t> present;
  cell<std::uint64_t> next;   // of a loop whose iterations are handed out: the first that nobody has
  cell<std::uint8_t> failed;  // a member has thrown
  cell<std::uint8_t> lock;    // of what follows
  record* aside;              // members that are set aside in the barrier
  std::uint32_t hosted;       // the barrier before whose opening a guest has been here last, plus one (guest.hpp)
  // Of the barrier: the number of those that are over times four; two: a member had thrown by the last; one: somebody
  // is set aside in this one.
  alignas(64) cell<std::uint32_t> phase;
  cell<std::uint8_t> summons;  // a guest is to come before the barrier opens: who waits leaves its worker at once
};

}  // namespace weft::detail

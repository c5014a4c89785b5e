// What the members of one team share (weft/team.hpp). The engine makes it, keeps it until the last member has left, and
// alone works on its cells; who waits and who goes on: src/sched/teams/teams.md.
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
  bool starts_together = false;
  bool is_learned = false;
  bool keeps_cores = false;
  std::uint64_t size = 0;

  // The members begin when all are there, and none is gone before all have come to the end (TAO §5.3: synchronous).
  // Without it they come and go one by one (TAO §3.2). Cost: two barriers.
  [[nodiscard]] constexpr team_clause together() const noexcept {
    team_clause c = *this;
    c.starts_together = true;
    return c;
  }
  // How many of them is learned from the times of earlier teams: see team(learned).
  [[nodiscard]] constexpr team_clause learned() const noexcept {
    team_clause c = *this;
    c.is_learned = true;
    return c;
  }
  // How large the work is, in any unit: teams learn from those whose size lies between the same powers of two. Without
  // it the size is what the accesses name in bytes (handle::bytes), else what weft::cost declares.
  [[nodiscard]] constexpr team_clause sized(std::uint64_t n) const noexcept {
    team_clause c = *this;
    c.size = n;
    return c;
  }
  // A member that waits for others of its team stays where it is, awake (TAO §3.2: busy-wait), instead of being set
  // aside after 5 us: it goes on the sooner, and its core does nothing else meanwhile. For a second at most, so it is
  // no promise, and teams may still cross as they like.
  [[nodiscard]] constexpr team_clause awake() const noexcept {
    team_clause c = *this;
    c.keeps_cores = true;
    return c;
  }
};

using team_body = void (*)(record& task, team_context& self);

// Which units of work come after which, by number (weft/team_graph.hpp). It does not change while a team is at it.
struct unit_order {
  std::uint32_t count;
  const std::uint32_t* before;  // [unit] how many it comes after
  const std::uint32_t* first;   // [unit] where in `after` those begin that come after it; one entry more than units
  const std::uint32_t* after;
};
// In the place of a number: a member that has no unit behind it, one whose unit has thrown; and what a member hears
// where all are done, or where one has thrown.
inline constexpr std::uint32_t no_unit = ~std::uint32_t{0}, unit_threw = no_unit - 1;
inline constexpr std::uint32_t units_over = no_unit, units_failed = no_unit - 1;
inline constexpr std::uint32_t units_max = no_unit - 3;

struct team_state {
  engine_base* engine;
  record* task;
  team_body body;
  std::uint32_t width;
  bool starts_together;
  bool keeps_cores;
  const void** shown;  // by rank: what a member shows the others in a collective step, between two barriers
  // Members that have not left in the high half, and those of them that the barrier waits for in the low one.
  alignas(64) cell<std::uint64_t> present;
  cell<std::uint64_t> busy_ps;  // of the members that have left, where the team is timed
  // Of a loop whose iterations are handed out: the first that nobody has. Of a graph: not 0, a member is at it.
  cell<std::uint64_t> next;
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

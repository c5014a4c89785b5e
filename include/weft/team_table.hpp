// A private scheduler of a team: work units in a table of steps and slots (TAO §3.1, §6).
//
//   const weft::team_table table(3, 4);  // three steps of four slots
//   rt.submit(weft::team(2), [&](weft::team_context& t) {
//     table.run(t, [&](std::size_t step, std::size_t slot) { ... });
//   });
//
// The slots are divided among the members once and for all, neighbours together, so that a member finds in its cache
// what it had there the step before. Between two steps all meet. A slot that a step has no work for is one whose call
// does nothing: the more of these, the more members wait.
#pragma once
#include "weft/detail/language.hpp"  // before all others

#include <cstddef>

#include "weft/team.hpp"

namespace weft {

class team_table {
 public:
  constexpr team_table(std::size_t steps, std::size_t slots) noexcept : steps_(steps), slots_(slots) {}

  [[nodiscard]] constexpr std::size_t steps() const noexcept { return steps_; }
  [[nodiscard]] constexpr std::size_t slots() const noexcept { return slots_; }

  // unit(step, slot) for all of the table, each once, by one member or another; those of a step when all of the step
  // before are done. Who: all members, with tables that are alike. Returns when this member's slots of the last step
  // are done: it may leave before the others (TAO §3.2). Cost: a barrier between steps. Errors: what unit throws;
  // team_error at the next step if another member has thrown.
  template <class Unit> void run(team_context& t, Unit&& unit) const {
    for (std::size_t step = 0; step < steps_; ++step) {
      if (step != 0) t.barrier();
      t.for_each(std::size_t{0}, slots_, [&](std::size_t slot) { unit(step, slot); });
    }
  }

 private:
  std::size_t steps_, slots_;
};

}  // namespace weft

// Conflicts (Swarm §4.4): an access conflicts with what a task of a later virtual time did to the line, if one of the
// two is a write. A tile finds such tasks by its Bloom filters, and compares their virtual times.
#pragma once
#include <vector>

#include "lab/swarm/chip.hpp"

namespace weft::swarm {

class conflicts final : public conflict_check {
 public:
  // Who accesses: `self`, whose own accesses are no conflict; at its virtual time.
  conflicts(chip& c, const task& self) : chip_(c), self_(self) {}
  [[nodiscard]] answer check(unsigned tile, line l, bool write) override;
  // Those that must be aborted. A task may be in it twice.
  [[nodiscard]] const std::vector<task*>& found() const noexcept { return found_; }

 private:
  void look_at(task* t, answer& a);

  chip& chip_;
  const task& self_;
  std::vector<task*> found_;
};

// Puts an access into the sets of a running task.
void note_access(chip& c, task& t, line l, bool write);
// Takes a task out of all sets: it has committed, or is aborted.
void forget_accesses(chip& c, task& t);
// Asserts that no task of a later time has a conflicting access, whatever the filters said.
void audit_access(const chip& c, const task& t, line l, bool write);

}  // namespace weft::swarm

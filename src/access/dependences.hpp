// Which of a list of tasks must be done before which, from their accesses: what versions say one by one, said once and
// for all, for a graph that runs again (src/sched/graphs.hpp). Accesses to one handle fall into groups as in
// version.hpp; each member of a group waits for all of the group before. Adds are ordered as they come: any order
// would do, and one of them costs nothing while it runs.
// An edge that two others imply is left out. Where a group of many would wait for a group of many, a *join* is put
// between them, a task that does nothing: so m and n accesses make m + n edges and not m * n.
// No lock, no atomic, no memory of any machine: a computation on numbers.
#pragma once
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "access/entry.hpp"

namespace weft::access {

class dependences {
 public:
  static constexpr std::uint32_t many = 4;  // a group of more gets a join behind it, if there may be many behind it too

  // What one handle has come to.
  struct slot {
    handle_state* handle = nullptr;
    std::uint64_t accesses = 0;         // so many
    std::uint64_t group_start = 0;      // of these before the last group
    std::uint8_t group = 0;             // its kind; 0: no access yet
    bool mixed = false;                 // there were accesses of several groups
    bool reduces = false;               // some are reduces
    std::vector<std::uint32_t> last;    // tasks of the last group,
    std::vector<std::uint32_t> before;  // and of the one before
  };

  // The next access of the task that is being added. Returns the version it requires, counted from the first access of
  // the graph to that handle.
  std::uint64_t access(handle_state& h, std::uint8_t group);
  // Whether an access of this group would come behind reduces on h that nobody has applied.
  [[nodiscard]] bool must_apply_first(handle_state& h, std::uint8_t group) const;
  // The task has no more accesses. Returns its number.
  std::uint32_t add();
  // The task that is being added is none.
  void discard() noexcept {
    waits_for_.clear();
    used_.clear();
  }

  // Whether a join must be added before the task that is being filled in. It is: the tasks that join() gives.
  [[nodiscard]] bool needs_join(handle_state& h, std::uint8_t group) const;
  std::uint32_t join(handle_state& h);

  [[nodiscard]] std::uint32_t tasks() const noexcept { return static_cast<std::uint32_t>(first_.size()) - 1; }
  [[nodiscard]] std::size_t edges() const noexcept { return predecessors_.size(); }
  // Of task i, each once.
  [[nodiscard]] const std::uint32_t* begin(std::uint32_t i) const noexcept { return predecessors_.data() + first_[i]; }
  [[nodiscard]] const std::uint32_t* end(std::uint32_t i) const noexcept {
    return predecessors_.data() + first_[i + 1];
  }
  // In the order in which they were met.
  [[nodiscard]] const std::vector<slot>& slots() const noexcept { return slots_; }

 private:
  [[nodiscard]] static bool joins(const slot& s, std::uint8_t group) noexcept {
    return s.group == group && (group & detail::kind_commutative) != 0 && (group & detail::kind_exclusive) == 0;
  }
  [[nodiscard]] slot& slot_of(handle_state& h);
  void reduce();

  std::vector<slot> slots_;
  std::unordered_map<const handle_state*, std::size_t> by_handle_;
  std::vector<std::uint32_t> waits_for_;  // of the task that is being added
  std::vector<std::size_t> used_;         // slots that it has joined
  std::vector<std::uint32_t> predecessors_;
  std::vector<std::size_t> first_{0};
  std::vector<std::uint32_t> seen_;  // by task: 1 + the last one that named it as predecessor
};

}  // namespace weft::access

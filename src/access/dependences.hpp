// Which of a list of tasks must be done before which, from their accesses: what versions say one by one, said once and
// for all, for a graph that runs again (src/sched/admit/graphs.hpp). Accesses to one handle fall into groups as in
// version.hpp; each member of a group waits for all of the group before. Adds are ordered as they come: any order
// would do, and one of them costs nothing while it runs.
// An edge that two others imply is left out. Where a group of many would wait for a group of many, a *join* is put
// between them, a task that does nothing: so m and n accesses make m + n edges and not m * n.
// No lock, no atomic, no memory of any machine: a computation on numbers.
#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include "access/entry.hpp"

namespace weft::access {

class dependences {
 public:
  static constexpr std::uint32_t many = 4;  // a group of more gets a join behind it, if there may be many behind it too
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  // Tasks of one group: mostly one, else a chain.
  struct group_members {
    std::uint32_t newest = none;  // task
    std::uint32_t older = none;   // link
    std::uint32_t size = 0;
  };
  // What one handle has come to.
  struct slot {
    handle_state* handle = nullptr;
    std::uint64_t accesses = 0;     // so many; 0: only asked for
    std::uint64_t group_start = 0;  // of these before the last group
    std::uint8_t group = 0;         // its kind; 0: no access yet
    bool mixed = false;             // there were accesses of several groups
    bool reduces = false;           // some are reduces
    std::uint32_t named_by = 0;     // the turn that has named it last
    group_members last;             // tasks of the last group,
    group_members before;           // and of the one before
  };

  // The number of h's slot, by which all else is asked. Cost: a look into a table that is at most half full.
  [[nodiscard]] std::uint32_t slot_of(handle_state& h) {
    for (std::size_t at = h.id;; ++at) {
      const bucket& b = by_handle_[at & mask_];
      if (b.handle == &h) [[likely]]
        return b.slot;
      if (b.handle == nullptr) return new_slot(h);
    }
  }
  // A task is looked at, and perhaps added: what it names is not what others have named.
  void begin() noexcept { ++turn_; }
  // Returns whether it was named before in this turn.
  [[nodiscard]] bool name(std::uint32_t i) noexcept { return std::exchange(slots_[i].named_by, turn_) == turn_; }

  // The next access of the task that is being added. Returns the version it requires, counted from the first access of
  // the graph to that handle.
  std::uint64_t access(std::uint32_t i, std::uint8_t group);
  // Whether an access of this group would come behind reduces on the handle that nobody has applied.
  [[nodiscard]] bool must_apply_first(std::uint32_t i, std::uint8_t group) const noexcept {
    return slots_[i].group == detail::kind_reduce && group != detail::kind_reduce;
  }
  // The task has no more accesses. Returns its number.
  std::uint32_t add();

  // Whether a join must be added before the task that is being filled in. It is: the tasks that join() gives.
  [[nodiscard]] bool needs_join(std::uint32_t i, std::uint8_t group) const noexcept {
    const slot& s = slots_[i];
    return s.group != 0 && s.group != group && may_be_many(group) && s.last.size > many;
  }
  std::uint32_t join(std::uint32_t i);

  [[nodiscard]] std::uint32_t tasks() const noexcept { return static_cast<std::uint32_t>(first_.size()) - 1; }
  [[nodiscard]] std::size_t edges() const noexcept { return predecessors_.size(); }
  // Of task i, each once, in no order. Who: not while another is being added.
  [[nodiscard]] const std::uint32_t* begin(std::uint32_t i) const noexcept { return predecessors_.data() + first_[i]; }
  [[nodiscard]] const std::uint32_t* end(std::uint32_t i) const noexcept {
    return predecessors_.data() + first_[i + 1];
  }
  // In the order in which they were asked for.
  [[nodiscard]] const std::vector<slot>& slots() const noexcept { return slots_; }

 private:
  struct bucket {
    const handle_state* handle = nullptr;  // not looked into: one that could not be recorded may be gone
    std::uint32_t id = 0;
    std::uint32_t slot = 0;
  };
  struct link {
    std::uint32_t task;
    std::uint32_t older;
  };
  // What the task that is being added has found out about an earlier one.
  struct mark {
    std::uint32_t waited_for = 0;  // by the task 1 + this
    std::uint32_t implied = 0;     // for it
  };
  [[nodiscard]] static bool may_be_many(std::uint8_t group) noexcept {
    return (group & detail::kind_commutative) != 0 && (group & detail::kind_exclusive) == 0;
  }
  void enter(const bucket& b) noexcept;
  [[nodiscard]] std::uint32_t new_slot(handle_state& h);
  void wait_for(std::uint32_t p, std::uint32_t self);
  void wait_for(const group_members& all);
  void reduce();

  std::vector<slot> slots_;
  // A power of two, each handle in the bucket of its id or behind: ids are given one after the other, so that a
  // program's handles lie beside each other. With std::unordered_map an access takes 35 instructions more.
  std::vector<bucket> by_handle_{16};
  std::size_t mask_ = 15;
  std::uint32_t turn_ = 0;
  std::vector<link> links_;
  std::vector<std::uint32_t> predecessors_;  // the last ones are those of the task that is being added
  std::vector<std::size_t> first_{0};
  std::vector<mark> marks_;  // by task
};

}  // namespace weft::access

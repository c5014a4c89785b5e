// A task of the chip: its descriptor, which holds an entry of a task queue from arrival to commit, and its speculative
// state, which a core and then an entry of a commit queue hold (Swarm §4.2, §4.3, Fig. 6). One record stands for all of
// it. Life:
//
//   travelling -> idle -> running -> finished -> (committed)      spilled: idle, in memory, its entry given back
//        ^                   |           |
//        +---- returning <---+-----------+  aborted. The child of an aborted task is gone instead: dropped, if a
//                                           message about it is still on its way
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <utility>
#include <vector>

#include "base/assert.hpp"
#include "lab/swarm/lines.hpp"
#include "lab/swarm/virtual_time.hpp"
#include "weft/detail/ordered.hpp"

namespace weft::swarm {

struct core;

// Calls that wait in memory until helpers create them: children beyond those that a task can track, or the roots.
struct call_list {
  std::vector<detail::ordered_call> calls;
  line first = 0;  // two descriptors a line
};

// A helper's part of such a list: first to last.
struct call_part {
  std::shared_ptr<const call_list> list;
  std::uint32_t first = 0, last = 0;
};

struct task {
  enum class phase : std::uint8_t { travelling, idle, running, finished, returning, spilled, aborting, dropped };
  enum class role : std::uint8_t { body, helper, splitter };
  struct access {
    line where;
    bool wrote;
    std::uint32_t node;  // of the exact sets, where they are kept
  };
  struct undo {
    std::byte* at;
    std::uint64_t old;
    std::uint32_t bytes;
  };
  struct block {
    void* at;
    std::size_t bytes, alignment;
  };

  detail::ordered_call call;
  virtual_time at;  // while running or finished
  std::uint64_t age = 0;
  cycle spent = 0;  // by the core that ran it
  core* runs_on = nullptr;
  task* parent = nullptr;  // nullptr: committed, so that this task is certain to be wanted
  task* first_child = nullptr;
  task* next = nullptr;  // of the same parent
  task* previous = nullptr;
  task* next_waiting = nullptr;  // travelling or returning ones
  task* previous_waiting = nullptr;
  std::uint32_t heap_place = 0;
  std::uint32_t slot = 0;  // in its tile's sets
  std::uint32_t commit_place = 0;
  std::uint16_t tile = 0;
  std::uint16_t children = 0;
  std::uint16_t refused = 0;  // of its children, which wait for an entry
  std::uint16_t tries = 0;
  phase is = phase::idle;
  role does = role::body;
  bool certain = false;  // its time is the global one: nothing can abort it, and it need not track children
  bool discard = false;  // while aborting: it is not to come back
  bool was_refused = false;
  bool was_started = false;  // and aborted
  bool emergency = false;    // it has an entry beyond the task queue's size
  std::vector<access> accesses;
  std::vector<undo> undos;  // oldest first
  std::vector<block> allocated, released;
  std::vector<detail::ordered_call> late;  // children beyond those it can track itself
  std::exception_ptr error;
  call_part part;             // of a helper
  std::vector<task*> inside;  // of a splitter
  line spilled_to = 0;

  [[nodiscard]] std::pair<std::uint64_t, std::uint64_t> key() const noexcept { return {call.timestamp, age}; }

  void add_child(task* c) noexcept {
    WEFT_ASSERT(c->parent == nullptr && (first_child == nullptr || first_child->previous == nullptr));
    c->parent = this;
    c->previous = nullptr;
    c->next = first_child;
    if (first_child != nullptr) first_child->previous = c;
    first_child = c;
  }
  void leave_parent() noexcept {
    if (parent == nullptr) return;
    WEFT_ASSERT((previous != nullptr ? previous->next : parent->first_child) == this);
    WEFT_ASSERT(next == nullptr || next->previous == this);
    (previous != nullptr ? previous->next : parent->first_child) = next;
    if (next != nullptr) next->previous = previous;
    parent = next = previous = nullptr;
  }
};

// Where tasks live. They stay where they are, and keep the memory of their lists for the next one.
class task_pool {
 public:
  [[nodiscard]] task* take() {
    if (free_.empty()) {
      auto& chunk = chunks_.emplace_back(std::make_unique<std::array<task, 256>>());
      for (std::size_t i = chunk->size(); i-- != 0;) free_.push_back(&(*chunk)[i]);
    }
    ++live_;
    task* const t = free_.back();
    free_.pop_back();
    WEFT_ASSERT(t->first_child == nullptr && t->parent == nullptr && t->accesses.empty());
    return t;
  }
  void give_back(task* t) {
    WEFT_ASSERT(live_ != 0 && t->first_child == nullptr && t->parent == nullptr);
    WEFT_ASSERT(t->accesses.empty() && t->runs_on == nullptr);  // no set nor core has it
    --live_;
    reset(*t);
    free_.push_back(t);
  }
  void clear() {  // whatever became of them
    chunks_.clear();
    free_.clear();
    live_ = 0;
  }
  [[nodiscard]] std::uint64_t live() const noexcept { return live_; }

 private:
  static void reset(task& t) {
    t.spent = 0;
    t.runs_on = nullptr;
    t.children = t.refused = t.tries = 0;
    t.does = task::role::body;
    t.certain = t.discard = t.was_refused = t.was_started = t.emergency = false;
    t.accesses.clear();
    t.undos.clear();
    t.allocated.clear();
    t.released.clear();
    t.late.clear();
    t.error = nullptr;
    t.part = {};
    t.inside.clear();
  }

  std::vector<std::unique_ptr<std::array<task, 256>>> chunks_;
  std::vector<task*> free_;
  std::uint64_t live_ = 0;
};

}  // namespace weft::swarm

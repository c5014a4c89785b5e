// A tile's task unit: a task queue with its order queue, a commit queue, and what it has put to memory (Swarm §4.2,
// §4.7). Entries are counted; tasks are records elsewhere.
// Invariant: tasks that hold an entry <= size of the task queue, but for one in an emergency (swarm.md, "Full queues").
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/assert.hpp"
#include "lab/swarm/order_queue.hpp"
#include "lab/swarm/signature.hpp"
#include "lab/swarm/spill_blocks.hpp"
#include "lab/swarm/task.hpp"
#include "weft/lab/swarm.hpp"

namespace weft::swarm {

struct tile {
  static constexpr std::uint32_t own_lines_count = 1024;
  static constexpr std::uint32_t log_lines_count = 256;  // what the largest tasks of a full commit queue log

  std::uint32_t number = 0;
  std::uint32_t first_core = 0, cores = 0;
  struct entry {
    virtual_time at;
    task* who;
  };
  std::uint64_t task_entries = 0, commit_entries = 0;  // how many there are
  std::uint64_t task_used = 0;
  std::vector<entry> finished;  // the commit queue
  order_queue<task> idle;
  order_queue<task> overflow;      // in memory, all without a parent; smaller keys than splitters would have
  std::uint64_t certain_idle = 0;  // of the idle ones, those without a parent: they may be spilled
  task* emergency = nullptr;       // who holds the entry that does not exist
  bool coalescing = false;
  bool may_dequeue = true;
  cycle next_dequeue = 0;
  std::uint32_t idle_cores = 0;     // bits
  std::uint32_t waiting_cores = 0;  // bits: for an entry of the commit queue
  // Tasks that run or have finished, by their slots in the signatures. nullptr: free.
  std::vector<task*> slots;
  std::vector<std::uint32_t> free_slots;
  std::vector<signatures> sets;  // read, written; none where sets are precise
  line own_lines = 0;            // for arguments that do not fit descriptors; used in turn
  std::uint64_t own_cursor = 0;
  line log_lines = 0;  // for undo logs, used in turn
  std::uint64_t log_cursor = 0;
  spill_blocks spilled;  // where splitters' descriptors are

  [[nodiscard]] bool task_queue_full() const noexcept { return task_used >= task_entries; }
  [[nodiscard]] bool commit_queue_full() const noexcept { return finished.size() >= commit_entries; }

  void take_slot(task& t) {
    if (free_slots.empty()) {
      const auto old = static_cast<std::uint32_t>(slots.size());
      slots.resize(std::max<std::size_t>(2 * slots.size(), 64));
      for (auto i = static_cast<std::uint32_t>(slots.size()); i-- != old;) free_slots.push_back(i);
      for (signatures& s : sets) s.grow(static_cast<std::uint32_t>(slots.size()));
    }
    t.slot = free_slots.back();
    free_slots.pop_back();
    WEFT_ASSERT(slots[t.slot] == nullptr);
    slots[t.slot] = &t;
  }
  void leave_slot(task& t) {
    WEFT_ASSERT(t.slot < slots.size() && slots[t.slot] == &t);
    slots[t.slot] = nullptr;
    free_slots.push_back(t.slot);
  }
  void enter_commit_queue(task& t) {
    WEFT_ASSERT(!commit_queue_full() && slots[t.slot] == &t);
    t.commit_place = static_cast<std::uint32_t>(finished.size());
    finished.push_back({t.at, &t});
  }
  void leave_commit_queue(task& t) {
    WEFT_ASSERT(t.commit_place < finished.size() && finished[t.commit_place].who == &t);
    WEFT_ASSERT(finished[t.commit_place].at == t.at);
    finished[t.commit_place] = finished.back();
    finished[t.commit_place].who->commit_place = t.commit_place;
    finished.pop_back();
  }
  // The finished task of the latest virtual time, or nullptr.
  [[nodiscard]] task* last_finished() const noexcept {
    const auto earlier = [](const entry& a, const entry& b) { return a.at < b.at; };
    const auto last = std::max_element(finished.begin(), finished.end(), earlier);
    return last == finished.end() ? nullptr : last->who;
  }
};

}  // namespace weft::swarm

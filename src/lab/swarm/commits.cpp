#include "lab/swarm/commits.hpp"

#include <algorithm>

#include "lab/swarm/aborts.hpp"
#include "lab/swarm/conflicts.hpp"
#include "lab/swarm/cores.hpp"
#include "lab/swarm/enqueues.hpp"

namespace weft::swarm {

namespace {

constexpr std::uint32_t local_time_bytes = 24, global_time_bytes = 16;
// All cores waiting, and time standing still, for so long is no program's doing.
constexpr std::uint64_t stuck_periods_max = 100'000;

[[nodiscard]] cycle way_of_times(const chip& c) { return 2 * c.net.worst() + 1; }

[[nodiscard]] virtual_time least_unfinished(const chip& c) {
  virtual_time least = virtual_time::never();
  const auto consider = [&](std::uint64_t timestamp, unsigned tile) {
    least = std::min(least, virtual_time::of(timestamp, c.events.now(), tile));
  };
  for (const tile& t : c.tiles) {
    if (!t.idle.empty()) consider(t.idle.first()->call.timestamp, t.number);
    if (!t.overflow.empty()) consider(t.overflow.first()->call.timestamp, t.number);
  }
  for (const auto& each : c.cores) {
    if (each->runs != nullptr) least = std::min(least, each->last);
    if (each->holds) consider(*each->holds, each->tile);
  }
  for (const task* t = c.waiting; t != nullptr; t = t->next_waiting) consider(t->call.timestamp, t->tile);
  return least;
}

void commit(chip& c, task& t) {
  tile& where = c.tiles[t.tile];
  WEFT_ASSERT(t.parent == nullptr);  // it was before this one
  WEFT_ASSERT(t.is == task::phase::finished && t.at < c.gvt && t.at >= c.committed_last);
  c.committed_last = t.at;
  while (t.first_child != nullptr) become_parentless(c, *t.first_child);
  WEFT_ASSERT(t.refused == 0);
  forget_accesses(c, t);
  where.leave_slot(t);
  c.leave_commit_entry(where, t);
  leave_entry(c, t);
  c.statistics.core_cycles.committed += t.spent;
  ++c.over_time.of(t.tile).commits;
  ++(t.does == task::role::body ? c.statistics.tasks.committed : c.statistics.tasks.helpers);
  for (const task::block& b : t.released) c.heap.give_back(t.tile, b.at, b.bytes, b.alignment);
  if (c.committed != nullptr && t.does == task::role::body) c.committed(c.committed_whom, t.call, t.at);
  c.tasks.give_back(&t);
  wake_waiting(c, where);
}

// A body has thrown, and it did happen. What is behind it did not.
void end_by(chip& c, task& thrower) {
  c.error = thrower.error;
  thrower.is = task::phase::aborting;  // but for its stores
  std::vector<victim> rest;
  for (tile& where : c.tiles)
    for (task* const t : where.slots)
      if (t != nullptr && t != &thrower) {
        while (t->first_child != nullptr) t->first_child->leave_parent();
        rest.push_back({t, cause::error, true});
      }
  c.statistics.core_cycles.committed += thrower.spent;
  forget_accesses(c, thrower);
  static_cast<void>(abort_tasks(c, rest, thrower.tile));
  c.count_occupancy();
  for (tile& where : c.tiles) {
    while (where.task_used != 0) c.leave_task_entry(where);
    while (!where.finished.empty()) c.leave_commit_entry(where, *where.finished.back().who);
    where.idle.clear();
    where.overflow.clear();
    where.certain_idle = 0;
    where.emergency = nullptr;
    where.coalescing = false;
    where.slots.clear();
    where.free_slots.clear();
  }
  for (auto& each : c.cores) each->holds.reset();
  c.forget_waiting();
  c.tasks.clear();
  c.ending = true;
}

void make_certain(chip& c, task& t) {
  WEFT_ASSERT(t.is == task::phase::running && t.parent == nullptr && t.runs_on->runs == &t);
  t.certain = true;
  while (t.first_child != nullptr) become_parentless(c, *t.first_child);
  if (t.runs_on->waiting == core::waits::certain) wake(c, *t.runs_on, c.events.now());
}

}  // namespace

void look_at_virtual_times(chip& c) {
  const virtual_time seen = least_unfinished(c);
  WEFT_ASSERT(seen >= c.gvt_seen);
  if (seen != c.gvt_seen) c.stuck_periods = 0;
  c.gvt_seen = seen;
  c.events.push(c.events.now() + way_of_times(c), {event::kind::apply, 0, nullptr});
}

void apply_global_virtual_time(chip& c) {
  WEFT_ASSERT(c.gvt_seen >= c.gvt);
  c.gvt = c.gvt_seen;
  ++c.statistics.gvt_updates;
  c.statistics.traffic.gvt += (c.tiles.size() - 1) * (local_time_bytes + global_time_bytes);
  std::vector<tile::entry>& ready = c.ready_to_commit;
  ready.clear();
  for (tile& where : c.tiles)
    for (const tile::entry& e : where.finished)
      if (e.at < c.gvt) ready.push_back(e);
  std::sort(ready.begin(), ready.end(), [](const tile::entry& a, const tile::entry& b) { return a.at < b.at; });
  for (const auto& [at, t] : ready) {
    if (t->error != nullptr) return end_by(c, *t);
    commit(c, *t);
  }
  bool all_wait = true;
  for (auto& each : c.cores) {
    if (each->runs != nullptr && each->last == c.gvt) make_certain(c, *each->runs);
    all_wait &= each->waiting != core::waits::no;
  }
  c.ending = c.tasks.live() == 0;
  if (!all_wait || !ready.empty()) c.stuck_periods = 0;
  ++c.stuck_periods;
  WEFT_ASSERT(c.stuck_periods < stuck_periods_max);
  const cycle way = way_of_times(c);
  const cycle rest = c.options.gvt_period > way ? c.options.gvt_period - way : 1;
  c.events.push(c.events.now() + rest, {event::kind::look, 0, nullptr});
}

}  // namespace weft::swarm

#include "lab/swarm/spills.hpp"

#include <algorithm>

#include "lab/swarm/cores.hpp"
#include "lab/swarm/enqueues.hpp"

namespace weft::swarm {

cycle own_access(chip& c, const core& me, line l, bool write) {
  if (c.caches.hit(me.number, l, write)) return 0;
  return c.caches.access({me.tile, me.number, {}, false}, l, write, nullptr);
}

namespace {

std::uint32_t words_of(const chip& c, const task& t) { return 2 + std::min(t.call.arguments, c.options.registers); }

// The time to take tasks out of the queue, or to put them there, and to store or load their descriptors: a function, a
// timestamp and the arguments of each, one behind the other. Those before `from` stay where they are.
cycle descriptors(chip& c, const core& me, line first, const std::vector<task*>& tasks, std::size_t from, bool write) {
  constexpr std::uint32_t words_of_line = 8;
  cycle time = 0;
  std::uint32_t words = 0;
  for (std::size_t i = 0; i < from; ++i) words += words_of(c, *tasks[i]);
  line stored = first + words / words_of_line - 1;
  for (std::size_t i = from; i < tasks.size(); ++i) {
    const std::uint32_t more = words_of(c, *tasks[i]);
    time += c.options.task_instruction + more;
    words += more;
    for (; stored + 1 < first + (words + words_of_line - 1) / words_of_line; ++stored)
      time += own_access(c, me, stored + 1, write);
  }
  return time;
}

}  // namespace

void coalesce(chip& c, core& me) {
  tile& where = c.tile_of(me);
  where.coalescing = true;
  ++c.statistics.tasks.coalescers;
  std::vector<task*> taken;
  for (const auto& [key, t] : where.idle.all())
    if (t->parent == nullptr && t != where.idle.first()) taken.push_back(t);
  const std::size_t many = std::min<std::size_t>(taken.size(), std::max(2u, c.options.spill_tasks));
  WEFT_ASSERT(many >= 2);
  const auto later = [](const task* a, const task* b) { return a->key() > b->key(); };
  std::nth_element(taken.begin(), taken.begin() + static_cast<std::ptrdiff_t>(many - 1), taken.end(), later);
  taken.resize(many);
  std::sort(taken.begin(), taken.end(), later);
  for (task* const t : taken) {
    where.idle.erase(t);
    WEFT_ASSERT(t->is == task::phase::idle && where.certain_idle != 0);
    --where.certain_idle;
    t->is = task::phase::spilled;
  }
  me.holds = taken.back()->call.timestamp;
  me.time += c.options.task_instruction;  // the coalescer's own dequeue
  const line block = where.spilled.take(c.all_lines, c.options.spill_tasks);
  me.time += descriptors(c, me, block, taken, 0, true);
  me.time += 2 * c.options.task_instruction;  // enqueues the splitter, and finishes
  sync(c, me);
  if (c.ending) return;  // a body has thrown, and what was taken is no more
  task& splitter = *c.tasks.take();
  splitter.does = task::role::splitter;
  splitter.call = {};
  splitter.call.timestamp = taken.back()->call.timestamp;
  splitter.age = taken.back()->age;
  splitter.tile = static_cast<std::uint16_t>(where.number);
  splitter.spilled_to = block;
  splitter.inside = std::move(taken);
  WEFT_ASSERT(where.coalescing && where.task_used >= many);
  for (std::size_t i = 0; i < many; ++i) leave_entry(c, *splitter.inside[i]);
  c.take_task_entry(where);
  c.statistics.tasks.spilled += many;
  me.holds.reset();
  where.coalescing = false;
  count_cycles(c, me, spent::spill);
  make_idle(c, splitter);
}

void split(chip& c, core& me, task& splitter) {
  tile& where = c.tile_of(me);
  ++c.statistics.tasks.splitters;
  me.holds = splitter.call.timestamp;
  me.time += c.options.task_instruction;
  std::vector<task*> inside = std::move(splitter.inside);
  const std::size_t back = c.options.splitter_tasks;
  // With an entry beyond the queue's size it must not come back, since others wait for that.
  const std::size_t stay = inside.size() <= back + 1 || splitter.emergency ? 0 : inside.size() - back;
  me.time += descriptors(c, me, splitter.spilled_to, inside, stay, false);
  me.time += c.options.task_instruction * (stay != 0 ? 2 : 1);
  sync(c, me);
  if (c.ending) return;  // the splitter is no more, and what was inside
  const std::vector<task*> out(inside.begin() + static_cast<std::ptrdiff_t>(stay), inside.end());
  inside.resize(stay);
  if (stay != 0) {
    splitter.call.timestamp = inside.back()->call.timestamp;
    splitter.age = inside.back()->age;
    splitter.inside = std::move(inside);
    make_idle(c, splitter);
  } else {
    where.spilled.give_back(splitter.spilled_to);
    leave_entry(c, splitter);
    c.tasks.give_back(&splitter);
  }
  for (std::size_t i = out.size(); i-- != 0;) {  // the earliest was put in last
    WEFT_ASSERT(out[i]->is == task::phase::spilled && out[i]->parent == nullptr);
    if (where.task_queue_full()) {
      ++c.statistics.tasks.overflowed;
      where.overflow.push(out[i]);
      continue;
    }
    c.take_task_entry(where);
    make_idle(c, *out[i]);
  }
  me.holds.reset();
  count_cycles(c, me, spent::spill);
}

}  // namespace weft::swarm

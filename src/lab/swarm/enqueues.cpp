#include "lab/swarm/enqueues.hpp"

#include <algorithm>
#include <bit>

#include "lab/swarm/aborts.hpp"
#include "lab/swarm/cores.hpp"
#include "lab/swarm/spills.hpp"

namespace weft::swarm {

namespace {

// Of messages: a timestamp, a function, two of housekeeping, and the arguments; what answers them.
constexpr std::uint32_t descriptor_bytes = 18, argument_bytes = 8, acknowledgement_bytes = 4, refusal_bytes = 2;
constexpr std::uint16_t tries_counted_max = 16;  // in the wait for the next

void count_message(chip& c, unsigned from, const task& t, std::uint32_t answer) {
  if (from != t.tile)
    c.statistics.traffic.enqueue += descriptor_bytes + argument_bytes * std::min(t.call.arguments, 3u) + answer;
}

void no_longer_refused(chip& c, task& t) {
  if (!t.was_refused) return;
  t.was_refused = false;
  if (t.parent == nullptr) return;
  WEFT_ASSERT(t.parent->refused != 0);
  if (--t.parent->refused == 0 && t.parent->runs_on != nullptr &&
      t.parent->runs_on->waiting == core::waits::refused_child)
    wake(c, *t.parent->runs_on, c.events.now());
}

bool wake_idle_core(chip& c, tile& where) {
  if (where.idle_cores == 0) return false;
  const auto i = static_cast<unsigned>(std::countr_zero(where.idle_cores));
  where.idle_cores &= where.idle_cores - 1;
  WEFT_ASSERT(i < where.cores && c.core_of(where, i).waiting == core::waits::idle);
  wake(c, c.core_of(where, i), c.events.now());
  return true;
}

void overflow(chip& c, task& t) {
  tile& where = c.tiles[t.tile];
  WEFT_ASSERT(t.parent == nullptr);
  ++c.statistics.tasks.overflowed;
  t.is = task::phase::spilled;
  where.overflow.push(&t);
  if (!wake_idle_core(c, where)) preempt_if_needed(c, where);
}

// The queue is full of tasks that have run and wait to commit. The latest of them, if they are later than one in
// memory, give way: they come back as idle ones, and a coalescer finds them.
void finished_give_way(chip& c, tile& where, const task& stored) {
  const auto at = virtual_time::of(stored.call.timestamp, c.events.now(), where.number);
  std::vector<tile::entry> later;
  for (const tile::entry& e : where.finished)
    if (e.at > at && e.who->parent == nullptr) later.push_back(e);
  const auto many = static_cast<std::ptrdiff_t>(std::min<std::size_t>(later.size(), c.options.spill_tasks));
  std::partial_sort(later.begin(), later.begin() + many, later.end(),
                    [](const tile::entry& a, const tile::entry& b) { return a.at > b.at; });
  std::vector<victim> who;
  for (auto e = later.begin(); e != later.begin() + many; ++e) who.push_back({e->who, cause::resources});
  if (!who.empty()) static_cast<void>(abort_tasks(c, who, where.number));
}

// The first task of what the tile has put to memory, if it may have an entry.
task* take_overflow(chip& c, tile& where) {
  task& t = *where.overflow.first();
  WEFT_ASSERT(t.is == task::phase::spilled && t.parent == nullptr);
  if (where.task_queue_full()) {
    task* const holder = where.emergency;
    if (holder != nullptr) {
      const bool began = holder->is == task::phase::running || holder->is == task::phase::finished;
      if (began && t.call.timestamp < holder->call.timestamp) {  // of equal ones the holder's virtual time is earlier
        const victim later{holder, cause::resources};            // it comes back to memory, and we get what it had
        static_cast<void>(abort_tasks(c, {&later, 1}, where.number));
      } else if (c.options.finished_give_way != 0 && !can_coalesce(where)) {
        finished_give_way(c, where, t);
      }
      return nullptr;
    }
    t.emergency = true;
    where.emergency = &t;
  }
  where.overflow.erase(&t);
  c.take_task_entry(where);
  return &t;
}

std::uint64_t least_of(const call_part& part) {
  std::uint64_t least = UINT64_MAX;
  for (std::uint32_t i = part.first; i < part.last; ++i) least = std::min(least, part.list->calls[i].timestamp);
  return least;
}

task& send_new(chip& c, task* parent, unsigned from, const detail::ordered_call& call, cycle at) {
  WEFT_ASSERT(parent == nullptr || (parent->is == task::phase::running && !parent->certain));
  WEFT_ASSERT(parent == nullptr || call.timestamp >= parent->call.timestamp);
  task& t = *c.tasks.take();
  t.call = call;
  t.age = c.age++;
  t.tile = static_cast<std::uint16_t>(c.draw.below(static_cast<std::uint32_t>(c.tiles.size())));
  t.is = task::phase::travelling;
  if (parent != nullptr) parent->add_child(&t);
  c.start_waiting(t);
  ++c.statistics.tasks.enqueued;
  c.events.push(at + c.net.latency(from, t.tile), {event::kind::arrive, 0, &t});
  count_message(c, from, t, acknowledgement_bytes);
  return t;
}

}  // namespace

void send(chip& c, task* parent, unsigned from, const detail::ordered_call& call, cycle at) {
  static_cast<void>(send_new(c, parent, from, call, at));
}

void send_helper(chip& c, task* parent, std::uint64_t asked_at, unsigned from, const call_part& part, cycle at) {
  detail::ordered_call call{};
  call.timestamp = c.options.helpers_foresee != 0 ? least_of(part) : asked_at;
  task& helper = send_new(c, parent, from, call, at);
  helper.does = task::role::helper;
  helper.part = part;
}

void arrive(chip& c, task& t) {
  if (t.is == task::phase::dropped) return c.tasks.give_back(&t);
  WEFT_ASSERT(t.is == task::phase::travelling);
  tile& where = c.tiles[t.tile];
  if (!where.task_queue_full()) {
    c.stop_waiting(t);
    c.take_task_entry(where);
    no_longer_refused(c, t);
    return make_idle(c, t);
  }
  if (t.parent == nullptr) {  // a child of the first task of all (§4.7)
    c.stop_waiting(t);
    no_longer_refused(c, t);
    return overflow(c, t);
  }
  if (!t.was_refused) {  // its parent has to know its place (Fig. 5)
    t.was_refused = true;
    ++t.parent->refused;
  }
  if (t.tries < tries_counted_max) ++t.tries;
  cycle again = c.events.now() + static_cast<cycle>(c.options.nack_backoff) * t.tries + 1;
  if (!can_coalesce(where)) {
    ++c.statistics.tasks.nacks;
    const unsigned from = t.parent->tile;
    again += 2 * c.net.latency(t.tile, from);
    count_message(c, from, t, refusal_bytes);
  }
  c.events.push(again, {event::kind::arrive, 0, &t});
}

void come_back(chip& c, task& t) {
  if (t.is == task::phase::dropped) return c.tasks.give_back(&t);
  WEFT_ASSERT(t.is == task::phase::returning && t.undos.empty());
  c.stop_waiting(t);
  if (!t.emergency) return make_idle(c, t);
  leave_entry(c, t);
  overflow(c, t);
}

void make_idle(chip& c, task& t) {
  tile& where = c.tiles[t.tile];
  t.is = task::phase::idle;
  where.idle.push(&t);
  if (t.parent == nullptr) ++where.certain_idle;
  WEFT_ASSERT(where.certain_idle <= where.idle.size() && where.idle.size() <= where.task_used);
  if (!wake_idle_core(c, where)) preempt_if_needed(c, where);
}

task* take_next(chip& c, tile& where) {
  task* const first = where.idle.first();
  task* const stored = where.overflow.first();
  if (stored != nullptr && (first == nullptr || stored->key() < first->key()))
    if (task* const t = take_overflow(c, where)) return t;
  if (where.idle.empty()) return nullptr;
  task* const t = where.idle.pop();
  WEFT_ASSERT(t->is == task::phase::idle && (t->parent != nullptr || where.certain_idle != 0));
  if (t->parent == nullptr) --where.certain_idle;
  return t;
}

void leave_entry(chip& c, task& t) {
  tile& where = c.tiles[t.tile];
  if (t.emergency) {
    WEFT_ASSERT(where.emergency == &t);
    where.emergency = nullptr;
    t.emergency = false;
  }
  c.leave_task_entry(where);
  if (!where.overflow.empty()) static_cast<void>(wake_idle_core(c, where));  // it may have waited for that
}

void drop_unstarted(chip& c, task& t) {
  WEFT_ASSERT(t.parent == nullptr);  // which has let go of it, and never was none
  switch (t.is) {
  case task::phase::idle:
    c.tiles[t.tile].idle.erase(&t);
    leave_entry(c, t);
    c.tasks.give_back(&t);
    return;
  case task::phase::returning: leave_entry(c, t); [[fallthrough]];
  case task::phase::travelling:
    c.stop_waiting(t);
    t.is = task::phase::dropped;
    return;
  default: WEFT_ASSERT(t.is == task::phase::idle);  // a child of one that can be aborted is in no memory
  }
}

void become_parentless(chip& c, task& child) {
  WEFT_ASSERT(child.parent != nullptr);  // else it has been counted already
  no_longer_refused(c, child);
  child.leave_parent();
  if (child.is == task::phase::idle) ++c.tiles[child.tile].certain_idle;
}

void wake_waiting(chip& c, tile& where) {
  for (unsigned i = 0; i < where.cores; ++i)
    if (core& each = c.core_of(where, i); each.waiting == core::waits::commit_entry) wake(c, each, c.events.now());
}

void preempt_if_needed(chip& c, tile& where) {
  const task* first = where.idle.first();
  if (const task* stored = where.overflow.first();
      stored != nullptr && (first == nullptr || stored->key() < first->key()))
    first = stored;
  if (first == nullptr) return;
  const auto at = virtual_time::of(first->call.timestamp, c.events.now(), where.number);
  bool all_wait = true;
  task* last = nullptr;
  for (unsigned i = 0; i < where.cores; ++i) {
    const core& each = c.core_of(where, i);
    if (each.runs == nullptr || each.last < at) return;  // it will be free, or what it runs has to be first
    all_wait &= each.waiting != core::waits::no;
    if (last == nullptr || last->at < each.last) last = each.runs;
  }
  if (!all_wait && !where.commit_queue_full()) return;
  const victim later{last, cause::resources};
  static_cast<void>(abort_tasks(c, {&later, 1}, where.number));
}

}  // namespace weft::swarm

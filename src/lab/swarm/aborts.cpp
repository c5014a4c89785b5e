#include "lab/swarm/aborts.hpp"

#include <algorithm>
#include <cstring>

#include "lab/swarm/conflicts.hpp"
#include "lab/swarm/cores.hpp"
#include "lab/swarm/enqueues.hpp"

namespace weft::swarm {

namespace {

constexpr std::uint32_t message_bytes = 8;

struct item {
  task* who;
  std::uint32_t of;  // the item that pulled it in; its own number if it was asked for
  cycle own = 0;     // time to roll it back, and to tell its children
  cycle others = 0;  // for those it pulled in to be rolled back first
};

void count(swarm_statistics& s, cause why) {
  auto& a = s.aborts;
  std::uint64_t* const counters[] = {&a.read_after_write,
                                     &a.write_after_read,
                                     &a.write_after_write,
                                     &a.false_positive,
                                     &a.child,
                                     &a.data,
                                     &a.resources,
                                     &a.error};
  ++*counters[static_cast<std::size_t>(why)];
}

// All tasks that must go, found from those asked for. No recursion: chains may be thousands of tasks long.
class closure {
 public:
  closure(chip& c, unsigned from) : chip_(c), from_(from) {}

  void add(task* t, cause why, std::uint32_t of, bool discard) {
    using phase = task::phase;
    if (t->is == phase::aborting) {
      t->discard |= discard;
      return;
    }
    if (t->is == phase::running || t->is == phase::finished) {
      WEFT_ASSERT(!t->certain || why == cause::error);
      WEFT_ASSERT(t->at >= chip_.gvt_seen || why == cause::error);  // what is before it is as good as committed
      count(chip_.statistics, why);
      ++chip_.over_time.of(t->tile).aborts;
      t->discard = discard;
      chip_.statistics.core_cycles.aborted += t->spent;
      t->spent = 0;
      if (t->is == phase::finished) chip_.leave_commit_entry(chip_.tiles[t->tile], *t);
      t->is = phase::aborting;
      items.push_back({.who = t, .of = of == UINT32_MAX ? static_cast<std::uint32_t>(items.size()) : of});
      return;
    }
    WEFT_ASSERT(discard);  // it has done nothing that another could conflict with
    drop_unstarted(chip_, *t);
  }
  void follow_all() {
    for (std::uint32_t i = 0; i < items.size(); ++i) {
      task& t = *items[i].who;
      while (t.first_child != nullptr) {
        task* const child = t.first_child;
        if (child->tile != t.tile) chip_.statistics.traffic.abort += 2 * message_bytes;
        child->leave_parent();
        add(child, cause::child, i, true);
        ++items[i].own;
      }
      for (const task::access& a : t.accesses) {
        if (!a.wrote) continue;
        conflicts with(chip_, t);
        static_cast<void>(chip_.caches.access({t.tile, memory::no_core, t.at, true}, a.where, true, &with));
        for (task* dependent : with.found()) add(dependent, cause::data, i, false);
      }
      items[i].own += t.undos.size() * chip_.options.rollback;
    }
  }
  [[nodiscard]] cycle time_all() {
    cycle longest = 0;
    for (std::size_t i = items.size(); i-- != 0;) {
      const item& done = items[i];
      WEFT_ASSERT(done.of <= i);  // all that it pulled in have been here
      const unsigned asked = done.of == i ? from_ : items[done.of].who->tile;
      cycle& above = done.of == i ? longest : items[done.of].others;
      above = std::max(above, done.own + done.others + 2 * chip_.net.latency(asked, done.who->tile));
    }
    return longest;
  }

  std::vector<item> items;

 private:
  chip& chip_;
  unsigned from_;
};

void roll_back(task& t) {
  WEFT_ASSERT(t.is == task::phase::aborting && t.first_child == nullptr);
  for (std::size_t i = t.undos.size(); i-- != 0;) std::memcpy(t.undos[i].at, &t.undos[i].old, t.undos[i].bytes);
  t.undos.clear();
}

void leave(chip& c, task& t, cycle after) {
  tile& where = c.tiles[t.tile];
  WEFT_ASSERT(t.undos.empty());
  forget_accesses(c, t);
  where.leave_slot(t);
  wake_waiting(c, where);
  for (const task::block& b : t.allocated) c.heap.give_back(t.tile, b.at, b.bytes, b.alignment);
  t.allocated.clear();
  t.released.clear();
  t.late.clear();
  t.error = nullptr;
  t.children = t.refused = 0;
  if (t.runs_on != nullptr) {
    kill(c, *t.runs_on, after);
    t.runs_on = nullptr;
  }
  if (t.discard) {
    t.leave_parent();
    leave_entry(c, t);
    c.tasks.give_back(&t);
    return;
  }
  t.is = task::phase::returning;
  c.start_waiting(t);
  c.events.push(after, {event::kind::come_back, 0, &t});
}

}  // namespace

cause cause_of(const task& victim, line l, bool write) {
  bool accessed = false;
  bool wrote = false;
  for (const task::access& a : victim.accesses) {
    accessed |= a.where == l;
    wrote |= a.where == l && a.wrote;
  }
  if (!accessed || (!write && !wrote)) return cause::false_positive;
  return !write ? cause::write_after_read : wrote ? cause::write_after_write : cause::read_after_write;
}

cycle abort_tasks(chip& c, std::span<const victim> victims, unsigned from) {
  closure all(c, from);
  for (const victim& v : victims) all.add(v.who, v.why, UINT32_MAX, v.discard);
  all.follow_all();
  const cycle time = all.time_all();
  // Of two that wrote a word, the later one in virtual time wrote last: otherwise it had been aborted then.
  std::vector<item>& items = all.items;
  std::sort(items.begin(), items.end(), [](const item& a, const item& b) { return a.who->at > b.who->at; });
  for (const item& i : items) roll_back(*i.who);
  for (const item& i : items) leave(c, *i.who, c.events.now() + i.own + i.others);
  return time;
}

}  // namespace weft::swarm

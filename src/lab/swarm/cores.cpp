#include "lab/swarm/cores.hpp"

#include <algorithm>

#include "lab/swarm/bodies.hpp"
#include "lab/swarm/commits.hpp"
#include "lab/swarm/enqueues.hpp"
#include "lab/swarm/spills.hpp"
#include "weft/error.hpp"

namespace weft::swarm {

namespace {

constexpr std::size_t stack_bytes = 256 * 1024;

void switch_to(chip& c, core* from, core* to) {
  WEFT_ASSERT(c.running == from && from != to);
  machine::fiber& left = from != nullptr ? *from->stack : *c.main;
  machine::fiber& entered = to != nullptr ? *to->stack : *c.main;
  c.running = to;
  left.jump(entered, nullptr);
}

void plan_sample(chip& c) {
  if (c.over_time.next() == UINT64_MAX) return;
  c.events.push(std::max(c.over_time.next(), c.events.now()), {event::kind::sample, 0, nullptr});
}

void take_sample(chip& c) {
  c.over_time.take([&](swarm_sample& s) {
    s.task_queue = static_cast<std::uint32_t>(c.tiles[s.tile].task_used);
    s.commit_queue = static_cast<std::uint32_t>(c.tiles[s.tile].finished.size());
  });
  plan_sample(c);
}

// Lets happen what is next, until it is `me` that goes on (nullptr: until the run ends).
void pass_time(chip& c, core* me) {
  while (!c.ending) {
    if (c.events.size() == 0) {  // with task units there is always a look at the global virtual time to come
      c.error = std::make_exception_ptr(error("weft: all threads of the modelled chip have ended or wait for a store, "
                                              "and nobody is left to make it; a thread without the others' barrier?"));
      c.ending = true;
      break;
    }
    const wheel<event>::entry e = c.events.pop();
    switch (e.what.what) {
    case event::kind::wake: {
      auto* const next = static_cast<core*>(e.what.who);
      if (next->generation != e.what.generation) break;
      if (next == me) return;
      return switch_to(c, me, next);
    }
    case event::kind::arrive: arrive(c, *static_cast<task*>(e.what.who)); break;
    case event::kind::come_back: come_back(c, *static_cast<task*>(e.what.who)); break;
    case event::kind::look: look_at_virtual_times(c); break;
    case event::kind::apply: apply_global_virtual_time(c); break;
    case event::kind::sample: take_sample(c); break;
    }
  }
  if (me != nullptr) switch_to(c, me, nullptr);
}

// One dequeue a cycle and tile: virtual times are unique by that. Returns its cycle.
cycle dequeue_cycle(tile& t, core& me) {
  const cycle at = std::max(me.time, t.next_dequeue);
  t.next_dequeue = at + 1;
  return at;
}

void core_loop(chip& c, core& me) {
  tile& t = c.tile_of(me);
  while (!c.ending) {
    sync(c, me);
    if (c.ending) return;
    if (must_coalesce(c, t)) {
      coalesce(c, me);
      continue;
    }
    task* const next = take_next(c, t);
    if (next == nullptr) {
      t.idle_cores |= 1u << (me.number - t.first_core);
      block(c, me, core::waits::idle);
      t.idle_cores &= ~(1u << (me.number - t.first_core));
      count_cycles(c, me, spent::empty);
      continue;
    }
    me.time = dequeue_cycle(t, me);
    if (next->does == task::role::splitter)
      split(c, me, *next);
    else
      execute(c, me, *next);
  }
}

// What a run has taken it has given back, or the next would miss it.
void require_empty(const chip& c) {
  WEFT_ASSERT(c.tasks.live() == 0 && c.waiting == nullptr);
  for (const tile& t : c.tiles) {
    WEFT_ASSERT(t.task_used == 0 && t.finished.empty() && t.emergency == nullptr);
    WEFT_ASSERT(t.idle.empty() && t.overflow.empty() && t.certain_idle == 0 && !t.coalescing);
    WEFT_ASSERT(t.free_slots.size() == t.slots.size() && t.idle_cores == 0);
  }
}

void core_main(void* argument) {
  core& me = *static_cast<core*>(argument);
  me.of->loop(*me.of, me);
  me.of->running = nullptr;
  me.stack->jump_out(*me.of->main);
}

}  // namespace

void run_cores(chip& c) {
  c.gvt = c.gvt_seen = c.committed_last = {};  // timestamps of one run say nothing to those of the next
  c.stuck_periods = 0;
  c.events.push(c.events.now() + c.options.gvt_period, {event::kind::look, 0, nullptr});
  plan_sample(c);
  run_fibers(c, &core_loop);
  require_empty(c);
}

void run_fibers(chip& c, void (*loop)(chip&, core&)) {
  WEFT_ASSERT(c.main == nullptr && c.running == nullptr);
  machine::fiber main;
  c.main = &main;
  c.ending = false;
  c.loop = loop;
  for (auto& each : c.cores) {
    each->time = each->counted = c.events.now();
    each->stack = std::make_unique<machine::fiber>(stack_bytes, &core_main, each.get());
    wake(c, *each, c.events.now());
  }
  pass_time(c, nullptr);
  for (auto& each : c.cores) {  // each leaves its body, where it is in one, and its stack
    switch_to(c, nullptr, each.get());
    each->stack.reset();
    WEFT_ASSERT(each->runs == nullptr && !each->holds && each->waiting == core::waits::no);
  }
  cycle end = c.events.now();
  for (auto& each : c.cores) end = std::max(end, each->time);
  for (auto& each : c.cores) {
    each->time = end;
    count_cycles(c, *each, spent::empty);
  }
  c.events.clear();
  c.events.advance(end);
  c.count_occupancy();
  c.statistics.cycles = end;
  c.main = nullptr;
}

void sync(chip& c, core& me) {
  catch_up(c, me);
  if (me.killed) throw aborted_execution();
}

void catch_up(chip& c, core& me) {
  if (c.events.next() > me.time) {
    if (me.time > c.events.now()) c.events.advance(me.time);
    return;
  }
  c.events.push(std::max(me.time, c.events.now()), {event::kind::wake, me.generation, &me});
  pass_time(c, &me);
}

void block(chip& c, core& me, core::waits why) {
  WEFT_ASSERT(c.running == &me && me.waiting == core::waits::no && why != core::waits::no);
  me.waiting = why;
  ++me.generation;
  if (why != core::waits::idle && why != core::waits::a_store) preempt_if_needed(c, c.tile_of(me));
  pass_time(c, &me);
  me.waiting = core::waits::no;
}

void wake(chip& c, core& who, cycle at) {
  ++who.generation;
  who.time = std::max({who.time, at, c.events.now()});
  c.events.push(who.time, {event::kind::wake, who.generation, &who});
}

void kill(chip& c, core& who, cycle at) {
  WEFT_ASSERT(who.runs != nullptr && !who.killed);  // an execution is aborted once
  who.killed = true;
  who.runs = nullptr;
  ++who.generation;
  who.time = std::max(at, who.counted);
  c.events.push(std::max(who.time, c.events.now()), {event::kind::wake, who.generation, &who});
}

void count_cycles(chip& c, core& me, spent what) noexcept {
  WEFT_ASSERT(me.time >= me.counted);
  const cycle passed = me.time - me.counted;
  me.counted = me.time;
  auto& all = c.statistics.core_cycles;
  auto& lately = c.over_time.of(me.tile).core_cycles;
  switch (what) {
  case spent::task: me.runs->spent += passed, lately.task += passed; break;
  case spent::aborted: all.aborted += passed, lately.task += passed; break;
  case spent::spill: all.spill += passed, lately.spill += passed; break;
  case spent::stall: all.stall += passed, lately.stall += passed; break;
  case spent::thread: all.committed += passed, lately.task += passed; break;
  case spent::empty: all.empty += passed, lately.empty += passed; break;
  }
}

}  // namespace weft::swarm

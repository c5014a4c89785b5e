#include "lab/swarm/bodies.hpp"

#include <algorithm>
#include <cstring>

#include "lab/swarm/aborts.hpp"
#include "lab/swarm/conflicts.hpp"
#include "lab/swarm/cores.hpp"
#include "lab/swarm/enqueues.hpp"
#include "lab/swarm/spills.hpp"

namespace weft::swarm {

namespace {

// No program has data there: what an aborted execution's pointers look like when they are not one.
constexpr std::uintptr_t address_min = 64 * 1024, address_max = std::uintptr_t{1} << 56;

void leave_if_killed(const core& me) {
  if (me.killed) [[unlikely]]
    throw aborted_execution();
}

// Waits, stalled, until `ready` or the execution is aborted.
template <class Ready> void stall(chip& c, core& me, core::waits why, const Ready& ready) {
  while (!me.killed && !ready()) {
    count_cycles(c, me, spent::task);
    block(c, me, why);
    if (!me.killed) count_cycles(c, me, spent::stall);
  }
}

void wait_until_certain(chip& c, core& me) {
  sync(c, me);
  task& t = *me.runs;
  stall(c, me, core::waits::certain, [&] { return t.certain; });
  leave_if_killed(me);
}

void wait_for_refused(chip& c, core& me) {
  task& t = *me.runs;
  stall(c, me, core::waits::refused_child, [&] { return t.refused == 0; });
  leave_if_killed(me);
}

class body_hooks final : public detail::ordered_hooks {
 public:
  body_hooks(chip& c, core& me) : chip_(c), me_(me) {}

  void load(const void* from, void* to, std::size_t bytes) override {
    in_lines(from, bytes, [&](const std::byte* at, std::size_t offset, std::size_t n) {
      access(at, n, false);
      std::memcpy(static_cast<std::byte*>(to) + offset, at, n);
    });
  }
  void store(void* to, const void* from, std::size_t bytes) override {
    in_lines(to, bytes, [&](const std::byte* where, std::size_t offset, std::size_t n) {
      access(where, n, true);
      auto* const at = const_cast<std::byte*>(where);  // `to` was not const
      remember(at, n);
      std::memcpy(at, static_cast<const std::byte*>(from) + offset, n);
    });
  }
  // A chip does not know that nobody writes it. What the program may do beside is not held up by it: nothing is read
  // here, so it need not be in order with what others do.
  void read_only(const void* at, std::size_t bytes) override {
    in_lines(at, bytes, [&](const std::byte* part, std::size_t, std::size_t n) {
      const line l = begin_access(part, n);
      if (!chip_.caches.hit(me_.number, l, false)) return reach_l2(l, false, false);
      count_hit();
      note(l, false);
    });
  }
  void work(std::uint64_t instructions) override {
    leave_if_killed(me_);
    me_.time += instructions;
    sync_if_ahead(chip_, me_);
  }
  void create(const detail::ordered_call& call) override {
    leave_if_killed(me_);
    task& t = *me_.runs;
    const unsigned tracked = t.certain ? UINT32_MAX : chip_.options.children - 1;
    if (t.children >= tracked || !t.late.empty()) {  // the last it can track will create these
      t.late.push_back(call);
      me_.time += 2;
      return sync_if_ahead(chip_, me_);
    }
    create_last(call);
  }
  void* allocate(std::size_t bytes, std::size_t alignment) override {
    leave_if_killed(me_);
    me_.time += chip_.options.allocation;
    void* const at = chip_.heap.take(me_.tile, bytes, alignment);
    me_.runs->allocated.push_back({at, bytes, alignment});
    return at;
  }
  void release(void* at, std::size_t bytes, std::size_t alignment) override {
    leave_if_killed(me_);
    me_.time += chip_.options.allocation;
    if (at != nullptr) me_.runs->released.push_back({at, bytes, alignment});
  }
  void serialize() override {
    leave_if_killed(me_);
    wait_until_certain(chip_, me_);
  }

  void create_last(const detail::ordered_call& call) {
    enqueue([&](task* parent) { send(chip_, parent, me_.tile, call, me_.time); }, call.arguments);
  }
  void enqueue_helper(const call_part& part) {
    enqueue([&](task* parent) { send_helper(chip_, parent, me_.call.timestamp, me_.tile, part, me_.time); }, 1);
  }

 private:
  template <class Send> void enqueue(const Send& send_child, std::uint32_t arguments) {
    task& t = *me_.runs;
    me_.time += chip_.options.task_instruction;
    if (arguments > chip_.options.registers) {  // the rest goes to memory
      tile& where = chip_.tile_of(me_);
      me_.time += chip_.options.allocation + 1 + own_access(chip_, me_, own_line(where, where.own_cursor++), true);
    }
    send_child(t.certain ? nullptr : &t);
    ++t.children;
    WEFT_ASSERT(t.certain || t.children <= chip_.options.children);  // a task can track no more
    if (t.refused != 0) {
      sync(chip_, me_);
      wait_for_refused(chip_, me_);
    }
    sync_if_ahead(chip_, me_);
  }
  template <class Part> void in_lines(const void* at, std::size_t bytes, const Part& part) {
    leave_if_killed(me_);
    const auto address = reinterpret_cast<std::uintptr_t>(at);
    if (address < address_min || address > address_max - bytes) [[unlikely]]
      wait_until_certain(chip_, me_);  // then the program means it
    for (std::size_t offset = 0; offset != bytes;) {
      const std::size_t n = std::min(bytes - offset, line_bytes - (address + offset) % line_bytes);
      part(static_cast<const std::byte*>(at) + offset, offset, n);
      offset += n;
    }
  }

  [[nodiscard]] line begin_access(const std::byte* at, std::size_t bytes) {
    me_.time += (bytes + word_bytes - 1) / word_bytes;
    sync_if_ahead(chip_, me_);
    return chip_.all_lines.of(at);
  }
  // What is at the line may be read or written when it returns, until the core waits for anything.
  void access(const std::byte* at, std::size_t bytes, bool write) {
    const line l = begin_access(at, bytes);
    if (write && chip_.options.l1_written_through != 0) {
      sync(chip_, me_);
      reach_l2(l, true, chip_.caches.hit(me_.number, l, true));
    } else if (chip_.caches.hit(me_.number, l, write)) {
      count_hit();
      note(l, write);
    } else {
      sync(chip_, me_);
      reach_l2(l, write, false);
    }
    if (chip_.options.audit != 0) audit_access(chip_, *me_.runs, l, write);
  }
  void count_hit() noexcept {
    ++chip_.statistics.checks.accesses;
    ++chip_.statistics.checks.l1;
  }
  // The tile's sets are checked for whatever comes to the L2 (§4.4). in_l1: a store that nobody waits for.
  void reach_l2(line l, bool write, bool in_l1) {
    ++chip_.statistics.checks.accesses;
    task& t = *me_.runs;
    conflicts with(chip_, t);
    const cycle time = chip_.caches.access({me_.tile, me_.number, t.at, false}, l, write, &with);
    if (!in_l1) me_.time += time;
    note(l, write);  // first: a rollback of this line may take it from this tile, and the directory must not forget it
    if (!with.found().empty()) {
      std::vector<victim> victims;
      for (task* const v : with.found()) victims.push_back({v, cause_of(*v, l, write)});
      me_.time += abort_tasks(chip_, victims, me_.tile);
    }
  }
  void note(line l, bool write) {
    core::recent_line& r = me_.recent[l % me_.recent.size()];
    if (r.where == l && r.execution == me_.execution && (r.wrote || !write)) return;
    r = {l, me_.execution, write};
    note_access(chip_, *me_.runs, l, write);
  }
  void remember(std::byte* at, std::size_t bytes) {
    WEFT_ASSERT(me_.runs->is == task::phase::running);  // an undo log that has been replayed is over
    while (bytes != 0) {
      const std::size_t n = std::min(bytes, word_bytes - reinterpret_cast<std::uintptr_t>(at) % word_bytes);
      task::undo u{at, 0, static_cast<std::uint32_t>(n)};
      std::memcpy(&u.old, at, n);
      me_.runs->undos.push_back(u);
      if (chip_.options.l1_written_through != 0) write_log();
      at += n;
      bytes -= n;
    }
  }

  // An address and what was there go to the undo log in memory, beside what the core does.
  void write_log() {
    constexpr std::uint64_t entries_of_line = line_bytes / (2 * word_bytes);
    tile& where = chip_.tile_of(me_);
    const std::uint64_t entry = where.log_cursor++;
    if (entry % entries_of_line != 0) return;  // the line is in the L2
    const line l = where.log_lines + static_cast<line>(entry / entries_of_line % tile::log_lines_count);
    static_cast<void>(own_access(chip_, me_, l, true));
  }

  chip& chip_;
  core& me_;
};

// Creates what is in a list, or, where that is too much for one task, further helpers for parts of it.
void help(chip& c, core& me, body_hooks& hooks) {
  const call_part part = me.runs->part;  // a copy: the task may be gone when its execution has been aborted
  const std::uint32_t first = part.first, last = part.last;
  WEFT_ASSERT(first < last && last <= part.list->calls.size());
  const std::uint32_t parts = std::min(last - first, std::max(c.options.children, 2u));
  for (std::uint32_t i = 0; i < parts; ++i) {
    const std::uint32_t from = first + static_cast<std::uint32_t>(std::uint64_t{last - first} * i / parts);
    const std::uint32_t to = first + static_cast<std::uint32_t>(std::uint64_t{last - first} * (i + 1) / parts);
    if (to - from == 1) {
      me.time += 1 + own_access(c, me, part.list->first + from / 2, false);
      hooks.create_last(part.list->calls[from]);
    } else {
      hooks.enqueue_helper({part.list, from, to});
    }
  }
}

// What a body has created beyond its limit goes to memory, and its last child creates it.
void enqueue_late(chip& c, core& me, body_hooks& hooks) {
  task& t = *me.runs;
  if (t.late.empty()) return;
  if (t.late.size() == 1) {
    const detail::ordered_call only = t.late.front();
    t.late.clear();
    return hooks.create_last(only);
  }
  auto list = std::make_shared<call_list>();
  list->calls = t.late;
  t.late.clear();
  list->first = c.all_lines.fresh(static_cast<std::uint32_t>(list->calls.size() / 2 + 1));
  for (std::uint32_t i = 0; i < list->calls.size(); i += 2) me.time += own_access(c, me, list->first + i / 2, true);
  const auto many = static_cast<std::uint32_t>(list->calls.size());
  hooks.enqueue_helper({std::move(list), 0, many});
}

void start(chip& c, core& me, task& t) {
  tile& where = c.tile_of(me);
  WEFT_ASSERT(t.is == task::phase::idle || t.is == task::phase::spilled);
  WEFT_ASSERT(me.runs == nullptr && !me.holds && t.tile == me.tile);
  t.is = task::phase::running;
  t.at = virtual_time::of(t.call.timestamp, me.time, where.number);
  WEFT_ASSERT(t.at >= c.gvt && t.at >= c.committed_last);
  WEFT_ASSERT(t.parent == nullptr || t.at > t.parent->at);
  t.spent = 0;
  t.runs_on = &me;
  WEFT_ASSERT(t.children == 0 && t.first_child == nullptr && t.accesses.empty() && t.undos.empty());
  where.take_slot(t);
  if (t.at < me.last) c.caches.flush(me.number);
  me.last = t.at;
  me.runs = &t;
  me.call = t.call;
  me.killed = false;
  ++me.execution;
  ++c.statistics.tasks.started;
  if (t.does == task::role::body) {
    ++c.statistics.tasks.bodies;
    c.statistics.tasks.again += t.was_started ? 1 : 0;
    t.was_started = true;
  }
  count_cycles(c, me, spent::empty);  // until a cycle of the tile was free for the dequeue
  me.time += c.options.task_instruction;
}

// The commit queue rule of §4.7: an entry, if need be that of the last task there; or the core waits for one. Returns
// if the execution is aborted meanwhile.
void finish(chip& c, core& me) {
  task& t = *me.runs;
  tile& where = c.tile_of(me);
  me.time += c.options.task_instruction;
  catch_up(c, me);
  stall(c, me, core::waits::refused_child, [&] { return t.refused == 0; });
  stall(c, me, core::waits::commit_entry, [&] {
    if (!where.commit_queue_full()) return true;
    task* const last = where.last_finished();
    if (last == nullptr || last->at < t.at) return false;
    const victim later{last, cause::resources};
    me.time += abort_tasks(c, {&later, 1}, me.tile);
    return true;
  });
  if (me.killed) return;
  WEFT_ASSERT(t.is == task::phase::running && t.runs_on == &me);
  count_cycles(c, me, spent::task);
  c.take_commit_entry(where, t);
  t.is = task::phase::finished;
  t.runs_on = nullptr;
  me.runs = nullptr;
}

}  // namespace

void execute(chip& c, core& me, task& t) {
  start(c, me, t);
  body_hooks hooks(c, me);
  ordered_context x(hooks, false);
  x.set_timestamp(me.call.timestamp);
  try {
    if (t.does == task::role::helper) {
      help(c, me, hooks);
    } else {
      if (me.call.arguments > c.options.registers)
        me.time += 1 + own_access(c, me, own_line(c.tile_of(me), t.age), false);
      me.call.run(x, me.call.timestamp, me.call.argument);
    }
    leave_if_killed(me);
    enqueue_late(c, me, hooks);
  } catch (const aborted_execution&) {
  } catch (...) {
    if (!me.killed) t.error = std::current_exception();
  }
  if (!me.killed) finish(c, me);
  WEFT_ASSERT(me.runs == nullptr);  // it has finished, or who killed it took it
  if (!me.killed) return;
  count_cycles(c, me, spent::aborted);
  me.killed = false;
}

}  // namespace weft::swarm

#include "machine/virtual/virtual.hpp"

#include <algorithm>
#include <utility>

#include "base/assert.hpp"

namespace weft::machine {

thread_local constinit virtual_machine* virtual_machine::here_ = nullptr;

virtual_machine::virtual_machine(const setup& s)
    : setup_(s), turns_({s.seed, s.by_priority, s.depth, s.length, s.disturbed}) {}
virtual_machine::~virtual_machine() { WEFT_ASSERT(awake_.empty()); }

virtual_machine* virtual_machine::set_current(virtual_machine* m) noexcept { return std::exchange(here_, m); }

void virtual_machine::start(unsigned n, entry e, void* engine, std::size_t stack_bytes) {
  entry_ = e;
  engine_ = engine;
  cores_ = std::vector<core>(n);
  turns_.open(n);
  starts_.resize(n);
  for (unsigned id = 1; id < n; ++id) {
    starts_[id] = {this, id};
    cores_[id].first = std::make_unique<fiber>(stack_bytes, &first_entry, &starts_[id]);
    cores_[id].running = cores_[id].first.get();
    enqueue(id);
  }
}

void virtual_machine::first_entry(void* note) {
  const core_start& s = *static_cast<core_start*>(note);
  virtual_machine& m = *s.machine;
  m.entry_(m.engine_, s.id);
  core& self = m.cores_[s.id];
  self.left = true;
  const unsigned next = m.take_next();  // join() keeps core 0 awake until all have left
  m.running_ = next;
  detail::this_worker = m.cores_[next].worker;
  self.running->jump_out(*m.cores_[next].running);
}

void virtual_machine::join() {
  for (core& c : cores_)
    while (&c != cores_.data() && !c.left) relax(1);
  for (core& c : cores_) c.first.reset();
}

void virtual_machine::enqueue(unsigned id) {
  awake_.push_back({cores_[id].clock, sequence_++, id});
  if (!setup_.random_order)
    std::push_heap(awake_.begin(), awake_.end(), [](const event& a, const event& b) { return a.later_than(b); });
}

unsigned virtual_machine::take_next() {
  WEFT_ASSERT(!awake_.empty());  // the engine never lets the last worker sleep
  if (setup_.random_order)
    std::swap(awake_[turns_.next(awake_)], awake_.back());
  else
    std::pop_heap(awake_.begin(), awake_.end(), [](const event& a, const event& b) { return a.later_than(b); });
  const unsigned id = awake_.back().id;
  awake_.pop_back();
  return id;
}

void virtual_machine::give_turn() {
  const unsigned self = running_;
  fiber& mine = *cores_[self].running;
  const unsigned next = take_next();
  if (next == self) return;
  running_ = next;
  detail::this_worker = cores_[next].worker;
  mine.jump(*cores_[next].running, nullptr);
}

void virtual_machine::advance(std::uint64_t ps) {
  core& self = cores_[running_];
  self.clock += ps;
  // Most of the time the running core still is the earliest; then nothing is queued and nothing switched.
  if (awake_.empty() || (!setup_.random_order && self.clock < awake_.front().time)) return;
  enqueue(running_);
  give_turn();
}

void virtual_machine::park(unsigned id) {
  core& self = cores_[id];
  WEFT_ASSERT(id == running_);
  if (!self.token) {
    self.parked = true;
    give_turn();
  }
  self.token = false;
}

void virtual_machine::wake(unsigned id) {
  core& sleeper = cores_[id];
  advance(setup_.costs.modify_ps);
  sleeper.token = true;
  if (!sleeper.parked) return;
  sleeper.parked = false;
  turns_.woken(id);
  sleeper.clock = std::max(sleeper.clock, now_ps() + setup_.costs.wake_ps);
  enqueue(id);
}

void virtual_machine::jump(unsigned id, fiber& from, fiber& to, fiber::action* after) {
  WEFT_ASSERT(id == running_);
  cores_[id].clock += setup_.costs.jump_ps;
  cores_[id].running = &to;
  from.jump(to, after);
}

}  // namespace weft::machine

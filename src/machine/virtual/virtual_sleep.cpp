// Sleep on a modelled machine, alarms, and what ends sleep from outside: messages of other nodes (joint_time.hpp).
#include <algorithm>
#include <utility>

#include "base/assert.hpp"
#include "machine/virtual/virtual.hpp"

namespace weft::machine {

void virtual_machine::sleep(unsigned id, bool dozes) {
  core& self = cores_[id];
  WEFT_ASSERT(id == running_);
  if (!self.token) {
    self.clock += setup_.model.runtime.sleep_ps;
    self.parked = true;
    self.dozes = dozes;
    self.slept_at = self.clock;
    appoint();
    give_turn();
    self.asleep_ps += self.clock - self.slept_at;
    self.rang = self.parked;
    self.parked = false;
    if (self.rang) wakes_at_alarm_ = nobody;
  } else {
    self.rang = false;
  }
  self.token = false;
}

void virtual_machine::wake(unsigned id) {
  core& sleeper = cores_[id];
  advance(setup_.model.lines.modify_ps);
  sleeper.token = true;
  if (!sleeper.parked) return;
  sleeper.parked = false;
  if (wakes_at_alarm_ == id) {
    wakes_at_alarm_ = nobody;
    sleeper.clock = sleeper.slept_at;
  }
  turns_.woken(id);
  sleeper.clock = std::max(sleeper.clock, now_ps() + setup_.model.runtime.wake_ps);
  enqueue(id);
  appoint();
  advance(setup_.model.runtime.waker_ps);
}

void virtual_machine::alarm(std::uint64_t at_ps) {
  alarm_ = at_ps;
  appoint_anew();
}

void virtual_machine::appoint_anew() {
  if (wakes_at_alarm_ != nobody) {
    core& c = cores_[wakes_at_alarm_];
    c.event = sequence_++;  // the one that it is in the heap with counts no more
    c.clock = c.slept_at;
    wakes_at_alarm_ = nobody;
  }
  appoint();
}

// One that dozes is enough: it stands among those that are awake, at the time of the alarm.
void virtual_machine::appoint() {
  const std::uint64_t at_ps = std::min(alarm_, message_ps_ == never ? never : message_ps_ + notice_ps_);
  if (at_ps == never || wakes_at_alarm_ != nobody) return;
  for (unsigned id = 0; id < cores_.size(); ++id) {
    core& c = cores_[id];
    if (!c.parked || !c.dozes) continue;
    wakes_at_alarm_ = id;
    c.clock = std::max(c.clock, at_ps);
    return enqueue(id);
  }
}

// --- with others in one time

void virtual_machine::join_others(others* all, std::uint64_t notice_ps) {
  WEFT_ASSERT(mode_ != mode::random && (all == nullptr) != (others_ == nullptr));
  others_ = all;
  notice_ps_ = notice_ps;
  message_ps_ = never;
  limit(all != nullptr ? 0 : never);
  appoint_anew();
}

void virtual_machine::limit(std::uint64_t at_ps) noexcept {
  limit_ = at_ps;
  look_ahead();
}

void virtual_machine::let_others_go() {
  while (others_ != nullptr && (awake_.empty() || awake_.front().time >= limit_)) {
    others_->pass(*self_->running);
    here_ = this;
    detail::this_worker = self_->worker;
  }
}

void virtual_machine::message_at(std::uint64_t at_ps) {
  message_ps_ = at_ps;
  remind_watcher();
  appoint_anew();
}

// Of those that search the one that began first sees it; who is to begin sees it in pause_search().
void virtual_machine::remind_watcher() {
  if (message_ps_ == never || watchers_.empty()) return;
  core& c = cores_[watchers_.front()];
  const std::uint64_t sees = std::max(message_ps_, c.watched_at);
  if (!c.watching || sees >= c.clock) return;
  c.clock = sees;
  enqueue(watchers_.front());
}

}  // namespace weft::machine

// The window: how many tasks may live, who waits for room, and when the limit grows. Records are counted by the pool;
// here is what a submitter does that gets none. Protocol and rules, with their reasons: window.md.
//
//   limit     begins at the rule first_window, so that records stay in the caches, and doubles up to options::window
//             as soon as somebody has too little to do. Beyond that it grows by batches, for as long as no room can
//             come, and falls back with the first batch that does
//   blocked   threads that wait for room, oldest first. They are woken together when three quarters are free again, so
//             that a wake-up is paid once in some thousand tasks
//   standing  workers that run no tasks: they wait for room, or for their id (reserve.hpp)
//
// A modelled machine has one thread, which cannot block: there a submitter is set aside, the limit is options::window,
// and break_stall() lets one exceed it when nothing else can run.
// Invariant: whoever is listed in blocked_ counts in waiting_, and a worker that is listed counts in standing_.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/assert.hpp"
#include "base/atomic.hpp"
#include "base/limits.hpp"
#include "base/lock.hpp"
#include "sched/balance/rules.hpp"

namespace weft::sched {

// What was done by a certain time.
struct progress {
  std::uint64_t tasks;    // begun so far
  std::uint64_t busy_ns;  // that workers' threads have used cores
  std::uint64_t at_ps;
  // blocked: threads that blocked meanwhile, and used a core each time they looked in vain.
  [[nodiscard]] bool stands(const progress& now, std::size_t blocked = 0) const noexcept {
    return now.tasks == tasks && now.busy_ns - busy_ns <= base::patience_busy_ns + blocked * base::patience_look_ns;
  }
};

// A thread at a full window. Lives on its stack.
struct submitter {
  submitter(detail::cell<std::uint32_t>& its_signal, std::uint8_t its_class, unsigned its_id) noexcept
      : signal(its_signal), size_class(its_class), id(its_id) {}
  static constexpr unsigned stranger = ~0u;
  detail::cell<std::uint32_t>& signal;
  const std::uint8_t size_class;
  const unsigned id;        // as worker_id() says; or a stranger
  bool replaceable = true;  // another thread runs tasks while it blocks. A stranger runs none
  // Guarded by the window's lock.
  bool woken = false;
  bool may_exceed = false;
  bool looked = false;  // before and since are set; written by its own thread
  std::uint64_t rooms = 0;
  progress before{};  // one patience ago
  progress since{};   // when room was made last
};

// What the window has to ask for. Called with its lock held, so none of these comes back.
struct window_needs {
  virtual void wake(submitter& s) noexcept = 0;
  [[nodiscard]] virtual std::uint64_t tasks_begun() noexcept = 0;
  // Whether the pool would give a record of that class, with so many live at most.
  [[nodiscard]] virtual bool has_room(std::uint8_t size_class, std::size_t live_max) noexcept = 0;

 protected:
  ~window_needs() = default;
};

template <class M> class window {
 public:
  // most: options::window.
  window(window_needs& needs, std::size_t most, const rules& r = rules::usual()) noexcept
      : needs_(needs), rules_(r), most_(most), limit_{most} {}
  // threads: how many may run tasks, the reserve included. grows: submitters block, and the limit begins low and grows
  // with them. Who: whoever makes the engine, before the first submitter.
  void open(unsigned threads, bool grows) noexcept {
    threads_ = threads;
    if (grows) detail::poke(limit_, std::min<std::size_t>(most_, rules_[by::first_window]));
  }

  // Live tasks of one class of records, at most.
  [[nodiscard]] std::size_t limit() const noexcept { return detail::peek(limit_); }

  // A submitter waits for room from here to goes(). Order: seq_cst, before its first look for room; who gives a batch
  // back asks anyone() after that. One of the two sees the other. To go is relaxed: who waits
  // no more need not be woken.
  void comes() noexcept { static_cast<void>(M::fetch_add(waiting_, 1u, base::seq_cst)); }
  void goes() noexcept { static_cast<void>(M::fetch_sub(waiting_, 1u, base::relaxed)); }
  [[nodiscard]] bool anyone() noexcept { return M::load(waiting_, base::seq_cst) != 0; }
  [[nodiscard]] bool anyone_lately() const noexcept { return detail::peek(waiting_) != 0; }

  // --- threads that block ---

  // Lists s, which then looks for room and blocks. False: the limit has grown instead, because nobody would run tasks
  // in its place. Who: s's thread.
  [[nodiscard]] bool enter(submitter& s) {
    base::locked<M> guard(lock_);
    if (limit() < most_ && !may_block(s)) {
      grow();
      return false;
    }
    WEFT_ASSERT(std::find(blocked_.begin(), blocked_.end(), &s) == blocked_.end());
    blocked_.push_back(&s);
    comes();
    if (s.id != submitter::stranger) stands();
    return true;
  }
  void leave(submitter& s) noexcept {
    {
      base::locked<M> guard(lock_);
      const std::size_t erased = std::erase(blocked_, &s);
      WEFT_ASSERT(erased == 1);
      ++rooms_;
      if (s.id != submitter::stranger) stands_no_longer();
    }
    goes();
  }
  // s is about to look for room, and can be woken anew from here on. Returns whether it may exceed the limit, once.
  [[nodiscard]] bool look_again(submitter& s) noexcept {
    base::locked<M> guard(lock_);
    s.woken = false;
    return std::exchange(s.may_exceed, false);
  }
  // How long s blocks before it asks whether the limit must grow; the first time it only looks how things are, and
  // soon, since most who block are woken before. Who: s's thread.
  [[nodiscard]] std::uint64_t patience(const submitter& s) const noexcept {
    const std::uint64_t ns = limit() < most_ ? rules_[by::first_patience] : base::patience_ns;
    return s.looked ? ns : ns / 4;
  }
  // Whether s is the oldest, which judges for all. The others must not even ask what was done: that reads the clock of
  // each thread, and with many of both it would be more work than the judge takes for a standstill. Who: s's thread.
  [[nodiscard]] bool judges(const submitter& s) noexcept {
    base::locked<M> guard(lock_);
    return blocked_.front() == &s;
  }
  // s has blocked so long and was not woken. The oldest judges for all.
  void judge(submitter& s, const progress& now) noexcept {
    base::locked<M> guard(lock_);
    if (blocked_.front() != &s) return;
    if (!s.looked || s.rooms != rooms_) {
      s.looked = true;
      s.rooms = rooms_;
      s.before = s.since = now;
      return;
    }
    // Below options::window a body that computes is waited for no longer: it may do so until the submitter goes on.
    const bool stands = grows() ? now.tasks == s.before.tasks : s.before.stands(now, blocked_.size());
    const bool alone = only_others_move(s.since, now);
    s.before = now;
    if (stands || alone) grow(alone);
  }
  // Whether it is below options::window still.
  [[nodiscard]] bool grows() const noexcept { return limit() < most_; }
  // So those who block look sooner than beyond.
  [[nodiscard]] bool looks_soon() const noexcept { return grows() && rules_.is_on(by::first_patience); }

  // --- those who run tasks ---

  // A worker waits for its id: it runs no tasks, as those that block.
  void stand() noexcept {
    base::locked<M> guard(lock_);
    stands();
  }
  void stand_no_longer() noexcept {
    base::locked<M> guard(lock_);
    stands_no_longer();
  }
  // A batch of that class has come back to the pool. Who: anybody, if anyone() waits.
  void room_made(std::uint8_t size_class) noexcept {
    base::locked<M> guard(lock_);
    ++rooms_;
    detail::poke(limit_, std::min(limit(), most_));
    if (!needs_.has_room(size_class, limit() / 4 + base::pool_batch_records)) return;
    for (submitter* s : blocked_)
      if (s->size_class == size_class) wake(*s);
  }
  // A worker has nothing to do, so those who block should go on: with what room there is, or else with more, if more
  // tasks would serve that worker. Returns whether the limit grows.
  bool worker_idle(bool wants_more) noexcept {
    base::locked<M> guard(lock_);
    bool there_is_room = false;
    for (submitter* s : blocked_) {
      if (!needs_.has_room(s->size_class, limit())) continue;
      there_is_room = true;
      wake(*s);
    }
    if (wants_more && rules_.is_on(by::idle_grows) && !there_is_room && !blocked_.empty() && grows()) {
      grow();
      return true;
    }
    return false;
  }
  // Nothing can run but those who wait for room.
  void all_idle() noexcept {
    base::locked<M> guard(lock_);
    if (!blocked_.empty()) grow();
  }

 private:
  // Below options::window one worker at most blocks at a time, since there is one reserve, and never the reserve.
  [[nodiscard]] bool may_block(const submitter& s) const noexcept {
    return s.id == submitter::stranger || (s.replaceable && standing_ == 0);
  }
  // All who could run tasks stand: then no patience is needed. Who: holder of lock_, as all below.
  void stands() noexcept {
    ++standing_;
    if (standing_ >= threads_ && !blocked_.empty()) grow();  // more: a creator may have to run a pinned task
  }
  void stands_no_longer() noexcept {
    WEFT_ASSERT(standing_ != 0);
    --standing_;
  }
  // Everybody who is blocked goes on, with a batch that nobody can take before. Beyond options::window the steps double
  // as long as no task begins, or those that do will not make room: a million tasks that wait for a lock of their
  // submitter's are through in seconds, while bodies that sleep for long cost a batch each time.
  void grow(bool tasks_make_no_room = false) noexcept {
    if (limit() < most_) {
      detail::poke(limit_, std::min(2 * limit(), most_));
    } else {
      const std::uint64_t tasks = needs_.tasks_begun();
      const bool again = tasks_make_no_room || tasks == tasks_at_step_;
      step_ = step_ != 0 && again ? std::min(2 * step_, step_max) : 1;
      tasks_at_step_ = tasks;
      detail::poke(limit_, limit() + step_ * base::pool_batch_records);
    }
    ++rooms_;
    for (submitter* s : blocked_) {
      s->may_exceed = true;
      wake(*s);
    }
  }
  void wake(submitter& s) noexcept {
    if (!std::exchange(s.woken, true)) needs_.wake(s);
  }
  // More tasks have begun than may live, and no batch has come back: they use their own records again and again, as a
  // body does that submits and waits in turns, and how long it does so may depend on who is blocked.
  [[nodiscard]] bool only_others_move(const progress& since, const progress& now) const noexcept {
    const std::size_t held = limit() + 2 * base::pool_batch_records * threads_;
    return now.tasks - since.tasks > held && now.at_ps - since.at_ps >= 1000 * base::patience_alone_ns;
  }

  static constexpr std::size_t step_max = std::size_t{1} << 20;

  window_needs& needs_;
  const rules& rules_;
  const std::size_t most_;
  unsigned threads_ = 1;
  detail::cell<std::uint32_t> waiting_;  // submitters that wait for room, blocked or set aside
  detail::cell<std::uint8_t> lock_;
  detail::cell<std::size_t> limit_;  // written under lock_
  std::vector<submitter*> blocked_;  // oldest first; guarded by lock_, as what follows
  unsigned standing_ = 0;
  std::uint64_t rooms_ = 0;  // times that room was made or somebody went on
  std::size_t step_ = 0;     // batches that the limit grew by last, beyond options::window
  std::uint64_t tasks_at_step_ = 0;
};

}  // namespace weft::sched

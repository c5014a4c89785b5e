// Threads that are no workers of the runtime and call it all the same: to submit, to wait, to destroy a handle. For the
// time of a call each is a worker without a deque. It owns that worker's free records and counters alone, so every path
// of the engine is the same for workers and guests, and no record is guarded by a lock of its own.
//
// A stall is declared only while no such call is under way that may still make something ready, and by a worker that
// found all workers asleep. So a call counts itself, and the last one to end has a worker ask again if all sleep.
// Order: the count goes down before the sleepers are looked at, and whoever falls asleep says so before it reads the
// count (both seq_cst): one of the two sees the other. The lock keeps a call from beginning while a stall is described.
#pragma once
#include <cstdint>
#include <vector>

#include "base/assert.hpp"
#include "base/atomic.hpp"
#include "base/lock.hpp"
#include "sched/idle/sleep.hpp"
#include "sched/workers/waiter_list.hpp"
#include "sched/workers/worker.hpp"
#include "task/pool.hpp"

namespace weft::sched {

template <class M> class guests {
 public:
  guests(M& machine, sleep<M>& sleep, task::pool<M>& pool) : machine_(machine), sleep_(sleep), pool_(pool) {}
  // Who: the thread that ends the runtime, when no call is left.
  ~guests() {
    for (worker<M>* g = all_.raw; g != nullptr;) {
      worker<M>* next = g->next_guest;
      delete g;
      g = next;
    }
  }
  guests(const guests&) = delete;
  guests& operator=(const guests&) = delete;

  // The worker that the calling thread is until leave(). Those that were used last are used first, so that few hold
  // free records. Errors: std::bad_alloc.
  [[nodiscard]] worker<M>& enter(detail::engine_base* engine) {
    base::locked<M> guard(lock_);
    if (!free_.empty()) {
      worker<M>* g = free_.back();
      free_.pop_back();
      WEFT_ASSERT(g->role == role::guest && g->current == nullptr);
      return *g;
    }
    free_.reserve(made_ + 1);  // so that leave() allocates nothing
    pool_.admit_holder();
    auto* g = new worker<M>;
    g->engine = engine;
    g->role = role::guest;
    g->id = worker<M>::no_id;
    detail::poke(g->shown_id, worker<M>::no_id);
    g->next_guest = all_.raw;
    M::store(all_, g, base::release);  // pairs with the sums below
    ++made_;
    return *g;
  }
  void leave(worker<M>& g) noexcept {
    base::locked<M> guard(lock_);
    WEFT_ASSERT(free_.size() < made_ && g.role == role::guest && g.current == nullptr);
    free_.push_back(&g);
  }

  // Whether there ever was one. Takes no time on a modelled machine. Who: a thread that knows of what it did here.
  [[nodiscard]] bool ever_any() const noexcept { return detail::peek(all_) != nullptr; }
  // Whether no guest is here, nor is one between the two calls of a submission. Order: acquire: what those did here
  // comes before. Who: anyone.
  [[nodiscard]] bool all_left() noexcept {
    base::locked<M> guard(lock_);
    return free_.size() == made_ && !calls_under_way();
  }

  // The number of a guest's top-level task: behind all of the main thread's, which counts for itself.
  [[nodiscard]] std::uint64_t next_order() noexcept {
    return order_bit | (M::fetch_add(submitted_, std::uint64_t{1}, base::relaxed) + 1);
  }

  // Sums over all guests there have been. Who: any thread. Order: as quiescence.hpp wants it.
  [[nodiscard]] std::uint64_t created() noexcept { return sum(&detail::worker::created, base::relaxed); }
  [[nodiscard]] std::uint64_t finished() noexcept { return sum(&detail::worker::finished, base::acquire); }
  // Adds how often each rule has decided for any of them. Takes no time where there never was one. Who: any thread.
  void add_decided(std::uint64_t (&sums)[rules::count]) const noexcept {
    if (!ever_any()) return;
    base::locked<M> guard(lock_);
    for (const worker<M>* g = all_.raw; g != nullptr; g = g->next_guest) g->counted.decided.add_to(sums);
  }

  // Order: relaxed; who relies on it that there is none has the lock.
  void begin_call() noexcept {
    base::locked<M> guard(waits_lock_);
    static_cast<void>(M::fetch_add(calls_, 1u, base::relaxed));
  }
  void end_call() noexcept {
    const std::uint32_t before = M::fetch_sub(calls_, 1u, base::seq_cst);
    WEFT_ASSERT(before != 0);
    if (before == 1 && sleep_.all_asleep()) sleep_.notify(machine_);
  }
  [[nodiscard]] bool calls_under_way() noexcept { return M::load(calls_, base::seq_cst) != 0; }

  class call {
   public:
    explicit call(guests& g) noexcept : guests_(g) { g.begin_call(); }
    struct begun {};
    call(guests& g, begun) noexcept : guests_(g) {}  // ends what was begun before
    ~call() { guests_.end_call(); }
    call(const call&) = delete;
    call& operator=(const call&) = delete;

   private:
    guests& guests_;
  };

  // Such a thread waits in `self`, for h, or for everything or an event (nullptr): known to a stall from before it is
  // listed where its end will be seen until after it was taken from there.
  class wait {
   public:
    wait(guests& g, waiter& self, detail::handle_state* h) : guests_(g), self_(self) {
      self.r.kind = detail::record_kind::external;
      self.awaited = h;
      base::locked<M> guard(g.waits_lock_);
      g.waits_.push(self);
    }
    ~wait() {
      base::locked<M> guard(guests_.waits_lock_);
      const bool listed = guests_.waits_.erase(self_);
      WEFT_ASSERT(listed);
    }
    wait(const wait&) = delete;
    wait& operator=(const wait&) = delete;

   private:
    guests& guests_;
    waiter& self_;
  };

  // Held while a stall is described: no call begins, and who is in the list stays there.
  [[nodiscard]] detail::cell<std::uint8_t>& waits_lock() noexcept { return waits_lock_; }
  // Who: holder of waits_lock().
  using list = waiter_list<&waiter::next_outside>;
  [[nodiscard]] const list& waits() const noexcept {
    WEFT_ASSERT(base::held(waits_lock_));
    return waits_;
  }

 private:
  [[nodiscard]] std::uint64_t sum(detail::cell<std::uint64_t> detail::worker::*counter, base::order o) noexcept {
    std::uint64_t n = 0;
    for (worker<M>* g = M::load(all_, base::acquire); g != nullptr; g = g->next_guest) n += M::load(g->*counter, o);
    return n;
  }

  static constexpr std::uint64_t order_bit = std::uint64_t{1} << 63;
  M& machine_;
  sleep<M>& sleep_;
  task::pool<M>& pool_;
  mutable detail::cell<std::uint8_t> lock_;
  std::vector<worker<M>*> free_;  // guarded by lock_
  std::size_t made_ = 0;          // guarded by lock_
  detail::cell<worker<M>*> all_;  // linked by next_guest; written under lock_, never shrinks
  detail::cell<std::uint64_t> submitted_;
  detail::cell<std::uint32_t> calls_;  // under way, that may make something ready or fill in a record
  detail::cell<std::uint8_t> waits_lock_;
  list waits_;  // guarded by waits_lock_
};

}  // namespace weft::sched

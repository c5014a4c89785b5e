// The reserve: one thread more than there are workers, which runs tasks in the place of a worker that cannot. It comes
// when a worker lends it its id and goes when none is lent; bodies there see that id, so ids stay below workers().
// Protocol and proof: reserve.md.
//
//   lend       a worker's thread that is about to block. The reserve is called, to its core where workers are bound
//   recall     whoever lets that thread go on. The reserve wakes it when it has ended the body it is in; if it is in
//              none under that id, the caller does. So the two never need the core at the same time
//   take_back  the thread, before it goes on: it has its id for itself again
//
// A runtime with one worker, or with a policy under which nobody else may see what the main thread has, also has the
// reserve in the place of its main thread, when that is away in the program and other threads wait.
// Invariant: held_ != no_id only between has_turn()/next_turn() and the next of either that returns false, and then id
// held_ is lent or recalled.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/assert.hpp"
#include "base/atomic.hpp"
#include "base/limits.hpp"
#include "base/lock.hpp"
#include "sched/admit/window.hpp"
#include "sched/idle/sleep.hpp"

namespace weft::sched {

template <class M> class reserve {
 public:
  static constexpr std::uint16_t no_id = 0xffff;
  using word = detail::cell<std::uint32_t>;

  reserve(M& machine, sleep<M>& sleepers) noexcept : machine_(machine), sleep_(sleepers) {}
  // seat: its number as a worker, the number of the others. shown_id and bodies_left are that worker's: what
  // worker_id() says there, and how many bodies it runs before it asks here again. for_main: whether it is wanted for
  // threads outside while the main thread is away.
  void open(unsigned seat, detail::cell<std::uint16_t>& shown_id, detail::cell<unsigned>& tick_limit, unsigned ticks,
            bool for_main) {
    seat_ = seat;
    for_main_ = for_main;
    shown_ = &shown_id;
    tick_limit_ = &tick_limit;
    ticks_ = ticks;
    loans_.reserve(seat + 1);
  }

  // --- a worker whose thread runs no tasks ---

  // The caller's thread is about to block on `wake`, which lives as long as the runtime. May be called again.
  void lend(std::uint16_t id, word& wake) {
    base::locked<M> guard(lock_);
    if (find(id) == loans_.end()) loans_.push_back({id, &wake});
    if (detail::peek(held_) == id && !given_up_) set_recalled(false);
    call(true);
  }
  // Wakes the thread that has lent id, or lets the reserve do that when its body there has ended. Who: anyone, while
  // that thread is known to wait.
  void recall(std::uint16_t id, word& wake) noexcept {
    {
      base::locked<M> guard(lock_);
      if (const auto l = find(id); l != loans_.end()) {
        if (detail::peek(held_) == id && !given_up_) {
          loans_.erase(l);
          wakes_ = &wake;
          return set_recalled(true);
        }
        loans_.erase(l);
      }
    }
    M::signal(wake);
  }
  // Returns when no body runs on the reserve under id, and lends it no longer. If that body waits for something -
  // perhaps for a lock that the caller holds - it would not end before the caller has gone on. That is so if nothing
  // moves, or if the reserve alone has had no core for so long that it cannot be for want of cores; then two bodies
  // share an id. A body that waits for room gets it. Who: id's thread. `look` tells what was done so far.
  template <class Look, class Stand> void take_back(std::uint16_t id, word& wake, Look look, Stand stand) noexcept {
    std::uint64_t turn = 0;
    if (ends_loan(id, wake, turn)) return;
    [[maybe_unused]] const auto standing = stand();
    progress before = look();
    std::uint64_t reserve_busy = machine_.reserve_busy_ns(), alone = 0;
    std::uint64_t waited = 0, poll = 20'000;  // longer and longer: this thread's own looks must not count as work
    while (!M::block_for(wake, poll) || !is_over(turn, wake)) {
      if (is_over(turn, wake)) return;
      waited += poll;
      poll = std::min(2 * poll, base::patience_ns / 4);
      if (waited < base::patience_ns) continue;
      const progress now = look();
      const std::uint64_t busy = machine_.reserve_busy_ns();
      const bool hangs = busy == reserve_busy && !M::load(blocked_, base::relaxed);
      alone = hangs ? alone + waited : 0;
      if ((hangs && before.stands(now)) || alone >= base::patience_alone_ns) return give_up(turn);
      before = now;
      reserve_busy = busy;
      waited = 0;
    }
  }
  // Whether bodies on the reserve have that id. Who: its thread, after main_waits(true); it then takes it back.
  [[nodiscard]] bool holds(std::uint16_t id) const noexcept { return detail::peek(held_) == id; }
  // Threads that are no workers wait for tasks, and the main thread may be away: then id 0 counts as lent.
  void outsiders(int more) noexcept {
    base::locked<M> guard(lock_);
    outsiders_ += static_cast<unsigned>(more);
    if (more > 0) call(false);
  }
  void main_waits(bool yes) noexcept {
    base::locked<M> guard(lock_);
    main_waits_ = yes;
    if (!yes) call(false);
  }

  // --- the reserve's own thread ---

  // Order: relaxed; who has none looks under the lock.
  [[nodiscard]] bool has_turn() noexcept {
    return detail::peek(held_) != no_id && M::load(recalled_, base::relaxed) == 0;
  }
  // Between two bodies. Returns whether it may run the next one, under an id that is lent.
  [[nodiscard]] bool next_turn() noexcept {
    word* woken = nullptr;
    bool goes_on = false;
    {
      base::locked<M> guard(lock_);
      goes_on = wanted();
      if (goes_on) {
        woken = end_turn();
        hold(loans_.empty() ? std::uint16_t{0} : loans_.front().id);
      }
    }
    if (woken != nullptr) M::signal(*woken);
    return goes_on;
  }
  // It has nothing to run and is about to search, perhaps to sleep.
  void rest() noexcept {
    word* woken = nullptr;
    {
      base::locked<M> guard(lock_);
      woken = end_turn();
    }
    if (woken != nullptr) M::signal(*woken);
  }
  [[nodiscard]] bool is_wanted() noexcept {
    base::locked<M> guard(lock_);
    return wanted();
  }
  // Not wanted, and with nothing of its own: away from here on, until block() returns. False: it is wanted again.
  // After this it takes the last look that sleep.md asks for.
  [[nodiscard]] bool go_away() noexcept {
    base::locked<M> guard(lock_);
    if (wanted()) return false;
    leaving_wakes_ = end_turn();
    M::store(called_, 0u, base::relaxed);
    state_ = state::away;
    sleep_.set_reserve_away(true);
    return true;
  }
  // Wakes whom it stood in for, last of all: that thread may have the same core.
  void block() noexcept {
    if (leaving_wakes_ != nullptr) M::signal(*std::exchange(leaving_wakes_, nullptr));
    M::block(called_);
  }
  // Its body waits for room, or has it.
  void set_blocked(bool yes) noexcept { M::store(blocked_, yes, base::relaxed); }

  // The runtime ends. Who: anyone.
  void release() noexcept { M::signal(called_); }

 private:
  enum class state : std::uint8_t { none, refused, away, here };
  struct loan {
    std::uint16_t id;
    word* wake;
  };

  // Who: holder of lock_, as all below.
  [[nodiscard]] auto find(std::uint16_t id) noexcept {
    return std::find_if(loans_.begin(), loans_.end(), [id](const loan& l) { return l.id == id; });
  }
  [[nodiscard]] bool wanted() const noexcept {
    return !loans_.empty() || (for_main_ && outsiders_ != 0 && !main_waits_);
  }
  void call(bool to_caller) noexcept {
    if (!wanted() || state_ == state::here || state_ == state::refused) return;
    const state was = std::exchange(state_, state::here);
    sleep_.set_reserve_away(false);
    machine_.bring_reserve(to_caller);
    if (was == state::away) return M::signal(called_);
    if (machine_.start_one(seat_)) return;
    sleep_.set_reserve_away(true);
    state_ = state::refused;
  }
  void hold(std::uint16_t id) noexcept {
    detail::poke(held_, id);
    M::store(*shown_, id, base::relaxed);
  }
  // Returns whom to wake, if somebody waits for this.
  [[nodiscard]] word* end_turn() noexcept {
    ++turn_;
    hold(no_id);
    set_recalled(false);
    given_up_ = false;
    return std::exchange(wakes_, nullptr);
  }
  void set_recalled(bool yes) noexcept {
    M::store(recalled_, std::uint8_t{yes}, base::relaxed);
    M::store(*tick_limit_, yes ? 1u : ticks_, base::relaxed);
  }
  // turn: which one the caller waits for, if it has to.
  [[nodiscard]] bool ends_loan(std::uint16_t id, word& wake, std::uint64_t& turn) noexcept {
    base::locked<M> guard(lock_);
    if (const auto l = find(id); l != loans_.end()) loans_.erase(l);
    if (detail::peek(held_) != id || given_up_) return true;
    turn = turn_;
    M::store(wake, 0u, base::relaxed);
    wakes_ = &wake;
    set_recalled(true);
    return false;
  }
  // Not whether the id is held: the next turn may have the same one, for threads outside.
  [[nodiscard]] bool is_over(std::uint64_t turn, word& wake) noexcept {
    base::locked<M> guard(lock_);
    M::store(wake, 0u, base::relaxed);
    return turn_ != turn;
  }
  // Nobody waits for this turn any more; what runs in it keeps the id.
  void give_up(std::uint64_t turn) noexcept {
    base::locked<M> guard(lock_);
    if (turn_ != turn) return;
    given_up_ = true;
    wakes_ = nullptr;
  }

  M& machine_;
  sleep<M>& sleep_;
  unsigned seat_ = 0;
  bool for_main_ = false;
  detail::cell<std::uint16_t>* shown_ = nullptr;
  detail::cell<unsigned>* tick_limit_ = nullptr;
  unsigned ticks_ = 1;
  detail::cell<std::uint8_t> lock_;
  detail::cell<std::uint16_t> held_{no_id};  // the id that bodies have here; written by the reserve under lock_
  detail::cell<std::uint8_t> recalled_;      // its thread waits for it; written under lock_
  detail::cell<bool> blocked_;               // the body that runs here waits for room
  word called_;                              // what the reserve blocks on while it is away
  word* leaving_wakes_ = nullptr;            // the reserve's own
  std::vector<loan> loans_;                  // oldest first; guarded by lock_, as what follows
  word* wakes_ = nullptr;                    // whom the end of this turn wakes
  std::uint64_t turn_ = 0;                   // how many have ended
  bool given_up_ = false;                    // somebody has gone on while this turn lasts
  unsigned outsiders_ = 0;
  bool main_waits_ = false;
  state state_ = state::none;
};

}  // namespace weft::sched

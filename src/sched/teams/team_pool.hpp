// What the members of one team share beside the team's state, and where it stays when the last of them has left. A
// worker keeps what its last team had for its next one, so that it is made again where its lines are; who leads a team
// inside a team, or submits the next before the last is over, takes another one from what all have.
// Invariant: a team that is kept has one worker that may take it, and is_over is 1 only while no member has it.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "base/assert.hpp"
#include "base/atomic.hpp"
#include "base/lock.hpp"
#include "sched/idle/sleepers.hpp"
#include "sched/queues/unit_queue.hpp"
#include "sched/teams/widths.hpp"
#include "sched/workers/worker.hpp"
#include "weft/detail/team.hpp"

namespace weft::sched {

template <class M> class teams;
template <class M> class team_pool;

// How wide a team is, and where its times go.
template <class M> struct team_course {
  unsigned width = 1;
  typename widths<M>::course learns{};
  bool is_timed = false;
  std::uint64_t since_ps = 0;
};

template <class M> struct team : detail::team_state {
  teams<M>* home = nullptr;
  unit_queue<M> units;
  std::vector<const void*> slots;
  team_course<M> course{};
  sleepers<M> asleep;

 private:
  friend team_pool<M>;
  bool is_kept_ = false;  // by a worker, from its first team on
  detail::cell<std::uint8_t> is_over_;
};

template <class M> class team_pool {
 public:
  // One that no member has. Who: w's thread. Order: acquire, what its last members did comes before. Errors:
  // std::bad_alloc.
  [[nodiscard]] team<M>& take(worker<M>& w) {
    auto* const kept = static_cast<team<M>*>(w.teams.keeps);
    if (kept != nullptr && M::load(kept->is_over_, base::acquire) != 0) {
      M::store(kept->is_over_, std::uint8_t{0}, base::relaxed);
      return *kept;
    }
    team<M>& t = any();
    WEFT_ASSERT(!t.is_kept_ && &t != kept);
    if (kept == nullptr) {
      w.teams.keeps = &t;
      t.is_kept_ = true;
    }
    return t;
  }
  // Who: the last member, or who has taken it and made none. Order: release.
  void give_back(team<M>& t) noexcept {
    if (t.is_kept_) {
      WEFT_ASSERT(M::load(t.is_over_, base::relaxed) == 0);
      return M::store(t.is_over_, std::uint8_t{1}, base::release);  // pairs with take(): is_over_.load(acquire)
    }
    base::locked<M> guard(lock_);
    WEFT_ASSERT(idle_.size() < all_.size());
    idle_.push_back(&t);  // there is room: any()
  }

 private:
  [[nodiscard]] team<M>& any() {
    base::locked<M> guard(lock_);
    if (idle_.empty()) {
      idle_.reserve(all_.size() + 1);
      all_.push_back(std::make_unique<team<M>>());
      M::fresh(all_.back().get(), sizeof(team<M>));
      return *all_.back();
    }
    team<M>& t = *idle_.back();
    idle_.pop_back();
    return t;
  }

  alignas(64) detail::cell<std::uint8_t> lock_;  // of what follows
  std::vector<std::unique_ptr<team<M>>> all_;
  std::vector<team<M>*> idle_;  // and kept by nobody
};

}  // namespace weft::sched

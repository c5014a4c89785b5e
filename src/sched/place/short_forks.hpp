// Whether the main thread's forks, outside of tasks, are over sooner if thieves get nothing of them: tried.
//
// A sum over a small tree takes a microsecond. Thieves that starve ask for branches at once, and each that is shared
// costs the main thread as much as half of the tree: its line, the wait for whoever has it, and more with more thieves.
// How large the whole will be nobody knows when it begins. So where one after the other is over after a few
// microseconds, both ways are tried: to share when thieves ask, and to turn them down; what counts is how many are
// over.
//
// Who was turned down asks again after its next search. If it is still the same forks they have lasted for longer than
// that search, and it gets something. Protocol: branches.md, "Turned down".
#pragma once
#include <cstdint>

#include "base/assert.hpp"
#include "base/limits.hpp"
#include "sched/balance/rules.hpp"
#include "sched/balance/turns.hpp"
#include "sched/idle/sleep.hpp"
#include "sched/queues/deque.hpp"
#include "sched/workers/worker.hpp"

namespace weft::sched {

template <class M> class alignas(64) short_forks {
 public:
  short_forks(M& machine, sleep<M>& sleep, const rules& r = rules::usual())
      : machine_(machine), sleep_(sleep), rules_(r), turns_(r[by::fork_trial], r),
        looks_each_(r.is_on(by::fork_trial) ? r[by::fork_trial] / 2 : ~std::uint64_t{0}) {}

  // The main thread's outermost fork is over. Cost: an addition; once in so many a look at the clock.
  void over(worker<M>& main) noexcept {
    WEFT_ASSERT(main.id == 0);
    if (++over_ - seen_ >= looks_each_) [[unlikely]]
      look(main);
  }

  // Thieves ask w for branches. Whether they get none for now. Who: w's thread, at a fork. Order: seq_cst, so that
  // somebody who may have relied on being asked for sees it, or is seen.
  [[nodiscard]] bool turns_down(worker<M>& w) noexcept {
    if (!detail::peek(w.turns_down) || w.current != nullptr || asked_in_ == over_ || deque<M>::has_private(w))
      return false;
    asked_in_ = over_;
    M::unseen::store(w.asked, std::uint8_t{0}, base::seq_cst);
    if (sleep_.somebody_comes_by()) {
      w.decides(by::fork_trial);
      return true;
    }
    M::unseen::store(w.asked, std::uint8_t{1}, base::relaxed);
    return false;
  }

 private:
  [[gnu::noinline]] void look(worker<M>& main) noexcept {
    const std::uint64_t now_ps = machine_.now_ps();
    // Off is not a long time: the first look may come later than any, as the clock begins when the computer does.
    const bool are_short =
        !rules_.is_on(by::brief_forks) || now_ps - seen_ps_ <= (over_ - seen_) * rules_.ps(by::brief_forks);
    seen_ps_ = now_ps;
    seen_ = over_;
    if (!are_short) main.decides(by::brief_forks);
    if (!are_short)
      turns_.stop();
    else if (!turns_.under_way())
      turns_.begin_anew(now_ps, over_, over_);
    else
      static_cast<void>(turns_.look(
          now_ps, over_, [this] { return over_; }, &main.counted.decided));
    M::unseen::store(main.turns_down, are_short && turns_.second(), base::seq_cst);
  }

  M& machine_;
  sleep<M>& sleep_;
  const rules& rules_;
  // Of the main thread alone. The second way: to turn thieves down.
  turns turns_;
  std::uint64_t looks_each_;
  std::uint64_t over_ = 0;                      // outermost forks
  std::uint64_t seen_ = 0;                      // and at the last look,
  std::uint64_t seen_ps_ = 0;                   // which was then
  std::uint64_t asked_in_ = ~std::uint64_t{0};  // how many were over when thieves were turned down last
};

}  // namespace weft::sched

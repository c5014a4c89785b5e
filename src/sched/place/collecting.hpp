// How often the main thread shares while thieves starve. Sharing costs it the line of the word, for which thieves stand
// in line. Where it submits about as fast as the others run, what it shares is taken at once, so it shares again, gets
// slower, and they starve all the more. Therefore, as long as they starve again and again, it shares once in two
// submissions, then in four, and so on, and keeps together what it has until then.
// What is kept is private, and the main thread may not come back for it; so it keeps only while somebody is about who
// comes for it before falling asleep. Protocol: deque.md, "Collecting".
#pragma once
#include <algorithm>
#include <cstdint>

#include "base/assert.hpp"
#include "base/limits.hpp"
#include "sched/idle/sleep.hpp"
#include "sched/workers/crew.hpp"
#include "sched/workers/worker.hpp"

namespace weft::sched {

template <class M> class collecting {
 public:
  collecting(M& machine, sleep<M>& sleep, crew<M>& all) : machine_(machine), sleep_(sleep), crew_(all) {}

  // Thieves starve: whether what is private to the main thread stays so for now. If not, the caller shares it. Who:
  // main, in the program, behind a push. Order: seq_cst, pairs with the announcement of who falls asleep. Cost: two
  // loads, of lines that change when somebody falls asleep or is woken; once for all that is shared together, a look at
  // the clock. Where all cores are one thread nobody comes by, and none need: the main thread is at its next call in no
  // time.
  [[nodiscard]] bool keeps(worker<M>& main) noexcept {
    WEFT_DEBUG_ASSERT(main.id == 0 && main.where->on == nullptr);
    if (!crew_.are_many()) return false;
    const std::uint64_t created = detail::peek(main.created);
    // What became ready by something else than a submission is not kept unless others are.
    if (together_ != 1 && created - shared_ < together_) {
      if (!sleep_.somebody_comes_by()) return false;
      main.decides(by::together);
      return true;
    }
    learn(main, created);
    return false;
  }
  // The main thread waits: what comes after may be few tasks, for which the others wait.
  void begins_anew() noexcept { together_ = 1; }

 private:
  // Tasks that wait count as well: they may wait for what is kept.
  void learn(worker<M>& main, std::uint64_t created) noexcept {
    const std::uint64_t now_ps = machine_.now_ps();
    const std::uint64_t n = created - shared_, most = crew_.rules()[by::together];
    const bool is_brisk = now_ps - shared_ps_ < n * crew_.rules().ps(by::brisk);
    const bool again = n <= most && is_brisk;
    const bool is_first = shared_ps_ == 0;  // then it is long ago, whatever the rule says
    if (n != 0 && n <= most && !is_brisk && !is_first) main.decides(by::brisk);
    together_ = again && may_keep(main) ? std::min(2 * together_, most) : 1;
    WEFT_ASSERT(together_ != 0);
    shared_ = created;
    shared_ps_ = now_ps;
  }
  [[nodiscard]] bool may_keep(const worker<M>& main) noexcept {
    if (!crew_.has_reserve()) return true;
    if (!detail::peek(main.away)) return false;
    if (can_pull_ == answer::unknown) can_pull_ = M::barrier_everywhere() ? answer::yes : answer::no;
    return can_pull_ == answer::yes;
  }

  M& machine_;
  sleep<M>& sleep_;
  crew<M>& crew_;
  // Of the main thread alone.
  enum class answer : std::uint8_t { unknown, no, yes };
  answer can_pull_ = answer::unknown;
  std::uint64_t together_ = 1;   // submissions from one time to the next
  std::uint64_t shared_ = 0;     // how many there had been the last time,
  std::uint64_t shared_ps_ = 0;  // and when that was
};

}  // namespace weft::sched

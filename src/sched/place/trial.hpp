// Whether the main thread's tasks are done sooner if the other workers keep away from them: tried.
//
// How long a body must be for a theft to pay cannot be said beforehand. A thief takes lines away that the main thread
// writes with its next submission, and the more thieves there are, the longer it waits for them; and a body that has
// been moved waits for its data, so its time does not say how long it would be at home. So where the bodies of what the
// main thread submits are short both ways are tried, and what counts is how many run while some windows are submitted.
#pragma once
#include <cstdint>

#include "base/assert.hpp"
#include "base/limits.hpp"
#include "sched/balance/tempo.hpp"
#include "sched/balance/turns.hpp"
#include "sched/workers/crew.hpp"
#include "sched/workers/worker.hpp"

namespace weft::sched {

template <class M> class alignas(64) trial {
 public:
  trial(M& machine, crew<M>& all, tempo<M>& tempo) : machine_(machine), crew_(all), tempo_(tempo) {
    if (all.rules().is_on(by::trial)) looks_each_ = all.rules()[by::trial] / base::looks_in_turn;
  }

  // Who: w's thread, before a submission; every one, or some. Cost: two loads. Of the main thread: once in so many
  // submissions a look at the clock, and at the end of a turn one at a line of each worker.
  [[gnu::always_inline]] void submits(worker<M>& w) noexcept {
    if (w.id == 0 && w.current == nullptr && detail::peek(w.created) - seen_ >= looks_each_) [[unlikely]]
      look(w);
  }

 private:
  [[gnu::noinline]] void look(worker<M>& main) noexcept {
    WEFT_ASSERT(&main == &crew_.main());
    seen_ = detail::peek(main.created);
    if (crew_.workers() == 1 || !tempo_.doubtful()) return turns_.stop();
    if (!turns_.under_way()) return turns_.begin_anew(machine_.now_ps(), seen_, crew_.tasks_begun());
    if (!turns_.look(
            machine_.now_ps(), seen_, [this] { return crew_.tasks_begun(); }, &main.counted.decided))
      return;
    main.decides(by::trial);
    tempo_.keep_away(turns_.second());
  }

  M& machine_;
  crew<M>& crew_;
  tempo<M>& tempo_;
  // Of the main thread alone. The second way: the others keep away.
  turns turns_{crew_.rules()[by::trial], crew_.rules()};
  std::uint64_t seen_ = 0;                        // submissions at the last look
  std::uint64_t looks_each_ = ~std::uint64_t{0};  // so many later it looks again
};

}  // namespace weft::sched

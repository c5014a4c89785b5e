// How long bodies are, as the scheduler sees it: whether moving one to another core pays, and whether what is private
// must be put within reach of thieves before the next body begins. Bodies are timed each while they are long and once
// in a while when they are short, since two looks at the clock cost as much as a tiny task.
// A body that waited is not measured: the time it was set aside says nothing about how long bodies are. But who steals
// one of that kind gets all that it submits, so where there are some a thief is not to judge by the others, which may
// all be empty leaves.
// The clock's own price is taken off: two looks take 20 to 50 ns, and what is asked is whether a body takes 60.
#pragma once
#include <algorithm>
#include <cstdint>

#include "base/atomic.hpp"
#include "base/limits.hpp"
#include "sched/balance/decisions.hpp"
#include "sched/balance/rules.hpp"

namespace weft::sched {

// A worker's part. Who: its own thread.
struct pace {
  bool coarse = true;          // bodies here are long: keep everything within reach of thieves
  bool timed = true;           // the next body is, as all are while they are long
  bool always = false;         // each body is watched for another reason: a trace
  bool watched = true;         // timed or always
  unsigned short_bodies = 0;   // in a row, while coarse
  bool runs_nested = false;    // the body timed last was of a task that another task has submitted
  unsigned waited_lately = 0;  // timed bodies until it is forgotten that one here has waited
  unsigned long_lately = 0;    // the same of one that was worth a way (worth_the_way)
  decisions* told = nullptr;   // hears what is decided, if anybody does

  void time_next() noexcept { timed = watched = true; }
  void decides(by r) noexcept {
    if (told != nullptr) told->count(r);
  }
};

template <class M> class tempo {
 public:
  explicit tempo(const rules& r = rules::usual()) noexcept : rules_(r) {}
  // What two looks at the clock take on this machine. Who: whoever makes the engine, before any body.
  void open(std::uint64_t clock_ps) noexcept { clock_ps_ = clock_ps; }

  // Whether bodies are so short that bringing one over to another core costs more than running it here. A hint.
  [[nodiscard]] bool tiny() noexcept {
    return M::load(body_ns_, base::relaxed) < rules_[by::tiny] && M::load(some_wait_, base::relaxed) == 0;
  }

  // Whether a body may be so long that who must go on soon rather leaves it to another worker, though that takes a
  // wake-up: one was, lately, or nothing has run yet. A hint.
  [[nodiscard]] bool worth_the_way() noexcept {
    return rules_.is_on(by::worth_the_way) &&
           (M::load(some_long_, base::relaxed) != 0 || M::load(body_ns_, base::relaxed) == unknown_ns);
  }

  // A body has waited. Who: p's worker. Order: relaxed; another worker that has forgotten its own may clear the word,
  // and it is set again before long. Cost: the line of that word, once in so many timed bodies.
  void waited(pace& p) noexcept {
    if (!rules_.is_on(by::waited)) return;
    if (p.waited_lately > rules_[by::waited] / 2) {
      --p.waited_lately;
      return;
    }
    p.waited_lately = static_cast<unsigned>(rules_[by::waited]);
    p.decides(by::waited);
    if (M::load(some_wait_, base::relaxed) == 0) M::store(some_wait_, 1u, base::relaxed);
  }

  // A body has run for so long, by the clock, and has not waited. Who: p's worker. Order: relaxed; the mean is a hint,
  // and a lost update is a sample less.
  void ran(pace& p, std::uint64_t clocked_ps, bool is_nested = false) noexcept {
    p.runs_nested = is_nested;
    const std::uint64_t body_ps = clocked_ps - std::min(clocked_ps, clock_ps_);
    // Nobody asks how long long bodies are; so where all are, the mean stands still, and its line is with everybody.
    const auto ns = static_cast<std::uint32_t>(std::min<std::uint64_t>(body_ps / 1000, base::mean_body_max_ns));
    const std::uint32_t before = M::load(body_ns_, base::relaxed);
    const std::uint32_t now = before == unknown_ns ? ns : towards(before, ns);
    if (now != before) M::store(body_ns_, now, base::relaxed);
    if (p.waited_lately != 0 && --p.waited_lately == 0) M::store(some_wait_, 0u, base::relaxed);
    remember_long(p, body_ps);
    const bool is_long = body_ps >= rules_.ps(by::coarse);
    if (is_long) p.decides(by::coarse);
    p.short_bodies = is_long ? 0 : p.short_bodies + 1;
    if (p.coarse && p.short_bodies == rules_[by::fine_after]) p.decides(by::fine_after);
    p.coarse = is_long || (p.coarse && p.short_bodies < rules_[by::fine_after]);
    p.timed = p.coarse;
    p.watched = p.timed || p.always;
  }

 private:
  // Order and cost as in waited().
  void remember_long(pace& p, std::uint64_t body_ps) noexcept {
    if (body_ps >= rules_.ps(by::worth_the_way)) {
      p.long_lately = bodies_remembered;
      if (M::load(some_long_, base::relaxed) == 0) M::store(some_long_, 1u, base::relaxed);
    } else if (p.long_lately != 0 && --p.long_lately == 0) {
      M::store(some_long_, 0u, base::relaxed);
    }
  }
  // An eighth of the way, at least one step, so that the mean arrives.
  [[nodiscard]] static std::uint32_t towards(std::uint32_t mean, std::uint32_t ns) noexcept {
    return ns > mean ? mean + (ns - mean + 7) / 8 : mean - (mean - ns + 7) / 8;
  }

  static constexpr std::uint32_t unknown_ns = ~std::uint32_t{0};
  static constexpr unsigned bodies_remembered = 64;  // with short ones, of which few are timed, some thousands
  const rules& rules_;
  std::uint64_t clock_ps_ = 0;
  alignas(64) detail::cell<std::uint32_t> body_ns_{unknown_ns};
  detail::cell<std::uint32_t> some_wait_;
  detail::cell<std::uint32_t> some_long_;
};

}  // namespace weft::sched

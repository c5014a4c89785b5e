// How to write a policy. A policy answers questions and owns nothing: no queue, no thread, no clock. The scheduler asks
// at events, never per instruction; every question has a default answer:
//
//   ready(self, r, rng)      task r became ready on worker self (policy::nobody: on a thread outside): where it goes.
//                            r.state is `filling` if it was ready at its submission, `blocked` if it has waited.
//                            own, where self takes the newest first and thieves the oldest; central, the one queue all
//                            workers share, oldest first; the queue of a memory node, oldest first; the pile of one,
//                            newest first for its workers; one worker; or pushed to a worker: it is for that one if it
//                            has room for it, may be stolen from there, and else stays with self. What the clauses of r
//                            fix (pin, priority) is stronger than the answer. Default: own
//   victim(self, i, rng)     self has no work: whom to rob as i-th of this sweep, 0 <= i < workers-1. Over one sweep
//                            every other worker must have a chance to be named, or its tasks may wait for it alone.
//                            Default: the nearest first
//   how_many(self, v, n)     self robs v, where n tasks are within reach: how many of them it takes, 1 to n.
//                            Default: half
//   levels()                 where a worker without work looks, in which order. Default: flat
//   elastic()                whether tasks with hints are plain calls while nobody near starves. Default: no
//   width(self, r, least, most)   worker self begins task r, which wants so many workers: how many. Default: the most
//   awaits_hints()           whether the answers change once a task has hints (hint_given()): until then its workers
//                            push without asking and pass over all levels but those of flat. Default: no
//   child_first()            whether a task that is submitted in a body runs before the rest of that body. Default: no
//   ran(self, r, ps)         hears that r's body took so long, where bodies are timed. Default: nothing
//
// The same answers to the same questions: what looks random is drawn from the rng given, never from time or addresses.
// Weft's own are rows of a table (built_in.hpp). A program brings its own by weft/policy.hpp, a table of functions with
// the same questions. The conformance suite runs over all that are registered (registry.hpp).
#pragma once
#include <cstdint>

#include "base/random.hpp"
#include "place/tree.hpp"
#include "weft/detail/record.hpp"
#include "weft/policy.hpp"

namespace weft::sched {

using weft::destination;
using weft::elasticity;
using weft::search_levels;

class policy {
 public:
  static constexpr unsigned nobody = ~0u;

  explicit policy(const place::tree& places) : places_(places) {}
  virtual ~policy() = default;
  [[nodiscard]] virtual destination ready(unsigned self, const detail::record& r, base::random& rng);
  [[nodiscard]] virtual unsigned victim(unsigned self, unsigned i, base::random& rng);
  [[nodiscard]] virtual unsigned how_many(unsigned self, unsigned victim, unsigned available);
  [[nodiscard]] virtual unsigned width(unsigned self, const detail::record& r, unsigned least, unsigned most);
  virtual void ran(unsigned self, const detail::record& r, std::uint64_t body_ps);
  [[nodiscard]] virtual search_levels levels() const noexcept { return search_levels::flat; }
  [[nodiscard]] virtual elasticity elastic() const noexcept { return elasticity::none; }
  [[nodiscard]] virtual bool child_first() const noexcept { return false; }
  [[nodiscard]] virtual bool awaits_hints() const noexcept { return false; }
  // A task has hints, the first. Who: whoever submits it; once.
  virtual void hint_given() noexcept {}
  // True, the default, lets thieves go to some fixed victims first where there are many workers, so that tasks spread
  // in a few steps.
  [[nodiscard]] virtual bool has_partners() const noexcept { return true; }
  // True, the default, lets workers push without asking ready().
  [[nodiscard]] virtual bool always_own_deque() const noexcept { return true; }
  // Whether ready() ever names a memory node; only then workers look there.
  [[nodiscard]] virtual bool uses_nodes() const noexcept { return false; }
  // Whether it ever names the pile of one, the same.
  [[nodiscard]] virtual bool uses_piles() const noexcept { return false; }
  // Whether it ever pushes to a worker; only then workers look for that.
  [[nodiscard]] virtual bool pushes() const noexcept { return false; }
  // Whether of those who sleep one by chance is woken. False, the default: the one of the lowest number.
  [[nodiscard]] virtual bool wakes_by_chance() const noexcept { return false; }
  // Whether what is pushed to a worker is the far end of its queue: any number, taken one by one behind what is in its
  // deque, and what thieves take first. False, the default: few, which that worker takes in as soon as it can.
  [[nodiscard]] virtual bool pushes_to_far_end() const noexcept { return false; }

 protected:
  [[nodiscard]] const place::tree& places() const noexcept { return places_; }

 private:
  const place::tree& places_;
};

}  // namespace weft::sched

// How to write a policy. A policy answers questions and owns nothing: no queue, no thread, no clock. The engine asks at
// events, never per instruction:
//
//   ready(self, r)         r became ready on worker self: own_deque, where self takes the newest first and thieves the
//                          oldest; or central, the one queue all workers share, oldest first
//   victim(self, i, rng)   self has no work: whom to rob as i-th of this sweep, 0 <= i < workers-1. Over one sweep
//                          every other worker must have a chance to be named, or its tasks may wait for it alone
//   how_many(self, v, n)   self robs v, where n tasks are within reach: how many of them it takes, 1 to n
//
// The same answers to the same questions: what looks random is drawn from the rng given, never from time or addresses.
// To add one: a file in policies/ and a line in its registry. The conformance suite then runs over it.
#pragma once
#include <memory>
#include <span>
#include <string_view>

#include "base/random.hpp"
#include "place/tree.hpp"
#include "weft/detail/record.hpp"
#include "weft/runtime.hpp"

namespace weft::sched {

enum class target : unsigned char { own_deque, central };

class policy {
 public:
  virtual ~policy() = default;
  [[nodiscard]] virtual target ready(unsigned self, const detail::record& r) = 0;
  [[nodiscard]] virtual unsigned victim(unsigned self, unsigned i, base::random& rng) = 0;
  [[nodiscard]] virtual unsigned how_many(unsigned /*self*/, unsigned /*victim*/, unsigned available) {
    return (available + 1) / 2;
  }
  // True lets thieves go to some fixed victims first where there are many workers, so that tasks spread in a few steps.
  [[nodiscard]] virtual bool has_partners() const noexcept { return true; }
  // True lets workers push without asking ready().
  [[nodiscard]] virtual bool always_own_deque() const noexcept { return true; }
};

struct policy_entry {
  choice name;
  std::unique_ptr<policy> (*make)(const place::tree& places);
};

// All policies, the default first.
[[nodiscard]] std::span<const policy_entry> policies() noexcept;
// Errors: weft::error naming the policies there are.
[[nodiscard]] const policy_entry& find_policy(std::string_view name);

}  // namespace weft::sched

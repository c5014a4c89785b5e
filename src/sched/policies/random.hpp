// What the policies that rob by chance have in common: a sweep starts at a random worker and goes round, so it reaches
// everyone (SuperGlue §4.1), and one task at a time is stolen, as Cilk and TBB do.
#pragma once
#include <vector>

#include "sched/policies/policy.hpp"

namespace weft::sched {

class random_victim : public policy {
 public:
  explicit random_victim(const place::tree& places) : policy(places), start_(places.workers()) {}
  unsigned victim(unsigned self, unsigned i, base::random& rng) override {
    const unsigned others = places().workers() - 1;
    if (i == 0) start_[self] = rng.below(others);
    return (self + 1 + (start_[self] + i) % others) % (others + 1);
  }
  unsigned how_many(unsigned, unsigned, unsigned) override { return 1; }
  bool has_partners() const noexcept override { return false; }

 private:
  std::vector<unsigned> start_;  // per worker; each touches its own
};

}  // namespace weft::sched

// random: like local, but an idle worker robs whom chance names, one task at a time, as Cilk and TBB do. A sweep starts
// at a random worker and goes round, so it reaches everyone (SuperGlue §4.1).
#include <vector>

#include "sched/policies/registry.hpp"

namespace weft::sched {

namespace {

class random_victim final : public policy {
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

}  // namespace

std::unique_ptr<policy> make_random(const place::tree& places) { return std::make_unique<random_victim>(places); }

}  // namespace weft::sched

// tao: as go:TAO runs assemblies (TAO §3.2): a worker keeps what becomes ready and takes the newest, a thief the
// oldest, one at a time. A task with a locality address, or other hints, begins at that memory node (§3.2, initial
// placement), and is anybody's who finds nothing nearer. Beyond the paper, whose thieves go by chance: the nearest is
// robbed first.
#include "sched/policies/hinted.hpp"
#include "sched/policies/registry.hpp"

namespace weft::sched {

namespace {

class tao final : public hinted {
 public:
  using hinted::hinted;
  unsigned how_many(unsigned, unsigned, unsigned) override { return 1; }
};

}  // namespace

std::unique_ptr<policy> make_tao(const place::tree& places) { return std::make_unique<tao>(places); }

}  // namespace weft::sched

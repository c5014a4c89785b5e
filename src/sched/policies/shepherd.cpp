// shepherd: a queue for the workers of each memory node, as in Qthreads (Olivier et al., Int. J. HPC Appl. 2012): what
// becomes ready goes on top of the pile of the node it became ready at, and a worker takes the newest of its own. Where
// that is empty it takes from another node's, the first of them by chance, as many of the oldest as there are workers
// at its own (TAO Table 1: FIFO, random node, bulk steal). The rival that shows what a queue for four costs.
#include "sched/policies/registry.hpp"

namespace weft::sched {

namespace {

class shepherd final : public policy {
 public:
  using policy::policy;
  destination ready(unsigned self, const detail::record&, base::random&) override {
    if (self == nobody) return destination::central();
    return destination::pile(static_cast<std::uint16_t>(places().node_of(self)));
  }
  bool always_own_deque() const noexcept override { return false; }
  bool uses_piles() const noexcept override { return true; }
};

}  // namespace

std::unique_ptr<policy> make_shepherd(const place::tree& places) { return std::make_unique<shepherd>(places); }

}  // namespace weft::sched

// shepherd: a queue for the workers of each memory node, as in Qthreads (Olivier et al., Int. J. HPC Appl. 2012): what
// becomes ready goes on top of the queue of the node it became ready at, and a worker takes the newest of its own, then
// of others. The rival that shows what a queue for four costs. Not as there: a thief takes one, and from the top.
#include "sched/policies/registry.hpp"

namespace weft::sched {

namespace {

class shepherd final : public policy {
 public:
  using policy::policy;
  destination ready(unsigned self, const detail::record&, base::random&) override {
    if (self == nobody) return destination::central();
    return destination::top_of_node(static_cast<std::uint16_t>(places().node_of(self)));
  }
  bool always_own_deque() const noexcept override { return false; }
  bool uses_nodes() const noexcept override { return true; }
};

}  // namespace

std::unique_ptr<policy> make_shepherd(const place::tree& places) { return std::make_unique<shepherd>(places); }

}  // namespace weft::sched

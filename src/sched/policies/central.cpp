// central: every ready task goes through one queue for all workers, as in Nanos++'s breadth-first scheduler. The rival
// that shows what a shared queue costs; good balance, no locality.
#include "sched/policies/registry.hpp"

namespace weft::sched {

namespace {

class central final : public policy {
 public:
  using policy::policy;
  destination ready(unsigned, const detail::record&, base::random&) override { return destination::central(); }
  bool always_own_deque() const noexcept override { return false; }
};

}  // namespace

std::unique_ptr<policy> make_central(const place::tree& places) { return std::make_unique<central>(places); }

}  // namespace weft::sched

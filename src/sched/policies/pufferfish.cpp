// pufferfish: as published (PufferFish §IV): a thief looks at its leaf, at the queue of its memory node, at the other
// leaves of the node, and last at the queue of the machine, never at other nodes. Tasks without hints are the
// machine's. A task with hints is a plain call until a theft at its own leaf fails. One task at a time is stolen.
#include "sched/policies/hinted.hpp"
#include "sched/policies/registry.hpp"

namespace weft::sched {

namespace {

class pufferfish final : public hinted {
 public:
  using hinted::hinted;
  unsigned how_many(unsigned, unsigned, unsigned) override { return 1; }
  search_levels levels() const noexcept override { return search_levels::near_only; }
  elasticity elastic() const noexcept override { return elasticity::leaf; }

 private:
  [[nodiscard]] destination unhinted() const noexcept override { return destination::central(); }
};

}  // namespace

std::unique_ptr<policy> make_pufferfish(const place::tree& places) { return std::make_unique<pufferfish>(places); }

}  // namespace weft::sched

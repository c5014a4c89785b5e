// hpt: hierarchical place trees as HClib has them (PufferFish §II-B): a task goes where its hints say, and a worker
// takes from its own leaf, its memory node and the machine, in this order; the other leaves of its node it does not
// see, so what has come to one leaf stays there. One task at a time is stolen.
#include "sched/policies/hinted.hpp"
#include "sched/policies/registry.hpp"

namespace weft::sched {

namespace {

class hpt final : public hinted {
 public:
  using hinted::hinted;
  unsigned how_many(unsigned, unsigned, unsigned) override { return 1; }
  search_levels levels() const noexcept override { return search_levels::upwards; }

 private:
  [[nodiscard]] destination unhinted() const noexcept override { return destination::central(); }
};

}  // namespace

std::unique_ptr<policy> make_hpt(const place::tree& places) { return std::make_unique<hpt>(places); }

}  // namespace weft::sched

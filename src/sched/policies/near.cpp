// near: tasks with hints run at the memory node of their data, found near to far; they are plain calls while nobody who
// might rob them starves (PufferFish §IV). Beyond the paper: a worker whose own node has nothing goes on at others, and
// it is not only at the own leaf that starving is heard of.
#include "sched/policies/hinted.hpp"
#include "sched/policies/registry.hpp"

namespace weft::sched {

namespace {

class near final : public hinted {
 public:
  using hinted::hinted;
  search_levels levels() const noexcept override { return search_levels::near_to_far; }
  elasticity elastic() const noexcept override { return elasticity::node; }
};

}  // namespace

std::unique_ptr<policy> make_near(const place::tree& places) { return std::make_unique<near>(places); }

}  // namespace weft::sched

// near: tasks with hints run at the memory node of their data, found near to far; they are plain calls while nobody who
// might rob them starves (PufferFish §IV). Beyond the paper: a worker whose own node has nothing goes on at others, and
// it is not only at the own leaf that starving is heard of.
#pragma once
#include "sched/policies/hinted.hpp"

namespace weft::sched {

class near : public hinted {
 public:
  using hinted::hinted;
  search_levels levels() const noexcept override { return search_levels::near_to_far; }
  elasticity elastic() const noexcept override { return elasticity::node; }
};

}  // namespace weft::sched

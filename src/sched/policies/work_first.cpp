// work_first: as Cilk runs programs (Frigo, Leiserson, Randall, PLDI 1998). A task that is submitted in a body is begun
// at once; what waits in the deque meanwhile is the body that submitted it, oldest first for thieves, who come by
// chance (Blumofe, Leiserson, JACM 1999). With one worker that is the order of the serial program, and a loop that
// submits without end holds two stacks and no queue of tasks.
#include "sched/policies/random.hpp"
#include "sched/policies/registry.hpp"

namespace weft::sched {

namespace {

class work_first final : public random_victim {
 public:
  using random_victim::random_victim;
  bool child_first() const noexcept override { return true; }
};

}  // namespace

std::unique_ptr<policy> make_work_first(const place::tree& places) { return std::make_unique<work_first>(places); }

}  // namespace weft::sched

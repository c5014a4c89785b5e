// Random programs of tasks with accesses on real threads, judged by the reference: order, exclusion and data. The same
// judge as in tests/conformance, with many more tasks and the hardware's memory order.
#include "programs.hpp"
#include "stress.hpp"

using namespace reference;

int main() {
  std::uint64_t seed = 1;
  for (const weft::choice& policy : weft::policies())
    for (unsigned workers : {1u, 2u, 3u, 4u, 7u, 16u}) {
      begin("graph: policy " + std::string(policy.name) + ", " + std::to_string(workers) + " workers, seeds from " +
            std::to_string(seed));
      weft::runtime rt({.workers = workers, .machine = "host", .policy = policy.name});
      for (unsigned round = 0; round < amount(400); ++round) {
        weft::base::random rng(seed++);
        const unsigned handles = 1 + rng.below(12);
        const std::string wrong = run_and_judge(rt, draw(rng, handles, 50 + rng.below(350)));
        require(wrong.empty(), "seed " + std::to_string(seed - 1) + ": " + wrong);
      }
    }
}

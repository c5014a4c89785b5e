// random: like local, but an idle worker robs whom chance names.
#include "sched/policies/random.hpp"
#include "sched/policies/registry.hpp"

namespace weft::sched {

std::unique_ptr<policy> make_random(const place::tree& places) { return std::make_unique<random_victim>(places); }

}  // namespace weft::sched

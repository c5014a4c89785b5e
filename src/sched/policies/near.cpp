#include "sched/policies/near.hpp"

#include "sched/policies/registry.hpp"

namespace weft::sched {

std::unique_ptr<policy> make_near(const place::tree& places) { return std::make_unique<near>(places); }

}  // namespace weft::sched

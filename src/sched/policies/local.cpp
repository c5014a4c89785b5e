// local, the default: a task stays where it became ready, which is where the data it waited for was last used
// (SuperGlue §3.2), and an idle worker robs the nearest first. That is what every policy does that says nothing else.
#include "sched/policies/registry.hpp"

namespace weft::sched {

std::unique_ptr<policy> make_local(const place::tree& places) { return std::make_unique<policy>(places); }

}  // namespace weft::sched

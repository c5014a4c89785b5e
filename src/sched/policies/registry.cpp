#include "sched/policies/registry.hpp"

#include <string>

#include "weft/error.hpp"

namespace weft::sched {

namespace {
constexpr policy_entry entries[] = {
    {{"local", "keep tasks where their data was last used; rob the nearest worker first; with hints: near"},
     &make_local},
    {{"random", "keep tasks where they became ready; rob a random worker (TBB)"}, &make_random},
    {{"work_first", "begin a task where it is submitted, and leave the body that submits to thieves (Cilk)"},
     &make_work_first},
    {{"central", "one queue for all workers, oldest first (Nanos++)"}, &make_central},
    {{"near", "run tasks with hints at the memory node of their data; look for work near to far", true}, &make_near},
    {{"pufferfish", "the same as PufferFish has it: no look at other nodes, calls until the own cache starves", true},
     &make_pufferfish},
    {{"hpt", "run tasks with hints at the node of their data; take from leaf, node and machine (HClib)", true},
     &make_hpt},
    {{"shepherd", "one queue for the workers of each memory node, newest first (Qthreads)"}, &make_shepherd},
    {{"tao", "begin tasks with hints at the node of their data; steal one at a time, near to far (TAO)", true},
     &make_tao},
    {{"push_input", "push tasks to the memory node of what they read; look near to far (OpenStream, input only)", true},
     &make_push_input},
    {{"push_output", "push tasks to the memory node of what they write (OpenStream, output only)", true},
     &make_push_output},
    {{"push_weighted", "push tasks to where what they read and write costs least (OpenStream, weighted)", true},
     &make_push_weighted},
    {{"push_random", "push the same tasks to random workers of random nodes", true}, &make_push_random},
};
}  // namespace

std::span<const policy_entry> policies() noexcept { return entries; }

const policy_entry& find_policy(std::string_view name) {
  std::string known;
  for (const policy_entry& p : entries) {
    if (name == p.name.name) return p;
    known += std::string(known.empty() ? "" : ", ") + p.name.name;
  }
  throw error("weft: there is no policy '" + std::string(name) + "'; choose one of: " + known);
}

}  // namespace weft::sched

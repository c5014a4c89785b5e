#include "sched/policies/registry.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "base/atomic.hpp"
#include "base/printable.hpp"
#include "sched/policies/outside.hpp"
#include "weft/error.hpp"

namespace weft::sched {

namespace {

constexpr policy_entry built_in[] = {
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
constexpr std::size_t own_count = std::size(built_in);

// In one place for as long as the process lives, so that who has looked at some may keep them.
struct registry {
  registry() noexcept { std::copy(std::begin(built_in), std::end(built_in), all); }
  policy_entry all[own_count + policies_max];
  weft::policy brought[policies_max];
  detail::cell<std::uint32_t> added;
};
registry& the_registry() noexcept {
  static registry one;
  return one;
}

[[nodiscard]] bool is_name(const char* name) noexcept {
  constexpr const char* letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
  return name != nullptr && *name != '\0' && std::strspn(name, letters) == std::strlen(name);
}

}  // namespace

std::span<const policy_entry> policies() noexcept {
  registry& r = the_registry();
  return {r.all, own_count + base::shared(r.added).load(base::acquire)};  // pairs with enlist_policy()
}

const policy_entry& find_policy(std::string_view name) {
  std::string known;
  for (const policy_entry& p : policies()) {
    if (name == p.name.name) return p;
    known += std::string(known.empty() ? "" : ", ") + p.name.name;
  }
  throw error("weft: there is no policy '" + std::string(name) + "'; choose one of: " + known);
}

void enlist_policy(const weft::policy& p) {
  registry& r = the_registry();
  if (!is_name(p.name))
    throw error("weft: add_policy: '" + base::printable(p.name != nullptr ? p.name : "") +
                "' is no name of a policy; letters, digits, '_' and '-' are");
  if (p.about == nullptr || *p.about == '\0')
    throw error("weft: add_policy: '" + std::string(p.name) + "' does not say what it is about; give it one line");
  for (const policy_entry& e : policies())
    if (std::strcmp(e.name.name, p.name) == 0)
      throw error("weft: add_policy: there is a policy '" + std::string(p.name) + "' already; give yours another name");
  const std::uint32_t n = base::shared(r.added).load(base::relaxed);
  if (n == policies_max)
    throw error("weft: add_policy: '" + std::string(p.name) + "' is one more than the " + std::to_string(policies_max) +
                " that a program may add");
  r.brought[n] = p;
  r.all[own_count + n] = {{p.name, p.about, p.follows_hints}, nullptr, &r.brought[n]};
  base::shared(r.added).store(n + 1, base::release);
}

std::unique_ptr<policy> make_policy(const policy_entry& of, const place::tree& places) {
  if (of.table == nullptr) return of.make(places);
  return std::make_unique<outside>(*of.table, places);
}

}  // namespace weft::sched

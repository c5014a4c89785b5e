#include "sched/policies/registry.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "base/atomic.hpp"
#include "base/printable.hpp"
#include "sched/policies/built_in.hpp"
#include "sched/policies/outside.hpp"
#include "weft/error.hpp"

namespace weft::sched {

namespace {

std::unique_ptr<policy> make_own(const policy_entry& self, const place::tree& places) {
  return make_built_in(*self.row, places);
}
std::unique_ptr<policy> make_brought(const policy_entry& self, const place::tree& places) {
  return std::make_unique<outside>(*self.table, places);
}

// In one place for as long as the process lives, so that who has looked at some may keep them.
struct registry {
  registry() noexcept {
    std::transform(built_in_rows().begin(), built_in_rows().end(), all, [](const built_in_row& r) {
      return policy_entry{r.name, &make_own, &r.says};
    });
  }
  policy_entry all[built_in_count + policies_max];
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
  return {r.all, built_in_count + base::shared(r.added).load(base::acquire)};  // pairs with enlist_policy()
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
  r.all[built_in_count + n] = {{p.name, p.about, p.follows_hints}, &make_brought, nullptr, &r.brought[n]};
  base::shared(r.added).store(n + 1, base::release);
}

}  // namespace weft::sched

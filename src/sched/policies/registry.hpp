// The policies that a runtime can be made with: Weft's own, then those that the program brought.
#pragma once
#include <memory>
#include <span>
#include <string_view>

#include "sched/policies/policy.hpp"
#include "weft/choice.hpp"
#include "weft/policy.hpp"

namespace weft::sched {

struct answers;

struct policy_entry {
  choice name;
  // Errors: std::bad_alloc; what the make() of a program's own throws.
  std::unique_ptr<policy> (*make)(const policy_entry& self, const place::tree& places);
  const answers* row = nullptr;         // of Weft's own
  const weft::policy* table = nullptr;  // of one that the program brought
};

// The default first. Order: who sees one sees all of it.
[[nodiscard]] std::span<const policy_entry> policies() noexcept;
// Errors: weft::error naming the policies there are.
[[nodiscard]] const policy_entry& find_policy(std::string_view name);
// Who: one thread at a time. Errors: as weft::add_policy.
void enlist_policy(const weft::policy& p);

}  // namespace weft::sched

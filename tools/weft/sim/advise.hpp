// What to do about the limits that a sweep met, in words, with the numbers it follows from. Stated rules and no others:
// docs/guide/25-whatif.md has them.
#pragma once
#include <string>
#include <vector>

#include "tools/weft/json.hpp"

namespace weft::tool::sim {

struct advice {
  std::string kind;  // stable, for scripts
  std::string text;
};

// rows: of a sweep, as whatif makes them, those that failed left out. Of each machine the first policy, creation and
// grain are the base, about which it speaks; the others are compared with that.
[[nodiscard]] std::vector<advice> advise(const std::vector<json>& rows);

}  // namespace weft::tool::sim

// A name that an option accepts, and what it means in one line.
#pragma once
#include "weft/detail/language.hpp"  // before all others

#include <cstddef>

namespace weft {

struct choice {
  const char* name;
  const char* what;
  bool follows_hints = false;  // for tasks that say where their data are; without that much like the default
};
struct choices {
  const choice* first;
  std::size_t count;
  [[nodiscard]] const choice* begin() const noexcept { return first; }
  [[nodiscard]] const choice* end() const noexcept { return first + count; }
};

}  // namespace weft

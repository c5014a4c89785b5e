// The version of these headers. 0.x: a change of the minor number may change the API.
#pragma once
#include "weft/detail/language.hpp"  // before all others

#define WEFT_VERSION_MAJOR 0
#define WEFT_VERSION_MINOR 1
#define WEFT_VERSION_PATCH 0

namespace weft {

// The version of the library that the program runs with, "major.minor.patch".
[[nodiscard]] const char* version() noexcept;

}  // namespace weft

#include "base/assert.hpp"

#include <cstdio>
#include <cstdlib>

namespace weft::base {

void assertion_failed(const char* text, const char* file, int line) noexcept {
  std::fprintf(stderr, "weft: internal error: %s does not hold (%s:%d). Please report this.\n", text, file, line);
  std::abort();
}

}  // namespace weft::base

// The version that the library was built with, in words.
#include "weft/version.hpp"

namespace weft {

const char* version() noexcept {
#define WEFT_TEXT(x) #x
#define WEFT_VERSION_TEXT(major, minor, patch) WEFT_TEXT(major) "." WEFT_TEXT(minor) "." WEFT_TEXT(patch)
  return WEFT_VERSION_TEXT(WEFT_VERSION_MAJOR, WEFT_VERSION_MINOR, WEFT_VERSION_PATCH);
#undef WEFT_VERSION_TEXT
#undef WEFT_TEXT
}

}  // namespace weft

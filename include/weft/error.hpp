// The one exception type Weft throws itself: what went wrong, where, and what to do about it, in one sentence each.
// Exceptions thrown by task bodies are not wrapped: the enclosing wait rethrows them as they were.
#pragma once
#include "weft/detail/language.hpp"  // before all others

#include <stdexcept>

namespace weft {

class error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace weft

// A text of JSON that is too large to be held as a tree: it is read once, and only the values that somebody wants are
// made, each for the time of a call. Of a million tasks in a file there is one at a time.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

#include "json.hpp"

namespace weft::tool {

class json_sieve {
 public:
  virtual ~json_sieve() = default;
  // path: the keys with dots between, and [] for an item of an array: "workflow.tasks[]". What is in a value that is
  // wanted is not asked about.
  [[nodiscard]] virtual bool wants(std::string_view path) = 0;
  // item: which one of the innermost array around it, from 0.
  virtual void take(std::string_view path, std::size_t item, json value) = 0;
  // share: of the text that is read.
  virtual void read(double share) { static_cast<void>(share); }
};

// Errors: weft::error that says line and column and what is wrong there, if it is no JSON, or lies deeper in each other
// than a program may write it; what take() throws.
void sift(std::string_view text, json_sieve& into);

}  // namespace weft::tool

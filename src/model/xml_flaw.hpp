// What is wrong with the text of an XML file, and in which line: for a file that hwloc has refused, which says neither.
// Not a validator: what it finds nothing wrong with may be wrong all the same.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace weft::model {

struct xml_flaw {
  std::size_t line = 1;
  std::string what;
};

// The first: an element that does not end, an end without a beginning, a set of cores or nodes that is none, or no
// <topology> at all.
[[nodiscard]] std::optional<xml_flaw> first_flaw(std::string_view text);

}  // namespace weft::model

// Columns of numbers as text inside a page. A column keeps its smallest value apart and the rest in as few bytes as the
// largest difference needs - none if all are equal - in little-endian order, as base64: ten characters a task instead
// of a hundred. page.js, `column()`, reads them.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace weft::tool::report {

struct packed_column {
  std::int64_t base = 0;
  unsigned width = 0;  // bytes a value: 0, 1, 2, 4 or 6
  std::size_t count = 0;
  std::string base64;
};

// Errors: weft::error if values are further apart than 6 bytes (in nanoseconds: 78 hours).
[[nodiscard]] packed_column pack(const std::vector<std::int64_t>& values);

}  // namespace weft::tool::report

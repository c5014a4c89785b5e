// The table of ordered sections, which stands by itself in a trace.
#pragma once
#include <vector>

#include "database.hpp"
#include "reader.hpp"

namespace weft::tool::trace {

// By time. Errors: weft::error with table and row.
[[nodiscard]] std::vector<section> read_sections(database& db);

}  // namespace weft::tool::trace

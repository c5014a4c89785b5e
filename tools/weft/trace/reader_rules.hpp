// The table of the scheduler's rules: the number of each in that run, and how often it decided.
#pragma once
#include <vector>

#include "reader_strands.hpp"

namespace weft::tool::trace {

// By how often they decided, most often first.
[[nodiscard]] std::vector<rule> read_rules(database& db);

}  // namespace weft::tool::trace

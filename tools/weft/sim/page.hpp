// The page of `weft whatif`: curves, table and advice in one file that needs no other.
#pragma once
#include <string>
#include <vector>

#include "advise.hpp"

namespace weft::tool::sim {

// Errors: weft::error if the file cannot be written.
void write_page(const std::string& path, const std::string& target, const std::vector<row>& rows,
                const std::vector<advice>& all);

}  // namespace weft::tool::sim

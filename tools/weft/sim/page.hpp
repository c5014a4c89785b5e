// The page of `weft whatif`: curves, table and advice in one file that needs no other.
#pragma once
#include <string>
#include <vector>

#include "advise.hpp"
#include "fidelity.hpp"

namespace weft::tool::sim {

// error: nullptr, of a program, which is not replayed. Errors: weft::error if the file cannot be written.
void write_page(const std::string& path, const std::string& target, const std::vector<row>& rows,
                const std::vector<advice>& all, const fidelity* error);

}  // namespace weft::tool::sim

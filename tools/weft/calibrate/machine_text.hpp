// A described machine as the text of a machine file (docs/guide/22-machine-files.md).
#pragma once
#include <string>

#include "assemble.hpp"

namespace weft::tool::calibrate {

// `date`: of the measurement. `unusable`: why nobody should load it; empty: nothing speaks against it.
[[nodiscard]] std::string machine_text(const assembled& a, const std::string& date, const std::string& unusable = "");

// Writes the file whole, or leaves what was there before. Errors: weft::error.
void write_machine(const std::string& file, const assembled& a, const std::string& date,
                   const std::string& unusable = "");

}  // namespace weft::tool::calibrate

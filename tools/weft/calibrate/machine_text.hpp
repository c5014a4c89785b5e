// A described machine as the text of a machine file (docs/guide/22-machine-files.md).
#pragma once
#include <string>

#include "assemble.hpp"

namespace weft::tool::calibrate {

// `date`: of the measurement.
[[nodiscard]] std::string machine_text(const assembled& a, const std::string& date);

// Writes the file whole, or leaves what was there before. Errors: weft::error.
void write_machine(const std::string& file, const assembled& a, const std::string& date);

}  // namespace weft::tool::calibrate

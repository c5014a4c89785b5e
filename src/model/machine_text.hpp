// From the text of a machine file to the machine. Knows the format and no files.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "model/machine_file.hpp"

namespace weft::model {

// The machines of a file whose stem is `stem`: one of that name, or those of its [family].
// Errors: weft::error "FILE:LINE: KEY: why".
[[nodiscard]] std::vector<machine_entry> machines_in(std::string_view text, const std::string& file,
                                                     const std::string& stem);

// The one called `name`, which is one of those above, with what `change` says instead. Errors: as above.
[[nodiscard]] description parse_machine(std::string_view text, const std::string& file, const std::string& stem,
                                        const std::string& name, std::string_view change = "");

// A machine of that shape and otherwise of default costs. `apart` has the class of node distance, or is empty: all
// other nodes are in class 1.
[[nodiscard]] machine machine_of(const shape& s, std::vector<std::vector<unsigned>> apart);

}  // namespace weft::model

// What `weft info --machine` shows of one machine: the tree of its parts, and its numbers with their sources.
#pragma once
#include <string>

#include "json.hpp"

namespace weft::tool {

// `name` as options::machine has it. "host" is this machine as hwloc sees it, with the costs of this-host.toml if it
// has been calibrated. Errors: weft::error as load_machine.
[[nodiscard]] json machine_json(const std::string& name);
[[nodiscard]] std::string machine_text(const std::string& name, bool colour);

}  // namespace weft::tool

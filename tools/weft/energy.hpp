// The joules of a modelled run, as answers of this program have them.
#pragma once
#include <string>

#include "json.hpp"
#include "weft/counts.hpp"

namespace weft::tool {

// Null where the machine's file has no [energy].
[[nodiscard]] json energy_json(const joules& e);
[[nodiscard]] joules energy_from(const json& j);
// The sum, or "not modelled"; and what it is of.
[[nodiscard]] std::string energy_text(const joules& e);
[[nodiscard]] std::string energy_kinds(const joules& e);

}  // namespace weft::tool

// What the programs that users write with streams have in common: checks.
#pragma once
#include <cstdint>
#include <span>
#include <string>

#include "../app.hpp"

namespace weft::apps::pipeline {

// Each body counts in a place of its own: a result may not show that one ran twice.
[[nodiscard]] check each_once(std::span<const std::uint8_t> ran);
[[nodiscard]] check at_most(std::string name, double found, double allowed);  // not if found is no number

}  // namespace weft::apps::pipeline

// What the program of this library runs beside streams (weft_system.cpp).
#pragma once
#include <string>
#include <vector>

#include "system.hpp"

namespace weft::bench {

[[nodiscard]] std::vector<system_entry> weft_recursions(const std::string& version);

}  // namespace weft::bench

// The section [network] of a machine file: page 22 of the guide has the format.
#pragma once
#include "model/network_costs.hpp"
#include "model/toml_section.hpp"

namespace weft::model {

// No nodes if the file has no such section. Errors: weft::error "FILE:LINE: network.KEY: why".
[[nodiscard]] network_costs read_network(const section& top);

}  // namespace weft::model

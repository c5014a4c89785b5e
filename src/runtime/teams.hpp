// How messages name a team.
#pragma once
#include <string>

#include "weft/detail/team.hpp"

namespace weft::detail {

[[nodiscard]] std::string name_of(const team_state& t);

}  // namespace weft::detail

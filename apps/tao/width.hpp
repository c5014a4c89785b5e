// How wide the teams of a program are: as its option says, or learned.
#pragma once
#include <cstddef>

#include "weft/weft.hpp"

namespace weft::apps::tao {

inline constexpr const char* learned_help = "teams learn how wide they are best";

[[nodiscard]] inline detail::team_clause wide(std::size_t width, bool is_learned) {
  return is_learned ? team(learned) : team(static_cast<unsigned>(width));
}

}  // namespace weft::apps::tao

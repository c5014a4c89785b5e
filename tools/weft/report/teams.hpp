// Which widths the teams of each name had, and what each came to: measured from the first member's entry to the last
// one's exit, and summed over the members.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "graph.hpp"
#include "tools/weft/json.hpp"

namespace weft::tool::report {

struct width_figures {
  std::int64_t width = 0;
  std::uint64_t count = 0;
  std::array<std::uint64_t, 3> by_aim{};  // by trace::aim
  ns elapsed = 0;                         // the median
  ns busy = 0;                            // the median of what all members spent
  bool is_in_use = false;                 // of the later half of its name's teams no other had as many
};
struct team_figures {
  std::uint32_t name = none;  // in trace::file::names; none: teams without a name
  std::uint64_t count = 0;
  ns busy = 0;  // of all
  std::vector<width_figures> widths;
};

// Most time first. names: of each task, as in analysis.
[[nodiscard]] std::vector<team_figures> teams_of(const trace::file& r, const std::vector<std::uint32_t>& names);
// Empty where there were no teams.
[[nodiscard]] std::string team_rows(const trace::file& r, const std::vector<team_figures>& all, bool colour);
[[nodiscard]] json teams_json(const trace::file& r, const std::vector<team_figures>& all);

}  // namespace weft::tool::report

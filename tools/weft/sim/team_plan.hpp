// How wide the teams of a recorded run are in its replay, and what their members do then.
//
// As recorded, each member does what it did. At another width what all members spend is that of the teams of that name
// that were recorded at that width, by the median, against those of the width the team had; each member takes an equal
// part, and the tasks that members had submitted are dealt out to those there are. With learned widths the scheduler
// chooses among the widths that were recorded of the name, and what lies between two of them is interpolated.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "script.hpp"
#include "weft/detail/team.hpp"

namespace weft::tool::sim {

struct team_wish {
  enum class how : std::uint8_t { recorded, width, learned };
  how what = how::recorded;
  unsigned width = 0;
  // "recorded", "learned", or a number above 0. Errors: weft::error.
  static team_wish parse(const std::string& text);
  [[nodiscard]] std::string text() const;
};

class team_plan {
 public:
  // Errors: weft::error if teams of a name were never recorded at the width wished for.
  team_plan(const trace::file& f, team_wish wish);

  // Whether task t is a team of several members, or one of them.
  [[nodiscard]] bool is_team(std::uint32_t t) const { return of_[t] != none; }
  [[nodiscard]] bool is_learned() const noexcept { return wish_.what == team_wish::how::learned; }
  [[nodiscard]] bool is_member(std::uint32_t t) const { return is_member_[t]; }
  [[nodiscard]] detail::team_clause clause(std::uint32_t t) const;
  // By rank; of a team of one, itself.
  [[nodiscard]] const std::vector<std::uint32_t>& members(std::uint32_t t) const { return teams_[of_[t]].members; }
  // How long a member computes where there are `width`, in nanoseconds; negative: as recorded.
  [[nodiscard]] double part(std::uint32_t t, unsigned width) const;

 private:
  struct team {
    std::uint32_t name = none;
    std::int64_t width = 0;
    ns busy = 0;
    std::vector<std::uint32_t> members;
  };
  using widths = std::map<std::int64_t, double>;  // the median of what all members spent
  [[nodiscard]] double busy_at(const widths& known, double width) const;

  team_wish wish_;
  std::vector<std::uint32_t> of_;  // of each task: its number in teams_, or none
  std::vector<bool> is_member_;
  std::vector<team> teams_;
  std::map<std::uint32_t, widths> known_;  // by name
};

}  // namespace weft::tool::sim

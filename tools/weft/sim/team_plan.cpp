// See team_plan.hpp.
#include "team_plan.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "weft/error.hpp"

namespace weft::tool::sim {

team_wish team_wish::parse(const std::string& text) {
  if (text == "recorded") return {};
  if (text == "learned") return {how::learned};
  unsigned width = 0;
  const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), width);
  if (wrong != std::errc() || end != text.data() + text.size() || width == 0 || width > 0xffff)
    throw weft::error("--team \"" + text + "\" is neither a number of workers, nor \"learned\" or \"recorded\"");
  return {how::width, width};
}

std::string team_wish::text() const {
  return what == how::recorded ? "recorded" : what == how::learned ? "learned" : std::to_string(width);
}

team_plan::team_plan(const trace::file& f, team_wish wish)
    : wish_(wish), of_(f.tasks.size(), none), is_member_(f.tasks.size(), false) {
  std::map<std::uint32_t, std::map<std::int64_t, std::vector<ns>>> spent;
  for (const trace::team& t : f.teams) {
    const std::uint32_t name = f.tasks[t.task].name;
    of_[t.task] = static_cast<std::uint32_t>(teams_.size());
    teams_.push_back({name, t.width, t.busy_ns, {}});
    spent[name][t.width].push_back(t.busy_ns);
  }
  for (auto& [name, by_width] : spent)
    for (auto& [width, all] : by_width) {
      std::sort(all.begin(), all.end());
      known_[name][width] = static_cast<double>(all[all.size() / 2]);
    }
  for (std::uint32_t t = 0; t < f.tasks.size(); ++t) {
    const std::uint32_t parent = f.tasks[t].parent;
    if (f.tasks[t].rank < 0 || parent == none || of_[parent] == none) continue;
    is_member_[t] = true;
    teams_[of_[parent]].members.push_back(t);
  }
  for (const trace::team& t : f.teams)
    if (team& x = teams_[of_[t.task]]; x.members.empty()) x.members.push_back(t.task);
  for (team& x : teams_)
    std::sort(x.members.begin(), x.members.end(),
              [&f](std::uint32_t a, std::uint32_t b) { return f.tasks[a].rank < f.tasks[b].rank; });
  if (wish_.what != team_wish::how::width) return;
  for (const auto& [name, at] : known_) {
    if (at.contains(wish_.width)) continue;
    std::string had;
    for (const auto& [width, spent_there] : at) had += (had.empty() ? "" : ", ") + std::to_string(width);
    throw weft::error(f.path + ": teams of " + std::to_string(wish_.width) + " were not recorded for " +
                      (name == none ? "tasks without a name" : "'" + f.names[name] + "'") + ", only of " + had +
                      "; record the program with team(learned), which tries all widths");
  }
}

detail::team_clause team_plan::clause(std::uint32_t t) const {
  const team& x = teams_[of_[t]];
  const auto wide = [](std::int64_t n) { return static_cast<std::uint16_t>(n); };
  if (wish_.what == team_wish::how::recorded) return {wide(x.width), wide(x.width)};
  if (wish_.what == team_wish::how::width) return {wide(wish_.width), wide(wish_.width)};
  const widths& at = known_.at(x.name);
  return detail::team_clause{wide(at.begin()->first), wide(at.rbegin()->first)}.learned().sized(1);
}

double team_plan::part(std::uint32_t t, unsigned width) const {
  const team& x = teams_[of_[t]];
  if (x.width == width) return -1;
  const widths& at = known_.at(x.name);
  const double then = busy_at(at, static_cast<double>(x.width));
  return then <= 0 ? 0 : static_cast<double>(x.busy) * busy_at(at, width) / then / width;
}

// Between two widths along the logarithm; beyond them as at the nearest.
double team_plan::busy_at(const widths& known, double width) const {
  const auto above = known.lower_bound(static_cast<std::int64_t>(std::ceil(width)));
  if (above == known.end()) return known.rbegin()->second;
  if (above == known.begin() || static_cast<double>(above->first) <= width) return above->second;
  const auto below = std::prev(above);
  const double from = std::log(static_cast<double>(below->first)), to = std::log(static_cast<double>(above->first));
  return below->second + (above->second - below->second) * (std::log(width) - from) / (to - from);
}

}  // namespace weft::tool::sim

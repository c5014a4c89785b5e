#include "teams.hpp"

#include <algorithm>
#include <map>

#include "text.hpp"

namespace weft::tool::report {

namespace {

constexpr std::size_t names_shown_max = 20;
constexpr std::size_t name_width_max = 40;

[[nodiscard]] ns median(std::vector<ns> all) {
  const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
  std::nth_element(all.begin(), middle, all.end());
  return *middle;
}

[[nodiscard]] width_figures figures_of(const std::vector<const trace::team*>& some) {
  width_figures f;
  f.width = some.front()->width;
  f.count = some.size();
  std::vector<ns> elapsed, busy;
  for (const trace::team* t : some) {
    ++f.by_aim[static_cast<std::size_t>(t->aim)];
    elapsed.push_back(t->left_ns - t->entered_ns);
    busy.push_back(t->busy_ns);
  }
  f.elapsed = median(std::move(elapsed));
  f.busy = median(std::move(busy));
  return f;
}

void mark_in_use(team_figures& f, std::vector<const trace::team*> all) {
  std::sort(all.begin(), all.end(),
            [](const trace::team* a, const trace::team* b) { return a->entered_ns < b->entered_ns; });
  std::map<std::int64_t, std::size_t> later;
  for (std::size_t i = all.size() / 2; i < all.size(); ++i) ++later[all[i]->width];
  const auto most =
      std::max_element(later.begin(), later.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  for (width_figures& w : f.widths) w.is_in_use = w.width == most->first;
}

[[nodiscard]] std::string by_what(const width_figures& w) {
  const auto [fixed, time, cost] = w.by_aim;
  std::string text;
  const auto say = [&](std::uint64_t n, const char* how) {
    if (n != 0) text += (text.empty() ? "" : ", ") + std::to_string(n) + " " + how;
  };
  say(fixed, "as told");
  say(time, "for time");
  say(cost, "for core-seconds");
  return text;
}

}  // namespace

std::vector<team_figures> teams_of(const trace::file& r, const std::vector<std::uint32_t>& names) {
  std::map<std::uint32_t, std::map<std::int64_t, std::vector<const trace::team*>>> found;
  for (const trace::team& t : r.teams) found[names[t.task]][t.width].push_back(&t);
  std::vector<team_figures> out;
  for (const auto& [name, widths] : found) {
    team_figures f;
    f.name = name < r.names.size() ? name : none;
    std::vector<const trace::team*> all;
    for (const auto& [width, some] : widths) {
      f.widths.push_back(figures_of(some));
      all.insert(all.end(), some.begin(), some.end());
    }
    f.count = all.size();
    for (const trace::team* t : all) f.busy += t->busy_ns;
    mark_in_use(f, std::move(all));
    out.push_back(std::move(f));
  }
  std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.busy > b.busy; });
  return out;
}

std::string team_rows(const trace::file& r, const std::vector<team_figures>& all, bool colour) {
  if (all.empty()) return "";
  table t(true);
  t.row({"  name", "width", "count", "entry to exit", "members' time", "in use", "chosen"});
  for (std::size_t i = 0; i < all.size() && i < names_shown_max; ++i)
    for (const width_figures& w : all[i].widths)
      t.row({"  " + printable(name_text(r, all[i].name), name_width_max), std::to_string(w.width),
             std::to_string(w.count), duration(static_cast<double>(w.elapsed)), duration(static_cast<double>(w.busy)),
             w.is_in_use ? "*" : "", by_what(w)});
  std::string out = "\n" + paint("teams, by width (medians)", style::bold, colour) + "\n" +
                    t.text({std::vector<style>(7, style::bold)}, colour);
  if (all.size() > names_shown_max)
    out += "  and " + std::to_string(all.size() - names_shown_max) + " names more: --json has all\n";
  return out;
}

json teams_json(const trace::file& r, const std::vector<team_figures>& all) {
  if (r.format < 5) return nullptr;
  json out = json::array();
  for (const team_figures& f : all)
    for (const width_figures& w : f.widths)
      out.push_back({{"name", f.name == none ? json(nullptr) : json(r.names[f.name])},
                     {"width", w.width},
                     {"count", w.count},
                     {"told", w.by_aim[0]},
                     {"for_time", w.by_aim[1]},
                     {"for_cost", w.by_aim[2]},
                     {"elapsed_ns", w.elapsed},
                     {"busy_ns", w.busy},
                     {"in_use", w.is_in_use}});
  return out;
}

}  // namespace weft::tool::report

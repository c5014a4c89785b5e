// See report.hpp.
#include "report.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>

#include "../output.hpp"

namespace weft::tool::calibrate {

namespace {

constexpr double others_max = 0.1;         // cores used by others from which on figures are not to be trusted
constexpr double error_remarkable = 0.25;  // of a prediction; below it a model of single steps does well
constexpr double error_unusable = 0.25;    // of one that nothing was solved from

std::string between(double low, double high) { return short_number(low) + " - " + short_number(high); }

std::string percent(double part) {
  char text[32];
  std::snprintf(text, sizeof text, "%+.0f %%", 100 * part);
  return text;
}

// A table whose cells have their looks.
class painted {
 public:
  void row(const std::vector<std::pair<std::string, style>>& cells) {
    std::vector<std::string> texts;
    looks_.emplace_back();
    for (const auto& [text, look] : cells) {
      texts.push_back(text);
      looks_.back().push_back(look);
    }
    table_.row(texts);
  }
  [[nodiscard]] std::string text(bool colour) const { return table_.text(looks_, colour); }

 private:
  table table_{true};
  std::vector<std::vector<style>> looks_;
};

std::string figures_text(const figures& found, bool colour) {
  painted t;
  const style head = style::bold;
  t.row({{"measured", head},
         {"median", head},
         {"", head},
         {"quartiles", head},
         {"least", head},
         {"usual", head},
         {"", head}});
  for (const figure& f : found.all()) {
    const std::string usual = f.usual_max > 0 ? between(f.usual_min, f.usual_max) : "";
    if (f.assumed()) {
      t.row({{f.what, style::plain},
             {short_number(f.value.median), style::plain},
             {f.unit, style::plain},
             {"", style::plain},
             {"", style::plain},
             {"", style::plain},
             {f.source, style::bold}});
      continue;
    }
    const std::string remark = !f.plausible() ? "unusual" : !f.steady() ? "noisy" : "";
    t.row({{f.what, style::plain},
           {short_number(f.value.median), f.plausible() ? style::green : style::red},
           {f.unit, style::plain},
           {between(f.value.q1, f.value.q3), f.steady() ? style::plain : style::red},
           {short_number(f.value.min), style::plain},
           {usual, style::plain},
           {remark, style::red}});
  }
  return t.text(colour);
}

std::string steps_text(const model::machine& m, bool colour) {
  const model::runtime_costs& r = m.runtime;
  constexpr const char* what[] = {"submit a task",       "each access of it",      "run a task",
                                  "each access of it",   "advance a waiting task", "look at a victim",
                                  "request to a creator"};
  painted t;
  t.row({{"the scheduler's own steps", style::bold}, {"ns", style::bold}});
  for (std::size_t i = 0; i < model::steps; ++i)
    t.row({{what[i], style::plain}, {short_number(static_cast<double>(r.step_ps[i]) / 1000), style::plain}});
  t.row({{"switch of stacks", style::plain}, {short_number(static_cast<double>(r.switch_ps) / 1000), style::plain}});
  t.row({{"a line that is in no cache", style::plain},
         {short_number(static_cast<double>(m.lines.memory_ps.at(0)) / 1000), style::plain}});
  return t.text(colour);
}

std::string comparisons_text(const char* title, const std::vector<comparison>& all, bool colour) {
  painted t;
  const style head = style::bold;
  t.row({{title, head}, {"measured", head}, {"", head}, {"quartiles", head}, {"modelled", head}, {"error", head}});
  for (const comparison& c : all)
    t.row({{c.name, style::plain},
           {short_number(c.measured.median), style::plain},
           {"ns", style::plain},
           {between(c.measured.q1, c.measured.q3), c.measured.spread() <= spread_steady ? style::plain : style::red},
           {short_number(c.modelled_ns), style::plain},
           {percent(c.error()), std::fabs(c.error()) <= error_remarkable ? style::green : style::red}});
  return t.text(colour);
}

json summary_json(const summary& s) {
  return {{"median", s.median}, {"min", s.min}, {"q1", s.q1}, {"q3", s.q3}, {"count", s.count}};
}

json comparisons_json(const std::vector<comparison>& all) {
  json list = json::array();
  for (const comparison& c : all) {
    json one = {{"name", c.name}};
    one.update(summary_json(c.measured));
    one["modelled"] = c.modelled_ns;
    one["error"] = c.error();
    list.push_back(one);
  }
  return list;
}

}  // namespace

std::string unusable(const std::vector<comparison>& checks) {
  std::string why;
  for (const comparison& c : checks)
    if (!(std::fabs(c.error()) <= error_unusable))
      why += (why.empty() ? "'" : ", '") + c.name + "' comes out " + percent(c.error()) +
             (c.measured.spread() <= spread_steady
                  ? ""
                  : " (noisy: its quartiles are " + percent(c.measured.spread()).substr(1) + " apart)");
  return why.empty() ? why : why + " beside what was measured";
}

void disagreements::add(const std::string& what, double median) {
  const auto at = std::ranges::find(all_, what, &range::what);
  if (at == all_.end()) return all_.push_back({what, median, median});
  at->least = std::min(at->least, median);
  at->most = std::max(at->most, median);
}

void disagreements::add(const figures& found, const std::vector<comparison>& checks) {
  for (const figure& f : found.all())
    if (!f.assumed()) add(f.key, f.value.median);
  for (const comparison& c : checks) add("'" + c.name + "'", c.measured.median);
}

std::string disagreements::text() const {
  std::vector<range> sorted = all_;
  std::ranges::stable_sort(sorted, std::greater<>(), &range::apart);
  std::string text;
  for (const range& r : sorted)
    if (r.apart() > spread_steady) text += (text.empty() ? "" : ", ") + r.what + " by " + percent(r.apart()).substr(1);
  return text;
}

double worst_error(const std::vector<comparison>& checks) {
  double worst = 0;
  for (const comparison& c : checks) worst = std::max(worst, std::fabs(c.error()));
  return worst;
}

std::vector<std::string> warnings(const calibration& c) {
  std::vector<std::string> said;
  if (const std::string why = unusable(c.checks); !why.empty())
    said.push_back("the file is marked unusable: " + why + "; calibrate again on a quiet machine" +
                   (c.tries == 1 ? "" : " (the best of " + std::to_string(c.tries) + " tries)"));
  std::string noisy, unusual;
  for (const figure& f : c.found->all()) {
    if (f.assumed()) continue;
    if (!f.steady()) noisy += (noisy.empty() ? "" : ", ") + f.key;
    if (!f.plausible()) unusual += (unusual.empty() ? "" : ", ") + f.key;
  }
  if (c.load.contains("known") && c.load["known"].get<bool>() && c.load["others"].get<double>() > others_max)
    said.push_back("other programs used " + short_number(c.load["others"].get<double>()) +
                   " cores meanwhile; calibrate again on a quiet machine");
  if (!noisy.empty()) said.push_back("noisy, quartiles more than 10 % of the median apart: " + noisy);
  if (!c.moved.empty()) said.push_back("tries differ, so these are noisy: " + c.moved);
  if (!unusual.empty()) said.push_back("outside of what is usual: " + unusual);
  if (c.quick) said.push_back("a quick calibration is for trying things out");
  return said;
}

json report_json(const calibration& c) {
  json list = json::array();
  for (const figure& f : c.found->all()) {
    json one = {{"key", f.key}, {"what", f.what}, {"unit", f.unit}};
    one.update(summary_json(f.value));
    one["steady"] = f.steady();
    one["plausible"] = f.plausible();
    one["usual"] = f.usual_max > 0 ? json{f.usual_min, f.usual_max} : json(nullptr);
    one["source"] = f.source;
    list.push_back(one);
  }
  json sources = json::object();
  for (const auto& [key, text] : c.result->source) sources[key] = text;
  return {{"ok", true},
          {"file", c.file},
          {"date", c.date},
          {"quick", c.quick},
          {"seconds", c.seconds},
          {"tries", c.tries},
          {"machine", c.computer},
          {"load", c.load},
          {"figures", list},
          {"sources", sources},
          {"steps", comparisons_json(c.steps)},
          {"checks", comparisons_json(c.checks)},
          {"unusable", !unusable(c.checks).empty()},
          {"warnings", warnings(c)}};
}

std::string report_text(const calibration& c, bool colour) {
  return figures_text(*c.found, colour) + "\n" + steps_text(c.result->machine, colour) + "\n" +
         comparisons_text("they were solved from, per task", c.steps, colour) + "\n" +
         comparisons_text("and these must follow from all", c.checks, colour) + "\nwritten: " + c.file + "\n";
}

}  // namespace weft::tool::calibrate

#include "sections.hpp"

#include <algorithm>
#include <map>

#include "text.hpp"

namespace weft::tool::report {

namespace {

constexpr std::size_t shown_max = 20;
constexpr std::size_t name_width_max = 40;

// Only these run bodies before their turn.
[[nodiscard]] bool runs_ahead(const section_figures& f) { return f.executor == "speculative" || f.executor == "swarm"; }

[[nodiscard]] std::string paid(const section_figures& f) {
  if (!runs_ahead(f)) return "-";
  if (f.gain() == 0) return "unknown";
  constexpr double equal = 0.02;  // what a clock is worth
  const std::string times = short_number(f.gain()) + " times as fast";
  return f.gain() > 1 + equal ? "yes: " + times : f.gain() < 1 - equal ? "no: " + times : "even";
}

}  // namespace

std::vector<section_figures> sections_of(const trace::file& r) {
  std::map<std::string, section_figures> by_executor;
  for (const trace::section& s : r.sections) {
    section_figures& f = by_executor[s.executor];
    f.executor = s.executor;
    ++f.runs;
    f.committed += s.committed;
    f.started += s.started;
    f.again += s.again;
    f.in_order += s.in_order;
    f.took += s.ended_ns - s.began_ns;
    if (s.serial_ns < 0) continue;
    f.judged += s.ended_ns - s.began_ns;
    f.serial += s.serial_ns;
  }
  std::vector<section_figures> out;
  for (auto& [name, f] : by_executor) out.push_back(std::move(f));
  std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.took > b.took; });
  return out;
}

std::string section_rows(const std::vector<section_figures>& all, bool colour) {
  if (all.empty()) return "";
  table t(true);
  t.row(
      {"  executor", "runs", "calls", "committed", "in order", "again", "in vain", "took", "one by one", "ahead paid"});
  for (std::size_t i = 0; i < all.size() && i < shown_max; ++i) {
    const section_figures& f = all[i];
    t.row({"  " + printable(f.executor, name_width_max), std::to_string(f.runs), std::to_string(f.started),
           std::to_string(f.committed), runs_ahead(f) ? std::to_string(f.in_order) : "all", std::to_string(f.again),
           std::to_string(f.in_vain()), duration(static_cast<double>(f.took)),
           f.serial > 0 ? duration(static_cast<double>(f.serial)) : "-", paid(f)});
  }
  std::string out = "\n" + paint("ordered sections", style::bold, colour) + "\n" +
                    t.text({std::vector<style>(10, style::bold)}, colour);
  if (all.size() > shown_max)
    out += "  and " + std::to_string(all.size() - shown_max) + " executors more: --json has all\n";
  return out;
}

json sections_json(const trace::file& r, const std::vector<section_figures>& all) {
  if (r.format < 7) return nullptr;
  json out = json::array();
  for (const section_figures& f : all)
    out.push_back({{"executor", f.executor},
                   {"runs", f.runs},
                   {"took_ns", f.took},
                   {"calls", f.started},
                   {"committed", f.committed},
                   {"in_order", f.in_order},
                   {"again", f.again},
                   {"in_vain", f.in_vain()},
                   {"serial_ns", f.serial > 0 ? json(f.serial) : json(nullptr)},
                   {"gain", runs_ahead(f) && f.gain() > 0 ? json(f.gain()) : json(nullptr)},
                   {"text", paid(f)}});
  return out;
}

}  // namespace weft::tool::report

// See bench_report.hpp. Both texts come from the same grid of cells, one grid for each number of workers, so that they
// cannot say different things.
#include "bench_report.hpp"

#include <algorithm>
#include <cmath>

namespace weft::tool {

double series::median() const {
  if (values.empty()) return 0;
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

namespace {

constexpr std::string_view own_name = "weft";
constexpr std::size_t rounds_for_worst = 20;  // fewer say little about the worst

constexpr std::string_view serial_name = "serial";

const series* find(const report& r, const bench::problem* p, std::string_view system, unsigned workers) {
  for (const series& s : r.all)
    if (s.problem == p && s.system->name == system && (s.workers == workers || !s.system->parallel)) return &s;
  return nullptr;
}

bool is_recursion(const series& s) { return bench::family_of(*s.problem) == bench::family::recursions; }

// How many times as long as another system with as many workers, or with one if it is serial; 0 if that cannot be said
// (the figure of one access is a small difference, and may come out below nothing; some do not do what others do).
double times(const report& r, const series& s, std::string_view system) {
  const series* const base = find(r, s.problem, system, s.workers);
  if (base == nullptr || base == &s || !base->usable() || !s.usable() || base->above || s.above) return 0;
  if (!base->comparable || !s.comparable) return 0;
  return base->median() > 0 && s.median() > 0 ? s.median() / base->median() : 0;
}
double times_weft(const report& r, const series& s) { return times(r, s, own_name); }
double times_serial(const report& r, const series& s) { return times(r, s, serial_name); }

struct cell {
  std::string text;
  style look = style::plain;
};
using grid = std::vector<std::vector<cell>>;  // first row: heads

class notes {
 public:
  // " [a]" for a new text or one seen before, nothing for none.
  std::string mark(const std::string& text) {
    if (text.empty()) return "";
    std::size_t i = static_cast<std::size_t>(std::find(texts_.begin(), texts_.end(), text) - texts_.begin());
    if (i == texts_.size()) texts_.push_back(text);
    return " [" + std::to_string(i + 1) + "]";
  }
  [[nodiscard]] const std::vector<std::string>& texts() const { return texts_; }

 private:
  std::vector<std::string> texts_;
};

std::vector<unsigned> worker_counts(const report& r) {
  std::vector<unsigned> counts;
  for (const series& s : r.all)
    if (s.system->parallel) counts.push_back(s.workers);
  if (counts.empty() && !r.all.empty()) counts.push_back(1);
  std::sort(counts.begin(), counts.end());
  counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
  return counts;
}

template <class T, class Get> std::vector<T> in_order_of_appearance(const report& r, Get get) {
  std::vector<T> found;
  for (const series& s : r.all)
    if (std::find(found.begin(), found.end(), get(s)) == found.end()) found.push_back(get(s));
  return found;
}

bool may_be_best(const series& s) { return s.system->parallel && s.comparable && !s.above && s.median() > 0; }

std::string figure(const series& s, double x) { return (s.above ? "> " : "") + short_number(x); }

cell median_cell(const report& r, const series& s, notes& said) {
  if (!s.failed.empty()) return {"FAILED" + said.mark(s.failed), style::red};
  if (!s.correct) return {"WRONG", style::red};
  if (!s.not_possible.empty()) return {"-" + said.mark(s.not_possible)};
  const double ratio = !s.system->parallel ? 0 : is_recursion(s) ? times_serial(r, s) : times_weft(r, s);
  return {figure(s, s.median()) + (ratio > 0 ? " (" + short_number(ratio) + "x)" : "") + said.mark(s.remark)};
}

// `make` gives the cell of a series; rows without any series of this number of workers are left out.
template <class Make> grid table_of(const report& r, unsigned workers, Make make) {
  const auto problems = in_order_of_appearance<const bench::problem*>(r, [](const series& s) { return s.problem; });
  const auto systems = in_order_of_appearance<const bench::listed_system*>(r, [](const series& s) { return s.system; });
  grid g(1, {{"problem", style::bold}});
  for (const auto* s : systems) g[0].push_back({s->name, style::bold});
  for (const auto* p : problems) {
    std::vector<cell> row = {{p->name}};
    double best = HUGE_VAL;
    std::size_t best_at = 0;
    for (const auto* system : systems) {
      const series* const s = find(r, p, system->name, workers);
      row.push_back(s != nullptr ? make(*s) : cell{""});
      if (s == nullptr || !s->usable() || !may_be_best(*s) || s->median() >= best) continue;
      best = s->median();
      best_at = row.size() - 1;
    }
    if (best_at > 0) row[best_at].look = style::green;
    g.push_back(row);
  }
  return g;
}

std::string plain(const grid& g, bool colour) {
  table t(true);
  std::vector<std::vector<style>> looks;
  for (const auto& row : g) {
    std::vector<std::string> texts;
    looks.emplace_back();
    for (const cell& c : row) {
      texts.push_back(c.text);
      looks.back().push_back(c.look);
    }
    t.row(texts);
  }
  return t.text(looks, colour);
}

std::string markdown(const grid& g) {
  std::string out;
  for (std::size_t r = 0; r < g.size(); ++r) {
    out += "|";
    for (const cell& c : g[r]) out += " " + (c.look == style::green ? "**" + c.text + "**" : c.text) + " |";
    out += '\n';
    if (r > 0) continue;
    out += "|---|";
    for (std::size_t c = 1; c < g[0].size(); ++c) out += "---:|";
    out += '\n';
  }
  return out;
}

std::string one_line(const report& r) {
  const json& m = r.machine;
  return r.date + ", " + m["processor"].get<std::string>() + ", " + std::to_string(m["usable_cpus"].get<unsigned>()) +
         " usable cores, " + m["kernel"].get<std::string>() + ", " + m["compiler"].get<std::string>() + ", " +
         m["build"].get<std::string>();
}

std::string versions(const report& r) {
  std::vector<std::string> found;
  for (const series& s : r.all)
    if (!s.version.empty() && std::find(found.begin(), found.end(), s.version) == found.end())
      found.push_back(s.version);
  std::string text;
  for (const std::string& v : found) text += (text.empty() ? "" : "; ") + v;
  return text;
}

std::string plural(unsigned n) { return std::to_string(n) + (n == 1 ? " worker" : " workers"); }

// The part of a report that has the problems of one family; the rest of it as it is.
report only(const report& r, bench::family which) {
  report part = r;
  std::erase_if(part.all, [&](const series& s) { return bench::family_of(*s.problem) != which; });
  return part;
}

// Tables of one family. `what` begins their headings, `ratio` says what stands in parentheses.
template <class Heading, class Table> std::string
tables(const report& r, const std::string& what, const std::string& ratio, notes& said, Heading heading, Table show) {
  std::string out;
  const std::string rounds = std::to_string(r.rounds) + (r.rounds == 1 ? " round" : " rounds");
  for (unsigned workers : worker_counts(r)) {
    const std::string head = what + plural(workers);
    out += heading(head + ": ns, median of " + rounds + " (" + ratio + "); less is better");
    out += show(table_of(r, workers, [&](const series& s) { return median_cell(r, s, said); }));
    if (r.rounds < 2) continue;
    out += heading(head + ": least and greatest, ns");
    out += show(table_of(r, workers, [](const series& s) {
      return cell{s.usable() ? short_number(s.values.front()) + " .. " + short_number(s.values.back()) : ""};
    }));
    if (r.rounds < rounds_for_worst) continue;
    out += heading(head + ": greatest over median");
    out += show(table_of(r, workers, [](const series& s) {
      return cell{s.usable() && s.median() > 0 ? short_number(s.values.back() / s.median()) : ""};
    }));
  }
  return out;
}

// The parts of both texts; the three functions say how a heading, a table and a line look.
template <class Heading, class Table, class Line>
std::string compose(const report& r, Heading heading, Table show, Line line) {
  notes said;
  const report streams = only(r, bench::family::streams), recursions = only(r, bench::family::recursions);
  std::string out = tables(streams, "", "times Weft's", said, heading, show);
  out += tables(recursions, "fork and join, ", "times the serial call's", said, heading, show);
  for (std::size_t i = 0; i < said.texts().size(); ++i)
    out += line("[" + std::to_string(i + 1) + "] " + said.texts()[i]);
  if (!streams.all.empty())
    out += line("metg: length of a task at which half of the workers' time is bodies; dependency: each access beyond "
                "the first; else the time per task, creation included, bodies of one increment");
  if (!recursions.all.empty())
    out += line("fib: per fork; uts, treesum: per node; nqueens: per board; skynet: per leaf; matmul: per product of "
                "blocks");
  out += line(one_line(r));
  out += line(versions(r));
  for (const std::string& m : r.missing) out += line("not measured: " + m);
  for (const std::string& w : r.warnings) out += line("WARNING: " + w);
  return out;
}

json row_json(const report& r, const series& s) {
  json row = {{"problem", s.problem->name},
              {"system", s.system->name},
              {"workers", s.workers},
              {"value", nullptr},
              {"unit", "ns"},
              {"ok", s.correct && s.failed.empty()}};
  if (s.usable()) {
    row["value"] = s.median();
    row["min"] = s.values.front();
    row["max"] = s.values.back();
    row["rounds"] = s.values.size();
    row["above"] = s.above;
    if (times_weft(r, s) > 0) row["times_weft"] = times_weft(r, s);
    if (is_recursion(s) && times_serial(r, s) > 0) row["times_serial"] = times_serial(r, s);
    if (s.values.size() >= rounds_for_worst && s.median() > 0) row["max_over_median"] = s.values.back() / s.median();
  }
  row["meaning"] = bench::meaning(s.problem->measures);
  if (s.tasks > 0) row["tasks"] = s.tasks;
  if (!s.version.empty()) row["version"] = s.version;
  if (!s.remark.empty()) row["remark"] = s.remark;
  if (!s.comparable) row["comparable"] = false;
  if (!s.failed.empty()) row["failed"] = s.failed;
  if (!s.not_possible.empty()) row["not_possible"] = s.not_possible;
  return row;
}

}  // namespace

bool all_correct(const report& r) {
  return std::all_of(r.all.begin(), r.all.end(), [](const series& s) { return s.correct && s.failed.empty(); });
}

json report_json(const report& r) {
  json rows = json::array();
  for (const series& s : r.all) rows.push_back(row_json(r, s));
  return {{"ok", all_correct(r)},
          {"date", r.date},
          {"machine", r.machine},
          {"rounds", r.rounds},
          {"environment", r.environment},
          {"load", r.load},
          {"warnings", r.warnings},
          {"missing", r.missing},
          {"rows", rows}};
}

std::string report_text(const report& r, bool colour) {
  return compose(
      r, [&](const std::string& text) { return paint(text, style::bold, colour) + "\n"; },
      [&](const grid& g) { return plain(g, colour) + "\n"; },
      [&](const std::string& text) {
        return paint(text, text.starts_with("WARNING") ? style::red : style::plain, colour) + "\n";
      });
}

std::string report_markdown(const report& r) {
  return compose(
      r, [](const std::string& text) { return "**" + text + "**\n\n"; },
      [](const grid& g) { return markdown(g) + "\n"; }, [](const std::string& text) { return text + "\n\n"; });
}

}  // namespace weft::tool

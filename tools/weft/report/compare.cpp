// See compare.hpp.
#include "compare.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <optional>

#include "text.hpp"

namespace weft::tool::report {

namespace {

constexpr std::size_t names_shown_max = 30;

// Of one name in both runs; nullptr where it does not occur.
struct pair_of_names {
  std::string name;
  bool named = true;
  const name_figures* a = nullptr;
  const name_figures* b = nullptr;

  [[nodiscard]] static ns total(const name_figures* n) { return n == nullptr ? 0 : n->body.total; }
  [[nodiscard]] ns change() const { return total(b) - total(a); }
};

std::vector<pair_of_names> pairs(const run& a, const run& b) {
  std::map<std::pair<bool, std::string>, pair_of_names> all;
  const auto add = [&all](const run& r, const name_figures* pair_of_names::*side) {
    for (const name_figures& n : r.figures.sums.names) {
      const bool named = n.name != none;
      pair_of_names& p = all[{named, name_text(r.file, n.name)}];
      p.name = name_text(r.file, n.name);
      p.named = named;
      p.*side = &n;
    }
  };
  add(a, &pair_of_names::a);
  add(b, &pair_of_names::b);
  std::vector<pair_of_names> sorted;
  for (auto& [key, p] : all) sorted.push_back(std::move(p));
  std::ranges::stable_sort(sorted, std::greater<>(), [](const pair_of_names& p) { return std::abs(p.change()); });
  return sorted;
}

// "+12 %"; "-" where there is nothing to compare with.
std::string change(double a, double b) {
  if (a == b) return "0 %";
  if (a == 0) return "-";
  char text[32];
  std::snprintf(text, sizeof text, "%+.*f %%", std::abs(b / a - 1) < 0.1 ? 1 : 0, 100 * (b / a - 1));
  return text;
}

std::string time(double x) { return duration(x); }
std::string count(double x) { return std::to_string(std::llround(x)); }
std::string share(double x) { return std::to_string(std::lround(100 * x)) + " %"; }

// A figure of a run, how it is shown, and whether more of it is better (1), worse (-1) or neither.
struct figure {
  const char* name;
  double (*of)(const run&);
  std::string (*show)(double);
  int better;
};

double of_room(const run& r, ns x) {
  const double room = static_cast<double>(r.figures.sums.makespan) * static_cast<double>(r.file.workers.size());
  return room > 0 ? static_cast<double>(x) / room : 0;
}

constexpr figure all_figures[] = {
    {"workers", [](const run& r) { return static_cast<double>(r.file.workers.size()); }, &count, 0},
    {"tasks", [](const run& r) { return static_cast<double>(r.figures.sums.ran()); }, &count, 0},
    {"makespan", [](const run& r) { return static_cast<double>(r.figures.sums.makespan); }, &time, -1},
    {"work", [](const run& r) { return static_cast<double>(r.figures.sums.work); }, &time, -1},
    {"main program", [](const run& r) { return static_cast<double>(r.figures.sums.program); }, &time, -1},
    {"critical path", [](const run& r) { return static_cast<double>(r.figures.sums.span); }, &time, -1},
    {"parallelism", [](const run& r) { return r.figures.sums.parallelism; }, &short_number, 0},
    {"utilisation", [](const run& r) { return r.figures.sums.utilisation; }, &share, 1},
    {"overhead a task", [](const run& r) { return r.figures.sums.overhead_per_task(); }, &time, -1},
    {"searching", [](const run& r) { return of_room(r, r.figures.sums.searching); }, &share, 0},
    {"asleep", [](const run& r) { return of_room(r, r.figures.sums.asleep); }, &share, 0},
    {"steals", [](const run& r) { return static_cast<double>(r.file.steals.size()); }, &count, 0},
};

style colour_of(const figure& f, double a, double b) {
  if (f.better == 0 || a == 0 || std::abs(b / a - 1) < 0.02) return style::plain;
  return (b > a) == (f.better > 0) ? style::green : style::red;
}

std::string who(const char* side, const run& r) {
  return std::string("  ") + side + "  " + printable(r.file.path, 80) + ": " + printable(r.file.about("program"), 80) +
         " on machine " + printable(r.file.about("machine"), 80) + ", policy " + printable(r.file.about("policy"), 80) +
         ", seed " + printable(r.file.about("seed"), 20) + "\n";
}

json side_json(const name_figures* n) {
  if (n == nullptr) return nullptr;
  return {{"count", n->count}, {"total_ns", n->body.total}, {"median_ns", n->body.median}, {"max_ns", n->body.max}};
}

}  // namespace

std::string compared_text(const run& a, const run& b, bool colour) {
  table figures(true);
  figures.row({"", "A", "B", "change"});
  std::vector<std::vector<style>> styles{std::vector<style>(4, style::bold)};
  for (const figure& f : all_figures) {
    const double x = f.of(a), y = f.of(b);
    figures.row({std::string("  ") + f.name, f.show(x), f.show(y), change(x, y)});
    styles.push_back({style::plain, style::plain, style::plain, colour_of(f, x, y)});
  }
  const std::vector<pair_of_names> all = pairs(a, b);
  table names(true);
  names.row({"  name", "count A", "B", "total A", "B", "change", "median A", "B", "change"});
  for (std::size_t i = 0; i < all.size() && i < names_shown_max; ++i) {
    const pair_of_names& p = all[i];
    const auto cell = [](const name_figures* n, ns spread::*of) {
      return n == nullptr ? std::string("-") : time(static_cast<double>(n->body.*of));
    };
    const auto number = [](const name_figures* n) {
      return n == nullptr ? std::string("-") : std::to_string(n->count);
    };
    const auto moved = [&p](ns spread::*of) {
      return p.a == nullptr || p.b == nullptr
                 ? std::string("-")
                 : change(static_cast<double>(p.a->body.*of), static_cast<double>(p.b->body.*of));
    };
    names.row({"  " + printable(p.name, name_width_max), number(p.a), number(p.b), cell(p.a, &spread::total),
               cell(p.b, &spread::total), moved(&spread::total), cell(p.a, &spread::median), cell(p.b, &spread::median),
               moved(&spread::median)});
  }
  std::string out = paint("two runs", style::bold, colour) + "\n" + who("A", a) + who("B", b);
  out += figures.text(styles, colour);
  if (a.file.lost + b.file.lost > 0) out += paint("RECORDS WERE LOST: figures are too low", style::red, colour) + "\n";
  if (all.empty()) return out;
  out += "\n" + paint("task names, by change of their time in bodies", style::bold, colour) + "\n";
  out += names.text({std::vector<style>(9, style::bold)}, colour);
  if (all.size() > names_shown_max)
    out += "  and " + std::to_string(all.size() - names_shown_max) + " names more: --json has all\n";
  return out;
}

json compared_json(const run& a, const run& b) {
  json names = json::array();
  for (const pair_of_names& p : pairs(a, b))
    names.push_back({{"name", p.named ? json(p.name) : json(nullptr)},
                     {"a", side_json(p.a)},
                     {"b", side_json(p.b)},
                     {"change_ns", p.change()}});
  return {
      {"ok", true}, {"a", to_json(a.file, a.figures)}, {"b", to_json(b.file, b.figures)}, {"names", std::move(names)}};
}

}  // namespace weft::tool::report

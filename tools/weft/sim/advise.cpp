// See advise.hpp. One function a limit; each gets the first row of its series that the limit binds.
#include "advise.hpp"

#include <algorithm>
#include <cmath>

#include "result.hpp"
#include "tools/weft/output.hpp"
#include "tools/weft/report/text.hpp"

namespace weft::tool::sim {

namespace {

constexpr double better_from = 0.95;       // of the base's makespan: below, another setting is worth a word
constexpr double tasks_per_worker = 4;     // fewer, and one long task at the end leaves the others idle
constexpr double body_per_cost = 4;        // a body should be so many times what the runtime spends on its task
constexpr double shortest_part_ns = 5000;  // parts below are not worth their own cost
constexpr double factor_max = 64;          // beyond, a program wants another algorithm and not another grain

double number(const json& row, const char* key) { return row[key].get<double>(); }
std::string text_of(const json& row, const char* key) { return row[key].get<std::string>(); }
std::string time(double ns) { return report::duration(ns); }
std::string whole(double x) { return std::to_string(std::llround(x)); }
std::string named(const json& name) {
  return name.is_null() || name == "" ? "tasks without a name" : "tasks named " + name.get<std::string>();
}

// "virtual: at 64 workers", or without the machine if there is one only.
std::string at(const json& row, bool several) {
  return (several ? text_of(row, "machine") + ": " : std::string()) + "at " + whole(number(row, "workers")) +
         (number(row, "workers") == 1 ? " worker " : " workers ");
}

double mean(const json& name) { return number(name, "total_ns") / number(name, "count"); }

// The kind of task of which there are most, among those with bodies below a length.
const json* most_below(const json& row, double ns) {
  const json* found = nullptr;
  for (const json& n : row["names"])
    if (mean(n) < ns && (found == nullptr || number(n, "count") > number(*found, "count"))) found = &n;
  return found;
}

std::string factor(double needed) { return whole(std::clamp(std::ceil(needed), 2.0, factor_max)); }

// A creator that needs c for each task keeps t / c workers busy with bodies of t.
std::string creation(const json& row) {
  const double workers = number(row, "workers"), each = number(row, "program_ns") / number(row, "tasks");
  const json* const n = most_below(row, workers * each);
  std::string out = "creation binds: the main program takes " + time(each) + " a task";
  if (n == nullptr) return out + ": submit from inside tasks";
  out += " and " + named((*n)["name"]) + " run for " + time(mean(*n)) + "; merge them by " +
         factor(workers * each / std::max(mean(*n), 1.0));
  if (text_of(row, "creation") == "inline") out += ", or decouple creation";
  return out;
}

std::string critical_path(const json& row) {
  const double span = number(row, "span_ns"), useful = number(row, "work_ns") / span;
  std::string out = "the critical path binds: it is " + time(span) + ", so more than " + short_number(useful) +
                    " workers cannot be busy on average";
  if (row["path_names"].empty()) return out;
  const json& most = row["path_names"][0];
  out += "; " + percent(most[1].get<double>() / span) + " of it are " + named(most[0]);
  for (const json& n : row["names"]) {
    const bool same = n["name"].is_null() ? most[0] == "" : n["name"] == most[0];
    if (!same) continue;
    const double needed = number(row, "workers") / useful, part = mean(n) / std::max(std::ceil(needed), 2.0);
    out += part < shortest_part_ns ? ", which run for " + time(mean(n)) + ": too short to split"
                                   : ": split them by " + factor(needed) + ", or shorten the chain";
  }
  return out;
}

std::string bandwidth(const json& row) {
  return "memory binds: bodies wait for it in " + percent(number(row["shares"], "bandwidth")) +
         " of the workers' time; use data again while it is in the caches, or spread it over the memory nodes";
}

std::string contention(const json& row) {
  const double lost = number(row["shares"], "late") * number(row, "makespan_ns") * number(row, "workers");
  const double each = lost / number(row, "tasks");
  std::string out = percent(number(row["shares"], "late")) +
                    " of the workers' time is lost while tasks are ready: " + time(each) + " a task";
  const json* const n = most_below(row, body_per_cost * each);
  if (n != nullptr)
    out += ", and " + named((*n)["name"]) + " run for " + time(mean(*n)) + "; merge them by " +
           factor(body_per_cost * each / std::max(mean(*n), 1.0));
  else
    out += "; another policy may take tasks from less crowded places";
  return out;
}

std::string imbalance(const json& row) {
  const double workers = number(row, "workers"), tasks = number(row, "tasks");
  std::string out = "nothing was ready in " + percent(number(row["shares"], "idle")) + " of the workers' time";
  if (tasks < tasks_per_worker * workers)
    return out + ": there are " + whole(tasks) + " tasks for " + whole(workers) + " workers; split them by " +
           factor(tasks_per_worker * workers / tasks);
  return out + ", though no bound is near: tasks come in an order that leaves workers without; give priority to those "
               "on the critical path, or try another policy";
}

std::string about(limit l, const json& row) {
  switch (l) {
  case limit::creation: return creation(row);
  case limit::critical_path: return critical_path(row);
  case limit::bandwidth: return bandwidth(row);
  case limit::contention: return contention(row);
  case limit::imbalance: return imbalance(row);
  case limit::cores: break;
  }
  return "the workers are busy with bodies for " + percent(number(row["shares"], "bodies")) +
         " of the time: more workers would help";
}

bool same(const json& a, const json& b, std::initializer_list<const char*> keys) {
  return std::all_of(keys.begin(), keys.end(), [&](const char* k) { return a[k] == b[k]; });
}

// What changing one thing alone does, where the base has most workers.
void compare(const std::vector<json>& rows, const json& base, const char* key, const char* what, bool several,
             std::vector<advice>& out) {
  const json* best = nullptr;
  for (const json& r : rows) {
    bool alone = r[key] != base[key];
    for (const char* other : {"machine", "policy", "creation", "grain", "workers"})
      if (std::string_view(other) != key && r[other] != base[other]) alone = false;
    if (alone && (best == nullptr || number(r, "makespan_ns") < number(*best, "makespan_ns"))) best = &r;
  }
  if (best == nullptr || number(*best, "makespan_ns") > better_from * number(base, "makespan_ns")) return;
  out.push_back({key, at(base, several) + what + " " + text_of(*best, key) + " takes " +
                          percent(1 - number(*best, "makespan_ns") / number(base, "makespan_ns")) + " less time than " +
                          text_of(base, key)});
}

}  // namespace

std::vector<advice> advise(const std::vector<json>& rows) {
  std::vector<advice> out;
  std::vector<json> bases;
  for (const json& r : rows)
    if (std::ranges::none_of(bases, [&](const json& b) { return b["machine"] == r["machine"]; })) bases.push_back(r);
  for (const json& b : bases) {
    std::vector<const json*> series;
    for (const json& r : rows)
      if (same(r, b, {"machine", "policy", "creation", "grain"})) series.push_back(&r);
    const auto fewer = [](const json* x, const json* y) { return number(*x, "workers") < number(*y, "workers"); };
    std::stable_sort(series.begin(), series.end(), fewer);
    const bool several = bases.size() > 1;
    std::vector<std::string> met;
    for (const json* r : series) {
      const std::string binds = text_of(*r, "binds");
      if (std::ranges::find(met, binds) != met.end()) continue;
      met.push_back(binds);
      for (const limit l :
           {limit::critical_path, limit::creation, limit::bandwidth, limit::contention, limit::imbalance})
        if (binds == text(l)) out.push_back({binds, at(*r, several) + about(l, *r)});
    }
    if (text_of(*series.back(), "binds") == "cores")
      out.push_back({"cores", at(*series.back(), several) + about(limit::cores, *series.back())});
    compare(rows, *series.back(), "policy", "policy", several, out);
    compare(rows, *series.back(), "creation", "creation", several, out);
    compare(rows, *series.back(), "grain", "grain", several, out);
  }
  return out;
}

}  // namespace weft::tool::sim

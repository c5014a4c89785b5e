// See advise.hpp. One function a limit; each gets the first row of its series that the limit binds.
#include "advise.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "tools/weft/output.hpp"
#include "tools/weft/report/gil.hpp"
#include "tools/weft/report/text.hpp"

namespace weft::tool::sim {

namespace {

constexpr double gain_least = 0.05;        // of the makespan: what saves less is not worth a word
constexpr double tasks_per_worker = 4;     // fewer, and one long task at the end leaves the others idle
constexpr double body_per_cost = 4;        // a body should be so many times what the runtime spends on its task
constexpr double shortest_part_ns = 5000;  // parts below are not worth their own cost
constexpr double factor_max = 64;          // beyond, a program wants another algorithm and not another grain

std::string time(double ns) { return report::duration(ns); }
std::string whole(double x) { return std::to_string(std::llround(x)); }
std::string shortened(const std::string& name) { return report::printable(name, 40); }
std::string named(const std::optional<std::string>& name) {
  return !name || name->empty() ? "tasks without a name" : "tasks named " + shortened(*name);
}

std::string counted(unsigned workers) { return std::to_string(workers) + (workers == 1 ? " worker" : " workers"); }

// The kind of task of which there are most, among those with bodies below a length.
const name_sum* most_below(const row& r, double ns) {
  const name_sum* found = nullptr;
  for (const name_sum& n : r.run.names)
    if (n.mean() < ns && (found == nullptr || n.count > found->count)) found = &n;
  return found;
}

unsigned factor(double needed) { return static_cast<unsigned>(std::clamp(std::ceil(needed), 2.0, factor_max)); }

// Makes proposals for one row.
class proposer {
 public:
  proposer(const row& r, const means& m) : row_(r), means_(m) {}

  void merge(unsigned by) {
    if (!means_.trace || row_.at.grain != "1") return;
    point p = row_.at;
    p.grain = std::to_string(by);
    add(std::move(p), "merging tasks by " + std::to_string(by));
  }
  void split(unsigned by) {
    if (!means_.trace || row_.at.grain != "1") return;
    point p = row_.at;
    p.grain = "/" + std::to_string(by);
    add(std::move(p), "splitting tasks by " + std::to_string(by));
  }
  void decouple() {
    if (row_.at.creation != "inline" || row_.at.workers < 2) return;
    point p = row_.at;
    p.creation = "decoupled";
    add(std::move(p), "decoupled creation");
  }
  void path_first() {
    if (!means_.trace || row_.at.path_first) return;
    point p = row_.at;
    p.path_first = true;
    add(std::move(p), "priority for the tasks on the critical path");
  }
  void without_gil() {
    point p = row_.at;
    p.without_gil = true;
    add(std::move(p), "a Python without it");
  }
  void policies() {
    for (const std::string& name : means_.policies) {
      if (name == row_.at.policy) continue;
      point p = row_.at;
      p.policy = name;
      add(std::move(p), "policy " + name);
    }
  }
  std::vector<proposal> take() { return std::move(all_); }

 private:
  void add(point p, std::string what) { all_.push_back({std::move(p), std::move(what)}); }

  const row& row_;
  const means& means_;
  std::vector<proposal> all_;
};

// A creator that needs c for each task keeps t / c workers busy with bodies of t.
std::string creation(const row& r, proposer& out) {
  const double workers = r.at.workers, each = static_cast<double>(r.run.program) / static_cast<double>(r.run.tasks);
  const double own = static_cast<double>(r.run.program_own) / static_cast<double>(r.run.program);
  const name_sum* const n = most_below(r, workers * each);
  std::string fact = "creation binds: the main program takes " + time(each) + " a task";
  if (own > 0.05) fact += ", " + percent(own) + " of it work of its own between submissions";
  if (n != nullptr) {
    fact += " and " + named(n->name) + " run for " + time(n->mean());
    if (own < 0.5) out.merge(factor(workers * each / std::max(n->mean(), 1.0)));
  }
  out.decouple();
  return own >= 0.5 ? fact + "; make tasks of that work" : fact;
}

std::string critical_path(const row& r, proposer& out) {
  const auto span = static_cast<double>(r.run.why.span);
  const double useful = static_cast<double>(r.run.work) / span;
  std::string fact = "the critical path binds: it is " + time(span) + ", so more than " + short_number(useful) +
                     " workers cannot be busy on average";
  if (r.run.why.path_names.empty()) return fact;
  const auto& [name, length] = r.run.why.path_names[0];
  fact += "; " + percent(static_cast<double>(length) / span) + " of it are " + named(name);
  for (const name_sum& n : r.run.names) {
    if (n.name.value_or("") != name) continue;
    const double needed = r.at.workers / useful, part = n.mean() / std::max(std::ceil(needed), 2.0);
    if (part < shortest_part_ns)
      fact += ", which run for " + time(n.mean()) + ": too short to split";
    else
      out.split(factor(needed));
  }
  return fact;
}

std::string bandwidth(const row& r) {
  return "memory binds: bodies wait for it in " + percent(r.run.why.bandwidth) + " of the workers' time";
}

std::string shared_units(const row& r) {
  return "cores share units: bodies compute more slowly beside each other, by " + percent(r.run.why.units) +
         " of the workers' time";
}

std::string contention(const row& r, proposer& out) {
  const double each = r.run.why.late * r.run.makespan_ns * r.at.workers / static_cast<double>(r.run.tasks);
  std::string fact =
      percent(r.run.why.late) + " of the workers' time is lost while tasks are ready: " + time(each) + " a task";
  const name_sum* const n = most_below(r, body_per_cost * each);
  if (n != nullptr) {
    fact += ", and " + named(n->name) + " run for " + time(n->mean());
    out.merge(factor(body_per_cost * each / std::max(n->mean(), 1.0)));
  }
  out.policies();
  return fact;
}

std::string imbalance(const row& r, proposer& out) {
  const double workers = r.at.workers;
  const auto tasks = static_cast<double>(r.run.tasks);
  std::string fact = "nothing was ready in " + percent(r.run.why.idle) + " of the workers' time";
  if (tasks < tasks_per_worker * workers) {
    fact += ": there are " + whole(tasks) + " tasks for " + whole(workers) + " workers";
    out.split(factor(tasks_per_worker * workers / tasks));
  }
  out.path_first();
  out.policies();
  return fact;
}

finding find(limit l, const row& r, const std::string& at, const means& m) {
  proposer out(r, m);
  finding f{.kind = text(l), .fact = at, .of = &r, .proposals = {}};
  switch (l) {
  case limit::creation: f.fact += creation(r, out); break;
  case limit::critical_path: f.fact += critical_path(r, out); break;
  case limit::bandwidth: f.fact += bandwidth(r); break;
  case limit::shared_units: f.fact += shared_units(r); break;
  case limit::contention: f.fact += contention(r, out); break;
  case limit::imbalance: f.fact += imbalance(r, out); break;
  case limit::cores:
    f.fact +=
        "the workers are busy with bodies for " + percent(r.run.why.busy) + " of the time, so they are what binds";
    break;
  }
  f.proposals = out.take();
  return f;
}

bool one_series(const row& a, const row& b) {
  return a.at.machine == b.at.machine && a.at.policy == b.at.policy && a.at.creation == b.at.creation &&
         a.at.grain == b.at.grain && a.at.team == b.at.team;
}

std::vector<const row*> bases(const std::vector<row>& rows) {
  std::vector<const row*> all;
  for (const row& r : rows)
    if (std::ranges::none_of(all, [&](const row* b) { return b->at.machine == r.at.machine; })) all.push_back(&r);
  return all;
}

std::vector<const row*> series_of(const std::vector<row>& rows, const row& base) {
  std::vector<const row*> series;
  for (const row& r : rows)
    if (one_series(r, base)) series.push_back(&r);
  std::ranges::stable_sort(series, {}, [](const row* r) { return r->at.workers; });
  return series;
}

std::string on(const row& r, bool several) { return several ? r.at.machine + ": " : std::string(); }

// Which gains are told: those that are worth a word, and more than what predictions are off by.
struct scale {
  explicit scale(double error) : least(least_gain(error)), is_coarse(error > gain_least) {}
  double least;
  bool is_coarse;  // the error counts
  [[nodiscard]] bool tells(double gain) const noexcept { return gain >= least; }
  [[nodiscard]] const char* nothing(bool one) const noexcept {
    if (is_coarse) return one ? " gains less than predictions are off by" : " gain less than predictions are off by";
    return one ? " gains nothing" : " gain nothing";
  }
};

// The number of workers to choose, and what more of them do.
// more_with: what else must change for more of them to be worth having, or nothing.
advice best(const std::vector<const row*>& series, bool several, const scale& gains, const point* more_with) {
  const double least =
      (*std::ranges::min_element(series, {}, [](const row* r) { return r->run.makespan_ns; }))->run.makespan_ns;
  const double same = gains.is_coarse ? 1 / (1 - std::min(gains.least, 0.99)) : same_until;
  const row& top = **std::ranges::find_if(series, [=](const row* r) { return r->run.makespan_ns <= same * least; });
  const row& most = *series.back();
  std::string text = on(top, several) + "best with " + counted(top.at.workers) + ": " + time(top.run.makespan_ns) +
                     ", a speed-up of " + short_number(top.speedup);
  const double slower = most.run.makespan_ns / top.run.makespan_ns - 1;
  const char* const alone = more_with != nullptr && more_with->workers > top.at.workers ? "more alone" : "more";
  if (slower > gains.least)
    text += std::string("; ") + alone + " are slower: with " + std::to_string(most.at.workers) + " it takes " +
            time(most.run.makespan_ns) + ", " + percent(slower) + " longer";
  else if (most.at.workers > top.at.workers)
    text += std::string("; ") + alone + gains.nothing(false);
  return {"best", text, {}};
}

// What changing one thing alone does among the rows that were asked for, where the base has most workers.
void compare(const std::vector<row>& rows, const row& base, std::string point::*key, const char* what, bool several,
             const scale& gains, std::vector<advice>& out) {
  const row* found = nullptr;
  for (const row& r : rows) {
    point alone = r.at;
    alone.*key = base.at.*key;
    const bool differs = r.at.*key != base.at.*key && alone.machine == base.at.machine &&
                         alone.policy == base.at.policy && alone.creation == base.at.creation &&
                         alone.grain == base.at.grain && alone.team == base.at.team && alone.workers == base.at.workers;
    if (differs && (found == nullptr || r.run.makespan_ns < found->run.makespan_ns)) found = &r;
  }
  if (found == nullptr) return;
  const double gain = 1 - found->run.makespan_ns / base.run.makespan_ns;
  if (!gains.tells(gain)) return;
  out.push_back({what,
                 on(base, several) + "at " + counted(base.at.workers) + " " + what + " " + found->at.*key + " takes " +
                     percent(gain) + " less time than " + base.at.*key,
                 {{std::string(what) + " " + found->at.*key, found->run.makespan_ns, gain}}});
}

std::string told(const finding& f, std::vector<trial>& trials, const scale& gains) {
  std::ranges::stable_sort(trials, std::greater<>(), &trial::gain);
  std::string text = f.fact;
  if (trials.empty()) return text;
  std::string without;
  unsigned helping = 0, useless = 0;
  for (const trial& t : trials) {
    if (!gains.tells(t.gain)) {
      without += (useless++ == 0 ? "" : ", ") + t.what;
      continue;
    }
    text +=
        (helping++ == 0 ? "; tried: " : ", ") + t.what + " saves " + percent(t.gain) + " (" + time(t.makespan_ns) + ")";
  }
  if (useless != 0) text += (helping == 0 ? "; tried: " : "; ") + without + gains.nothing(useless == 1);
  return text;
}

std::string list(const std::vector<std::string>& all) {
  std::string text;
  for (std::size_t i = 0; i < all.size(); ++i) text += (i == 0 ? "" : i + 1 == all.size() ? " and " : ", ") + all[i];
  return text;
}

// What is best is told unless it is one change alone that was told already.
std::optional<advice> together(const combination& c, bool several, const scale& gains,
                               const std::vector<advice>& told) {
  const point &at = c.best.at, &base = c.base.at;
  if (!gains.tells(c.gain()) || changes(at, base) == 0) return std::nullopt;
  const auto has_it = [&c](const trial& t) { return t.makespan_ns <= same_until * c.best.run.makespan_ns; };
  if (changes(at, base) == 1 &&
      std::ranges::any_of(told, [&](const advice& a) { return std::ranges::any_of(a.trials, has_it); }))
    return std::nullopt;
  std::vector<std::string> what{counted(at.workers)};
  if (at.grain != base.grain)
    what.push_back(at.grain.starts_with('/') ? "splitting tasks by " + at.grain.substr(1)
                   : at.grain == "1"         ? "tasks as they are"
                                             : "merging tasks by " + at.grain);
  if (at.policy != base.policy) what.push_back("policy " + at.policy);
  if (at.creation != base.creation) what.push_back(at.creation + " creation");
  const std::string all = list(what);
  const double times = c.base.run.makespan_ns / c.best.run.makespan_ns;
  return advice{"combination",
                on(c.best, several) + "together: " + all + " take " + time(c.best.run.makespan_ns) +
                    ", a speed-up of " + short_number(c.best.speedup) + ": " + short_number(times) +
                    " times as fast as the best by workers alone (" + std::to_string(c.tried) +
                    " more points were tried)",
                {{all, c.best.run.makespan_ns, c.gain()}},
                at};
}

}  // namespace

double least_gain(double error) noexcept { return std::max(gain_least, error); }

std::vector<std::vector<row>> base_series(const std::vector<row>& rows) {
  std::vector<std::vector<row>> all;
  for (const row* b : bases(rows)) {
    all.emplace_back();
    for (const row* r : series_of(rows, *b)) all.back().push_back(*r);
  }
  return all;
}

std::vector<finding> find_limits(const std::vector<row>& rows, const means& m) {
  std::vector<finding> all;
  const std::vector<const row*> machines = bases(rows);
  for (const row* b : machines) {
    std::vector<limit> met;
    const std::vector<const row*> series = series_of(rows, *b);
    const auto add = [&](limit l, const row& r) {
      met.push_back(l);
      all.push_back(find(l, r, on(r, machines.size() > 1) + "at " + counted(r.at.workers) + " ", m));
    };
    for (const row* r : series)
      if (const limit l = r->run.why.binds;
          r->run.tasks != 0 && l != limit::cores && std::ranges::find(met, l) == met.end())
        add(l, *r);
    if (series.back()->run.tasks != 0 && series.back()->run.why.binds == limit::cores)
      add(limit::cores, *series.back());
    if (m.trace && m.gil_share >= report::gil_from && series.back()->run.tasks != 0) {
      const row& r = *series.back();
      proposer out(r, m);
      out.without_gil();
      all.push_back({"gil",
                     on(r, machines.size() > 1) + "at " + counted(r.at.workers) +
                         " the row is too good: " + percent(m.gil_share) +
                         " of the time in bodies is a wait for Python's lock, the GIL, which it takes for work",
                     &r, out.take()});
    }
  }
  return all;
}

std::vector<advice> advise(const std::vector<row>& rows, const std::vector<finding>& found,
                           const std::vector<row>& tried, const std::vector<combination>& combined, double error) {
  const scale gains(error);
  std::vector<advice> all;
  const std::vector<const row*> machines = bases(rows);
  const bool several = machines.size() > 1;
  for (const row* b : machines) {
    std::vector<advice> out;
    const std::vector<const row*> series = series_of(rows, *b);
    std::size_t at = 0;
    for (const finding& f : found) {
      const std::size_t first = std::exchange(at, at + f.proposals.size());
      if (f.of->at.machine != b->at.machine) continue;
      std::vector<trial> trials;
      for (std::size_t i = 0; i < f.proposals.size(); ++i) {
        const row& r = tried[first + i];
        if (!r.error.empty()) continue;
        trials.push_back({f.proposals[i].what, r.run.makespan_ns, 1 - r.run.makespan_ns / f.of->run.makespan_ns});
      }
      std::string text = told(f, trials, gains);
      out.push_back({f.kind, std::move(text), std::move(trials)});
    }
    compare(rows, *series.back(), &point::policy, "policy", several, gains, out);
    compare(rows, *series.back(), &point::creation, "creation", several, gains, out);
    compare(rows, *series.back(), &point::grain, "grain", several, gains, out);
    compare(rows, *series.back(), &point::team, "team", several, gains, out);
    std::optional<advice> more;
    for (const combination& c : combined)
      if (c.base.at.machine == b->at.machine) more = together(c, several, gains, out);
    if (series.size() > 1) all.push_back(best(series, several, gains, more ? &*more->at : nullptr));
    if (more) all.push_back(std::move(*more));
    std::ranges::move(out, std::back_inserter(all));
  }
  return all;
}

json to_json(const std::vector<advice>& all) {
  json list = json::array();
  for (const advice& a : all) {
    json tried = json::array();
    for (const trial& t : a.trials)
      tried.push_back({{"what", t.what}, {"makespan_ns", t.makespan_ns}, {"gain", t.gain}});
    list.push_back({{"kind", a.kind}, {"text", a.text}, {"tried", tried}});
    if (a.at)
      list.back()["at"] = {{"machine", a.at->machine}, {"policy", a.at->policy}, {"creation", a.at->creation},
                           {"grain", a.at->grain},     {"team", a.at->team},     {"workers", a.at->workers}};
  }
  return list;
}

}  // namespace weft::tool::sim

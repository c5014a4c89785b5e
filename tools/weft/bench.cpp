// `weft bench`: problems x systems x workers, in nanoseconds per task. All of them take turns, round after round, so a
// slow minute of the computer slows every column; the median of the rounds counts.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "apps/progress.hpp"
#include "bench/system.hpp"
#include "command.hpp"
#include "output.hpp"

namespace weft::tool {

namespace {

struct series {
  const bench::problem* problem;
  const bench::system_entry* system;
  unsigned workers;
  std::vector<double> values;
  bool correct = true;

  [[nodiscard]] double median() const {
    const std::size_t middle = values.size() / 2;  // values are sorted by then
    return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
  }
};

constexpr const char* unit = "ns/task";

json rows_json(const std::vector<series>& all) {
  json rows = json::array();
  bool ok = true;
  for (const series& s : all) {
    ok = ok && s.correct;
    rows.push_back({{"problem", s.problem->name},
                    {"system", s.system->name},
                    {"workers", s.workers},
                    {"value", s.median()},
                    {"unit", unit},
                    {"min", s.values.front()},
                    {"max", s.values.back()},
                    {"ok", s.correct}});
  }
  return {{"ok", ok}, {"rows", rows}};
}

// One row per problem. Series of one problem follow each other and have the same columns in every row.
std::string rows_text(const std::vector<series>& all, std::size_t columns, std::size_t repeat, bool colour) {
  table t(true);
  std::vector<std::vector<style>> styles(1, std::vector<style>(columns + 1, style::bold));
  std::vector<std::string> head = {"problem"};
  for (std::size_t c = 0; c < columns; ++c)
    head.push_back(std::string(all[c].system->name) + " P=" + std::to_string(all[c].workers));
  t.row(head);
  for (std::size_t first = 0; first < all.size(); first += columns) {
    const auto better = [&](std::size_t c) { return all[first + c].system->parallel && all[first + c].correct; };
    double best = HUGE_VAL;
    for (std::size_t c = 0; c < columns; ++c)
      if (better(c)) best = std::min(best, all[first + c].median());
    std::vector<std::string> cells = {all[first].problem->name};
    std::vector<style> row_styles = {style::plain};
    for (std::size_t c = 0; c < columns; ++c) {
      const series& s = all[first + c];
      cells.push_back(s.correct ? short_number(s.median()) : "WRONG");
      row_styles.push_back(!s.correct ? style::red : better(c) && s.median() <= best ? style::green : style::plain);
    }
    t.row(cells);
    styles.push_back(row_styles);
  }
  return "ns per task, creation included, median of " + std::to_string(repeat) + "; less is better\n" +
         t.text(styles, colour);
}

class bench_command final : public command {
 public:
  explicit bench_command(CLI::App& root) {
    parser_ = root.add_subcommand("bench", "Measure what a task costs, problem by problem, against other systems");
    parser_
        ->add_option("PROBLEM", chosen_, "Problems to run: " + names(bench::all_problems()) + "; all if none is given")
        ->type_name("");
    parser_->add_option("--workers", workers_, "Numbers of workers, as in 1,2")
        ->delimiter(',')
        ->check(in_range(1, workers_max))
        ->type_name("N,...");
    parser_->add_option("--repeat", repeat_, "Rounds; the median counts")
        ->capture_default_str()
        ->check(in_range(1, 1000))
        ->type_name("N");
    parser_->add_option("--policy", policy_, "Scheduling policy of Weft")->type_name("NAME");
    parser_->add_flag("--json", json_, "One JSON object on stdout: {\"rows\": [...]}");
    parser_->footer("Example:\n  weft bench chain1 stencil4 --workers 1,2 --repeat 5");
  }

  int run() override {
    std::vector<series> all = plan();
    measure(all);
    for (series& s : all) std::sort(s.values.begin(), s.values.end());
    const std::size_t columns = static_cast<std::size_t>(
        std::count_if(all.begin(), all.end(), [&](const series& s) { return s.problem == all[0].problem; }));
    write_stdout(json_ ? json_text(rows_json(all)) : rows_text(all, columns, repeat_, colour_wanted()));
    int code = exit_ok;
    for (const series& s : all) {
      if (s.correct) continue;
      code = exit_check_failed;
      std::fprintf(stderr, "weft: bench: %s computed a wrong result for %s with %u workers\n", s.system->name,
                   s.problem->name, s.workers);
    }
    return code;
  }

 private:
  [[nodiscard]] std::vector<const bench::problem*> problems() const {
    std::vector<const bench::problem*> found;
    for (const bench::problem& p : bench::all_problems())
      if (chosen_.empty() || std::find(chosen_.begin(), chosen_.end(), p.name) != chosen_.end()) found.push_back(&p);
    for (const std::string& name : chosen_)
      if (std::none_of(found.begin(), found.end(), [&](const bench::problem* p) { return p->name == name; }))
        throw weft::error("bench: unknown problem \"" + name + "\"; known are " + names(bench::all_problems()));
    return found;
  }

  [[nodiscard]] std::vector<series> plan() const {
    std::vector<unsigned> counts = workers_;
    if (counts.empty()) counts = usable_cpus() > 1 ? std::vector<unsigned>{1, usable_cpus()} : std::vector<unsigned>{1};
    std::vector<series> all;
    for (const bench::problem* p : problems()) {
      for (const bench::system_entry& s : bench::all_systems()) {
        if (!s.parallel) all.push_back({p, &s, 1, {}});
        for (unsigned w : s.parallel ? counts : std::vector<unsigned>{}) all.push_back({p, &s, w, {}});
      }
    }
    return all;
  }

  void measure(std::vector<series>& all) const {
    apps::progress bar("weft bench", stderr);
    const double steps = static_cast<double>(repeat_ * all.size());
    double done = 0;
    for (std::size_t round = 0; round < repeat_; ++round) {
      for (series& s : all) {
        const bench::sample got =
            s.system->measure(*s.problem, {s.workers, policy_.empty() ? nullptr : policy_.c_str()});
        s.values.push_back(got.ns_per_task);
        s.correct = s.correct && got.correct;
        bar.report(++done / steps);
      }
    }
  }

  std::vector<std::string> chosen_;
  std::vector<unsigned> workers_;
  std::size_t repeat_ = 5;
  std::string policy_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<command> make_bench_command(CLI::App& root) { return std::make_unique<bench_command>(root); }

}  // namespace weft::tool

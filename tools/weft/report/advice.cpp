// Advice is given only where the figures leave no doubt, and names them, so that the reader can check it.
#include <algorithm>
#include <cmath>

#include "gil.hpp"
#include "text.hpp"
#include "tools/weft/output.hpp"

namespace weft::tool::report {

namespace {

constexpr std::uint64_t many_tasks = 100;  // below this, making tasks larger gains nothing
constexpr double small_body = 3;           // bodies shorter than so many times the overhead are too short
constexpr double worth_saying = 0.05;      // of the makespan, or of all bodies
constexpr double nearly_all = 0.8;         // of the workers that the graph can use
constexpr double all_of_them = 0.9;        // of the workers' time

std::string percent(double share) { return std::to_string(std::lround(100 * share)) + " %"; }

std::string quoted(const trace::file& r, std::uint32_t name) {
  return name == none ? "without a name" : "named \"" + printable(name_text(r, name), 40) + "\"";
}

void too_small(const trace::file& r, const figures& f, std::vector<advice>& out) {
  const double cost = f.overhead_per_task();
  for (const name_figures& n : f.names) {
    const double lost = cost * static_cast<double>(n.count);
    const bool matters = lost > worth_saying * static_cast<double>(f.makespan) * static_cast<double>(f.workers.size());
    const auto median = static_cast<double>(n.body.median);
    if (n.count < many_tasks || !matters || median > small_body * cost) continue;
    out.push_back({"small_tasks", "tasks " + quoted(r, n.name) + " take " + duration(median) +
                                      " and the runtime spends " + duration(cost) + " on each: make them larger"});
  }
}

// What the main program should do differently depends on what it does.
std::string program_advice(const figures& f) {
  if (f.program_own < 0) return ", submitting or at work of its own; record the run again to know which";
  const double own = static_cast<double>(f.program_own) / static_cast<double>(f.program);
  if (2 * f.program_own > f.program)
    return ", and " + percent(own) + " of its time is work of its own between submissions: make tasks of that work";
  return ", and " + percent(1 - own) +
         " of its time is submitting: submit from inside tasks, or submit fewer, larger ones";
}

void graph_too_narrow(const trace::file& r, const figures& f, std::vector<advice>& out) {
  const auto workers = static_cast<double>(f.workers.size());
  if (f.span == 0 || workers < 2 || f.parallelism > nearly_all * workers) return;
  std::string why;
  const auto on_path = [](const name_figures& x, const name_figures& y) { return x.path_time < y.path_time; };
  const auto most = std::max_element(f.names.begin(), f.names.end(), on_path);
  if (f.path_program * 2 > f.span) {
    why = "; " + percent(static_cast<double>(f.path_program) / static_cast<double>(f.span)) +
          " of that path is the main program itself" + program_advice(f);
  } else if (most != f.names.end() && most->path_time > 0) {
    why = "; tasks " + quoted(r, most->name) + " are " +
          percent(static_cast<double>(most->path_time) / static_cast<double>(f.span)) + " of that path";
  }
  out.push_back({"narrow_graph", "the critical path keeps " + short_number(f.parallelism) + " of " +
                                     std::to_string(f.workers.size()) + " workers busy, no more, on average" + why});
}

// Workers that are busy are what binds, and then the name with most of the work: the stage of a pipeline, for one.
void all_busy(const trace::file& r, const figures& f, std::vector<advice>& out) {
  if (f.utilisation < all_of_them || f.names.size() < 2) return;
  const name_figures& most = f.names.front();
  if (2 * most.body.total <= f.work) return;
  out.push_back({"busy_workers", "the workers are busy " + percent(f.utilisation) + " of the time, and " +
                                     percent(static_cast<double>(most.body.total) / static_cast<double>(f.work)) +
                                     " of that are tasks " + quoted(r, most.name) +
                                     ": make those faster, or have more workers"});
}

// Of the throttled submitters: the window is too small only if workers had nothing to do meanwhile.
void small_window(const trace::file& r, const figures& f, std::vector<advice>& out) {
  const wait_figures& w = f.waits[static_cast<std::size_t>(trace::wait_reason::window)];
  const auto room = static_cast<double>(f.makespan) * static_cast<double>(f.workers.size());
  if (w.count == 0 || static_cast<double>(f.searching + f.asleep) < worth_saying * room) return;
  out.push_back({"window", "a submitter had to wait " + std::to_string(w.count) +
                               " times because the window of tasks in flight was full (" +
                               std::string(r.about("window")) + "), while workers had nothing to do: enlarge it"});
}

void one_worker_only(const figures& f, std::vector<advice>& out) {
  const auto idle = std::count_if(f.workers.begin(), f.workers.end(),
                                  [](const worker_figures& w) { return w.tasks == 0 && w.program == 0; });
  if (idle == 0 || f.ran() < f.workers.size()) return;
  out.push_back({"idle_workers",
                 std::to_string(idle) + " of " + std::to_string(f.workers.size()) + " workers ran no task at all"});
}

}  // namespace

std::vector<advice> advise(const trace::file& r, const figures& f) {
  std::vector<advice> all = gil_advice(r);
  too_small(r, f, all);
  graph_too_narrow(r, f, all);
  all_busy(r, f, all);
  small_window(r, f, all);
  one_worker_only(f, all);
  return all;
}

}  // namespace weft::tool::report

#include "reader_pipelines.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "../output.hpp"
#include "checks.hpp"

namespace weft::tool::trace {

namespace {

constexpr std::size_t stages_max = 64;
constexpr std::int64_t items_max = std::int64_t{1} << 48;

[[nodiscard]] index pipeline_of(const rows& r, int column, const file& f) {
  const std::int64_t id = r.integer(column);
  if (id >= 1 && id <= static_cast<std::int64_t>(f.pipelines.size())) return static_cast<index>(id - 1);
  r.fail("pipeline " + std::to_string(id) + " does not exist; the file is damaged, record the run again");
}

[[nodiscard]] index task_of(const rows& r, int column, const strand_references& of, const file& f) {
  const index t = of.task.find(r.integer(column));
  if (t == none && f.lost == 0) r.fail("its task does not exist; the file is damaged");
  return t;
}

[[nodiscard]] index strand_of_pass(const rows& r, int column, file& f) {
  if (r.null(column)) return none;
  const std::int64_t id = r.integer(column);
  const bool exists = id >= 1 && id <= static_cast<std::int64_t>(f.strands.size());
  if (!exists || f.strands[static_cast<std::size_t>(id - 1)].of != strand_of::pass ||
      std::exchange(f.strands[static_cast<std::size_t>(id - 1)].is_taken, true))
    r.fail("strand " + std::to_string(id) + " is not of this pass; the file is damaged");
  return static_cast<index>(id - 1);
}

}  // namespace

void read_pipelines(database& db, const strand_references& of, file& f) {
  for (rows r(db, "pipelines", "id, task, stages, in_flight, began_ns"); r.next();) {
    pipeline p{};
    if (r.integer(0) != static_cast<std::int64_t>(f.pipelines.size()) + 1 || f.pipelines.size() == none - 1)
      r.fail("pipeline " + std::to_string(r.integer(0)) + " is not the next one; it is no trace of Weft");
    p.task = r.null(1) ? none : of.task.find(r.integer(1));
    if (p.task == none && f.lost == 0) r.fail("its task does not exist; the file is damaged");
    p.stages = r.text(2);
    if (p.stages.empty() || p.stages.size() > stages_max || p.stages[0] != 's' ||
        p.stages.find_first_not_of("sp") != std::string::npos)
      r.fail("'" + printable(p.stages, 40) + "' are no stages of a pipeline");
    p.in_flight = r.count_or(3, UINT32_MAX, 0);
    p.began_ns = r.time(4);
    f.pipelines.push_back(std::move(p));
  }
  for (rows r(db, "helpers", "task, pipeline"); r.next();) {
    const index t = task_of(r, 0, of, f), p = pipeline_of(r, 1, f);
    if (t == none) continue;
    f.helps.resize(f.tasks.size(), none);
    f.helps[t] = p;
  }
}

void read_passes(database& db, const strand_references& of, file& f) {
  index at = none;
  rows r(db, "passes", "pipeline, item, stage, items, task, worker, from_ns, to_ns, ps, strand");
  while (r.next()) {
    const index now = pipeline_of(r, 0, f);
    if (now != at) {
      if (at != none && now < at) r.fail("the passes of a pipeline are in several places; it is no trace of Weft");
      f.pipelines[at = now].first = static_cast<index>(f.passes.size());
    }
    pass p{};
    p.item = r.count_or(1, items_max, 0);
    p.stage = static_cast<std::int32_t>(
        r.count_or(2, static_cast<std::int64_t>(f.pipelines[now].stages.size()) - 1, pass::all_stages));
    p.items = r.count_or(3, UINT32_MAX, 1);
    p.task = task_of(r, 4, of, f);
    p.worker = of.worker.find(r.integer(5));
    if (p.worker == none) r.fail("its worker does not exist; the file is damaged");
    p.from_ns = r.time(6);
    p.to_ns = r.time_after(7, p.from_ns);
    p.ps = r.count_or(8, ps_max, 0);
    p.strand = strand_of_pass(r, 9, f);
    if (p.task == none) continue;
    f.passes.push_back(p);
    f.pipelines[now].last = static_cast<index>(f.passes.size());
  }
  for (pipeline& p : f.pipelines) {
    if (p.last < p.first) p.last = p.first;
    std::stable_sort(f.passes.begin() + p.first, f.passes.begin() + p.last, [](const pass& a, const pass& b) {
      return std::pair(a.item, a.stage) < std::pair(b.item, b.stage);
    });
  }
}

}  // namespace weft::tool::trace

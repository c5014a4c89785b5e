// See formats.hpp.
#include "formats.hpp"

#include "tools/weft/command.hpp"
#include "weft/error.hpp"

namespace weft::tool::foreign {

namespace {

constexpr format every_format[] = {
    {"csv", "a table of tasks: task,name,duration,reads,writes,after", nullptr, is_csv, read_csv},
    {"stg", "the Standard Task Graph Set", nullptr, is_stg, read_stg},
    {"wfcommons", "a run of a workflow, as WfCommons has them (JSON)", nullptr, is_wfcommons, read_wfcommons},
    {"starpu", "StarPU's tasks.rec, or StarVZ's rec.tasks.csv of it",
     "rec.data_handles.csv, which says what data of several MPI ranks are the same", is_starpu, read_starpu},
    {"tfprof", "spans of Taskflow's profiler (JSON)", "what taskflow.dump() writes: the edges", is_tfprof, read_tfprof},
    {"chrome", "Chrome's trace events (JSON), with flow events for what waits for what", nullptr, is_chrome,
     read_chrome},
    {"dot", "a directed graph for Graphviz, with weights", nullptr, is_dot, read_dot},
};

}  // namespace

std::span<const format> formats() noexcept { return every_format; }

const format& format_of(const source& from, const std::string& name) {
  for (const format& f : every_format)
    if (name.empty() ? f.is(from.text()) : name == f.name) return f;
  if (!name.empty()) throw weft::error("import: --format '" + name + "' is unknown; there are " + names(every_format));
  from.fail("is of no format that import knows by its content (" + names(every_format) +
            "); --format NAME says which it is, and weft import --help what they are");
}

}  // namespace weft::tool::foreign

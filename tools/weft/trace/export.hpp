// Traces in the formats of others. Each writer streams: beyond the trace itself it holds what is named at `arrows` and
// `timeline`, and a buffer.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "../output_file.hpp"
#include "reader.hpp"

namespace weft::tool::trace {

// Which dependencies become arrows.
//   last: of the accesses that bring about a version the one that finished last, for every access that required the
//         version: what the task waited for. At most one arrow per access.
//   all:  every pair. After many adds many reads make many: |adds| * |reads|.
//   nothing: only the timeline.
enum class arrow_choice { last, all, nothing };

struct arrow {
  index before, after;  // in tasks
  index handle;
  bool data_flows;  // false if `before` only read
};

// The arrows among the first `tasks` tasks, by handle and version. Between two tasks there is one for each handle.
[[nodiscard]] std::vector<arrow> arrows(const file& f, arrow_choice which, std::size_t tasks = SIZE_MAX);

// What one track per worker shows, in the order of workers and times: pieces of tasks, of the main thread, and sleep.
struct slice {
  enum class what : std::uint8_t { task, main_thread, sleep } kind;
  bool first, last;  // piece of its task
  index task;        // none unless kind is task
  index worker;
  std::int64_t from_ns, to_ns;
};

// A quantity over time: it has `value` from `time_ns` on.
struct sample {
  std::int64_t time_ns;
  double value;
};

struct timeline {
  std::vector<slice> slices;
  std::vector<sample> running;     // workers that run tasks
  std::vector<sample> live;        // tasks that are submitted and not finished
  std::vector<index> stolen_from;  // by task: the worker it was taken from, or none

  explicit timeline(const file& f);
};

struct timeline_options {
  arrow_choice which = arrow_choice::last;
  bool children = false;               // arrows from a task to those it submitted, too
  std::function<void(double)> tell{};  // called with the share that is written, some hundred times; may be empty
};

// The arrows between slices, numbered from 1: from the last piece of one task to the first of another.
class flows {
 public:
  flows(const file& f, const timeline& t, const timeline_options& opt);

  // The numbers of those that leave slice `s`, and of those that reach it.
  [[nodiscard]] std::span<const std::uint32_t> out(std::size_t s) const noexcept { return out_.of(s); }
  [[nodiscard]] std::span<const std::uint32_t> in(std::size_t s) const noexcept { return in_.of(s); }
  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }

 private:
  struct lists {
    std::vector<std::uint32_t> first, all;  // those of s are [first[s], first[s + 1])
    [[nodiscard]] std::span<const std::uint32_t> of(std::size_t s) const noexcept {
      return {all.data() + first[s], first[s + 1] - first[s]};
    }
  };
  static lists group(const std::vector<std::uint32_t>& slice_of, std::size_t slices);

  lists out_, in_;
  std::uint64_t count_ = 0;
};

// At most so many samples a quantity; beyond, means over intervals of equal length take the place of exact steps. The
// screen has fewer columns.
inline constexpr std::size_t samples_max = 100'000;

// The native format of Perfetto (perfetto.dev). One track per worker.
struct written {
  std::uint64_t slices = 0, arrows = 0;
};
written write_perfetto(const file& f, const timeline_options& opt, output_file& out);

// Graphs for Graphviz, of the first `tasks` tasks.
struct graph_size {
  std::uint64_t nodes = 0, edges = 0;
};
// Tasks and what orders them, each arrow labelled with its handle, grey if no data flows along it; dashed: who
// submitted whom.
graph_size write_task_graph(const file& f, std::size_t tasks, output_file& out,
                            const std::function<void(double)>& tell = {});
// Versions of data, and the tasks between them (SuperGlue, section 4.7): from the version that an access requires to
// its task, and on to the version that stands when all of its group are done.
graph_size write_data_graph(const file& f, std::size_t tasks, output_file& out,
                            const std::function<void(double)>& tell = {});
// The table that `weft import` reads, of every task that ran.
struct table_size {
  std::uint64_t tasks = 0;
  std::uint64_t not_run = 0, nested = 0,
                resources = 0;  // tasks; tasks that others submitted; accesses that are left out
};
table_size write_table(const file& f, output_file& out, const std::function<void(double)>& tell = {});
// The size at most, without making them: all pairs may be very many.
[[nodiscard]] std::uint64_t dependencies(const file& f, std::size_t tasks);
[[nodiscard]] graph_size task_graph_size(const file& f, std::size_t tasks);
[[nodiscard]] graph_size data_graph_size(const file& f, std::size_t tasks);

// "12.3 us": three digits, the unit that suits.
[[nodiscard]] std::string duration_text(std::int64_t ns);

}  // namespace weft::tool::trace

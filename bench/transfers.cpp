// Cache lines that move between two cores for each task, counted on the virtual machine, where lines are modelled and
// every run is the same: what bounds a problem with two workers.
//   transfers [--body NS] [PROBLEM...]
// prints a row for each problem that costs one increment a task: workers, lines moved per task, and modelled
// nanoseconds per task. Exit status 0.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <tuple>
#include <utility>
#include <vector>

#include "problem.hpp"
#include "weft/weft.hpp"

namespace weft::bench {

namespace {

// The stream of a problem as tasks of a given modelled length.
class modelled {
 public:
  modelled(std::size_t cells, unsigned workers, double body_ns)
      : cells_(cells), rt_({.workers = workers, .machine = "virtual"}), body_ns_(body_ns) {}

  template <class Body> void independent_task(cell_index c, Body body) {
    rt_.submit(cost(body_ns_), [cell = &cells_[c].unguarded(), body] { body(*cell); });
  }
  template <std::size_t R, std::size_t W, class Body>
  void task(const std::array<cell_index, R>& reads, const std::array<cell_index, W>& writes, Body body) {
    [&]<std::size_t... I, std::size_t... J>(std::index_sequence<I...>, std::index_sequence<J...>) {
      static_cast<void>(reads);  // unused when nothing is read
      rt_.submit(cost(body_ns_), read(cells_[reads[I]])..., write(cells_[writes[J]])...,
                 [body](auto&... data) { body(std::get<R>(std::tie(data...))); });
    }(std::make_index_sequence<R>{}, std::make_index_sequence<W>{});
  }
  [[nodiscard]] runtime& rt() noexcept { return rt_; }

 private:
  std::vector<handle<value>> cells_;
  runtime rt_;
  double body_ns_;
};

constexpr double lines_max = 6;

// Prints a row. Returns whether it is as it should be for tiny bodies.
bool count(const problem& p, unsigned workers, double body_ns) {
  modelled system(cell_count(p), workers, body_ns);
  submit_pass(p, system, increment{});  // records and deques grow
  system.rt().wait();
  const double start = system.rt().now_ns();
  const auto before = system.rt().statistics();
  constexpr int passes = 4;
  for (int pass = 0; pass < passes; ++pass) {
    submit_pass(p, system, increment{});
    system.rt().wait();
  }
  const auto after = system.rt().statistics();
  const double tasks = passes * static_cast<double>(tasks_per_pass(p));
  const double lines = static_cast<double>(after.transfers - before.transfers) / tasks;
  std::printf("%-12s %u %8.2f %8.1f %8.3f\n", p.name, workers, lines, (system.rt().now_ns() - start) / tasks,
              static_cast<double>(after.steals - before.steals) / tasks);
  return workers == 1 ? after.transfers == 0 : lines < lines_max;
}

}  // namespace

}  // namespace weft::bench

int main(int argc, char** argv) {
  using namespace weft::bench;
  double body_ns = 1;
  int first = 1;
  const bool checks = argc == 2 && std::strcmp(argv[1], "--check") == 0;
  if (checks) {
    first = 2;
  } else if (argc > 2 && std::strcmp(argv[1], "--body") == 0) {
    char* end = nullptr;
    body_ns = std::strtod(argv[2], &end);
    if (end == argv[2] || *end != '\0' || !(body_ns >= 0)) return std::fprintf(stderr, "--body: no number\n"), 2;
    first = 3;
  }
  int named = 0;
  bool fine = true;
  std::printf("problem      workers  lines   ns  steals, per task\n");
  for (const problem& whole : all_problems()) {
    bool wanted = first == argc;
    for (int i = first; i < argc; ++i) wanted = wanted || std::strcmp(argv[i], whole.name) == 0;
    if (!wanted || whole.measures != metric::cost) continue;
    ++named;
    for (const unsigned workers : {1u, 2u}) fine = count(shortened(whole, 5000), workers, body_ns) && fine;
  }
  if (named == 0) return std::fprintf(stderr, "no such problem\n"), 2;
  return checks && !fine ? 1 : 0;
}

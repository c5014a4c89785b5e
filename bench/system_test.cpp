// The benchmark's own check: a system that loses a task or runs one twice must not get a number.
#include "system.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

namespace weft::bench {
namespace {

// Runs everything at once and right, but for one task in the middle of the warm-up pass.
template <int Times> class faulty_system {
 public:
  faulty_system(std::size_t cells, const settings&) : cells_(cells) {}
  void independent_task(cell_index c) { run(c); }
  template <std::size_t R, std::size_t W>
  void task(const std::array<cell_index, R>&, const std::array<cell_index, W>& writes) {
    run(writes[0]);
  }
  void wait() {}
  [[nodiscard]] value cell(cell_index c) const { return cells_[c]; }

 private:
  void run(cell_index c) {
    const int times = ++tasks_ == 777 ? Times : 1;
    for (int i = 0; i < times; ++i) touch(cells_[c]);
  }
  std::vector<value> cells_;
  int tasks_ = 0;
};

}  // namespace

TEST_CASE("bench: a lost task and a repeated task are noticed in every problem") {
  for (const problem& p : all_problems()) {
    CAPTURE(std::string(p.name));
    CHECK(measure<faulty_system<1>>(p, {}).correct);
    CHECK(!measure<faulty_system<0>>(p, {}).correct);
    CHECK(!measure<faulty_system<2>>(p, {}).correct);
  }
}

TEST_CASE("bench: every system is right on every problem") {
  for (const problem& full : all_problems()) {
    problem p = full;
    p.passes = 1;
    if (p.form != shape::cholesky) p.length = 500;
    for (const system_entry& s : all_systems()) {
      CAPTURE(std::string(p.name));
      CAPTURE(std::string(s.name));
      CHECK(s.measure(p, {.workers = s.parallel ? 2u : 1u}).correct);
    }
  }
}

TEST_CASE("bench: the sizes that the tables of others use") {
  for (const problem& p : all_problems()) {
    if (std::string_view(p.name) == "cholesky20") CHECK(tasks_per_pass(p) == 1540);
    if (std::string_view(p.name) == "cholesky50") CHECK(tasks_per_pass(p) == 22100);
  }
}

}  // namespace weft::bench

// A system under test: one file that says how it creates a task from the cells it reads and writes, and one line in
// systems.cpp. To add one, write a class with
//
//   my_system(std::size_t cells, const settings&)   ready to run, threads started: not timed
//   void independent_task(cell_index)               a task that touches this cell; no two name the same one in a pass
//   void task(reads, writes)                        std::array of cell_index each; the body touches the first written
//   void wait()                                     returns when all tasks so far are done
//   value cell(cell_index)                          what a cell holds, after wait()
//
// and return entry_for<my_system>(...). A wrong result is a measurement of nothing: it is reported, never averaged.
#pragma once
#include <chrono>
#include <cstddef>
#include <vector>

#include "problem.hpp"

namespace weft::bench {

struct settings {
  unsigned workers = 1;
  const char* policy = nullptr;  // nullptr: the system's default
};

struct sample {
  double ns_per_task;
  bool correct;  // every cell was touched as often as it had to be
};

struct system_entry {
  const char* name;
  const char* summary;
  bool parallel;  // false: only measured with one worker
  sample (*measure)(const problem&, const settings&);
};

[[nodiscard]] const std::vector<system_entry>& all_systems();
[[nodiscard]] system_entry serial_entry();
[[nodiscard]] system_entry weft_entry();

// One pass to warm up (threads awake, memory touched), then all passes timed, then every cell looked at.
template <class System> sample measure(const problem& p, const settings& how) {
  System s(cell_count(p), how);
  submit_pass(p, s);
  s.wait();
  const auto start = std::chrono::steady_clock::now();
  for (std::uint32_t i = 0; i < p.passes; ++i) {
    submit_pass(p, s);
    s.wait();
  }
  const std::chrono::duration<double, std::nano> elapsed = std::chrono::steady_clock::now() - start;
  const std::vector<value> expected = expected_cells(p, p.passes + std::uint64_t{1});
  bool correct = true;
  for (cell_index c = 0; c < expected.size(); ++c) correct = correct && s.cell(c) == expected[c];
  return {elapsed.count() / static_cast<double>(tasks_per_pass(p) * p.passes), correct};
}

template <class System> system_entry entry_for(const char* name, const char* summary, bool parallel) {
  return {name, summary, parallel, &measure<System>};
}

}  // namespace weft::bench

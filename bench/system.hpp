// A system under test: one file that says how it creates a task from the cells it reads and writes, its line in
// systems.cpp and its line in cmake/bench.cmake. Each system is a program of its own, because two OpenMP runtimes do
// not fit into one process and because none shall profit or suffer from the threads and the heap of another. To add
// one, write a class with
//
//   my_system(std::size_t cells, const settings&)   ready to run, threads started: not timed
//   void independent_task(cell_index, body)         a task without accesses; no two name the same cell in a pass
//   void task(reads, writes, body)                  std::array of cell_index each; the body gets the first written
//   void wait()                                     returns when all tasks so far are done
//   value cell(cell_index)                          what a cell holds, after wait()
//   void inside(f)                                  optional: calls f where tasks may be created
//
// and define systems_here() to return entry_for<my_system>(...). For recursions it is a class with
//
//   my_forks(const settings&)                       ready to run, threads started: not timed
//   value start(f)                                  calls f(place), where place forks as recursion.hpp says: one pass
//   void inside(f)                                  optional: calls f, which starts all passes
//
// and an entry recursions_for<my_forks>(...). A wrong result is a measurement of nothing: it is reported, never
// averaged.
#pragma once
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "measure.hpp"
#include "recursion_trial.hpp"

namespace weft::bench {

// What must be said beside a figure.
struct remark {
  std::uint64_t tasks_max = UINT64_MAX;  // in a pass: some systems cannot do more in reasonable time or memory
  std::string text;                      // empty: nothing
  bool comparable = true;                // false: it does not do what the others do, and cannot be the best of them
};

struct system_entry {
  std::string name;
  std::string version;
  sample (*measure)(const problem&, const settings&, const effort&);
  remark (*remarks)(const problem&, unsigned workers) = [](const problem&, unsigned) { return remark{}; };
  family offers = family::streams;
};

// Thrown by a system that cannot be had with these settings on this machine: no failure, but no figure either.
class not_possible : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The systems of this program: one, or several configurations of one.
[[nodiscard]] std::vector<system_entry> systems_here();

template <class System> system_entry entry_for(std::string name, std::string version) {
  return {std::move(name), std::move(version), &measure<System>};
}

template <class System>
system_entry entry_for(std::string name, std::string version, remark (*remarks)(const problem&, unsigned)) {
  return {std::move(name), std::move(version), &measure<System>, remarks};
}

template <class Forks> system_entry recursions_for(
    std::string name, std::string version,
    remark (*remarks)(const problem&, unsigned) = [](const problem&, unsigned) { return remark{}; }) {
  return {std::move(name), std::move(version), &measure_recursion<Forks>, remarks, family::recursions};
}

}  // namespace weft::bench

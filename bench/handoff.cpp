// What a submission costs the main thread: the time of the calls of submit() alone, in bursts that fit the window, with
// tasks created inline and decoupled. In between it waits for all tasks.
//   handoff [--rounds N]
// prints a row for each way to create, number of workers and length of a burst: median nanoseconds per task without
// accesses, with one, and with bodies of 1 us. A burst that finds the creator asleep pays for waking it, once.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "weft/weft.hpp"

namespace {

using steady = std::chrono::steady_clock;

double ns_since(steady::time_point from) {
  return std::chrono::duration<double, std::nano>(steady::now() - from).count();
}
void spin(double ns) {
  const auto from = steady::now();
  while (ns_since(from) < ns) {
  }
}

template <class Submit> double burst(weft::runtime& rt, int rounds, int tasks, Submit submit) {
  std::vector<double> ns;
  for (int round = 0; round < rounds; ++round) {
    const auto from = steady::now();
    for (int i = 0; i < tasks; ++i) submit(i);
    ns.push_back(ns_since(from) / tasks);
    rt.wait();
  }
  std::nth_element(ns.begin(), ns.begin() + rounds / 2, ns.end());
  return ns[static_cast<std::size_t>(rounds) / 2];
}

void row(const char* creation, unsigned workers, int rounds, int tasks) {
  weft::runtime rt({.workers = workers, .creation = creation});
  constexpr std::size_t cells = 64;
  std::vector<weft::handle<long>> cell(cells);
  const auto of = [&](int i) -> weft::handle<long>& { return cell[static_cast<std::size_t>(i) % cells]; };
  const double none = burst(rt, rounds, tasks, [&](int i) { rt.submit([x = &of(i).unguarded()] { ++*x; }); });
  const double one = burst(rt, rounds, tasks, [&](int i) { rt.submit(weft::write(of(i)), [](long& x) { ++x; }); });
  const double longer = burst(rt, rounds / 4 + 1, tasks, [&](int) { rt.submit([] { spin(1000); }); });
  std::printf("%-10s %7u %6d %8.1f %8.1f %8.1f\n", creation, workers, tasks, none, one, longer);
}

}  // namespace

int main(int argc, char** argv) {
  int rounds = 400;
  if (argc == 3 && std::strcmp(argv[1], "--rounds") == 0) rounds = std::atoi(argv[2]);
  if ((argc != 1 && argc != 3) || rounds <= 0) return std::fprintf(stderr, "usage: handoff [--rounds N]\n"), 2;
  std::printf("creation   workers  tasks     none      one     1 us   ns per task, of the submitter\n");
  for (const int tasks : {1000, 3000}) {
    row("inline", 1, rounds, tasks);
    row("inline", 2, rounds, tasks);
    row("decoupled", 2, rounds, tasks);
    row("decoupled", 3, rounds, tasks);
  }
}

// Ten million tasks from one submitter: the window bounds what lives, so memory does not grow with their number. Most
// resident memory is asked of the kernel, so a peak between two looks counts, too.
#include <string>
#include <sys/resource.h>

#include <atomic>
#include <chrono>

#include "stress.hpp"
#include "weft/weft.hpp"

namespace {

double most_resident_mib() {
  rusage u{};
  ::getrusage(RUSAGE_SELF, &u);
  return static_cast<double>(u.ru_maxrss) / 1024.0;
}

// Every second task adds to a handle, so half of them wait in a list. 0: the default window.
void flood(unsigned workers, std::size_t window, double bytes_per_task) {
  const unsigned tasks = amount(10'000'000);
  begin("memory: " + std::to_string(tasks) + " tasks, " + std::to_string(workers) + " workers, window " +
        std::to_string(window));
  weft::options o{.workers = workers, .machine = "host"};
  if (window != 0) o.window = window;
  const double before = most_resident_mib();
  std::atomic<std::uint64_t> ran{0};
  weft::handle<std::uint64_t> sum{std::uint64_t{0}};
  const auto from = std::chrono::steady_clock::now();
  {
    weft::runtime rt(o);
    for (unsigned i = 0; i < tasks; i += 2) {
      rt.submit([&ran] { ran.fetch_add(1, std::memory_order_relaxed); });
      rt.submit(weft::add(sum), [](std::uint64_t& x) { ++x; });
    }
    rt.wait();
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - from;
  require(ran + sum.unguarded() == tasks + tasks % 2, "tasks were lost");
  const double grown = most_resident_mib() - before;
  // The window holds for each of the two sizes of record in use here, beside 128 records for each worker.
  const double live = 2.0 * (static_cast<double>(o.window) + 128.0 * (workers + 1));
  const double allowed = 4.0 + live * bytes_per_task / (1024.0 * 1024.0);
  std::printf("  %.1f s, %.1f MiB more than before, %.1f allowed\n", took.count(), grown, allowed);
  if (!sanitized) require(grown < allowed, "memory grows with the number of tasks");
}

}  // namespace

int main() {
  // Small windows first: the most that was ever resident never falls.
  for (const unsigned workers : {1u, 2u, 4u}) flood(workers, 1024, 160);
  flood(2, 0, 160);
}

// Regions of OpenMP as guests: each of their threads alone on its CPU, although the same threads serve teams of other
// widths and elsewhere; after the guest they soon use no core any more (libgomp's may for 3 ms); and what an entry
// costs.
#include <omp.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <ctime>

#include "count.hpp"
#include "weft/openmp.hpp"

namespace {

[[nodiscard]] double us(clockid_t of) {
  timespec t{};
  clock_gettime(of, &t);
  return static_cast<double>(t.tv_sec) * 1e6 + static_cast<double>(t.tv_nsec) / 1e3;
}

// What all threads of the process used while all workers slept for 20 ms, after a guest.
[[nodiscard]] double busy_after_guest(weft::runtime& rt) {
  rt.submit(weft::team(rt.workers()), [](weft::team_context& t) {
    weft::openmp_guest(t, [](weft::guest_context&) {
#pragma omp parallel
      static_cast<void>(omp_get_thread_num());
    });
  });
  rt.wait();
  const double before = us(CLOCK_PROCESS_CPUTIME_ID);
  usleep(20000);
  return us(CLOCK_PROCESS_CPUTIME_ID) - before;
}

void report_costs(weft::runtime& rt) {
  const unsigned width = rt.workers();
  std::vector<double> regions, guests;
  for (int k = 0; k < 300; ++k) {
    double begin = 0, inside = 0, end = 0;
    rt.submit(weft::team(width), [&](weft::team_context& t) {
      t.barrier();
      if (t.rank() == 0) begin = us(CLOCK_MONOTONIC);
      weft::openmp_guest(t, [&](weft::guest_context&) {
        inside = us(CLOCK_MONOTONIC);
#pragma omp parallel
        asm volatile("");
        regions.push_back(us(CLOCK_MONOTONIC) - inside);
      });
      t.barrier();
      if (t.rank() == 0) end = us(CLOCK_MONOTONIC);
    });
    rt.wait();
    guests.push_back(end - begin);
  }
  std::sort(regions.begin(), regions.end());
  std::sort(guests.begin(), guests.end());
  std::printf("median of 300: an empty region in a guest %.1f us, with the guest around it %.1f us\n", regions[150],
              guests[150]);
}

}  // namespace

int main() {
  const unsigned cores = std::max(1u, weft::usable_cpus());
  weft::runtime rt({.workers = cores, .machine = "host"});
  census c;
  cross(rt, c, 400, [&c](weft::team_context& t, unsigned) {
    weft::openmp_guest(t, [&](weft::guest_context& g) {
      ++c.guests;
      for (int region = 0; region < 3; ++region) {
#pragma omp parallel
        {
          c.fewer += omp_get_num_threads() != static_cast<int>(g.threads());
          c.work(g.cpu(static_cast<unsigned>(omp_get_thread_num())));
        }
      }
    });
  });
  const int failed = c.verdict("openmp");
  double busy = 1e9;
  for (int attempt = 0; attempt < 10 && busy > 10000; ++attempt) busy = std::min(busy, busy_after_guest(rt));
  std::printf("in 20 ms after a guest all threads used %.0f us\n", busy);
  report_costs(rt);
  return failed != 0 || busy > 10000 ? 1 : 0;
}

// What a team of two costs beside a parallel region of OpenMP with two threads, both hot: one follows the other at
// once. Entry: from the call until both have begun. Whole: until both are over and the caller goes on. Barrier: each of
// many between the two.
//   teams [--rounds N]     each round is a process of its own for each of the two, in turn; medians of medians
//   teams --one weft|openmp
#include <omp.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "weft/weft.hpp"

namespace {

constexpr int entries = 8000, barriers = 20000;
using figures = std::array<double, 3>;  // entry, whole, barrier; ns

double now_ns() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double, std::nano>(since).count();
}
double median(std::vector<double> all) {
  const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
  std::nth_element(all.begin(), middle, all.end());
  return *middle;
}
struct alignas(64) mark {
  double began = 0;
};

// run(f) calls f(rank) on two threads and returns when both have returned; meet(n) has both meet n times.
template <class Run, class Meet> figures measure(Run run, Meet meet) {
  std::array<mark, 2> marks;
  std::vector<double> entry, whole;
  for (int i = 0; i < entries; ++i) {
    const double from = now_ns();
    run([&marks](unsigned rank) { marks[rank].began = now_ns(); });
    whole.push_back(now_ns() - from);
    if (std::min(marks[0].began, marks[1].began) < from) {
      std::fprintf(stderr, "teams: only one of the two has come\n");
      std::exit(1);
    }
    entry.push_back(std::max(marks[0].began, marks[1].began) - from);
  }
  const double from = now_ns();
  meet(barriers);
  return {median(entry), median(whole), (now_ns() - from) / barriers};
}

figures of_weft() {
  weft::runtime rt({.workers = 2});
  figures found{};
  rt.submit([&] {
    found = measure(
        [&](auto f) {
          rt.submit(weft::team(2), [&](weft::team_context& t) { f(t.rank()); });
          rt.wait();
        },
        [&](int n) {
          rt.submit(weft::team(2), [n](weft::team_context& t) {
            for (int i = 0; i < n; ++i) t.barrier();
          });
          rt.wait();
        });
  });
  rt.wait();
  return found;
}

figures of_openmp() {
  return measure(
      [](auto f) {
#pragma omp parallel num_threads(2)
        f(static_cast<unsigned>(omp_get_thread_num()));
      },
      [](int n) {
#pragma omp parallel num_threads(2)
        for (int i = 0; i < n; ++i) {
#pragma omp barrier
        }
      });
}

figures in_a_process_of_its_own(const std::string& program, const char* system) {
  figures found{};
  std::FILE* const from = popen(("'" + program + "' --one " + system).c_str(), "r");
  const bool all = from != nullptr && std::fscanf(from, "%lf %lf %lf", &found[0], &found[1], &found[2]) == 3;
  if (from == nullptr || pclose(from) != 0 || !all) {
    std::fprintf(stderr, "teams: %s --one %s has failed\n", program.c_str(), system);
    std::exit(1);
  }
  return found;
}

void compare(const std::string& program, int rounds) {
  constexpr std::array<const char*, 2> systems = {"weft", "openmp"};
  std::array<std::array<std::vector<double>, 3>, 2> all;
  for (int round = 0; round < rounds; ++round)
    for (std::size_t s = 0; s < systems.size(); ++s) {
      const figures found = in_a_process_of_its_own(program, systems[s]);
      for (std::size_t i = 0; i < found.size(); ++i) all[s][i].push_back(found[i]);
    }
  std::printf("2 threads    entry    whole  barrier   ns, medians of %d rounds\n", rounds);
  for (std::size_t s = 0; s < systems.size(); ++s)
    std::printf("%-8s  %8.0f %8.0f %8.0f\n", systems[s], median(all[s][0]), median(all[s][1]), median(all[s][2]));
}

}  // namespace

int main(int argc, char** argv) {
  int rounds = 9;
  if (argc == 3 && std::strcmp(argv[1], "--one") == 0) {
    const bool is_weft = std::strcmp(argv[2], "weft") == 0;
    if (!is_weft && std::strcmp(argv[2], "openmp") != 0)
      return std::fprintf(stderr, "teams: no system %s; there are weft and openmp\n", argv[2]), 2;
    const figures found = is_weft ? of_weft() : of_openmp();
    return std::printf("%.1f %.1f %.1f\n", found[0], found[1], found[2]) > 0 ? 0 : 1;
  }
  const bool asks = argc == 3 && std::strcmp(argv[1], "--rounds") == 0;
  if (asks) rounds = std::atoi(argv[2]);
  if ((argc != 1 && !asks) || rounds <= 0) return std::fprintf(stderr, "usage: teams [--rounds N]\n"), 2;
  compare(argv[0], rounds);
}

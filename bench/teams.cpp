// What a team costs beside a parallel region of OpenMP with as many threads, both hot: one follows the other at once.
// Entry: from the call until all have begun. Whole: until all are over and the caller goes on. Barrier: each of many
// between them.
//   teams [--rounds N] [--threads N]    each round is a process of its own for each of the two, in turn; medians of
//                                       medians; 2 threads if nothing else is said
//   teams --one weft|openmp [--threads N]
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

// run(f) calls f(rank) on all threads and returns when all have returned; meet(n) has them meet n times.
template <class Run, class Meet> figures measure(unsigned threads, Run run, Meet meet) {
  std::vector<mark> marks(threads);
  const auto earlier = [](const mark& a, const mark& b) { return a.began < b.began; };
  std::vector<double> entry, whole;
  for (int i = 0; i < entries; ++i) {
    const double from = now_ns();
    run([&marks](unsigned rank) { marks[rank].began = now_ns(); });
    whole.push_back(now_ns() - from);
    const auto [first, last] = std::minmax_element(marks.begin(), marks.end(), earlier);
    if (first->began < from) {
      std::fprintf(stderr, "teams: one of the threads has not come\n");
      std::exit(1);
    }
    entry.push_back(last->began - from);
  }
  const double from = now_ns();
  meet(barriers);
  return {median(entry), median(whole), (now_ns() - from) / barriers};
}

figures of_weft(unsigned threads) {
  weft::runtime rt({.workers = threads});
  figures found{};
  rt.submit([&] {
    found = measure(
        threads,
        [&](auto f) {
          rt.submit(weft::team(threads), [&](weft::team_context& t) { f(t.rank()); });
          rt.wait();
        },
        [&](int n) {
          rt.submit(weft::team(threads), [n](weft::team_context& t) {
            for (int i = 0; i < n; ++i) t.barrier();
          });
          rt.wait();
        });
  });
  rt.wait();
  return found;
}

figures of_openmp(unsigned threads) {
  return measure(
      threads,
      [threads](auto f) {
#pragma omp parallel num_threads(threads)
        f(static_cast<unsigned>(omp_get_thread_num()));
      },
      [threads](int n) {
#pragma omp parallel num_threads(threads)
        for (int i = 0; i < n; ++i) {
#pragma omp barrier
        }
      });
}

figures in_a_process_of_its_own(const std::string& program, const char* system, unsigned threads) {
  figures found{};
  const std::string call = "'" + program + "' --one " + system + " --threads " + std::to_string(threads);
  std::FILE* const from = popen(call.c_str(), "r");
  const bool all = from != nullptr && std::fscanf(from, "%lf %lf %lf", &found[0], &found[1], &found[2]) == 3;
  if (from == nullptr || pclose(from) != 0 || !all) {
    std::fprintf(stderr, "teams: %s has failed\n", call.c_str());
    std::exit(1);
  }
  return found;
}

void compare(const std::string& program, int rounds, unsigned threads) {
  constexpr std::array<const char*, 2> systems = {"weft", "openmp"};
  std::array<std::array<std::vector<double>, 3>, 2> all;
  for (int round = 0; round < rounds; ++round)
    for (std::size_t s = 0; s < systems.size(); ++s) {
      const figures found = in_a_process_of_its_own(program, systems[s], threads);
      for (std::size_t i = 0; i < found.size(); ++i) all[s][i].push_back(found[i]);
    }
  std::printf("%-2u threads   entry    whole  barrier   ns, medians of %d rounds\n", threads, rounds);
  for (std::size_t s = 0; s < systems.size(); ++s)
    std::printf("%-8s  %8.0f %8.0f %8.0f\n", systems[s], median(all[s][0]), median(all[s][1]), median(all[s][2]));
}

int usage() {
  std::fputs("usage: teams [--rounds N | --one weft|openmp] [--threads N]\n", stderr);
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  int rounds = 9, threads = 2;
  std::string one;
  for (int i = 1; i < argc; i += 2) {
    const std::string option = argv[i];
    if (i + 1 == argc) return usage();
    if (option == "--rounds")
      rounds = std::atoi(argv[i + 1]);
    else if (option == "--threads")
      threads = std::atoi(argv[i + 1]);
    else if (option == "--one")
      one = argv[i + 1];
    else
      return usage();
  }
  if (rounds <= 0 || threads <= 0 || (!one.empty() && one != "weft" && one != "openmp")) return usage();
  const auto team = static_cast<unsigned>(threads);
  if (one.empty()) return compare(argv[0], rounds, team), 0;
  const figures found = one == "weft" ? of_weft(team) : of_openmp(team);
  return std::printf("%.1f %.1f %.1f\n", found[0], found[1], found[2]) > 0 ? 0 : 1;
}

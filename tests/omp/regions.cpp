// Parallel regions: threads, numbers, nesting, threadprivate, single, copyprivate, critical, master, barrier, sections.
#include <omp.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include "check.hpp"

static int mine = 0;
#pragma omp threadprivate(mine)
static thread_local int also_mine = 0;

static void numbers() {
  for (int n : {1, 2, 3, 7}) {
    std::vector<int> seen(n);
    int sizes = 0;
#pragma omp parallel num_threads(n) reduction(+ : sizes)
    {
      sizes += omp_get_num_threads();
      seen[omp_get_thread_num()]++;
      CHECK(omp_in_parallel() == (n > 1));
      CHECK(omp_get_level() == 1 && omp_get_ancestor_thread_num(1) == omp_get_thread_num());
      CHECK(omp_get_ancestor_thread_num(0) == 0 && omp_get_team_size(1) == n && omp_get_team_size(2) == -1);
    }
    CHECK(sizes == n * n && std::all_of(seen.begin(), seen.end(), [](int s) { return s == 1; }));
  }
  CHECK(omp_get_thread_num() == 0 && omp_get_num_threads() == 1 && !omp_in_parallel() && omp_get_level() == 0);
#pragma omp parallel if (sizeof(int) == 1) num_threads(4)
  CHECK(omp_get_num_threads() == 1 && omp_get_level() == 1 && omp_get_active_level() == 0);
}

static void thread_private() {
  const int n = omp_get_max_threads();
  mine = -1;
#pragma omp parallel
  mine = also_mine = omp_get_thread_num();
  int wrong = 0;
#pragma omp parallel reduction(+ : wrong)
  {
    for (int i = 0; i < 20; ++i) {
#pragma omp barrier
      wrong += mine != omp_get_thread_num() || also_mine != mine;
    }
  }
  CHECK(wrong == 0);
  mine = 77;
#pragma omp parallel copyin(mine) reduction(+ : wrong)
  wrong += mine != 77;
  CHECK(wrong == 0 && n == omp_get_max_threads());
}

static void constructs() {
  int once = 0, master = 0, in_critical = 0, named = 0, rounds = 0;
  std::atomic<int> sections{0};
#pragma omp parallel
  {
    for (int i = 0; i < 200; ++i) {
      int copied = -1;
#pragma omp single copyprivate(copied)
      {
        ++once;
        copied = i * 3;
      }
      CHECK(copied == i * 3);
#pragma omp single nowait
      {
#pragma omp atomic
        ++rounds;
      }
#pragma omp master
      ++master;
#pragma omp critical
      ++in_critical;
#pragma omp critical(name)
      ++named;
#pragma omp sections
      {
#pragma omp section
        sections += 1;
#pragma omp section
        sections += 10;
#pragma omp section
        sections += 100;
      }
    }
  }
  const int n = omp_get_max_threads();
  CHECK(once == 200 && rounds == 200 && master == 200 && in_critical == 200 * n && named == in_critical);
  CHECK(sections == 200 * 111);
  sections = 0;
#pragma omp parallel sections
  {
#pragma omp section
    sections += 1;
#pragma omp section
    sections += 2;
  }
  CHECK(sections == 3);
  int masked = 0;
#pragma omp parallel
  {
#pragma omp masked filter(0)
    masked = 5;
  }
  CHECK(masked == 5);
}

static void barriers() {
  const int n = omp_get_max_threads();
  std::vector<int> at(n * 16);
  int wrong = 0;
#pragma omp parallel reduction(+ : wrong)
  {
    const int me = omp_get_thread_num();
    for (int i = 1; i <= 500; ++i) {
      at[me * 16] = i;
#pragma omp barrier
      for (int k = 0; k < n; ++k) wrong += at[k * 16] != i;
#pragma omp barrier
    }
  }
  CHECK(wrong == 0);
}

static void nested() {
  omp_set_max_active_levels(3);
  std::atomic<int> inner{0};
  int wrong = 0;
#pragma omp parallel num_threads(2) reduction(+ : wrong)
  {
    const int outer = omp_get_thread_num();
#pragma omp parallel num_threads(3) reduction(+ : wrong)
    {
      inner += 1 + 10 * omp_get_thread_num();
      wrong += omp_get_level() != 2 || omp_get_ancestor_thread_num(1) != outer || omp_get_num_threads() != 3;
#pragma omp barrier
#pragma omp single
      for (int i = 0; i < 10; ++i)
#pragma omp task
        inner += 1000;
    }
    wrong += omp_get_thread_num() != outer || omp_get_num_threads() != 2;
  }
  CHECK(wrong == 0 && inner == 2 * (3 + 30) + 20 * 1000);
  omp_set_max_active_levels(1);
#pragma omp parallel num_threads(2) reduction(+ : wrong)
  {
#pragma omp parallel num_threads(3) reduction(+ : wrong)
    wrong += omp_get_num_threads() != 1 || omp_get_level() != 2 || omp_get_active_level() != 1;
  }
  CHECK(wrong == 0);
}

static void from_threads() {
  std::atomic<int> all{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 20; ++i) {
#pragma omp parallel num_threads(2)
        all += 1 + omp_get_thread_num();
      }
    });
  for (auto& t : threads) t.join();
  CHECK(all == 3 * 20 * 3);
}

// KiB of this process that are in memory.
static long resident() {
  long pages = 0;
  std::FILE* const f = std::fopen("/proc/self/statm", "r");
  CHECK(f != nullptr && std::fscanf(f, "%*d %ld", &pages) == 1);
  std::fclose(f);
  return pages * 4;
}

// What is set again and again outside of regions takes no memory, and what a task sets is its own.
static void set_often() {
  const int before = omp_get_max_threads();
  omp_set_num_threads(3);
  const long at_first = resident();
  for (int i = 0; i < 1000000; ++i) omp_set_num_threads(2 + i % 2);
  CHECK(resident() - at_first < 8192);
#pragma omp task if (0)
  {
    omp_set_num_threads(7);
    CHECK(omp_get_max_threads() == 7);
  }
  CHECK(omp_get_max_threads() == 3);
  omp_set_num_threads(before);
}

int main() {
  numbers();
  set_often();
  thread_private();
  constructs();
  barriers();
  nested();
  from_threads();
  for (int i = 0; i < 3000; ++i) {
    int sum = 0;
#pragma omp parallel reduction(+ : sum)
    sum += 1;
    CHECK(sum == omp_get_max_threads());
  }
  std::puts("regions: right");
}

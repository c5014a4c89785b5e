// Cancellation, with OMP_CANCELLATION=true: a region, a loop, sections, a taskgroup.
#include <omp.h>

#include <atomic>

#include "check.hpp"

int main() {
  CHECK(omp_get_cancellation() == 1);
  std::atomic<int> begun{0}, after{0};
#pragma omp parallel
  {
#pragma omp for schedule(dynamic)
    for (int i = 0; i < 100'000; ++i) {
      begun++;
#pragma omp cancel for
#pragma omp cancellation point for
    }
    after++;
  }
  CHECK(begun >= 1 && begun <= 2 * omp_get_max_threads() && after == omp_get_max_threads());
  after = 0;
#pragma omp parallel
  {
    if (omp_get_thread_num() == omp_get_num_threads() - 1) {
#pragma omp cancel parallel
    }
#pragma omp barrier
#pragma omp cancellation point parallel
    after++;
  }
  CHECK(after < omp_get_max_threads());
  after = 0;
#pragma omp parallel
#pragma omp sections
  {
#pragma omp section
    {
#pragma omp cancel sections
      after++;
    }
#pragma omp section
    {
#pragma omp cancel sections
      after++;
    }
  }
  CHECK(after == 0);
  std::atomic<int> ran{0}, outside{0};
#pragma omp parallel
#pragma omp single
  {
#pragma omp task
    outside++;
#pragma omp taskgroup
    {
#pragma omp task
      {
#pragma omp cancel taskgroup
        ran++;
      }
#pragma omp taskwait
      for (int i = 0; i < 50; ++i) {
#pragma omp task
        ran++;
      }
    }
#pragma omp task
    outside++;
  }
  CHECK(ran == 0 && outside == 2);
  std::puts("cancel: right");
}

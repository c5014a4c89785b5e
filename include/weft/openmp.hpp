// OpenMP inside a team (weft/guest.hpp): parallel regions, and libraries made of them, on exactly the team's cores.
//
//   rt.submit(weft::team(2), weft::write(a), [](weft::team_context& t, matrix& a) {
//     weft::openmp_guest(t, [&](weft::guest_context&) {
//   #pragma omp parallel for
//       for (int i = 0; i < a.rows(); ++i) scale(a.row(i));
//     });
//   });
//
// OpenMP keeps the threads of a region for the next one, on the CPUs where they were made: a mask that is set later
// does not concern them, and one that is narrow when they are made stays. So each thread is bound anew when a guest
// begins. After a region they look for the next one for a while, on cores that are others' by then: libgomp's for 3 to
// 4 ms, unless its threads are more than cores; libomp's for 200 ms, so those are sent to sleep when the guest ends.
// With OMP_WAIT_POLICY=passive in the environment none does. Compiled without OpenMP a guest has one thread.
// docs/guide/39-guests.md has figures.
#pragma once
#include "weft/detail/language.hpp"  // before all others

#ifdef _OPENMP
#include <omp.h>
#endif

#include "weft/guest.hpp"

namespace weft {

#ifdef _OPENMP
namespace detail {

// From here to its end regions of the calling thread have the guest's threads. Who: the body of the guest.
class openmp_threads {
 public:
  explicit openmp_threads(const guest_context& g)
      : before_(omp_get_max_threads()), threads_(static_cast<int>(g.threads())) {
    omp_set_num_threads(threads_);
    if (g.cpu(0) < 0) return;
#pragma omp parallel num_threads(threads_)
    g.bind(static_cast<unsigned>(omp_get_thread_num()));
  }
  ~openmp_threads() {
    omp_set_num_threads(before_);
#ifdef KMP_VERSION_MAJOR  // libomp: a region after which its threads sleep at once
    const int looks_ms = kmp_get_blocktime();
    kmp_set_blocktime(0);
#pragma omp parallel num_threads(threads_)
    {}
    kmp_set_blocktime(looks_ms);
#endif
  }
  openmp_threads(const openmp_threads&) = delete;
  openmp_threads& operator=(const openmp_threads&) = delete;

 private:
  int before_;
  int threads_;
};

}  // namespace detail
#endif

// As guest(t, f), with omp_set_num_threads() as the guest's threads() are, each bound to its CPU. f opens no regions of
// more threads and no nested ones. Cost: beside that of guest(), an empty region, and the threads' making in the first
// guest on each worker.
template <class F> void openmp_guest(team_context& t, F&& f) {
  guest(t, [&](guest_context& g) {
#ifdef _OPENMP
    const detail::openmp_threads until_end(g);
#endif
    f(g);
  });
}

}  // namespace weft

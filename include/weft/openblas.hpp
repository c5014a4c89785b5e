// OpenBLAS with its own threads inside a team (weft/guest.hpp), on exactly the team's cores.
//
//   const weft::openblas blas{.set_num_threads = openblas_set_num_threads,
//                             .get_num_threads = openblas_get_num_threads,
//                             .set_affinity = openblas_setaffinity,
//                             .get_affinity = openblas_getaffinity};
//   rt.submit(weft::team(2), weft::write(a), [&](weft::team_context& t, matrix& a) {
//     weft::openblas_guest(t, blas, [&](weft::guest_context&) { LAPACK_dpotrf(...); });
//   });
//
// From 0.3.28 on OpenBLAS asks for threads by a callback. With that the held workers are its threads, and it makes
// none. Its kernels wait for each other by spinning, so all threads that it asks for must run at once: a team that is
// held is such a set, a pool of tasks is not. Older versions have threads of their own. They are bound to the guest's
// CPUs; and they look for work for 2^26 cycles after each call, about 25 ms, unless OPENBLAS_THREAD_TIMEOUT=4 is in the
// environment when the program starts, on cores that are others' by then.
//
// How many threads a call has is one number for the whole process. So one guest has OpenBLAS at a time, and others wait
// for it. And while one has it, calls of other tasks would have threads, too: a team that uses this either has all
// workers, or runs while no other task calls BLAS. (OpenBLAS as built with OpenMP knows a number for each thread; it is
// a guest by weft/openmp.hpp.)
#pragma once
#include "weft/detail/language.hpp"  // before all others

#include <sched.h>

#include <cstddef>

#include "weft/guest.hpp"

namespace weft {

// The functions of the OpenBLAS that a program uses; which names it has for them is up to who built it.
struct openblas {
  using dojob = void (*)(int thread, void* jobdata, int dojob_data);
  using threads_callback = void (*)(int sync, dojob job, int jobs, std::size_t bytes, void* jobdata, int dojob_data);
  void (*set_num_threads)(int threads);
  int (*get_num_threads)();
  void (*set_threads_callback)(threads_callback callback) = nullptr;  // from 0.3.28 on: the workers are its threads
  int (*set_affinity)(int thread, std::size_t bytes, cpu_set_t* cpus) = nullptr;  // else: where its threads are
  int (*get_affinity)(int thread, std::size_t bytes, cpu_set_t* cpus) = nullptr;
};

namespace detail {

#ifndef WEFT_SERIAL
// One guest at a time; and who calls back while it is here.
void openblas_begins(const guest_context& g);
void openblas_ends() noexcept;
void openblas_call_back(int sync, openblas::dojob job, int jobs, std::size_t bytes, void* jobdata, int dojob_data);
#else
inline void openblas_begins(const guest_context&) {}
inline void openblas_ends() noexcept {}
inline void openblas_call_back(int, openblas::dojob job, int jobs, std::size_t bytes, void* jobdata, int dojob_data) {
  for (int i = 0; i < jobs; ++i)
    job(i, static_cast<std::byte*>(jobdata) + static_cast<std::size_t>(i) * bytes, dojob_data);
}
#endif

// From here to its end BLAS calls of the calling thread have the guest's threads.
class openblas_threads {
 public:
  openblas_threads(const openblas& blas, const guest_context& g)
      : blas_(blas), threads_(static_cast<int>(g.threads())) {
    openblas_begins(g);
    before_ = blas_.get_num_threads();
    if (blas_.set_threads_callback != nullptr) blas_.set_threads_callback(&openblas_call_back);
    blas_.set_num_threads(threads_);
    if (blas_.set_threads_callback == nullptr && g.cpu(0) >= 0) place(g);
  }
  ~openblas_threads() {
    for (int i = 1; i < threads_ && is_placed_; ++i) set(i, mask_before_);
    blas_.set_num_threads(before_);
    if (blas_.set_threads_callback != nullptr) blas_.set_threads_callback(nullptr);
    openblas_ends();
  }
  openblas_threads(const openblas_threads&) = delete;
  openblas_threads& operator=(const openblas_threads&) = delete;

 private:
  // OpenBLAS counts the threads that are its own; the caller, who is one more, is the guest's first.
  void set(int i, cpu_set_t& cpus) { static_cast<void>(blas_.set_affinity(i - 1, sizeof cpus, &cpus)); }
  void place(const guest_context& g) {
    g.bind(0);
    if (threads_ < 2 || blas_.set_affinity == nullptr || blas_.get_affinity == nullptr) return;
    is_placed_ = blas_.get_affinity(0, sizeof mask_before_, &mask_before_) == 0;
    for (int i = 1; i < threads_ && is_placed_; ++i) {
      cpu_set_t one;
      CPU_ZERO(&one);
      CPU_SET(static_cast<unsigned>(g.cpu(static_cast<unsigned>(i))), &one);
      set(i, one);
    }
  }

  const openblas& blas_;
  int threads_;
  int before_ = 1;
  cpu_set_t mask_before_{};
  bool is_placed_ = false;
};

}  // namespace detail

// As guest(t, f), with BLAS calls of as many threads as the guest's threads(). Cost: beside that of guest(), a few
// calls, and with a callback about a microsecond for each BLAS call that has threads.
template <class F> void openblas_guest(team_context& t, const openblas& blas, F&& f) {
  guest(t, [&](guest_context& g) {
    const detail::openblas_threads until_end(blas, g);
    f(g);
  });
}

}  // namespace weft

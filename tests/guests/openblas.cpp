// OpenBLAS as a guest: products and factors are right, and as many threads as the guest has are at work, on its CPUs.
// usage: openblas [LIBRARY]. Without LIBRARY the one that this is linked to, whose threads are its own; else one from
// 0.3.28 on, for which the workers that are held are the threads.
#include <dlfcn.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>

#include "count.hpp"
#include "weft/openblas.hpp"

extern "C" {
void openblas_set_num_threads(int);
int openblas_get_num_threads();
int openblas_setaffinity(int, std::size_t, cpu_set_t*);
int openblas_getaffinity(int, std::size_t, cpu_set_t*);
void cblas_dgemm(int, int, int, int, int, int, double, const double*, int, const double*, int, double, double*, int);
}

namespace {

using gemm = decltype(&cblas_dgemm);

struct library {
  weft::openblas blas{.set_num_threads = openblas_set_num_threads,
                      .get_num_threads = openblas_get_num_threads,
                      .set_affinity = openblas_setaffinity,
                      .get_affinity = openblas_getaffinity};
  gemm product = cblas_dgemm;
};

template <class F> void find(void* from, const char* name, F& f) {
  for (const char* prefix : {"", "scipy_"})
    if (void* const at = dlsym(from, (prefix + std::string(name)).c_str())) {
      std::memcpy(&f, &at, sizeof f);
      return;
    }
  std::printf("the library has no %s\n", name);
  std::exit(1);
}

[[nodiscard]] library load(const char* path) {
  void* const from = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (from == nullptr) {
    std::printf("%s\n", dlerror());
    std::exit(1);
  }
  library l;
  l.blas.set_affinity = nullptr;
  l.blas.get_affinity = nullptr;
  find(from, "openblas_set_num_threads", l.blas.set_num_threads);
  find(from, "openblas_get_num_threads", l.blas.get_num_threads);
  find(from, "openblas_set_threads_callback_function", l.blas.set_threads_callback);
  find(from, "cblas_dgemm", l.product);
  return l;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && *argv[1] == '\0') {
    std::printf("skipped: no OpenBLAS from 0.3.28 on; `pip install scipy-openblas32` brings one\n");
    return 77;
  }
  const library l = argc > 1 ? load(argv[1]) : library{};
  l.blas.set_num_threads(1);
  weft::runtime rt({.workers = std::max(1u, weft::usable_cpus()), .machine = "host"});
  constexpr int n = 400;
  const std::vector<double> a(n * n, 0.5), b(n * n, 0.25);
  census c;
  std::atomic<int> wrong = 0;
  for (unsigned k = 0; k < 60; ++k)
    rt.submit(weft::team(1 + k % rt.workers()), [&](weft::team_context& t) {
      weft::openblas_guest(t, l.blas, [&](weft::guest_context& g) {
        ++c.guests;
        c.fewer += l.blas.get_num_threads() != static_cast<int>(g.threads());
        std::vector<double> x(n * n, 1.0);
        for (int twice = 0; twice < 2; ++twice)
          l.product(102, 111, 112, n, n, n, 1.0, a.data(), n, b.data(), n, 0.0, x.data(), n);
        for (const double value : x) wrong += std::fabs(value - n * 0.125) > 1e-9;
      });
    });
  rt.wait();
  wrong += l.blas.get_num_threads() != 1;
  return c.verdict(argc > 1 ? argv[1] : "openblas") != 0 || wrong != 0 ? 1 : 0;
}

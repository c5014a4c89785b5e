// What OpenMP's constructs cost: each row in nanoseconds for one task, iteration or region. Built by g++
// -fopenmp; run by figures.py with libgomp and with Weft in turns.
#include <omp.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

template <class F> double ns_each(long n, F f) {
  f();
  double best = 1e30;
  for (int i = 0; i < 5; ++i) {
    const double t = omp_get_wtime();
    f();
    best = std::min(best, omp_get_wtime() - t);
  }
  return best / static_cast<double>(n) * 1e9;
}

constexpr int many = 50'000;

double chain() {
  long x = 0;
  return ns_each(many, [&] {
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < many; ++i) {
#pragma omp task depend(inout : x)
      x += 1;
    }
  });
}

double independent() {
  std::vector<char> x(1024 * 64);
  char* const at = x.data();
  return ns_each(many, [&] {
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < many; ++i) {
#pragma omp task depend(inout : at[i % 1024 * 64])
      at[i % 1024 * 64] += 1;
    }
  });
}

double without_depend() {
  return ns_each(many, [&] {
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < many; ++i) {
#pragma omp task
      asm volatile("" : : : "memory");
    }
  });
}

double stencil() {
  constexpr int width = 64, steps = many / width;
  static long a[2][(width + 2) * 8];
  return ns_each(static_cast<long>(width) * steps, [&] {
#pragma omp parallel
#pragma omp single
    for (int t = 0; t < steps; ++t)
      for (int i = 1; i <= width; ++i) {
        long *from = a[t % 2] + i * 8, *to = a[(t + 1) % 2] + i * 8;
#pragma omp task depend(in : from[-8], from[0], from[8]) depend(out : to[0]) firstprivate(from, to)
        to[0] = from[-8] + from[0] + from[8];
      }
  });
}

double cholesky() {  // the tasks of 32 x 32 tiles, without their arithmetic
  constexpr int n = 32;
  static char tile[n][n][64];
  const long tasks = n + n * (n - 1) + static_cast<long>(n) * (n - 1) * (n - 2) / 6;
  return ns_each(tasks, [&] {
#pragma omp parallel
#pragma omp single
    for (int k = 0; k < n; ++k) {
#pragma omp task depend(inout : tile[k][k][0]) firstprivate(k)
      tile[k][k][0] += 1;
      for (int i = k + 1; i < n; ++i) {
#pragma omp task depend(in : tile[k][k][0]) depend(inout : tile[i][k][0]) firstprivate(i, k)
        tile[i][k][0] = static_cast<char>(tile[i][k][0] + tile[k][k][0]);
      }
      for (int i = k + 1; i < n; ++i) {
        for (int j = k + 1; j < i; ++j) {
#pragma omp task depend(in : tile[i][k][0], tile[j][k][0]) depend(inout : tile[i][j][0]) firstprivate(i, j, k)
          tile[i][j][0] = static_cast<char>(tile[i][j][0] + tile[i][k][0] * tile[j][k][0]);
        }
#pragma omp task depend(in : tile[i][k][0]) depend(inout : tile[i][i][0]) firstprivate(i, k)
        tile[i][i][0] = static_cast<char>(tile[i][i][0] + tile[i][k][0]);
      }
    }
  });
}

long fib(int n) {
  if (n < 2) return n;
  long a = 0, b = 0;
#pragma omp task shared(a)
  a = fib(n - 1);
#pragma omp task shared(b)
  b = fib(n - 2);
#pragma omp taskwait
  return a + b;
}
double fibonacci() {
  constexpr int n = 20, tasks = 21890;
  return ns_each(tasks, [] {
    long f = 0;
#pragma omp parallel
#pragma omp single
    f = fib(n);
    if (f != 6765) std::abort();
  });
}

double region() {
  constexpr int rounds = 2000;
  return ns_each(rounds, [] {
    for (int i = 0; i < rounds; ++i) {
#pragma omp parallel
      asm volatile("" : : : "memory");
    }
  });
}

double barrier() {
  constexpr int rounds = 5000;
  return ns_each(rounds, [] {
#pragma omp parallel
    for (int i = 0; i < rounds; ++i) {
#pragma omp barrier
    }
  });
}

constexpr int loop = 100'000;
double loop_static() {
  static double x[loop];
  constexpr int rounds = 20;
  return ns_each(static_cast<long>(loop) * rounds, [] {
    for (int r = 0; r < rounds; ++r) {
#pragma omp parallel for schedule(static)
      for (int i = 0; i < loop; ++i) x[i] = x[i] * 0.5 + i;
    }
  });
}
double loop_dynamic() {
  static double x[loop];
  return ns_each(loop, [] {
#pragma omp parallel for schedule(dynamic)
    for (int i = 0; i < loop; ++i) x[i] = x[i] * 0.5 + i;
  });
}

constexpr struct {
  const char* name;
  double (*measure)();
} rows[] = {{"chain", chain},
            {"independent", independent},
            {"no-depend", without_depend},
            {"stencil", stencil},
            {"cholesky", cholesky},
            {"fib", fibonacci},
            {"region", region},
            {"barrier", barrier},
            {"for-static", loop_static},
            {"for-dynamic", loop_dynamic}};

}  // namespace

int main(int argc, char** argv) {
  for (const auto& row : rows)
    if (argc < 2 || std::strcmp(argv[1], row.name) == 0) std::printf("%s %.3f\n", row.name, row.measure());
}

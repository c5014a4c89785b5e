// Loops: every schedule, both types, ordered, doacross, scans, conditional lastprivate, reductions.
#include <omp.h>

#include <climits>
#include <vector>

#include "check.hpp"

template <class Loop> static void each_once(const char* name, long n, Loop loop) {
  std::vector<int> seen(n);
  loop(seen);
  for (long i = 0; i < n; ++i)
    if (seen[i] != 1) {
      std::fprintf(stderr, "%s: iteration %ld of %ld: %d times\n", name, i, n, seen[i]);
      std::exit(1);
    }
}

#define SHAPES(SCHEDULE)                                                                                               \
  for (long n : {0L, 1L, 2L, 7L, 100L, 1001L}) {                                                                       \
    each_once(#SCHEDULE " parallel for", n, [&](std::vector<int>& seen) {                                              \
      _Pragma("omp parallel for SCHEDULE") for (long i = 0; i < n; ++i) seen[i]++;                                     \
    });                                                                                                                \
  }
static void schedules() {
  for (long n : {0L, 1L, 2L, 7L, 100L, 1001L}) {
#define LOOP(CLAUSE)                                                                                                   \
  each_once(#CLAUSE, n, [&](std::vector<int>& seen) { _Pragma(CLAUSE) for (long i = 0; i < n; ++i) seen[i]++; });      \
  each_once(#CLAUSE " down", n, [&](std::vector<int>& seen) {                                                          \
    _Pragma(CLAUSE) for (int i = static_cast<int>(3 * n); i > 0; i -= 3) seen[i / 3 - 1]++;                            \
  });                                                                                                                  \
  each_once(#CLAUSE " unsigned", n, [&](std::vector<int>& seen) {                                                      \
    _Pragma(CLAUSE) for (unsigned long long i = 0; i < 2ULL * n; i += 2) seen[i / 2]++;                                \
  });                                                                                                                  \
  each_once(#CLAUSE " high", n, [&](std::vector<int>& seen) {                                                          \
    const unsigned long long top = ULLONG_MAX - 1, low = top - n;                                                      \
    _Pragma(CLAUSE) for (unsigned long long i = top; i > low; --i) seen[top - i]++;                                    \
  });
    LOOP("omp parallel for")
    LOOP("omp parallel for schedule(static)")
    LOOP("omp parallel for schedule(static, 3)")
    LOOP("omp parallel for schedule(dynamic)")
    LOOP("omp parallel for schedule(dynamic, 7)")
    LOOP("omp parallel for schedule(monotonic : dynamic, 2)")
    LOOP("omp parallel for schedule(guided)")
    LOOP("omp parallel for schedule(guided, 5)")
    LOOP("omp parallel for schedule(auto)")
    LOOP("omp parallel for schedule(runtime)")
  }
  for (const auto kind : {omp_sched_static, omp_sched_dynamic, omp_sched_guided, omp_sched_auto})
    for (int chunk : {0, 1, 4}) {
      omp_set_schedule(kind, chunk);
      omp_sched_t k;
      int c = -1;
      omp_get_schedule(&k, &c);
      CHECK(k == kind && (chunk == 0 || c == chunk || kind == omp_sched_auto));
      each_once("runtime", 100, [&](std::vector<int>& seen) {
#pragma omp parallel for schedule(runtime)
        for (int i = 0; i < 100; ++i) seen[i]++;
      });
    }
}

static void ahead() {  // nowait, more constructs than anybody keeps apart
  std::vector<int> seen(300);
#pragma omp parallel
  for (int k = 0; k < 300; ++k) {
#pragma omp for schedule(dynamic) nowait
    for (int i = 0; i < 10; ++i) {
#pragma omp atomic
      seen[k] += i;
    }
  }
  for (int s : seen) CHECK(s == 45);
}

#define ORDERED(SCHEDULE)                                                                                              \
  {                                                                                                                    \
    std::vector<int> out;                                                                                              \
    _Pragma(SCHEDULE) for (int i = 0; i < 200; ++i) {                                                                  \
      if (i % 5 != 2) {                                                                                                \
        _Pragma("omp ordered") out.push_back(i);                                                                       \
      }                                                                                                                \
    }                                                                                                                  \
    CHECK(out.size() == 160);                                                                                          \
    for (std::size_t k = 1; k < out.size(); ++k) CHECK(out[k - 1] < out[k]);                                           \
  }
static void ordered() {
  ORDERED("omp parallel for ordered")
  ORDERED("omp parallel for ordered schedule(static, 3)")
  ORDERED("omp parallel for ordered schedule(dynamic)")
  ORDERED("omp parallel for ordered schedule(dynamic, 4)")
  ORDERED("omp parallel for ordered schedule(guided)")
  ORDERED("omp parallel for ordered schedule(runtime)")
  std::vector<unsigned long long> out;
#pragma omp parallel for ordered schedule(dynamic)
  for (unsigned long long i = 100; i > 0; i -= 2) {
#pragma omp ordered
    out.push_back(i);
  }
  CHECK(out.size() == 50 && out[0] == 100 && out[49] == 2);
}

static void doacross() {
  constexpr int n = 40, m = 30;
  for (int way = 0; way < 4; ++way) {
    std::vector<long> a(n * m, 1);
    const auto step = [&](int i, int j) { a[i * m + j] = (a[(i - 1) * m + j] + a[i * m + j - 1]) % 1000003; };
#define DOACROSS(CLAUSE)                                                                                               \
  _Pragma(CLAUSE) for (int i = 1; i < n; ++i) for (int j = 1; j < m; ++j) {                                            \
    _Pragma("omp ordered depend(sink : i - 1, j) depend(sink : i, j - 1)") step(i, j);                                 \
    _Pragma("omp ordered depend(source)")                                                                              \
  }
    if (way == 0) DOACROSS("omp parallel for ordered(2) schedule(static)")
    if (way == 1) DOACROSS("omp parallel for ordered(2) schedule(dynamic)")
    if (way == 2) DOACROSS("omp parallel for ordered(2) schedule(guided)")
    if (way == 3) DOACROSS("omp parallel for ordered(2) schedule(runtime)")
    std::vector<long> b(n * m, 1);
    for (int i = 1; i < n; ++i)
      for (int j = 1; j < m; ++j) b[i * m + j] = (b[(i - 1) * m + j] + b[i * m + j - 1]) % 1000003;
    CHECK(a == b);
  }
  std::vector<long> c(50, 1);
#pragma omp parallel for ordered(1) schedule(dynamic)
  for (unsigned long i = 1; i < 50; i++) {
#pragma omp ordered depend(sink : i - 1)
    c[i] = c[i - 1] + i;
#pragma omp ordered depend(source)
  }
  CHECK(c[49] == 1 + 49 * 50 / 2);
}

static void gathered() {
  long sum = 0;
  double product = 1;
#pragma omp parallel for reduction(+ : sum) reduction(* : product) schedule(dynamic)
  for (int i = 1; i <= 20; ++i) {
    sum += i;
    product *= 2;
  }
  CHECK(sum == 210 && product == 1048576);
  int last = -1, conditional = -1;
#pragma omp parallel for lastprivate(last) schedule(dynamic)
  for (int i = 0; i < 100; ++i) last = i;
#pragma omp parallel for lastprivate(conditional : conditional) schedule(dynamic, 3)
  for (int i = 0; i < 100; ++i)
    if (i % 9 == 1) conditional = i;
  CHECK(last == 99 && conditional == 91);
  std::vector<int> scan(100);
  int running = 0;
#pragma omp parallel for reduction(inscan, + : running)
  for (int i = 0; i < 100; ++i) {
    running += i;
#pragma omp scan inclusive(running)
    scan[i] = running;
  }
  for (int i = 0; i < 100; ++i) CHECK(scan[i] == i * (i + 1) / 2);
}

static int value(int i) { return i % 7; }
static void task_reductions() {
  int s = 0, t = 0, u = 0, v = 0, w = 0;
  long expected = 0;
  for (int i = 0; i < 100; ++i) expected += value(i);
#pragma omp parallel reduction(task, + : s)
  {
#pragma omp single
    for (int i = 0; i < 100; ++i) {
#pragma omp task in_reduction(+ : s)
      s += value(i);
    }
  }
#pragma omp parallel
  {
#pragma omp for reduction(task, + : t) schedule(dynamic)
    for (int i = 0; i < 100; ++i) {
#pragma omp task in_reduction(+ : t)
      t += value(i);
    }
#pragma omp single
    {
#pragma omp taskgroup task_reduction(+ : u)
      {
        for (int i = 0; i < 100; ++i) {
#pragma omp task in_reduction(+ : u)
          u += value(i);
        }
      }
#pragma omp taskloop reduction(+ : v)
      for (int i = 0; i < 100; ++i) v += value(i);
    }
#pragma omp sections reduction(task, + : w)
    {
#pragma omp section
      for (int i = 0; i < 50; ++i) {
#pragma omp task in_reduction(+ : w)
        w += value(i);
      }
#pragma omp section
      for (int i = 50; i < 100; ++i) w += value(i);
    }
#pragma omp scope reduction(+ : w)
    w += 0;
  }
  CHECK(s == expected && t == expected && u == expected && v == expected && w == expected);
}

int main() {
  schedules();
  ahead();
  ordered();
  doacross();
  gathered();
  task_reductions();
  std::puts("loops: right");
}

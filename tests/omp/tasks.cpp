// Tasks: copies, depend in all kinds, depobj, iterators, taskwait, taskgroup, taskloop, final, if, detach, tied
// threads, more tasks than anybody keeps, locks in tasks.
#include <omp.h>

#include <atomic>
#include <cstring>
#include <string>
#include <vector>

#include "check.hpp"

#define IN_SINGLE _Pragma("omp parallel") _Pragma("omp single")

static void copies() {
  std::atomic<int> right{0};
  struct alignas(64) wide {
    double x[40];
  };
  IN_SINGLE {
    for (int i = 0; i < 50; ++i) {
      std::string text = "a text that is long enough to be on the heap " + std::to_string(i), small = std::to_string(i);
      wide w{};
      w.x[39] = i;
      char c = static_cast<char>(i);
      long many[30];
      for (long& m : many) m = i;
      double five[5] = {1.0 * i, 1, 2, 3, 4.0 * i};
#pragma omp task firstprivate(text, small, w, c, many, five, i)
      {
        bool ok = text.ends_with(" " + std::to_string(i)) && small == std::to_string(i) && w.x[39] == i && c == i;
        ok =
            ok && reinterpret_cast<std::uintptr_t>(&w) % 64 == 0 && many[0] == i && many[29] == i && five[4] == 4.0 * i;
        right += ok;
      }
      text = small = "gone";
      std::memset(many, 0, sizeof many);
    }
  }
  CHECK(right == 50);
}

static long fib(int n) {
  if (n < 2) return n;
  long a = 0, b = 0;
#pragma omp task shared(a) if (n > 8)
  a = fib(n - 1);
#pragma omp task shared(b) final(n < 10) mergeable
  b = fib(n - 2);
#pragma omp taskwait
  return a + b;
}

static void chains() {
  long x = 0, y[8] = {};
  std::vector<int> order;
  IN_SINGLE {
    for (int i = 0; i < 2000; ++i) {
#pragma omp task depend(inout : x)
      x = x * 3 % 1000003 + i;
    }
  }
  long expected = 0;
  for (int i = 0; i < 2000; ++i) expected = expected * 3 % 1000003 + i;
  CHECK(x == expected);
  IN_SINGLE {
    for (int i = 0; i < 1000; ++i) {
#pragma omp task depend(in : y[(i + 1) % 8], y[(i + 7) % 8]) depend(out : y[i % 8]) firstprivate(i)
      y[i % 8] = (y[(i + 1) % 8] * 7 + y[(i + 7) % 8] * 5 + i) % 1000003;
    }
  }
  long z[8] = {};
  for (int i = 0; i < 1000; ++i) z[i % 8] = (z[(i + 1) % 8] * 7 + z[(i + 7) % 8] * 5 + i) % 1000003;
  CHECK(std::memcmp(y, z, sizeof y) == 0);
}

static void kinds() {
  int a = 0, b = 0, c[20] = {}, sum = 0, seen = -1, after = -1;
  omp_depend_t d;
  IN_SINGLE {
    for (int round = 0; round < 50; ++round) {
#pragma omp task depend(out : a)
      a = round;
      for (int i = 0; i < 5; ++i) {
#pragma omp task depend(in : a) depend(mutexinoutset : b)
        b += a;  // one at a time, in any order
      }
#pragma omp task depend(in : b) depend(inout : a)
      a = -1;
    }
#pragma omp depobj(d) depend(inout : sum)
    for (int i = 0; i < 20; ++i) {
#pragma omp task depend(out : c[i]) firstprivate(i)
      c[i] = i;
#pragma omp task depend(depobj : d) depend(in : c[i]) firstprivate(i)
      sum += c[i];
    }
#pragma omp depobj(d) update(in)
#pragma omp task depend(depobj : d) depend(iterator(i = 0 : 20), in : c[i]) shared(seen)
    {
      seen = sum;
      for (int v : c) seen += v;
    }
#pragma omp depobj(d) destroy
#pragma omp task if (0) depend(in : c[19]) depend(inout : a, b)
    after = c[19] + (a == -1);
    CHECK(after == 20);
#pragma omp task depend(in : a) depend(out : a)  // one address in two ways
    a = 3;
  }
  CHECK(b == 5 * 49 * 50 / 2 && sum == 190 && seen == 380 && a == 3);
  int early = 0, late = 0;
  IN_SINGLE {
#pragma omp task depend(out : early) shared(early)
    early = 1;
#pragma omp task depend(inout : late) shared(late)
    late = 1;
#pragma omp taskwait depend(in : early)
    CHECK(early == 1);
  }
  CHECK(late == 1);
}

static void nested_edges() {  // dependences are between siblings only
  long x[30] = {};
  IN_SINGLE {
    for (int i = 0; i < 30; ++i) {
#pragma omp task depend(inout : x[i]) firstprivate(i) shared(x)
      {
        for (int k = 0; k < 20; ++k) {
#pragma omp task depend(inout : x[i]) firstprivate(k, i) shared(x)
          x[i] = x[i] * 2 % 1000003 + k;
        }
        if (i % 2 == 0) {
#pragma omp taskwait
        }
      }
    }
  }
  long y = 0;
  for (int k = 0; k < 20; ++k) y = y * 2 % 1000003 + k;
  for (long v : x) CHECK(v == y);
}

static void groups() {
  std::atomic<int> inside{0}, before{0};
  IN_SINGLE {
    for (int i = 0; i < 10; ++i) {
#pragma omp task
      before += 1;
    }
#pragma omp taskgroup
    {
      for (int i = 0; i < 20; ++i) {
#pragma omp task
        {
          for (int k = 0; k < 5; ++k) {
#pragma omp task
            inside += 1;
          }
        }
      }
#pragma omp taskgroup
      {
#pragma omp task
        inside += 1;
#pragma omp taskwait
        CHECK(before == 10);
      }
    }
    CHECK(inside == 101);
#pragma omp taskyield
  }
}

template <class Int> static void taskloops(Int n) {
  std::vector<int> seen(n);
  const auto all = [&](int times) {
    for (int s : seen) CHECK(s == times);
  };
  IN_SINGLE {
#pragma omp taskloop
    for (Int i = 0; i < n; ++i) seen[i]++;
    all(1);
#pragma omp taskloop grainsize(7)
    for (Int i = 0; i < n; ++i) seen[i]++;
#pragma omp taskloop grainsize(strict : 7)
    for (Int i = 0; i < n; ++i) seen[i]++;
#pragma omp taskloop num_tasks(5) untied
    for (Int i = n; i > 0; --i) seen[i - 1]++;
#pragma omp taskloop num_tasks(strict : 3) priority(2)
    for (Int i = 0; i < 3 * n; i += 3) seen[i / 3]++;
#pragma omp taskloop if (0)
    for (Int i = 0; i < n; ++i) seen[i]++;
    all(6);
#pragma omp taskloop nogroup final(true)
    for (Int i = 0; i < n; ++i) seen[i]++;
#pragma omp taskwait
    all(7);
#pragma omp taskloop collapse(2)
    for (Int i = 0; i < n; ++i)
      for (Int k = 0; k < 2; ++k) {
#pragma omp atomic
        seen[i]++;
      }
    all(9);
  }
}

static void final_tasks() {
  int depth = 0;
  IN_SINGLE {
#pragma omp task final(true) shared(depth)
    {
      CHECK(omp_in_final());
#pragma omp task shared(depth)
      {
        CHECK(omp_in_final());
        depth = 2;
      }
      CHECK(depth == 2);  // it was included
    }
    CHECK(!omp_in_final());
  }
  CHECK(depth == 2);
}

static void detached() {
  int x = 0, y = 0;
  for (int i = 0; i < 20; ++i) {
    omp_event_handle_t done;
    omp_event_handle_t later;
    IN_SINGLE {
#pragma omp task detach(done) depend(out : x)
      {
        x += 1;
        omp_fulfill_event(done);
      }
#pragma omp task depend(in : x) shared(y)
      y += x;
#pragma omp taskwait
#pragma omp task detach(later)
      x += 1;
      omp_fulfill_event(later);
#pragma omp taskwait
      CHECK(x == 2 * i + 2);
    }
  }
  CHECK(x == 40 && y == 20 * 20);
}

static void tied() {  // a tied task that waits goes on on its thread
  std::atomic<int> wrong{0};
  IN_SINGLE for (int i = 0; i < 100; ++i) {
#pragma omp task
    {
      const int me = omp_get_thread_num();
      for (int k = 0; k < 5; ++k) {
#pragma omp task
        {
#pragma omp taskyield
        }
#pragma omp taskwait
        wrong += omp_get_thread_num() != me;
      }
    }
  }
  CHECK(wrong == 0);
}

static void many() {
  std::atomic<long> count{0};
  IN_SINGLE for (int i = 0; i < 300'000; ++i) {
#pragma omp task untied
    count.fetch_add(1, std::memory_order_relaxed);
  }
  CHECK(count == 300'000);
  long x[4] = {};
  IN_SINGLE for (int i = 0; i < 100'000; ++i) {
#pragma omp task depend(inout : x[i % 4]) firstprivate(i)
    x[i % 4]++;
  }
  CHECK(x[0] == 25'000 && x[3] == 25'000);
  long all = 0;
#pragma omp parallel reduction(+ : all)
  for (int i = 0; i < 1000; ++i) {
#pragma omp task shared(count)
    count++;
    all++;
  }
  CHECK(count == 300'000 + all);
}

static void locks() {
  omp_lock_t l;
  omp_nest_lock_t n;
  omp_init_lock(&l);
  omp_init_nest_lock(&n);
  long a = 0, b = 0, c = 0;
#pragma omp parallel
  {
    for (int i = 0; i < 300; ++i) {
#pragma omp task shared(a, l)
      {
        omp_set_lock(&l);
        a++;
        omp_unset_lock(&l);
      }
      omp_set_nest_lock(&n);
      omp_set_nest_lock(&n);
      b++;
      CHECK(omp_test_nest_lock(&n) == 3);
      omp_unset_nest_lock(&n);
      omp_unset_nest_lock(&n);
      omp_unset_nest_lock(&n);
#pragma omp task shared(c)
      {
#pragma omp critical(in_tasks)
        c++;
      }
    }
  }
  CHECK(omp_test_lock(&l) && !omp_test_lock(&l));
  omp_unset_lock(&l);
  const long n_threads = omp_get_max_threads();
  CHECK(a == 300 * n_threads && b == a && c == a);
  omp_destroy_lock(&l);
  omp_destroy_nest_lock(&n);
}

int main() {
  copies();
  long f = 0;
  IN_SINGLE f = fib(18);
  CHECK(f == 2584);
  CHECK(fib(12) == 144);  // outside of a region
  chains();
  kinds();
  nested_edges();
  groups();
  taskloops<int>(100);
  taskloops<unsigned long>(33);
  final_tasks();
  detached();
  tied();
  many();
  locks();
  std::puts("tasks: right");
}

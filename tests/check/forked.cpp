// A program whose parallel work a trace of tasks does not show: forks, loops, a sort, pipelines, ordered sections.
// Prints how long it took, in nanoseconds of the machine it ran on. What tests/tool/forked_test.py compares with what
// a trace of it, recorded with other workers, predicts.
//   forked SHAPE
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <optional>
#include <vector>

#include "weft/weft.hpp"

namespace {

long fib(weft::here& at, int n) {
  if (n < 12) return weft::charge(2000), n;
  const auto [a, b] = weft::fork_join(
      at, [n](weft::here& x) { return fib(x, n - 1); }, [n](weft::here& x) { return fib(x, n - 2); });
  return a + b;
}

// In a task, between two that others see.
void run_fib(weft::runtime& rt) {
  weft::handle<long> sum;
  rt.submit(weft::write(sum), weft::named("before"), [](long& x) { weft::charge(3000), x = 1; });
  rt.submit(weft::add(sum), weft::named("fib"), [](long& x) {
    weft::charge(5000);
    x += std::get<0>(weft::fork_join([](weft::here& at) { return fib(at, 24); }, [] { return 0; }));
    weft::charge(5000);
  });
  static_cast<void>(rt.get(sum));
}

std::uint64_t mixed(std::uint64_t z) {
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9U;
  z = (z ^ z >> 27) * 0x94d049bb133111ebU;
  return z ^ z >> 31;
}
// A tree that nobody can foresee.
long search(weft::here& at, std::uint64_t node, unsigned depth) {
  weft::charge(1500 + static_cast<double>(node % 2000));
  const std::size_t children = depth < 3 ? 6 : mixed(node) % 100 < 24 ? 4 : 0;
  return 1 + weft::fork_each<6>(
                 at, children, 0L,
                 [&](weft::here& x, std::size_t i) { return search(x, mixed(node * 31 + i + 1), depth + 1); },
                 [](long a, long b) { return a + b; });
}
void run_uts(weft::runtime& rt) {
  rt.submit(weft::named("uts"), [] {
    static_cast<void>(weft::fork_join([](weft::here& at) { return search(at, 12, 0); }, [] { return 0; }));
  });
  rt.wait();
}

void run_sort(weft::runtime& rt) {
  std::vector<std::uint64_t> x(30000);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = mixed(i + 1);
  rt.submit(weft::named("sort"), [&x] {
    weft::sort(x.begin(), x.end(), [](std::uint64_t a, std::uint64_t b) { return weft::charge(20), a < b; });
  });
  rt.wait();
  if (!std::is_sorted(x.begin(), x.end())) std::puts("NOT sorted");
}

// On the main thread, outside of tasks; iterations are not all the same.
void run_loop(weft::runtime&) {
  std::vector<double> x(20000);
  weft::for_each(std::size_t{0}, x.size(), [&x](std::size_t i) {
    weft::charge(i < 5000 ? 400 : 100);
    x[i] = static_cast<double>(i);
  });
}

void run_pipeline(weft::runtime& rt) {
  rt.submit(weft::named("pipeline"), [] {
    int next = 0, last = 0;
    weft::pipeline(weft::serial([&]() -> std::optional<int> {
                     weft::charge(500);
                     return next < 400 ? std::optional(next++) : std::nullopt;
                   }),
                   weft::parallel([](int x) { return weft::charge(20000), x; }),
                   weft::parallel([](int x) { return weft::charge(x % 2 == 0 ? 4000 : 12000), x; }),
                   weft::serial([&](int x) { weft::charge(1000), last = x; }));
  });
  rt.wait();
}

// One stage binds, and it is serial: more workers than three have nothing to do.
void run_serial_pipeline(weft::runtime& rt) {
  rt.submit(weft::named("pipeline"), [] {
    int next = 0;
    std::uint64_t sum = 0;
    weft::pipeline(weft::in_flight(12), weft::serial([&]() -> std::optional<int> {
                     weft::charge(900);
                     return next < 500 ? std::optional(next++) : std::nullopt;
                   }),
                   weft::parallel([](int x) {
                     weft::charge(static_cast<double>(mixed(static_cast<std::uint64_t>(x)) % 16000));
                     return x;
                   }),
                   weft::serial([&](int x) { return weft::charge(7000), x; }), weft::serial([&](int x) {
                     weft::charge(300);
                     sum = sum * 31 + static_cast<std::uint64_t>(x);
                   }));
  });
  rt.wait();
}

// Many short items, which one worker carries alone; then stages fork, submit and wait.
void run_busy_pipeline(weft::runtime& rt) {
  rt.submit(weft::named("pipeline"), [&rt] {
    weft::charge(4000);
    int next = 0;
    weft::pipeline(weft::serial([&]() -> std::optional<int> {
                     weft::charge(200);
                     return next < 2300 ? std::optional(next++) : std::nullopt;
                   }),
                   weft::parallel([&rt](int x) {
                     weft::charge(100);
                     if (x < 2000) return x;
                     static_cast<void>(weft::fork_join([](weft::here& at) { return fib(at, 14); }, [] { return 0; }));
                     if (x % 4 == 0)
                       weft::finish([&rt] {
                         rt.submit(weft::named("beside"), [] { weft::charge(9000); });
                         weft::charge(2000);
                       });
                     return x;
                   }),
                   weft::serial([](int) { weft::charge(100); }));
    weft::charge(4000);
  });
  rt.wait();
}

void step(weft::ordered_context& x, std::uint64_t now, std::uint64_t* cells, std::uint64_t at, std::uint64_t left) {
  x.work(4000);
  x.store(cells[at], x.load(cells[at]) + now);
  if (left != 0) x.at(now + 40, step, cells, (at * 7 + 1) % 512, left - 1);
}
void run_ordered(weft::runtime& rt) {
  std::vector<std::uint64_t> cells(512);
  weft::ordered events(rt);
  for (std::uint64_t i = 0; i < 256; ++i) events.at(i, step, cells.data(), i * 2, i % 8);
  events.run();
}

// Few cells: many bodies run too early, and again. What they do depends on what they read.
void meet(weft::ordered_context& x, std::uint64_t now, std::uint32_t* cells, std::uint32_t at, std::uint32_t left) {
  const std::uint32_t seen = x.load(cells[at]);
  x.work(3000 + mixed(now) % 9000);
  x.store(cells[at], seen < 1000 ? seen + at : seen % 7);
  if (now % 3 == 0) x.store(cells[(at + 1) % 24], x.load(cells[(at + 1) % 24]) | 1);
  x.work(1000);
  if (left != 0) x.at(now + 1 + mixed(now * 64 + at) % 30, meet, cells, (at * 5 + 3) % 24, left - 1);
}
void run_meetings(weft::runtime& rt) {
  std::vector<std::uint32_t> cells(24);
  weft::ordered events(rt);
  for (std::uint32_t i = 0; i < 40; ++i) events.at(i, meet, cells.data(), i % 24, 40u);
  events.run();
}

// In a body, twice: what was learned in the first run is known in the second. Some bodies submit tasks.
void run_ordered_twice(weft::runtime& rt) {
  rt.submit(weft::named("twice"), [&rt] {
    weft::charge(5000);
    std::vector<std::uint64_t> cells(512);
    weft::ordered events(rt);
    for (int round = 0; round < 2; ++round) {
      for (std::uint64_t i = 0; i < 128; ++i) events.at(i, step, cells.data(), i * 2, i % 8);
      events.at(
          100,
          [](weft::ordered_context& x, std::uint64_t, weft::runtime* runs) {
            x.serialize();
            x.work(2000);
            runs->submit(weft::named("from a body"), [] { weft::charge(30000); });
          },
          &rt);
      events.run();
      weft::charge(7000);
    }
  });
  rt.wait();
}

void run_levels(weft::runtime& rt) {
  std::vector<std::uint64_t> cells(512);
  weft::ordered events(rt, {.executor = "levels"});
  for (std::uint64_t i = 0; i < 4096; ++i)
    events.at(
        i / 1024,
        [](weft::ordered_context& x, std::uint64_t, std::uint64_t n, std::uint64_t* at) {
          weft::charge(2000 + static_cast<double>(mixed(n) % 2000));
          x.store(at[n % 512], n);
        },
        i, cells.data());
  events.run();
}

void run_relaxed(weft::runtime& rt) {
  std::vector<std::uint64_t> cells(512);
  weft::ordered events(rt, {.executor = "relaxed"});
  for (std::uint64_t i = 0; i < 256; ++i) events.at(i, step, cells.data(), i * 2, i % 8);
  events.run();
}

constexpr struct {
  const char* name;
  void (*run)(weft::runtime&);
} shapes[] = {{"fib", run_fib},
              {"uts", run_uts},
              {"sort", run_sort},
              {"loop", run_loop},
              {"pipeline", run_pipeline},
              {"serial-pipeline", run_serial_pipeline},
              {"busy-pipeline", run_busy_pipeline},
              {"ordered", run_ordered},
              {"meetings", run_meetings},
              {"ordered-twice", run_ordered_twice},
              {"levels", run_levels},
              {"relaxed", run_relaxed}};

}  // namespace

int main(int argc, char** argv) {
  for (const auto& s : shapes) {
    if (argc != 2 || std::strcmp(argv[1], s.name) != 0) continue;
    weft::runtime rt;
    const double from = rt.now_ns();
    s.run(rt);
    std::printf("%.0f\n", rt.now_ns() - from);
    return 0;
  }
  std::fputs("usage: forked SHAPE, which is one of", stderr);
  for (const auto& s : shapes) std::fprintf(stderr, " %s", s.name);
  std::fputs("\n", stderr);
  return 2;
}

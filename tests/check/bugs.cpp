// User programs with a bug each, for tests/tool/check_test.py: `bugs NAME`. In the plain schedule all print the right
// result, but for those that cannot.
#include <weft/weft.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

namespace {

// A task writes through a captured reference and has no clause for it.
int missing_write() {
  weft::runtime rt;
  weft::handle<int> a{1}, b{0};
  int factor = 1;
  rt.submit(weft::named("scale"), weft::write(b), [&factor](int& x) { x = 5 * factor; });
  rt.submit(weft::named("set factor"), weft::read(a), [&factor](const int&) { factor = 3; });
  rt.wait();
  std::printf("%d\n", b.unguarded());
  return 0;
}

// Declares read and writes all the same, through the handle it has captured.
int read_but_written() {
  weft::runtime rt;
  weft::handle<int> x{1}, y{0};
  x.name("x");
  y.name("y");
  rt.submit(weft::named("copy"), weft::read(x), weft::write(y), [](const int& from, int& to) { to = from; });
  rt.submit(weft::named("change"), weft::read(x), [&x](const int&) { x.unguarded() = 7; });
  rt.wait();
  std::printf("%d %d\n", x.unguarded(), y.unguarded());
  return 0;
}

// Adds that do not commute.
int adds_in_order() {
  weft::runtime rt;
  weft::handle<int> sum{1};
  sum.name("sum");
  for (int i = 1; i <= 6; ++i) rt.submit(weft::named("add"), weft::add(sum), [i](int& s) { s = s * 3 % 1000 + i; });
  rt.wait();
  std::printf("%d\n", sum.unguarded());
  return 0;
}

// The main thread looks before it has waited.
int main_does_not_wait() {
  weft::runtime rt;
  weft::handle<int> x{1}, other{0};
  rt.submit(weft::named("double"), weft::write(x), [](int& v) { v *= 2; });
  rt.submit(weft::named("beside"), weft::write(other), [](int& v) { ++v; });
  const int seen = x.unguarded();
  rt.wait();
  std::printf("%d\n", seen);
  return 0;
}

// A task uses what its children do, and does not wait for them.
int parent_does_not_wait() {
  weft::runtime rt;
  weft::handle<int> result{0};
  rt.submit(weft::named("parent"), weft::write(result), [&rt](int& r) {
    const auto parts = std::make_shared<int[]>(4);
    for (int i = 0; i < 4; ++i) rt.submit(weft::named("child"), [parts, i] { parts[i] = i + 1; });
    r = parts[0] + parts[1] + parts[2] + parts[3];
  });
  rt.wait();
  std::printf("%d\n", result.unguarded());
  return 0;
}

// Two tasks that nothing orders each submit a write to the same handle.
int submissions_race() {
  weft::runtime rt;
  weft::handle<int> x{1};
  for (const char* name : {"one", "two"})
    rt.submit(weft::named(name), [&rt, &x, name] {
      rt.submit(weft::named("change"), weft::write(x), [name](int& v) { v = name[0] == 'o' ? v * 2 : v + 10; });
    });
  rt.wait();
  std::printf("%d\n", x.unguarded());
  return 0;
}

int number_of_workers() {
  weft::runtime rt;
  weft::handle<unsigned> x{0};
  rt.submit(weft::write(x), [&rt](unsigned& v) { v = rt.workers(); });
  rt.wait();
  std::printf("%u\n", x.unguarded());
  return 0;
}

// A body relies on what the worker is called.
int worker_id() {
  weft::runtime rt;
  int by_worker[64] = {};
  for (int i = 0; i < 8; ++i) rt.submit([&by_worker] { ++by_worker[weft::worker_id()]; });
  rt.wait();
  std::printf("%d\n", by_worker[0]);
  return 0;
}

// In one of the two orders the program crashes, or never ends.
int bad_end(bool hangs) {
  weft::runtime rt;
  weft::handle<int> a{0}, b{0};
  std::unique_ptr<int> data;
  rt.submit(weft::named("use"), weft::write(a), [&data, hangs](int& v) {
    while (hangs && data == nullptr) asm volatile("");
    if (data == nullptr) std::abort();
    v = *data;
  });
  rt.submit(weft::named("make"), weft::write(b), [&data](int&) { data = std::make_unique<int>(4); });
  rt.wait();
  std::printf("%d\n", a.unguarded());
  return 0;
}

// What differs here is no schedule's doing.
int prints_time() {
  weft::runtime rt;
  rt.submit([] {});
  rt.wait();
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  std::printf("done\nafter %lld ns\n", static_cast<long long>(now.count()));
  return 0;
}

int order_by_time() {
  weft::runtime rt;
  const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
  for (long long i = 0; i < 2 + now / 16 % 1999; ++i) rt.submit([] {});
  rt.wait();
  return 0;
}

int on_the_host() {
  weft::runtime rt({.workers = 1, .machine = "host", .model = {.schedule = "time"}});
  rt.submit([] {});
  rt.wait();
  return 0;
}

// Nothing wrong: adds that commute, reads together, children waited for, two runtimes, a lookup by get().
int right() {
  weft::handle<int> sum{0}, table{3}, out{0};
  weft::runtime rt;
  for (int i = 1; i <= 8; ++i)
    rt.submit(weft::read(table), weft::add(sum), [i](const int& t, int& s) {
      const int before = s;
      weft::charge(100);
      s = before + i * t;
    });
  rt.submit(weft::write(out), weft::read(sum), [&rt](int& o, const int& s) {
    int parts[4] = {};
    for (int i = 0; i < 4; ++i) rt.submit([&parts, i, s] { parts[i] = s + i; });
    rt.wait();
    o = parts[0] + parts[1] + parts[2] + parts[3];
  });
  rt.submit(weft::write(table), [](int& t) { t = 100; });
  const int early = rt.get(table);
  {
    weft::runtime second;
    weft::handle<int> x{1};
    for (int i = 0; i < 3; ++i) second.submit(weft::write(x), [i](int& v) { v = v * 10 + i; });
    std::printf("%d\n", second.get(x));
  }
  rt.wait();
  std::printf("%d %d %d\n", early, sum.unguarded(), out.unguarded());
  return 0;
}

struct entry {
  const char* name;
  int (*run)();
};
constexpr entry all[] = {{"missing-write", missing_write},
                         {"read-but-written", read_but_written},
                         {"adds-in-order", adds_in_order},
                         {"main-does-not-wait", main_does_not_wait},
                         {"parent-does-not-wait", parent_does_not_wait},
                         {"submissions-race", submissions_race},
                         {"number-of-workers", number_of_workers},
                         {"worker-id", worker_id},
                         {"crash", [] { return bad_end(false); }},
                         {"hang", [] { return bad_end(true); }},
                         {"prints-time", prints_time},
                         {"order-by-time", order_by_time},
                         {"on-the-host", on_the_host},
                         {"right", right}};

}  // namespace

int main(int argc, char** argv) {
  for (const entry& e : all)
    if (argc > 1 && std::strcmp(argv[1], e.name) == 0) return e.run();
  std::fprintf(stderr, "which?\n");
  return 3;
}

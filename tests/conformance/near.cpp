// Hints and the policies that follow them: tasks run at the node of their data, each once, however few workers there
// are; with hints they are calls while nobody near starves, and tasks again when somebody does.
#include <doctest/doctest.h>

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "quick.hpp"
#include "replay.hpp"
#include "trace_file.hpp"
#include "weft/weft.hpp"

namespace weft::detail {

// A wish that is known already, as that of a task in a trace: nobody has asked where its data lie.
struct wish_clause {
  using value_type = void;  // the body gets no data
  unsigned node;
  std::size_t count = 0;
};
template <> struct access_traits<wish_clause> : access_traits<void> {
  static constexpr bool is_clause = true;
  static constexpr bool is_range = true;
  static constexpr bool exclusive_range = false;
  using type = void;
};
inline void note(record& r, access*&, const wish_clause& c) noexcept { r.near = (c.node + 1) & 63u; }

}  // namespace weft::detail

namespace {

constexpr const char* followers[] = {"near", "pufferfish", "hpt", "tao"};

// Sums the ages of a field by halves, down to parts of one; hinted with where the halves lie.
struct field {
  std::vector<int> cells;
  explicit field(std::size_t n) : cells(n) {
    weft::place_memory(cells.data(), n * sizeof(int), weft::memory_placement::blocked());
  }
  ~field() { weft::place_memory(cells.data(), cells.size() * sizeof(int), weft::memory_placement::first_touch()); }
  field(const field&) = delete;
  field& operator=(const field&) = delete;

  [[nodiscard]] auto near(std::size_t from, std::size_t to) const {
    return weft::near(cells.data() + from, (to - from) * sizeof(int));
  }
  void age(std::size_t from, std::size_t to, double ns) {
    if (to - from == 1) {
      ++cells[from];
      return weft::charge(ns);
    }
    const std::size_t middle = from + (to - from) / 2;
    weft::finish([&] {
      weft::async(near(from, middle), [=, this] { age(from, middle, ns); });
      weft::async(near(middle, to), [=, this] { age(middle, to, ns); });
    });
  }
  [[nodiscard]] bool all_are(int age) const {
    for (const int x : cells)
      if (x != age) return false;
    return true;
  }
};

}  // namespace

TEST_CASE("near: every task with hints runs once, with any policy, on real and modelled machines of every size") {
  const std::size_t n = brief ? 64 : 1024;
  for (const weft::choice& policy : weft::policies())
    for (const char* machine : {"host", "virtual", "epyc-7551-32"})
      for (const unsigned workers : {1u, 2u, 3u, 4u, 7u, 16u, 32u}) {
        const bool real = machine == std::string("host");
        if (real ? workers > 16 : real_threads_only) continue;
        INFO(policy.name << " on " << std::string(machine) << " with " << workers);
        const deadline limit("near: every task");
        weft::runtime rt({.workers = workers, .machine = machine, .policy = policy.name});
        field f(n);
        for (int age = 1; age <= 3; ++age) {
          if (age == 2)
            rt.submit([&] { f.age(0, n, 100); });
          else
            f.age(0, n, 100);
          rt.wait();
          CHECK(f.all_are(age));
        }
      }
}

TEST_CASE("near: a trace has each task once, what its hints want, where it began, and which were calls" *
          doctest::skip(real_threads_only)) {
  const trace_place place;
  const std::string path = place.path();
  std::uint64_t calls = 0, tasks = 0;
  {
    weft::runtime rt({.workers = 32, .machine = "epyc-7551-32", .policy = "near", .trace = path.c_str()});
    field f(512);
    rt.submit([&] { f.age(0, 512, 1000); });
    rt.wait();
    CHECK(f.all_are(1));
    calls = rt.statistics().calls;
    tasks = rt.statistics().tasks;
  }
  const trace_file file(path);
  const auto number = [&file](const char* of) { return static_cast<std::uint64_t>(file.number(of)); };
  CHECK(file.verdict(true) == "");
  CHECK(calls > 0);
  CHECK(tasks == 1 + 2 * 511);
  CHECK(number("SELECT count(*) FROM tasks WHERE outcome = 'done'") == tasks);
  CHECK(number("SELECT count(*) FROM tasks WHERE call") == calls);
  CHECK(number("SELECT count(*) FROM waits WHERE why = 'spawn'") == calls);
  CHECK(number("SELECT count(*) FROM tasks WHERE near IS NULL") == 1);
  CHECK(number("SELECT count(*) FROM tasks WHERE call AND NOT at_near") == 0);
  // 8 workers sit at each node.
  CHECK(number("SELECT count(*) FROM tasks WHERE at_near <> (near = worker / 8)") == 0);
  CHECK(2 * number("SELECT count(*) FROM tasks WHERE at_near") > tasks);
}

TEST_CASE("near: a task runs at the node of its data" * doctest::skip(real_threads_only)) {
  for (const char* policy : followers) {
    weft::runtime rt({.workers = 32, .machine = "epyc-7551-32", .policy = policy});
    std::vector<int> ran_at(400, -1);
    std::vector<double> data(400 * 64);
    weft::place_memory(data.data(), data.size() * sizeof(double), weft::memory_placement::blocked());
    for (int n = 0; n < 400; ++n) {
      const int i = n * 101 % 400;  // for all nodes in turns
      rt.submit(weft::near(&data[static_cast<std::size_t>(i) * 64], 64 * sizeof(double)), weft::cost(1e4),
                [&, i] { ran_at[static_cast<std::size_t>(i)] = weft::worker_id() / 8; });
    }
    rt.wait();
    int elsewhere = 0;
    for (int i = 0; i < 400; ++i) elsewhere += ran_at[static_cast<std::size_t>(i)] != i / 100;
    INFO(policy);
    if (policy == std::string("near") || policy == std::string("tao"))
      CHECK(elsewhere <= 160);  // now and then who has nothing helps others
    else
      CHECK(elsewhere == 0);
    weft::place_memory(data.data(), data.size() * sizeof(double), weft::memory_placement::first_touch());
  }
}

TEST_CASE("near: tasks with locality addresses begin where these are, teams, too" * doctest::skip(real_threads_only)) {
  for (const char* policy : followers) {
    weft::runtime rt({.workers = 16, .machine = "opteron-6220-interlagos-16", .policy = policy});
    int elsewhere = 0;
    rt.pause();
    for (int i = 0; i < 256; ++i)
      rt.submit(weft::near_address(i / 256.0), weft::team(i % 2 == 0 ? 1 : 2), weft::cost(1e5),
                [&, i](weft::team_context&) { elsewhere += weft::worker_id() / 4 != i / 64; });
    rt.wait();
    INFO(policy);
    CHECK(elsewhere <= 64);  // of 384 members
  }
}

TEST_CASE("near: with all workers busy most tasks with hints are calls; without elastic tasks none is" *
          doctest::skip(real_threads_only)) {
  field f(4096);
  for (const std::string policy : {"near", "pufferfish", "hpt", "random", "local"}) {
    weft::runtime rt({.workers = 32, .machine = "epyc-7551-32", .policy = policy.c_str()});
    rt.submit([&] { f.age(0, f.cells.size(), 5e3); });
    rt.wait();
    const auto counts = rt.statistics();
    INFO(policy << ": " << counts.calls << " of " << counts.tasks);
    CHECK(counts.tasks == 8191);
    const bool elastic = policy == "near" || policy == "pufferfish" || policy == "local";
    CHECK((counts.calls > 0) == elastic);
    MESSAGE(policy << ": " << counts.calls << " of " << counts.tasks << " were calls, " << rt.now_ns() / 1e3 << " us");
  }
}

// Sweeps over memory by halves, again and again; says how long that took and what share of the bytes was remote.
struct swept {
  double ns, remote;
};
[[nodiscard]] swept sweep(const char* policy, bool hinted, std::uint64_t seed) {
  constexpr std::size_t parts = 256, part = 16 * 1024;
  weft::runtime rt({.workers = 32, .machine = "epyc-7551-32", .policy = policy, .seed = seed});
  std::vector<double> data(parts * part);
  weft::place_memory(data.data(), data.size() * sizeof(double), weft::memory_placement::blocked());
  const std::function<void(std::size_t, std::size_t)> relax = [&](std::size_t from, std::size_t to) {
    double* const begin = &data[from * part];
    const std::size_t bytes = (to - from) * part * sizeof(double);
    if (to - from == 1) return weft::charge(1e3, weft::updates(begin, bytes));
    const std::size_t middle = from + (to - from) / 2;
    const auto half = [&](std::size_t x, std::size_t y) {
      const auto body = [&relax, x, y] { relax(x, y); };
      if (hinted)
        weft::async(weft::near(&data[x * part], (y - x) * part * sizeof(double)), body);
      else
        weft::async(body);
    };
    weft::finish([&] { half(from, middle), half(middle, to); });
  };
  for (int round = 0; round < 5; ++round) {
    rt.submit([&] { relax(0, parts); });
    rt.wait();
  }
  const auto counts = rt.statistics();
  weft::place_memory(data.data(), data.size() * sizeof(double), weft::memory_placement::first_touch());
  const auto bytes = [](std::uint64_t n) { return static_cast<double>(n); };
  return {rt.now_ns(), bytes(counts.remote_bytes) / bytes(counts.local_bytes + counts.remote_bytes)};
}

// Who steals what is chance, and moves one run by a tenth: so the mean of some seeds.
[[nodiscard]] swept sweeps(const char* policy, bool hinted) {
  constexpr std::uint64_t seeds = 15;
  swept all{};
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const swept one = sweep(policy, hinted, seed);
    all.ns += one.ns / seeds;
    all.remote += one.remote / seeds;
  }
  return all;
}

TEST_CASE("near: the default policy follows hints, and is near from the first of them on" *
          doctest::skip(real_threads_only)) {
  const swept by_default = sweeps(nullptr, true), near = sweeps("near", true), without = sweeps(nullptr, false),
              random = sweeps("random", true);
  MESSAGE("default " << by_default.ns / 1e3 << " us, near " << near.ns / 1e3 << ", without hints " << without.ns / 1e3
                     << ", random " << random.ns / 1e3 << "; remote " << by_default.remote << ", " << near.remote
                     << ", " << without.remote << ", " << random.remote);
  CHECK(by_default.ns < 1.05 * near.ns);
  CHECK(by_default.remote < 0.6 * without.remote);
  CHECK(random.remote > 0.9 * without.remote);
}

TEST_CASE("near: the default policy follows the wishes of tasks that are replayed, too" *
          doctest::skip(real_threads_only)) {
  weft::runtime rt({.workers = 32, .machine = "epyc-7551-32"});
  unsigned elsewhere = 0;
  for (unsigned i = 0; i < 400; ++i)
    rt.submit(weft::detail::wish_clause{i % 4}, [&elsewhere, i] {
      weft::charge(10'000);
      elsewhere += static_cast<unsigned>(weft::worker_id()) / 8 != i % 4 ? 1 : 0;
    });
  rt.wait();
  CHECK(elsewhere < 40);
}

TEST_CASE("near: where nobody gives hints, or the machine is one place, the default policy is as ever") {
  for (const char* machine : {"host", "virtual", "epyc-7551-32"}) {
    if (real_threads_only && machine != std::string("host")) continue;
    weft::runtime rt({.workers = 4, .machine = machine});
    std::atomic<int> ran = 0;
    weft::finish([&] {
      for (int i = 0; i < 100; ++i) weft::async([&] { ++ran; });
    });
    CHECK((ran == 100 && rt.statistics().calls == 0));
    rt.submit([&] {
      for (int i = 0; i < 100; ++i) weft::async(weft::near_node(0), [&] { ++ran; });
    });
    rt.wait();
    CHECK(ran == 200);
    if (machine != std::string("epyc-7551-32")) CHECK(rt.statistics().calls == 0);
  }
}

TEST_CASE("near: what a call throws comes in program order, as that of a task") {
  for (const char* machine : both_machines) {
    weft::runtime rt({.workers = 2, .machine = machine, .policy = "near"});
    std::string got;
    std::atomic<int> ran = 0;
    rt.submit([&] {
      for (int round = 0; round < 50; ++round) {
        try {
          weft::finish([&] {
            for (int i = 0; i < 20; ++i)
              weft::async(weft::near_node(0), [&, i] {
                ++ran;
                weft::charge(100);
                if (i % 7 == 5) throw i;
              });
          });
        } catch (int i) {
          got += std::to_string(i);
        }
      }
    });
    rt.wait();
    CHECK(got == std::string(50, '5'));
    CHECK(ran == 1000);
    CHECK(rt.statistics().calls > 0);
  }
}

TEST_CASE("near: the same virtual time, run by run" * doctest::skip(real_threads_only)) {
  for (const char* policy : followers)
    for (const unsigned workers : {1u, 7u, 32u}) {
      double first = 0;
      for (int run = 0; run < 2; ++run) {
        weft::runtime rt({.workers = workers, .machine = "epyc-7551-32", .policy = policy});
        field f(512);
        rt.submit([&] { f.age(0, 512, 1e3); });
        rt.wait();
        if (run == 0) first = rt.now_ns();
        INFO(policy << " with " << workers);
        CHECK(rt.now_ns() == first);
      }
    }
}

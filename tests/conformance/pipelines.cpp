// Pipelines, on real and modelled machines: every stage sees every item once, a serial one in order and one at a time,
// whoever carries them.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "replay.hpp"
#include "weft/weft.hpp"

namespace {

// Takes so long, on real and modelled machines.
void busy(double ns) {
  weft::charge(ns);
  using clock = std::chrono::steady_clock;
  const auto end = clock::now() + std::chrono::duration<double, std::nano>(ns);
  while (clock::now() < end) {
  }
}

// What a stage has seen.
class witness {
 public:
  witness(std::size_t items, bool serial, double ns) : seen_(items), serial_(serial), ns_(ns) {}

  long sees(long n) {
    if (serial_ && inside_.exchange(true)) wrong_ = true;
    if (serial_ && n != last_ + 1) wrong_ = true;
    if (serial_) last_ = n;
    if (seen_[static_cast<std::size_t>(n)].exchange(true)) wrong_ = true;
    if (ns_ != 0) busy(ns_);
    ++count_;
    if (serial_) inside_ = false;
    return n;
  }
  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] bool is_wrong() const { return wrong_; }

 private:
  std::vector<std::atomic<bool>> seen_;
  bool serial_;
  double ns_;
  long last_ = -1;  // no atomic: of a serial stage, and a race if it is none
  std::atomic<bool> inside_ = false, wrong_ = false;
  std::atomic<std::size_t> count_ = 0;
};

template <bool Serial> auto stage_of(witness& w) {
  if constexpr (Serial)
    return weft::serial([&w](long n) { return w.sees(n); });
  else
    return weft::parallel([&w](long n) { return w.sees(n); });
}

// The kind of stage i + 1 is bit i.
template <unsigned Kinds, std::size_t... I> void run_stages(long items, double ns, std::index_sequence<I...>) {
  std::vector<std::unique_ptr<witness>> seen;
  for (std::size_t i = 0; i < sizeof...(I); ++i)
    seen.push_back(std::make_unique<witness>(static_cast<std::size_t>(items), (Kinds >> i & 1) != 0, ns));
  long next = 0;
  weft::pipeline(weft::serial([&]() -> std::optional<long> {
                   if (next == items) return std::nullopt;
                   if (ns != 0) busy(ns / 2);
                   return next++;
                 }),
                 stage_of<(Kinds >> I & 1) != 0>(*seen[I])...);
  CHECK(next == items);
  for (const auto& w : seen) {
    CHECK(w->count() == static_cast<std::size_t>(items));
    CHECK(!w->is_wrong());
  }
}
template <std::size_t Stages, unsigned Kinds> void run_stages(long items, double ns) {
  run_stages<Kinds>(items, ns, std::make_index_sequence<Stages>());
}

// All kinds of stages up to three behind the first, and some more.
void all_kinds(long items, double ns) {
  run_stages<0, 0>(items, ns);
  run_stages<1, 0>(items, ns);
  run_stages<1, 1>(items, ns);
  run_stages<2, 0>(items, ns);
  run_stages<2, 1>(items, ns);
  run_stages<2, 2>(items, ns);
  run_stages<2, 3>(items, ns);
  run_stages<3, 0>(items, ns);
  run_stages<3, 2>(items, ns);
  run_stages<3, 4>(items, ns);
  run_stages<3, 5>(items, ns);
  run_stages<3, 7>(items, ns);
  run_stages<5, 0b10101>(items, ns);
  run_stages<5, 0b01010>(items, ns);
  run_stages<5, 0b11011>(items, ns);
}

template <class Check> void on(const char* machine, unsigned workers, const char* schedule, Check check) {
  const std::string line = "WEFT_MACHINE=" + std::string(machine) + " WEFT_WORKERS=" + std::to_string(workers) +
                           " WEFT_SCHEDULE=" + std::string(schedule);
  INFO(line);
  const deadline limit("the test case with " + line);
  weft::runtime rt({.workers = workers, .machine = machine, .model = {.schedule = schedule}});
  check(rt);
}
template <class Check> void with_all_workers(Check check) {
  for (const unsigned workers : {1u, 2u, 3u, 4u, 7u, 16u}) on("host", workers, "time", check);
  for (const unsigned workers : {1u, 2u, 3u, 7u, 64u}) on("virtual", workers, "time", check);
  for (const unsigned workers : {2u, 4u, 16u}) on("virtual", workers, "random", check);
}

[[nodiscard]] auto count_to(long& next, long items) {
  return weft::serial([&next, items] { return next < items ? std::optional<long>(next++) : std::nullopt; });
}

}  // namespace

TEST_CASE("pipelines: each stage sees each item, serial ones in order, with none to many") {
  with_all_workers([](weft::runtime&) {
    for (const long items : {0L, 1L, 2L, 50L}) all_kinds(items, 2000);
    all_kinds(3000, 0);
  });
}

TEST_CASE("pipelines: long ones change hands, and end") {
  with_all_workers([](weft::runtime& rt) {
    const long items = rt.workers() > 4 ? 300 : 1500;
    rt.submit([&] { run_stages<3, 4>(items, 1500); });
    rt.wait();
    run_stages<5, 0b10110>(items, 700);
  });
}

TEST_CASE("pipelines: items are shared where they are long, on a modelled machine by all who are there") {
  for (const unsigned workers : {2u, 4u, 16u, 64u}) {
    on("virtual", workers, "time", [&](weft::runtime& rt) {
      std::set<int> by;
      long next = 0;
      const long items = 100L * workers;
      const double before = rt.now_ns();
      weft::pipeline(count_to(next, items), weft::parallel([&](long) {
                       weft::charge(50'000);
                       by.insert(weft::worker_id());
                     }));
      const double took = rt.now_ns() - before, alone = 50'000.0 * static_cast<double>(items);
      CHECK(by.size() == workers);
      CHECK(took < 1.5 * alone / workers);
    });
  }
}

TEST_CASE("pipelines: short items stay with one worker, and no more time is spent than by one alone") {
  double alone = 0;
  for (const unsigned workers : {1u, 2u, 16u, 64u}) {
    on("virtual", workers, "time", [&](weft::runtime& rt) {
      long next = 0, sum = 0;
      const double before = rt.now_ns();
      weft::pipeline(count_to(next, 10'000), weft::parallel([](long) { weft::charge(20); }),
                     weft::serial([&](long n) { sum += n; }));
      const double took = rt.now_ns() - before;
      if (workers == 1) alone = took;
      CHECK(sum == 9999L * 5000);
      CHECK(took < alone + 50'000);  // others look for work, and the task may be taken by one of them
    });
  }
}

TEST_CASE("pipelines: the same virtual time in every run") {
  double first = 0;
  for (int run = 0; run < 3; ++run) {
    on("virtual", 5, "time", [&](weft::runtime& rt) {
      run_stages<3, 5>(400, 3000);
      if (run == 0) first = rt.now_ns();
      CHECK(rt.now_ns() == first);
    });
  }
}

TEST_CASE("pipelines: the exception of the first item that throws, and all before it go through") {
  with_all_workers([](weft::runtime&) {
    for (const double ns : {0.0, 3000.0}) {
      long next = 0;
      std::vector<long> through;
      const auto run = [&] {
        weft::pipeline(count_to(next, 1'000'000), weft::parallel([&](long n) {
                         busy(ns);
                         if (n == 150) throw std::runtime_error("150");
                         return n;
                       }),
                       weft::parallel([&](long n) {
                         if (n == 141) busy(10 * ns);
                         if (n == 141) throw std::runtime_error("141");
                         return n;
                       }),
                       weft::serial([&](long n) { through.push_back(n); }));
      };
      CHECK_THROWS_WITH(run(), "141");
      CHECK(through.size() == 141);
      for (std::size_t i = 0; i < through.size(); ++i) CHECK(through[i] == static_cast<long>(i));
      CHECK(next < 1000);
    }
  });
}

TEST_CASE("pipelines: a first stage that throws ends it, when what has begun is through") {
  with_all_workers([](weft::runtime&) {
    long next = 0, through = 0;
    const auto run = [&] {
      weft::pipeline(weft::serial([&]() -> std::optional<long> {
                       if (next == 200) throw std::runtime_error("no more");
                       return next++;
                     }),
                     weft::parallel([](long) { busy(3000); }), weft::serial([&](long) { ++through; }));
    };
    CHECK_THROWS_WITH(run(), "no more");
    CHECK(through == 200);
  });
}

TEST_CASE("pipelines: items that are owned move on, and none is lost when a stage throws") {
  struct counted {
    explicit counted(std::atomic<int>& n) : n_(n) { ++n_; }
    ~counted() { --n_; }
    counted(const counted&) = delete;
    counted& operator=(const counted&) = delete;
    std::atomic<int>& n_;
  };
  using owned = std::unique_ptr<counted>;
  with_all_workers([](weft::runtime&) {
    for (const bool throws : {false, true}) {
      std::atomic<int> alive = 0;
      int made = 0, checked = 0, ended = 0;
      const auto run = [&] {
        weft::pipeline(weft::serial([&]() -> std::optional<owned> {
                         if (++made > 300) return std::nullopt;
                         return std::make_unique<counted>(alive);
                       }),
                       weft::parallel([](owned x) {
                         busy(2000);
                         return x;
                       }),
                       weft::serial([&](owned& x) {
                         if (throws && checked == 200) throw std::runtime_error("200");
                         CHECK(x != nullptr);
                         ++checked;
                       }),
                       weft::parallel([](const owned& x) { CHECK(x != nullptr); }),
                       weft::serial([&](owned x) { ended += x != nullptr ? 1 : 0; }));
      };
      if (throws)
        CHECK_THROWS_WITH(run(), "200");
      else
        run();
      CHECK(alive == 0);
      CHECK(ended == (throws ? 200 : 300));
    }
  });
}

// One item is slow in front of a stage in order, so the next ones wait there with their values when it fails.
TEST_CASE("pipelines: values that wait behind an item that fails are destroyed") {
  const auto alive = std::make_shared<int>(0);
  weft::runtime rt({.workers = 6, .machine = "virtual"});
  int next = 0, ended = 0;
  CHECK_THROWS_WITH(weft::pipeline(weft::serial([&]() -> std::optional<int> {
                                     weft::charge(4000);
                                     return next < 60 ? std::optional<int>(next++) : std::nullopt;
                                   }),
                                   weft::parallel([&](int n) {
                                     weft::charge(n == 40 ? 200'000 : 12'000);
                                     return std::pair(n, alive);
                                   }),
                                   weft::serial([](std::pair<int, std::shared_ptr<int>> x) {
                                     if (x.first == 40) throw std::runtime_error("40");
                                     return x;
                                   }),
                                   weft::serial([&](std::pair<int, std::shared_ptr<int>>) { ++ended; })),
                    "40");
  CHECK((ended == 40 && next > 42));  // some came behind it
  CHECK(alive.use_count() == 1);
}

TEST_CASE("pipelines: never more in flight than allowed") {
  with_all_workers([](weft::runtime& rt) {
    for (const std::uint32_t most : {1u, 2u, 5u}) {
      long next = 0;
      std::atomic<int> begun = 0, greatest = 0, wrong = 0;
      weft::pipeline(weft::in_flight(most), weft::serial([&]() -> std::optional<long> {
                       if (next == 300) return std::nullopt;
                       const int now = ++begun;
                       greatest = std::max(greatest.load(), now);
                       if (now > static_cast<int>(most)) ++wrong;
                       return next++;
                     }),
                     weft::parallel([](long n) { busy(n % 7 == 0 ? 20'000 : 2000); }),
                     weft::parallel([&](long) { --begun; }));
      CHECK(wrong == 0);
      if (std::string(rt.machine()) == "virtual" && rt.workers() >= most && most > 1) CHECK(greatest > 1);
    }
  });
  CHECK_THROWS_AS(static_cast<void>(weft::in_flight(0)), weft::error);
}

TEST_CASE("pipelines: a limit that is none takes no memory for it") {
  with_all_workers([](weft::runtime&) {
    long next = 0, sum = 0;
    weft::pipeline(weft::in_flight(~0u), count_to(next, 200), weft::parallel([](long) { busy(20'000); }),
                   weft::serial([&](long n) { sum += n; }));
    CHECK(sum == 200 * 199 / 2);
  });
}

TEST_CASE("pipelines: in tasks, in one another, and with forks and waits in their stages") {
  with_all_workers([](weft::runtime& rt) {
    std::atomic<long> sum = 0;
    for (int task = 0; task < 6; ++task)
      rt.submit([&] {
        long next = 0;
        weft::pipeline(count_to(next, 20), weft::parallel([&](long n) {
                         long inner = 0, all = 0;
                         weft::pipeline(count_to(inner, 10), weft::parallel([](long) { busy(1500); }),
                                        weft::serial([&](long m) { all += m; }));
                         return n + all;
                       }),
                       weft::parallel([](long n) {
                         std::atomic<long> halves = 0;
                         weft::finish([&] {
                           weft::async([&] { halves += n; });
                           weft::async([&] { halves += n; });
                         });
                         return halves.load();
                       }),
                       weft::serial([&](long n) { sum += n; }));
      });
    rt.wait();
    CHECK(sum == 6 * 2 * (190 + 20 * 45));
  });
}

TEST_CASE("pipelines: a cancelled scope lets what has begun go through, and no more begin") {
  with_all_workers([](weft::runtime&) {
    weft::cancellation stop;
    long next = 0;
    std::atomic<long> through = 0;
    bool returned = false;
    weft::finish(stop, [&] {
      weft::pipeline(count_to(next, 1'000'000), weft::parallel([](long) { busy(2000); }), weft::serial([&](long n) {
                       if (n == 100) stop.cancel();
                       ++through;
                     }));
      returned = true;
    });
    CHECK(!returned);
    CHECK((through == next && next > 100 && next < 2000));
  });
}

TEST_CASE("pipelines: on a thread that no runtime knows, the caller does all") {
  std::thread([] {
    run_stages<3, 5>(100, 0);
    long next = 0;
    const auto run = [&] {
      weft::pipeline(count_to(next, 10), weft::serial([](long n) {
                       if (n == 4) throw std::runtime_error("four");
                     }));
    };
    CHECK_THROWS_WITH(run(), "four");
    CHECK(next == 5);
  }).join();
}

TEST_CASE("pipelines: items of any size, also such that ask for an alignment") {
  struct alignas(128) large {
    long n;
    char more[1000];
  };
  with_all_workers([](weft::runtime&) {
    long next = 0, sum = 0;
    std::atomic<int> askew = 0;
    weft::pipeline(count_to(next, 200), weft::parallel([](long n) {
                     busy(1500);
                     return large{n, {}};
                   }),
                   weft::serial([&](large& x) {
                     if (reinterpret_cast<std::uintptr_t>(&x) % 128 != 0) ++askew;
                     x.n += 1;
                   }),
                   weft::serial([&](const large& x) { sum += x.n; }));
    CHECK(sum == 199 * 100 + 200);
    CHECK(askew == 0);
  });
}

// What listeners are told: of each task all its steps, in their order, whatever kind of task it is; nothing that
// changes a run in virtual time; and how a callback ends that does what it may not.
#include "weft/listener.hpp"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "capture.hpp"
#include "weft/weft.hpp"

namespace weft {
namespace {

struct told {
  enum what { submitted, ready, begins, ends, waits, goes_on };
  what w;
  std::uint32_t task;
  std::string name;
  std::uint32_t parent = 0;
  std::vector<heard_access> accesses{};
  heard at{};
};

// Writes down all it hears, until it is gone.
struct ear {
  std::mutex lock;
  std::vector<told> all;
  std::uint64_t steals = 0, sleeps = 0, wakes = 0;
  heard_end last_end{};
  heard_wait last_wait{};
  const unsigned number = add_listener(table());

  ear() = default;
  ~ear() { drop_listener(number); }
  ear(const ear&) = delete;
  ear& operator=(const ear&) = delete;

  static void add(void* self, told t) {
    ear& e = *static_cast<ear*>(self);
    const std::scoped_lock hold(e.lock);
    e.all.push_back(std::move(t));
  }
  template <told::what What> static void step(void* self, const heard& at, const heard_task& t) noexcept {
    add(self, {What, t.id, t.name != nullptr ? t.name : "", 0, {}, at});
  }
  [[nodiscard]] listener table() {
    return {.data = this,
            .submitted =
                [](void* self, const heard& at, const heard_task& t, std::uint32_t parent, const heard_access* a,
                   std::size_t n) noexcept {
                  add(self, {told::submitted, t.id, t.name != nullptr ? t.name : "", parent, {a, a + n}, at});
                },
            .ready = step<told::ready>,
            .begins = step<told::begins>,
            .ends =
                [](void* self, const heard& at, const heard_task& t, heard_end how) noexcept {
                  step<told::ends>(self, at, t);
                  const std::scoped_lock hold(static_cast<ear*>(self)->lock);
                  static_cast<ear*>(self)->last_end = how;
                },
            .stolen = [](void* self, const heard&, const heard_task&, unsigned) noexcept { count(self, &ear::steals); },
            .sleeps = [](void* self, const heard&) noexcept { count(self, &ear::sleeps); },
            .wakes = [](void* self, const heard&) noexcept { count(self, &ear::wakes); },
            .waits = step<told::waits>,
            .goes_on =
                [](void* self, const heard& at, const heard_task& t, heard_wait why) noexcept {
                  step<told::goes_on>(self, at, t);
                  const std::scoped_lock hold(static_cast<ear*>(self)->lock);
                  static_cast<ear*>(self)->last_wait = why;
                }};
  }
  static void count(void* self, std::uint64_t ear::*counter) noexcept {
    const std::scoped_lock hold(static_cast<ear*>(self)->lock);
    ++(static_cast<ear*>(self)->*counter);
  }

  [[nodiscard]] std::vector<told> of(const std::string& name) const {
    std::vector<told> found;
    for (const told& t : all)
      if (t.name == name) found.push_back(t);
    return found;
  }
  [[nodiscard]] std::size_t count_of(told::what w) const {
    std::size_t n = 0;
    for (const told& t : all) n += t.w == w ? 1 : 0;
    return n;
  }
  // Each task: submitted, ready, begins, pairs of waits and goes_on, ends. Returns what is wrong, or "".
  [[nodiscard]] std::string disorder() const {
    std::map<std::uint32_t, told::what> at;
    for (const told& t : all) {
      if (t.task == 0) continue;
      const auto known = at.find(t.task);
      const bool runs = known != at.end() && (known->second == told::begins || known->second == told::goes_on);
      const bool right = t.w == told::submitted ? known == at.end()
                         : t.w == told::ready   ? known != at.end() && known->second == told::submitted
                         : t.w == told::begins  ? known != at.end() && known->second == told::ready
                         : t.w == told::goes_on ? known != at.end() && known->second == told::waits
                                                : runs;
      if (!right)
        return t.name + " " + std::to_string(t.task) + ": " + std::to_string(t.w) + " behind " +
               (known == at.end() ? "nothing" : std::to_string(known->second));
      at[t.task] = t.w;
    }
    for (const auto& [task, last] : at)
      if (last != told::ends) return std::to_string(task) + " ends with " + std::to_string(last);
    return "";
  }
};

// A program with tasks of most kinds. Returns how many runs of graphs it made.
std::size_t all_kinds(runtime& rt) {
  handle<int> h(0), k(0);
  resource units(2);
  for (int i = 0; i < 30; ++i) {
    rt.submit(write(h), named("writes"), [](int& x) { ++x; });
    rt.submit(read(h), add(k), named("adds"), [](const int& x, int& y) { y += x; });
    rt.submit(use(units), named("uses"), [] {});
    rt.submit(named("parent"), [&rt] {
      for (int j = 0; j < 3; ++j) rt.submit(named("child"), [] {});
      rt.wait();
    });
    rt.submit(priority(1), named("urgent"), [] {});
  }
  rt.wait();
  graph g(rt, [&](recorder& r) {
    r.submit(write(h), named("first node"), [](int& x) { ++x; });
    r.submit(read(h), named("node"), [](int) {});
    r.submit(read(h), named("node"), [](int) {});
  });
  constexpr std::size_t runs = 4;
  for (std::size_t i = 0; i < runs; ++i) g.run();
  rt.submit(named("forks"), [] { fork_join([] {}, [] {}); });
  rt.wait();
  return runs;
}

// Runs it in a child process. Returns how that ended and what it said.
struct ending {
  int status;
  std::string said;
};
ending end_of(const std::function<void()>& program) {
  ending e{};
  e.said = stderr_of([&] {
    const pid_t child = fork();
    if (child == 0) {
      std::signal(SIGABRT, SIG_DFL);  // the test program has a handler of its own
      program();
      _exit(0);
    }
    waitpid(child, &e.status, 0);
  });
  return e;
}

}  // namespace

TEST_CASE("listeners: every step of every task, in its order") {
  for (const char* machine : {"virtual", "host"})
    for (const unsigned workers : {1u, 4u}) {
      ear e;
      std::size_t runs = 0;
      std::uint64_t tasks = 0, steals = 0, sleeps = 0;
      {
        runtime rt({.workers = workers, .machine = machine});
        runs = all_kinds(rt);
        CHECK(rt.trace_path() == nullptr);
        CHECK_THROWS_AS(rt.write_trace(), error);
        tasks = rt.statistics().tasks;
        steals = rt.statistics().steals;
        sleeps = rt.statistics().sleeps;
      }
      CAPTURE(machine);
      CAPTURE(workers);
      CHECK(e.disorder() == "");
      CHECK(e.count_of(told::begins) == tasks);
      CHECK(e.of("child").size() == 4 * 90);
      CHECK(e.of("node").size() == 4 * 2 * runs);
      CHECK(e.count_of(told::waits) == e.count_of(told::goes_on));
      CHECK(e.steals >= steals);
      CHECK(e.sleeps >= sleeps);
      CHECK(e.sleeps == e.wakes);
    }
}

TEST_CASE("listeners: accesses, parents and places") {
  ear e;
  {
    runtime rt({.workers = 1, .machine = "virtual"});
    handle<int> h(0), k(0);
    rt.submit(write(h), named("first"), [](int& x) { ++x; });
    rt.submit(read(h), add(k), named("second"), [&rt](int, int&) { rt.submit(named("below"), [] {}); });
    rt.wait();
  }
  const auto first = e.of("first"), second = e.of("second"), below = e.of("below");
  REQUIRE(!first.empty());
  REQUIRE(!second.empty());
  REQUIRE(!below.empty());
  REQUIRE(first[0].accesses.size() == 1);
  REQUIRE(second[0].accesses.size() == 2);
  CHECK(first[0].accesses[0].how == heard_access::kind::write);
  CHECK(first[0].accesses[0].version == 0);
  CHECK(second[0].accesses[0].handle == first[0].accesses[0].handle);
  CHECK(second[0].accesses[0].how == heard_access::kind::read);
  CHECK(second[0].accesses[0].version == 1);
  CHECK(second[0].accesses[1].how == heard_access::kind::add);
  CHECK(first[0].parent == 0);
  CHECK(below[0].parent == second[0].task);
  for (const told& t : e.all) CHECK(t.at.worker == 0);
  for (std::size_t i = 1; i < e.all.size(); ++i) CHECK(e.all[i - 1].at.ns <= e.all[i].at.ns);
}

TEST_CASE("listeners: how a body ended, and why one waited") {
  ear e;
  runtime rt({.workers = 1, .machine = "virtual"});
  rt.submit([] {});
  rt.wait();
  CHECK(e.last_end == heard_end::done);
  CHECK(e.last_wait == heard_wait::all);
  handle<int> h(0);
  rt.submit(write(h), [](int&) { throw error("mine"); });
  CHECK_THROWS_AS(rt.wait(h), error);
  CHECK(e.last_end == heard_end::failed);
  CHECK(e.last_wait == heard_wait::handle);
  rt.submit(write(h), [](int&) { throw error("mine"); });
  rt.submit(read(h), [](int) {});
  CHECK_THROWS_AS(rt.wait(), error);
  CHECK(e.last_end == heard_end::skipped);
}

TEST_CASE("listeners: virtual time is the same with and without") {
  const auto time = [] {
    runtime rt({.workers = 8, .machine = "virtual"});
    all_kinds(rt);
    return rt.now_ns();
  };
  const double without = time();
  ear e;
  CHECK(time() == without);
  CHECK(!e.all.empty());
}

TEST_CASE("listeners: several hear the same; who is dropped hears nothing of later runtimes") {
  ear one;
  {
    ear two;
    runtime rt({.workers = 1, .machine = "virtual"});
    rt.submit(named("x"), [] {});
    rt.wait();
    CHECK(one.of("x").size() == 4);
    CHECK(two.of("x").size() == 4);
    CHECK(one.all.back().at.runtime == two.all.back().at.runtime);
  }
  runtime rt({.workers = 1, .machine = "virtual"});
  rt.submit(named("x"), [] {});
  rt.wait();
  CHECK(one.of("x").size() == 8);
  CHECK_THROWS_WITH_AS(static_cast<void>(add_listener({})),
                       "weft: add_listener: it has no function, so it would never hear anything", error);
  CHECK_THROWS_AS(drop_listener(1u << 30), error);
}

TEST_CASE("listeners: a thread outside submits") {
  ear e;
  {
    runtime rt({.workers = 2, .machine = "host"});
    std::thread([&rt] { rt.submit(named("from outside"), [] {}); }).join();
    rt.wait();
  }
  const auto heard = e.of("from outside");
  REQUIRE(heard.size() == 4);
  CHECK(heard[0].at.worker == -1);
  CHECK(e.disorder() == "");
}

TEST_CASE("listeners: a callback that throws, submits or waits ends the program") {
  static runtime* here = nullptr;
  const auto run = [](const listener& l) {
    return end_of([&l] {
      add_listener(l);
      runtime rt({.workers = 1, .machine = "virtual"});
      here = &rt;
      rt.submit([] {});
      rt.wait();
    });
  };
  const auto thrown = [](void*, const heard&, const heard_task&) noexcept {
    const auto why = [] { throw error("weft: mine"); };
    why();
  };
  const auto submits = [](void*, const heard&, const heard_task&) noexcept { here->submit([] {}); };
  const auto waits = [](void*, const heard&, const heard_task&) noexcept { here->wait(); };
  const ending by_throw = run({.begins = thrown});
  CHECK(WIFSIGNALED(by_throw.status));
  for (const ending& e : {run({.ready = submits}), run({.begins = submits}), run({.begins = waits})}) {
    CHECK(WIFSIGNALED(e.status));
    CHECK(WTERMSIG(e.status) == SIGABRT);
    CHECK(e.said.find("weft: a callback of a listener calls its runtime") != std::string::npos);
  }
  CHECK(WIFEXITED(run({.begins = [](void*, const heard&, const heard_task&) noexcept {}}).status));
}

}  // namespace weft

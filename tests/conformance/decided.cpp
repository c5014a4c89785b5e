// Each rule's counter: a program in which the rule decides, and the same with the rule off, in which it decides
// nothing. In virtual time where that has the rule; the others need real threads: a submitter that blocks, a main
// thread that is away, forks on the inline path, threads that a guest is given. There a round may pass without, so
// there are several.
#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <set>
#include <string>
#include <thread>

#include "fronts.hpp"
#include "sanitized.hpp"
#include "weft/weft.hpp"

namespace {

void busy(double ns) {
  using clock = std::chrono::steady_clock;
  const auto end = clock::now() + std::chrono::duration<double, std::nano>(ns);
  while (clock::now() < end) {
  }
}

// ---- in virtual time

// Tiny ones, behind a chain for which the window has grown: their owner stands still when it is full.
void behind_a_chain(weft::runtime& rt) {
  weft::handle<int> h(0);
  for (int i = 0; i < 3000; ++i) rt.submit(weft::cost(2000), weft::write(h), [](int&) {});
  for (int i = 0; i < 3000; ++i) rt.submit(weft::cost(2000), [] {});
  rt.wait();
  for (int round = 0; round < 4; ++round) {
    for (int i = 0; i < 20'000; ++i) rt.submit(weft::cost(1), [] {});
    rt.wait();
  }
}
template <unsigned Ns> void forks_of_main(weft::runtime&) {
  for (int i = 0; i < 1500; ++i) {
    const double ns = i > 700 ? 3 * Ns : Ns;
    weft::fork_join([ns] { weft::charge(ns); }, [ns] { weft::charge(ns); });
  }
}
// One worker has tiny tasks, and others that they make ready, while the main thread submits.
void tiny_ones_of_one_worker(weft::runtime& rt) {
  std::deque<weft::handle<int>> h(64);
  for (unsigned i = 0; i < 20'000; ++i) {
    rt.submit(weft::pin(1), weft::write(h[i % 64]), [i](int&) { weft::charge(10 + i % 37); });
    for (int k = 0; k < 3; ++k) rt.submit(weft::read(h[i % 64]), [](int) { weft::charge(20); });
  }
  rt.wait();
}
// Each body needs what the one before has stored.
void section(weft::runtime& rt) {
  weft::ordered q(rt, {.executor = "speculative"});
  std::uint64_t sum = 0;
  for (std::uint64_t t = 1; t < 2000; ++t)
    q.at(t, [&sum](weft::ordered_context& x, std::uint64_t) {
      weft::charge(1500);
      x.store(sum, x.load(sum) + 1);
    });
  q.run();
}

// ---- on real threads

void chain(weft::runtime& rt) {
  weft::handle<int> h(0);
  for (int i = 0; i < 12'000; ++i) rt.submit(weft::write(h), [](int&) { busy(10'000); });
  rt.wait();
}
void long_ones(weft::runtime& rt) {
  for (int i = 0; i < 700; ++i) rt.submit([] { busy(2e6); });
  rt.wait();
}
void now_and_then(weft::runtime& rt) {
  for (int i = 0; i < 3000; ++i) {
    rt.submit([] { busy(2000); });
    busy(10'000);
  }
  rt.wait();
}
unsigned tree(unsigned n) {
  if (n < 2) return 1;
  const auto [a, b] = weft::fork_join([n] { return tree(n - 1); }, [n] { return tree(n - 2); });
  return a + b;
}
void small_trees(weft::runtime&) {
  for (int i = 0; i < 200'000; ++i) static_cast<void>(tree(7));
}
void guests_with_threads(weft::runtime& rt) {
  for (int i = 0; i < 20; ++i)
    rt.submit(weft::team(2), [](weft::team_context& t) {
      weft::guest(t, [](weft::guest_context& g) {
        for (int k = 0; k < 2; ++k) g.at_once([](unsigned) { busy(1e5); });
      });
    });
  rt.wait();
}

struct row {
  const char* rule;
  unsigned workers;
  void (*run)(weft::runtime&);
  const char* beside = "";  // other rules
};

constexpr row modelled[] = {
    {"tiny", 6, fronts::tiny_tasks},
    {"coarse", 2, fronts::long_tasks},
    {"fine_after", 2, fronts::tiny_tasks},
    {"waited", 2, fronts::scopes},
    {"worth_the_way", 4, fronts::loops},
    {"asks_anew", 4, behind_a_chain},
    {"give_way", 2, tiny_ones_of_one_worker},
    {"rests_again", 2, tiny_ones_of_one_worker},
    {"one_thief", 4, fronts::long_tasks},
    {"supplier", 4, fronts::mixed_tasks},
    {"partners", 16, fronts::tiny_tasks},
    {"sweep", 16, fronts::tiny_tasks},
    {"together", 16, fronts::wide_accesses},
    {"brisk", 6, fronts::graphs},
    {"hand_out", 2, fronts::mixed_tasks},
    {"turn_change", 2, forks_of_main<300>},
    {"brief_forks", 2, forks_of_main<20'000>},
    {"one_searcher", 6, fronts::tiny_tasks},
    {"wakes", 16, fronts::loops},
    {"barrier_wait", 4, fronts::teams},
    {"width_trials", 2, fronts::learned_teams},
    {"joint", 2, fronts::learned_teams},
    {"joint_trials", 2, fronts::learned_teams},
    {"pipeline_share", 2, fronts::pipelines},
    {"pipeline_again", 2, fronts::pipelines},
    {"pipeline_wait", 2, fronts::pipelines},
    {"pipeline_alone", 2, fronts::pipelines},
    {"ahead", 4, section},
    {"in_vain", 16, section},
};
constexpr row real[] = {
    {"many", 6, now_and_then},  {"fork_trial", 4, small_trees},
    {"first_window", 3, chain}, {"first_patience", 2, long_ones, "first_window=64,"},
    {"idle_grows", 3, chain},   {"guest_wait", 2, guests_with_threads},
};
// The one takes a thief that looks on while the main thread moves, and where other programs have the cores there may be
// none; the other a way that gains, and too little. That they count is in src/sched/place/stealing_test.cpp, and in
// src/sched/balance/turns_test.cpp.
constexpr row rare[] = {{"main_moves", 6, now_and_then}, {"turn_gain", 4, small_trees}};

std::uint64_t decided(const row& r, const char* machine, bool is_on) {
  const std::string rules = std::string(r.beside) + (is_on ? "" : std::string(r.rule) + "=off");
  const std::string set = rules.empty() || rules.back() != ',' ? rules : rules.substr(0, rules.size() - 1);
  weft::runtime rt({.workers = r.workers, .machine = machine, .rules = set.c_str()});
  r.run(rt);
  const weft::rule_list all = weft::scheduler_rules();
  for (std::size_t i = 0; i < all.count; ++i)
    if (all.first[i].name == std::string(r.rule)) return rt.statistics().decided[i];
  return 0;
}

}  // namespace

TEST_CASE("decided: each rule has its program") {
  std::set<std::string> named;
  for (const row& r : modelled) CHECK(named.insert(r.rule).second);
  for (const row& r : real) CHECK(named.insert(r.rule).second);
  for (const row& r : rare) CHECK(named.insert(r.rule).second);
  for (const weft::rule& r : weft::scheduler_rules()) CHECK_MESSAGE(named.erase(r.name) == 1, std::string(r.name));
  CHECK(named.empty());
}

TEST_CASE("decided: in virtual time each rule has decided something, and nothing where it is off" *
          doctest::skip(real_threads_only)) {
  for (const row& r : modelled) {
    CAPTURE(std::string(r.rule));
    CHECK(decided(r, "virtual", true) > 0);
    CHECK(decided(r, "virtual", false) == 0);
  }
}

TEST_CASE("decided: on real threads so have the others") {
  constexpr int rounds_max = 100;
  for (const row& r : real) {
    CAPTURE(std::string(r.rule));
    int rounds = 0;
    while (rounds < rounds_max && decided(r, "host", true) == 0) ++rounds;
    CHECK(rounds < rounds_max);
    CHECK(decided(r, "host", false) == 0);
  }
  for (const row& r : rare) CHECK(decided(r, "host", false) == 0);
}

// What is decided for a thread outside counts as well: it is held up at the window, because the first task of a chain
// does not end before it is.
TEST_CASE("decided: also for threads that are no workers") {
  weft::runtime rt({.workers = 2, .rules = "first_window=64"});
  weft::handle<int> h(0);
  static constexpr int most = 3000;
  std::atomic<int> submitted{0};
  std::thread outside([&] {
    for (; submitted < most; ++submitted)
      rt.submit(weft::write(h), [&submitted](int& runs) {
        if (runs++ != 0) return;
        for (int before = -1; submitted != before && submitted < most;) {
          before = submitted;
          std::this_thread::sleep_for(std::chrono::milliseconds(50));
        }
      });
  });
  outside.join();
  rt.wait();
  const weft::rule_list all = weft::scheduler_rules();
  std::uint64_t held_up = 0;
  for (std::size_t i = 0; i < all.count; ++i)
    if (all.first[i].name == std::string("first_window")) held_up = rt.statistics().decided[i];
  CHECK(held_up > 0);
}

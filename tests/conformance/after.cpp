// Edges without data: random graphs of tasks that say only what they come after, on both machines.
#include "weft/after.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <deque>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "weft/weft.hpp"

namespace {

// Every task notes when it began and ended; each edge must have its end before the other's beginning.
[[nodiscard]] std::string run_graph(weft::runtime& rt, std::uint64_t seed, unsigned tasks) {
  weft::base::random rng(seed);
  std::vector<weft::task_token> tokens(tasks);
  std::vector<std::atomic<unsigned>> began(tasks), ended(tasks);
  std::vector<std::vector<unsigned>> before(tasks);
  std::atomic<unsigned> clock = 1;
  for (unsigned i = 0; i < tasks; ++i) {
    std::vector<weft::task_token*> edges;
    for (unsigned n = rng.below(5); i != 0 && n != 0; --n) {
      before[i].push_back(rng.below(i));
      edges.push_back(&tokens[before[i].back()]);
    }
    rt.submit(weft::after(edges), weft::as(tokens[i]), weft::cost(100.0 * (1 + rng.below(20))), [&, i] {
      if (began[i].exchange(clock++) != 0) throw std::logic_error("a task ran twice");
      ended[i] = clock++;
    });
  }
  rt.wait();
  for (unsigned i = 0; i < tasks; ++i) {
    if (ended[i] == 0) return "task " + std::to_string(i) + " did not run";
    for (const unsigned b : before[i])
      if (ended[b] > began[i])
        return "task " + std::to_string(i) + " began before task " + std::to_string(b) + " ended";
  }
  return "";
}

}  // namespace

TEST_CASE("after: random graphs of edges, each task once and behind what it comes after") {
  for (const char* machine : {"host", "virtual"})
    for (const unsigned workers : {1u, 2u, 3u, 4u, 7u, 16u})
      for (const char* policy : {"local", "central", "near"}) {
        INFO(machine << " " << workers << " " << policy);
        weft::runtime rt({.workers = workers, .machine = machine, .policy = policy});
        for (std::uint64_t seed = 1; seed <= 3; ++seed) CHECK(run_graph(rt, seed, 200) == "");
      }
}

TEST_CASE("after: several tasks are one token, and one that comes later waits for those that are after it") {
  weft::runtime rt({.workers = 4, .machine = "virtual"});
  weft::task_token many;
  std::atomic<int> done = 0;
  int seen = -1;
  for (int i = 0; i < 10; ++i) rt.submit(weft::as(many), [&] { ++done; });
  rt.submit(weft::after(many), [&] { seen = done; });
  rt.submit(weft::as(many), [&] { done += seen; });
  rt.wait(many);
  CHECK(seen == 10);
  CHECK(done == 20);
}

TEST_CASE("after: goes with data, teams and subtasks") {
  weft::runtime rt({.workers = 4, .machine = "virtual"});
  weft::task_token panel, children;
  weft::handle<int> x(1);
  std::atomic<int> members = 0;
  int at_end = 0;
  rt.submit(weft::as(panel), weft::team(3), [&](weft::team_context& t) {
    t.barrier();
    ++members;
  });
  rt.submit(weft::as(children), weft::subtasks(), [&] {
    for (int i = 0; i < 5; ++i) weft::async([&] { ++members; });
  });
  rt.submit(weft::after(panel), weft::after(children), weft::write(x), [&](int& v) { at_end = v = members; });
  CHECK(rt.get(x) == 8);
  CHECK(at_end == 8);
}

TEST_CASE("after: what comes after a task that failed is skipped, and the wait says why") {
  weft::runtime rt({.workers = 2, .machine = "virtual"});
  weft::task_token first;
  bool ran = false;
  rt.submit(weft::as(first), [] { throw std::runtime_error("no file"); });
  rt.submit(weft::after(first), [&] { ran = true; });
  CHECK_THROWS_WITH(rt.wait(), "no file");
  CHECK(!ran);
}

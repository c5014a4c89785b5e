// What every policy must do, on every machine, with any number of workers. A policy gets these tests by being
// registered. They catch: tasks lost or run twice (a victim never named, a queue nobody looks into), order broken by a
// queue's shortcut, waits that starve, work that one busy worker keeps to itself, and anything that makes virtual time
// depend on more than program, options and seed.
#include <algorithm>

#include "programs.hpp"
#include "quick.hpp"
#include "replay.hpp"
#include "sanitized.hpp"

using namespace reference;

namespace {

struct machine_case {
  const char* machine;
  std::vector<unsigned> workers;
};
const std::vector<unsigned> crews =
    sanitized || hurried ? std::vector{1u, 2u, 4u, 7u} : std::vector{1u, 2u, 3u, 4u, 7u, 16u};
const machine_case machines[] = {{"virtual", crews}, {"host", crews}};

std::string name_of(const weft::options& o) {
  return "WEFT_MACHINE=" + std::string(o.machine) + " WEFT_WORKERS=" + std::to_string(o.workers) +
         " WEFT_POLICY=" + o.policy + " WEFT_SEED=" + std::to_string(o.seed);
}

// Calls check(runtime) on a fresh runtime for every policy and number of workers of one machine.
template <class Check> void on_all(const machine_case& m, Check check) {
  if (real_threads_only && m.machine != std::string("host")) return;
  for (const weft::choice& policy : weft::policies())
    for (unsigned workers : m.workers) {
      const weft::options o{.workers = workers, .machine = m.machine, .policy = policy.name};
      INFO(name_of(o));
      const deadline limit("build/dev/weft_conformance -tc=\"policy*\", on " + name_of(o));
      weft::runtime rt(o);
      const std::string wrong = check(rt);
      CHECK(wrong == "");
    }
}
template <class Check> void on_all(Check check) {
  for (const machine_case& m : machines) on_all(m, check);
}

// Everything at once, for the tests that compare runs.
std::string mixture(weft::runtime& rt) {
  std::string wrong = run_and_judge(rt, cholesky(5));
  if (wrong.empty()) wrong = run_and_judge(rt, many_adds(40));
  if (wrong.empty()) wrong = nested(rt, 3, 3);
  if (wrong.empty()) wrong = waits_for_children(rt, 6);
  if (wrong.empty()) wrong = waits_for_handles(rt, 10);
  return wrong;
}

struct trace {
  double now_ns;
  weft::runtime::counts counts;
  std::string wrong;
  bool operator==(const trace& o) const {
    return now_ns == o.now_ns && counts.tasks == o.counts.tasks && counts.steals == o.counts.steals &&
           counts.sleeps == o.counts.sleeps && counts.suspends == o.counts.suspends && wrong == o.wrong;
  }
};

trace trace_of(const weft::options& o) {
  weft::runtime rt(o);
  std::string wrong = mixture(rt);
  return {rt.now_ns(), rt.statistics(), wrong};
}

// A task that makes work for ever, until `enough` or, as a bound for a scheduler that is not fair, for long.
void generate(weft::runtime& rt, std::atomic<bool>& enough, std::atomic<int>& left) {
  if (enough || --left < 0) return;
  rt.submit([&rt, &enough, &left] { generate(rt, enough, left); });
  rt.submit([] {});
}

}  // namespace

TEST_CASE("policy: independent tasks") {
  on_all([](weft::runtime& rt) { return independent(rt, 3000); });
}

TEST_CASE("policy: chain and diamond") {
  on_all([](weft::runtime& rt) {
    const std::string wrong = run_and_judge(rt, chain(200));
    return wrong.empty() ? run_and_judge(rt, diamond(60)) : wrong;
  });
}

TEST_CASE("policy: stencil") {
  on_all([](weft::runtime& rt) { return run_and_judge(rt, stencil(16, 12)); });
}

TEST_CASE("policy: Cholesky's graph") {
  on_all([](weft::runtime& rt) { return run_and_judge(rt, cholesky(8)); });
}

TEST_CASE("policy: many adds") {
  on_all([](weft::runtime& rt) { return run_and_judge(rt, many_adds(250)); });
}

TEST_CASE("policy: tasks in tasks") {
  on_all([](weft::runtime& rt) {
    const std::string wrong = nested(rt, 6, 3);
    return wrong.empty() ? nested(rt, 200, 1) : wrong;
  });
}

TEST_CASE("policy: waits in tasks") {
  on_all([](weft::runtime& rt) {
    const std::string wrong = waits_for_children(rt, 9);
    return wrong.empty() ? waits_for_handles(rt, 60) : wrong;
  });
}

TEST_CASE("policy: more workers than any program needs") {
  on_all({"virtual", {64}}, [](weft::runtime& rt) {
    const std::string wrong = run_and_judge(rt, cholesky(4));
    return wrong.empty() ? waits_for_children(rt, 5) : wrong;
  });
  // Hundreds of modelled workers that search cost real seconds: one small program.
  on_all({"virtual", {address_sanitizer || hurried ? 128u : 512u}},
         [](weft::runtime& rt) { return run_and_judge(rt, many_adds(6)); });
}

TEST_CASE("policy: everything in one runtime, one after the other") {
  on_all([](weft::runtime& rt) { return mixture(rt); });
}

// Ready tasks must not starve behind a worker that always has something newer: with a second worker somebody robs the
// old ones. (One worker alone takes its newest first; there only tasks from other threads are promised a turn.)
TEST_CASE("policy: a ready task runs although another one makes work for ever") {
  auto check = [](weft::runtime& rt) -> std::string {
    std::atomic<bool> enough{false};
    std::atomic<int> left{2'000'000};
    rt.submit([&] { enough = true; });
    rt.submit([&] { generate(rt, enough, left); });
    rt.wait();
    if (!enough) return "the old task never ran";
    return left < 0 ? "the old task ran only when nothing else was left" : "";
  };
  on_all({"virtual", {2, 4, 16}}, check);
  on_all({"host", {2, 4}}, check);
}

TEST_CASE("policy: same seed, same virtual time to the bit" * doctest::skip(real_threads_only)) {
  for (const weft::choice& policy : weft::policies())
    for (unsigned workers : brief ? std::vector{2u, 7u} : std::vector{1u, 2u, 3u, 7u, 16u, 64u})
      for (const char* schedule : {"time", "random"}) {
        const weft::options o{.workers = workers,
                              .machine = "virtual",
                              .policy = policy.name,
                              .seed = 5,
                              .model = {.schedule = schedule}};
        const trace first = trace_of(o);
        const trace second = trace_of(o);
        INFO(name_of(o) << " WEFT_SCHEDULE=" << std::string(schedule));
        CHECK(first.wrong == "");
        CHECK(first == second);
      }
}

TEST_CASE("policy: other seeds give other schedules and the same results" * doctest::skip(real_threads_only)) {
  for (const weft::choice& policy : weft::policies()) {
    std::vector<double> times;
    for (std::uint64_t seed = 1; seed <= (sanitized ? 4 : 8); ++seed) {
      const trace t = trace_of(
          {.workers = 4, .machine = "virtual", .policy = policy.name, .seed = seed, .model = {.schedule = "random"}});
      INFO(policy.name << ", seed " << seed);
      CHECK(t.wrong == "");
      times.push_back(t.now_ns);
    }
    std::sort(times.begin(), times.end());
    CHECK(std::unique(times.begin(), times.end()) - times.begin() > 1);  // else "random" draws nothing
  }
}

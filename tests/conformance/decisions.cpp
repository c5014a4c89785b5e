// What the scheduler decides, held still. A run on a modelled machine depends on nothing but the program and its
// options, so a run that takes another time, steals or sleeps another number of times, or leaves another trace is one
// in which something was decided otherwise: a hint that is not followed, a worker that was not woken, a number that is
// one more. Values cannot show that. decisions.expect has a line for each run; WEFT_TEST_UPDATE=1 writes it, to be
// reviewed like code. Cache lines are modelled only where a run is compared with itself.
#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "composed.hpp"
#include "expected.hpp"
#include "fronts.hpp"
#include "perform.hpp"
#include "replay.hpp"
#include "trace_file.hpp"
#include "weft/weft.hpp"

namespace {

// ---- what is compared

class digest {
 public:
  void add(const std::string& text) {
    for (const char c : text) sum_ = (sum_ ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  }
  [[nodiscard]] std::string text() const {
    std::ostringstream out;
    out << std::hex << ((sum_ ^ (sum_ >> 32)) & 0xffffffffu);
    return out.str();
  }

 private:
  std::uint64_t sum_ = 0xcbf29ce484222325u;
};

// Everything that a trace tells of what was decided, and none of what it is called or when it was written. Columns are
// named: one that is added is no other decision. Handles are numbered for all runtimes of a process.
constexpr const char* told[] = {
    "SELECT parent, submitter, submitted_ns, worker, started_ns, finished_ns, outcome, priority, pin, subtasks, own_ns,"
    " near, at_near, call, rank FROM tasks ORDER BY id",
    "SELECT task, width, aim, entered_ns, left_ns, busy_ns FROM teams ORDER BY task",
    "SELECT task, local_bytes, remote_bytes FROM located ORDER BY task",
    "SELECT task, of, began_ns, own_ns FROM strands ORDER BY id",
    "SELECT strand, position, step, own_ps, CASE WHEN step LIKE '%handle' THEN NULL ELSE which END FROM steps ORDER BY "
    "strand, position",
    "SELECT strand, worker, from_ns, to_ns FROM stays ORDER BY strand, from_ns",
    "SELECT task, why, (SELECT count(*) FROM handles h WHERE h.id < handle), from_worker, from_ns, to_worker, to_ns, "
    "own_ns FROM waits ORDER BY task, from_ns",
    "SELECT task, why, (SELECT count(*) FROM handles h WHERE h.id < handle), worker, time_ns, own_ns FROM passed ORDER "
    "BY task, time_ns, why",
    "SELECT task, position, (SELECT count(*) FROM handles h WHERE h.id < handle), kind, version, next_version FROM "
    "accesses ORDER BY task, position",
    "SELECT time_ns, thief, victim, task, what FROM steals ORDER BY time_ns, thief",
    "SELECT worker, from_ns, to_ns FROM sleeps ORDER BY worker, from_ns",
    "SELECT name, bytes, units FROM handles ORDER BY id",
    "SELECT key, value FROM meta WHERE key IN ('machine', 'policy', 'creation', 'seed', 'window', 'workers', 'bound',"
    " 'forks', 'forks_elsewhere', 'pipelines', 'complete') ORDER BY key",
};

using program = std::function<void(weft::runtime&)>;

// One line: when it was over, what was counted, and the digest of the trace, if there is one.
std::string outcome_of(weft::options o, const program& run, bool traced, const char* mode = "coarse") {
  const trace_place place;
  const std::string path = place.path();
  o.model.mode = mode;
  if (traced) o.trace = path.c_str();
  std::ostringstream out;
  {
    weft::runtime rt(o);
    run(rt);
    const auto c = rt.statistics();
    out << static_cast<std::uint64_t>(rt.now_ns() * 1000) << " ps, tasks " << c.tasks << ", stolen " << c.steals
        << ", sleeps " << c.sleeps << ", suspends " << c.suspends << ", turns " << c.events << ", calls " << c.calls
        << ", pushed " << c.pushed << ", refused " << c.refused << ", bytes " << c.local_bytes << " and "
        << c.remote_bytes;
  }
  if (traced) {
    const trace_file t(path);
    digest d;
    for (const char* sql : told) d.add(t.text(sql));
    out << ", trace " << d.text();
  }
  return out.str();
}

// A line of the order without the numbers that are of the whole process: of runtimes, and of handles, which are
// numbered as they come.
class without_numbers {
 public:
  [[nodiscard]] std::string of(const std::string& line) {
    std::istringstream in(line);
    std::string out;
    unsigned n = 0;
    for (std::string field; std::getline(in, field, '\t'); ++n) {
      if (n == 1 && field.find('/') != std::string::npos) field.erase(0, field.find('/'));
      if (n > 2 && n % 3 == 1) field = std::to_string(handles_.try_emplace(field, handles_.size()).first->second);
      out += field + "\t";
    }
    return out;
  }

 private:
  std::map<std::string, std::size_t> handles_;
};

// The digest of the steps that a run writes down.
std::string order_of(weft::options o, const program& run) {
  const trace_place place("order");
  ::setenv("WEFT_ORDER_LOG", place.path().c_str(), 1);
  {
    weft::runtime rt(o);
    run(rt);
  }
  ::unsetenv("WEFT_ORDER_LOG");
  std::ifstream file(place.path());
  digest d;
  without_numbers shown;
  unsigned lines = 0;
  for (std::string line; std::getline(file, line); ++lines) d.add(shown.of(line));
  return std::to_string(lines) + " steps, " + d.text();
}

}  // namespace

TEST_CASE("decisions: each front, with few workers and many, both creations" * doctest::skip(real_threads_only)) {
  expected all("tests/conformance/decisions.expect", "front, ");
  for (const auto& p : fronts::programs)
    for (const unsigned workers : {1u, 2u, 7u, 20u})
      for (const char* creation : {"inline", "decoupled"}) {
        if (creation[0] == 'd' && workers != 2 && workers != 7) continue;
        const weft::options o{.workers = workers, .machine = "virtual", .creation = creation};
        const std::string what = std::string(p.name) + ", " + std::to_string(workers) + ", " + creation;
        const deadline limit(what);
        all.compare(what, outcome_of(o, p.run, workers != 2));
      }
}

TEST_CASE("decisions: each front under each policy, on a machine with several nodes" *
          doctest::skip(real_threads_only)) {
  expected all("tests/conformance/decisions.expect", "policy, ");
  for (const auto& p : fronts::programs)
    for (const weft::choice& policy : weft::policies()) {
      const weft::options o{.workers = 16, .machine = "opteron-6220-interlagos-16", .policy = policy.name};
      const std::string what = std::string(p.name) + ", " + policy.name;
      const deadline limit(what);
      all.compare(what, outcome_of(o, p.run, false));
    }
}

// Where a set of workers is more than one word, and thieves do not look at everybody.
TEST_CASE("decisions: each front with very many workers" * doctest::skip(real_threads_only)) {
  expected all("tests/conformance/decisions.expect", "many, ");
  for (const auto& p : fronts::programs) {
    const weft::options o{.workers = 150, .machine = "virtual"};
    const deadline limit(p.name);
    all.compare(p.name, outcome_of(o, p.run, false));
  }
}

TEST_CASE("decisions: each front, with all that a trace tells, on a machine with several nodes" *
          doctest::skip(real_threads_only)) {
  expected all("tests/conformance/decisions.expect", "nodes, ");
  for (const auto& p : fronts::programs) {
    const weft::options o{.workers = 16, .machine = "opteron-6220-interlagos-16"};
    const deadline limit(p.name);
    all.compare(p.name, outcome_of(o, p.run, true));
  }
}

TEST_CASE("decisions: the order of each front, as it is written down and as it is drawn" *
          doctest::skip(real_threads_only)) {
  expected all("tests/conformance/decisions.expect", "order, ");
  for (const auto& p : fronts::programs)
    for (const char* schedule : {"time", "tasks:3:300"}) {
      const weft::options o{.workers = 3, .machine = "virtual", .model = {.schedule = schedule, .mode = "coarse"}};
      const std::string what = std::string(p.name) + ", " + schedule;
      const deadline limit(what);
      all.compare(what, order_of(o, p.run));
    }
}

TEST_CASE("decisions: random programs of everything" * doctest::skip(real_threads_only)) {
  expected all("tests/conformance/decisions.expect", "random, ");
  for (unsigned seed = 1; seed <= 24; ++seed) {
    static constexpr unsigned sizes[] = {2, 3, 4, 8};
    const weft::options o{.workers = sizes[seed % 4],
                          .machine = seed % 3 == 0 ? "epyc-7551-32" : "virtual",
                          .seed = seed,
                          .window = seed % 5 == 0 ? 64u : 4096u,
                          .search_us = seed % 4 == 1 ? 0u : 25u,
                          .creation = seed % 3 == 1 ? "decoupled" : "inline"};
    composed::generator make(seed, {o.workers, true});
    std::vector<std::unique_ptr<composed::block>> blocks;
    const std::string what = "seed " + std::to_string(seed);
    const deadline limit(what);
    all.compare(what, outcome_of(
                          o,
                          [&](weft::runtime& rt) {
                            composed::performer run(rt, true);
                            for (unsigned i = 0; i < 3; ++i) {
                              composed::block& here = *blocks.emplace_back(make.segment());
                              static_cast<void>(composed::expectation::expect(here, true));
                              run.perform(here, false);
                              static_cast<void>(composed::performer::caught([&] { rt.wait(); }));
                            }
                          },
                          true));
  }
}

// Where the allocator puts something is its own affair, and another each time.
TEST_CASE("decisions: what a process did before has no say in virtual time" * doctest::skip(real_threads_only)) {
  std::vector<std::unique_ptr<char[]>> in_the_way;
  const auto fill = [&in_the_way](unsigned n) {
    for (unsigned i = 0; i < n; ++i) {
      in_the_way.push_back(std::make_unique<char[]>(16 + i * 48 % 4000));
      if (i % 3 == 0) in_the_way[i / 2].reset();
    }
  };
  for (const char* mode : {"coarse", "fine"})
    for (const auto& p : fronts::programs) {
      const std::string what = std::string(p.name) + ", " + mode;
      const deadline limit(what);
      CAPTURE(what);
      const weft::options o{.workers = 3, .machine = "virtual"};
      const std::string first = outcome_of(o, p.run, true, mode);
      for (const unsigned n : {1u, 77u, 1000u}) {
        fill(n);
        CHECK(outcome_of(o, p.run, true, mode) == first);
      }
      in_the_way.clear();
    }
}

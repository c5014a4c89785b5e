// Work-pushing: tasks go where their data are, on machines with one memory node to 24, with one worker to 192; what is
// first touched has a home from then on; and the same seed gives the same run.
#include <doctest/doctest.h>

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "replay.hpp"
#include "weft/weft.hpp"

namespace {

constexpr const char* pushers[] = {"push_input", "push_output", "push_weighted", "push_random"};
constexpr std::uint64_t block_bytes = 128 << 10;

// A ring of blocks, relaxed a few times; block i lies at node i % nodes, or with who touches it first.
struct ring {
  std::vector<int> values[2];
  std::deque<weft::handle<int&>> blocks[2];
  ring(std::size_t n, unsigned nodes) {
    for (auto k : {0, 1}) {
      values[k].assign(n, 1);
      for (std::size_t i = 0; i < n; ++i)
        blocks[k]
            .emplace_back(values[k][i])
            .bytes(block_bytes, nodes == 0 ? weft::memory_placement::first_touch()
                                           : weft::memory_placement::on_node(static_cast<std::uint32_t>(i % nodes)));
    }
  }
  void relax(weft::runtime& rt, unsigned steps) {
    const std::size_t n = values[0].size();
    for (unsigned s = 0; s < steps; ++s)
      for (std::size_t i = 0; i < n; ++i)
        rt.submit(weft::read(blocks[s % 2][i]), weft::read(blocks[s % 2][(i + 1) % n]),
                  weft::write(blocks[1 - s % 2][i]), weft::cost(2000),
                  [](const int& here, const int& right, int& to) { to = (here + right) % 1009; });
    rt.wait();
  }
  [[nodiscard]] bool is_right(unsigned steps) const {
    int wanted = 1;
    for (unsigned s = 0; s < steps; ++s) wanted = (wanted + wanted) % 1009;
    for (const int x : values[steps % 2])
      if (x != wanted) return false;
    return true;
  }
};

struct outcome {
  double ns;
  weft::run_counts counts;
  friend bool operator==(const outcome& a, const outcome& b) {
    return a.ns == b.ns && a.counts.steals == b.counts.steals && a.counts.pushed == b.counts.pushed &&
           a.counts.refused == b.counts.refused && a.counts.local_bytes == b.counts.local_bytes &&
           a.counts.remote_bytes == b.counts.remote_bytes && a.counts.transfers == b.counts.transfers;
  }
  [[nodiscard]] double local() const {
    return static_cast<double>(counts.local_bytes) / static_cast<double>(counts.local_bytes + counts.remote_bytes);
  }
};
outcome run(const weft::options& o, std::size_t blocks, unsigned nodes, unsigned steps = 6) {
  weft::runtime rt(o);
  ring r(blocks, nodes);
  r.relax(rt, steps);
  CHECK(r.is_right(steps));
  return {rt.now_ns(), rt.statistics()};
}

}  // namespace

TEST_CASE("pushing: the same seed gives the same run, and every task runs once, on every machine and in every order") {
  for (const char* policy : pushers)
    for (const char* machine : {"virtual", "epyc-7551-32", "opteron-6282-64", "sgi-uv2000-192"})
      for (const unsigned workers : {1u, 2u, 7u, 32u}) {
        if (sanitized && workers == 32) continue;
        INFO("WEFT_POLICY=" << std::string(policy) << " WEFT_MACHINE=" << std::string(machine)
                            << " WEFT_WORKERS=" << workers);
        const weft::options o{.workers = workers, .machine = machine, .policy = policy, .seed = 7};
        const outcome first = run(o, 64, 8);
        CHECK(first == run(o, 64, 8));
        if (workers == 1 || std::string(machine) == "virtual") CHECK(first.counts.pushed == 0);
      }
  for (const char* policy : pushers)
    for (std::uint64_t seed = 1; seed <= (sanitized ? 3u : 20u); ++seed) {
      INFO("WEFT_POLICY=" << std::string(policy)
                          << " WEFT_MACHINE=epyc-7551-32 WEFT_SCHEDULE=random WEFT_SEED=" << seed);
      const weft::options o{.workers = static_cast<unsigned>(2 + seed % 31),
                            .machine = "epyc-7551-32",
                            .policy = policy,
                            .seed = seed,
                            .model = {.schedule = "random"}};
      static_cast<void>(run(o, 40, 4));
    }
}

TEST_CASE("pushing: tasks run where their data were laid, all over a machine of 24 nodes") {
  const weft::options local{.machine = "sgi-uv2000-192", .policy = "local"};
  const weft::options pushed{.machine = "sgi-uv2000-192", .policy = "push_weighted"};
  const outcome a = run(local, 384, 24, 4), b = run(pushed, 384, 24, 4);
  CHECK(a.local() < 0.2);
  CHECK(b.local() > 2 * a.local());
  CHECK(b.counts.pushed > 384);
}

TEST_CASE("pushing: data that nobody laid have a home once they were touched, and tasks find it") {
  const outcome stolen = run({.machine = "opteron-6282-64", .policy = "near"}, 256, 0, 12);
  const outcome pushed = run({.machine = "opteron-6282-64", .policy = "push_input"}, 256, 0, 12);
  CHECK(pushed.counts.pushed > 0);
  CHECK(pushed.local() > 1.5 * stolen.local());
}

TEST_CASE("pushing: a home that one machine has found does not lay the data on another") {
  ring r(8, 0);
  {
    weft::runtime rt({.machine = "sgi-uv2000-192", .policy = "push_input"});
    for (auto k : {0, 1})
      for (auto& h : r.blocks[k]) rt.submit(weft::write(h), weft::pin(100), [](int&) {});
    rt.wait();
  }
  weft::runtime rt({.workers = 1, .machine = "epyc-7551-32", .policy = "local"});
  r.relax(rt, 1);
  CHECK(rt.statistics().remote_bytes == 0);  // worker 0 touches it first
}

// Graphs under load: random graphs run again and again, by the main thread, from tasks and by threads outside, among
// other tasks on the same handles, with failures now and then. Catches a node that is called twice in a run, not at
// all, or before one that it waits for, and a run that begins before the one before is over.
#include <atomic>
#include <memory>
#include <random>
#include <stdexcept>
#include <thread>
#include <vector>

#include "stress.hpp"
#include "weft/weft.hpp"

namespace {

// The versions that a cell has gone through; a task that finds another than it should is wrong.
struct cell {
  std::uint64_t writes = 0;
  std::atomic<int> readers{0};
};

struct net {
  explicit net(std::uint64_t seed, unsigned cells) : draw(seed), handles(cells) {}

  std::mt19937_64 draw;
  std::vector<weft::handle<cell>> handles;
  std::atomic<std::uint64_t> wrong{0}, calls{0};
  std::unique_ptr<weft::graph> g;

  // Each node writes one cell and reads two, and knows how often the cell that it writes was written before in its run.
  void record(weft::runtime& rt, unsigned nodes) {
    std::vector<std::uint64_t> written(handles.size());
    g = std::make_unique<weft::graph>(rt, [&](weft::recorder& r) {
      for (unsigned i = 0; i < nodes; ++i) {
        const std::size_t at = draw() % handles.size(), one = (at + 1 + draw() % (handles.size() - 2)) % handles.size();
        const bool spawns = draw() % 16 == 0;
        const std::uint64_t before = written[at]++;
        r.submit(weft::read(handles[one]), weft::write(handles[at]),
                 [this, &rt, before, spawns](const cell& x, cell& y) {
                   auto& readers = const_cast<cell&>(x).readers;
                   ++readers;
                   if (y.readers != 0 || y.writes % per_run(y) != before) ++wrong;
                   ++y.writes;
                   --readers;
                   ++calls;
                   if (spawns) rt.submit([this] { ++calls; });
                 });
        spawned += spawns ? 1 : 0;
      }
    });
    for (std::size_t i = 0; i < handles.size(); ++i) all.emplace_back(&handles[i].unguarded(), written[i]);
  }
  [[nodiscard]] std::uint64_t per_run(const cell& c) const {
    for (const auto& [x, n] : all)
      if (x == &c) return n;
    return 1;
  }
  unsigned spawned = 0;
  std::vector<std::pair<const cell*, std::uint64_t>> all;
};

void run_all(unsigned workers, std::uint64_t seed) {
  begin("graphs: " + std::to_string(workers) + " workers, seed " + std::to_string(seed));
  weft::runtime rt({.workers = workers, .seed = seed});
  constexpr unsigned nodes = 60;
  net a(seed, 7), b(seed + 1, 12);
  a.record(rt, nodes);
  b.record(rt, nodes);
  const unsigned runs = amount(1000);
  std::thread outside([&] {
    for (unsigned i = 0; i < runs; ++i) i % 2 == 0 ? a.g->run() : b.g->submit();
  });
  for (unsigned i = 0; i < runs; ++i) switch (i % 4) {
    case 0: a.g->run(); break;
    case 1: rt.submit(*b.g); break;
    case 2: rt.submit([&] { a.g->run(); }); break;
    default:
      for (auto& h : b.handles)
        rt.submit(weft::read(h), [&b](const cell& x) { b.wrong += x.writes % b.per_run(x) == 0 ? 0 : 1; });
    }
  outside.join();
  rt.wait();
  const std::uint64_t of_a = runs / 2 + runs % 2 + (runs + 3) / 4 + (runs + 1) / 4, of_b = runs / 2 + (runs + 2) / 4;
  require(a.wrong == 0 && b.wrong == 0, "a node found what it should not");
  require(a.g->runs() == of_a && b.g->runs() == of_b, "runs are missing");
  require(a.calls == of_a * (nodes + a.spawned) && b.calls == of_b * (nodes + b.spawned), "nodes are missing");
}

void fail_now_and_then(unsigned workers) {
  begin("graphs: failures, " + std::to_string(workers) + " workers");
  weft::runtime rt({.workers = workers});
  weft::handle<int> x{0}, y{0};
  std::atomic<unsigned> turn{0}, thrown{0}, behind{0};
  weft::graph g(rt, [&](weft::recorder& r) {
    for (int i = 0; i < 10; ++i) r.submit(weft::read(y), [](int) {});
    r.submit(weft::write(x), [&](int&) {
      if (++turn % 3 == 0) throw std::runtime_error("now");
    });
    r.submit(weft::read(x), weft::write(y), [&](int, int&) { ++behind; });
  });
  const unsigned runs = amount(3000);
  for (unsigned i = 0; i < runs; ++i) try {
      g.run();
    } catch (const std::runtime_error&) {
      ++thrown;
    }
  require(thrown == runs / 3 && behind == runs - thrown, "a failure is lost, or what uses it runs");
}

}  // namespace

int main() {
  for (const unsigned workers : {1u, 2u, 3u, 4u, 7u, 16u}) {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) run_all(workers, seed);
    fail_now_and_then(workers);
  }
}

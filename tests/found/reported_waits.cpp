// Reports of hangs in waits, written for Weft: of thread pools that run out of threads when tasks wait for tasks, and
// of schedulers that run a stranger on top of a waiting task. Each ends here, with one worker too.
//   nested    github.com/taskflow/taskflow/issues/575, github.com/bshoshany/thread-pool/issues/95,
//             github.com/TileDB-Inc/TileDB/pull/1757: a task waits for its own, to any depth
//   until     github.com/taskflow/taskflow/issues/756: tasks wait for what tasks behind them promise, more than workers
//   again     github.com/taskflow/taskflow/issues/435: two tasks run the same graph and wait for it
//   late      github.com/uxlfoundation/oneTBB/issues/2156: one slot, and what the wait is for comes during the wait
//   locked    github.com/rayon-rs/rayon/issues/592, /1174, github.com/TileDB-Inc/TileDB/pull/1994,
//             github.com/pola-rs/polars/pull/22159: parallel work by who holds what its strangers want, too
//   shared    github.com/rayon-rs/rayon/issues/1205: the same of readers, with a writer queued between them
//   bridge    github.com/rayon-rs/rayon/issues/1142, /997: a serial source that is parallel inside
//   stages    github.com/taskflow/taskflow/issues/402: tasks inside of a stage of a pipeline
//   limit     github.com/uxlfoundation/oneTBB/issues/634: a limit of one item in flight that is given back each time
//   deep      github.com/rayon-rs/rayon/issues/854, github.com/autonomys/subspace/issues/3698: many tasks with loops in
//             them, whose joins stole each other until the stack was full
// Run: nested 60
// Run: until 30
// Run: again 20
// Run: late 30
// Run: locked 30
// Run: shared 20
// Run: bridge 300
// Run: stages 500
// Run: limit 2000
// Run: deep 400
// Long: nested 1000
// Long: until 2000
// Long: again 1000
// Long: late 2000
// Long: locked 2000
// Long: shared 1000
// Long: bridge 20000
// Long: stages 50000
// Long: limit 50000
// Long: deep 10000
// Machines: host virtual random
// Workers: 1 2 4
#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>
#include <weft/weft.hpp>

#include "found.hpp"

namespace {

long down(weft::runtime& rt, long depth) {
  if (depth == 0) return 1;
  long left = 0, right = 0;
  rt.submit([&] { left = down(rt, depth - 1); });
  rt.submit([&] { right = 1; });
  rt.wait();
  return left + right;
}

void nested(weft::runtime& rt, long n) {
  long sum = 0;
  rt.submit([&] { sum = down(rt, n); });
  rt.wait();
  require(sum == n + 1, in_words("a depth of ", sum, ", not ", n + 1));
}

void until(weft::runtime& rt, long n) {
  std::deque<weft::event> kept(static_cast<std::size_t>(n + 1));
  std::atomic<long> went_on{0};
  for (long i = n; i-- > 0;)
    rt.submit([&, i] {
      kept[static_cast<std::size_t>(i)].wait();
      ++went_on;
      rt.submit([&kept, i] { kept[static_cast<std::size_t>(i + 1)].fulfil(); });
    });
  rt.submit([&] { kept[0].fulfil(); });
  rt.wait();
  require(went_on == n && kept.back().fulfilled(), in_words(went_on.load(), " of ", n, " promises were kept"));
}

void again(weft::runtime& rt, long n) {
  weft::handle<long> counter{0};
  weft::graph others(rt, [&](weft::recorder& r) {
    r.submit(weft::write(counter), [](long& x) { ++x; });
    r.submit(weft::write(counter), [](long& x) { ++x; });
  });
  for (long i = 0; i < n; ++i) {
    rt.submit([&] { others.run(); });
    rt.submit([&] { others.run(); });
  }
  rt.wait();
  require(rt.get(counter) == 4 * n, in_words(rt.get(counter), ", not ", 4 * n));
}

void late(weft::runtime& rt, long n) {
  for (long i = 0; i < n; ++i) {
    weft::event arrived;
    long order = 0;
    rt.submit([&] {
      rt.submit([&] { rt.submit([&] { arrived.fulfil(); }); });
      arrived.wait();
      order = 1;
    });
    rt.wait();
    require(order == 1, "the task that waited did not go on");
  }
}

void locked(weft::runtime& rt, long n) {
  weft::handle<std::vector<long>> guarded{std::vector<long>(64)};
  for (long i = 0; i < n; ++i)
    rt.submit(weft::write(guarded), [&rt](std::vector<long>& all) {
      weft::for_each(std::size_t{0}, all.size(), [&](std::size_t k) { ++all[k]; });
      for (long& x : all) rt.submit([&x] { ++x; });
      rt.wait();
    });
  rt.wait();
  for (const long x : rt.get(guarded)) require(x == 2 * n, in_words(x, ", not ", 2 * n));
}

void shared(weft::runtime& rt, long n) {
  weft::handle<long> data{0};
  std::atomic<long> wrong{0}, parts{0};
  for (long i = 0; i < n; ++i) {
    for (int reader = 0; reader < 4; ++reader)
      rt.submit(weft::read(data), [&, i](const long& x) {
        weft::for_each(0, 32, [&](int) {
          wrong += x != i;
          ++parts;
        });
      });
    rt.submit(weft::write(data), [](long& x) { weft::finish([&x] { weft::async([&x] { ++x; }); }); });
  }
  rt.wait();
  require(wrong == 0 && parts == n * 128,
          in_words(wrong.load(), " readers saw another number, ", parts.load(), " parts"));
}

void bridge(weft::runtime& rt, long n) {
  long made = 0;
  std::atomic<long> sum{0};
  rt.submit([&] {
    weft::pipeline(weft::serial([&]() -> std::optional<long> {
                     if (made == n) return std::nullopt;
                     const long parts = weft::reduce(0, 16, 0L, std::plus<>(), [](int) { return 1L; });
                     return ++made + parts - 16;
                   }),
                   weft::parallel([&](long x) {
                     weft::fork_join([&] { sum += x; }, [&] { sum += x; });
                     return x;
                   }));
  });
  rt.wait();
  require(sum == n * (n + 1), in_words(sum.load(), ", not ", n * (n + 1)));
}

void stages(weft::runtime& rt, long n) {
  long made = 0, through = 0;
  std::atomic<long> inside{0};
  rt.submit([&] {
    weft::pipeline(
        weft::serial([&]() -> std::optional<long> { return made == n ? std::nullopt : std::optional<long>(made++); }),
        weft::parallel([&](long x) {
          weft::finish([&] {
            for (int k = 0; k < 2; ++k) weft::async([&] { ++inside; });
          });
          return x;
        }),
        weft::serial([&](long x) { require(x == through++, "items out of order"); }));
  });
  rt.wait();
  require(through == n && inside == 2 * n, in_words(through, " items, ", inside.load(), " tasks inside"));
}

void limit(weft::runtime& rt, long n) {
  long made = 0, through = 0;
  std::atomic<int> in_flight{0};
  rt.submit([&] {
    weft::pipeline(weft::in_flight(1), weft::serial([&]() -> std::optional<long> {
                     if (made == n) return std::nullopt;
                     require(++in_flight == 1, "more than one item in flight");
                     return made++;
                   }),
                   weft::parallel([](long x) { return x; }), weft::serial([&](long x) {
                     require(x == through++, "items out of order");
                     --in_flight;
                   }));
  });
  rt.wait();
  require(through == n, in_words(through, " of ", n));
}

void deep(weft::runtime& rt, long n) {
  std::atomic<long> sum{0};
  weft::finish([&] {
    for (long block = 0; block < n; ++block)
      rt.submit([&, block] { weft::for_each(0L, block, [&](long) { sum.fetch_add(1, std::memory_order_relaxed); }); });
  });
  rt.wait();
  require(sum == n * (n - 1) / 2, in_words(sum.load(), ", not ", n * (n - 1) / 2));
}

}  // namespace

int main(int argc, char** argv) {
  const std::map<std::string, void (*)(weft::runtime&, long)> all{
      {"nested", nested}, {"until", until},   {"again", again},   {"late", late},   {"locked", locked},
      {"shared", shared}, {"bridge", bridge}, {"stages", stages}, {"limit", limit}, {"deep", deep}};
  weft::runtime rt;
  try {
    all.at(word(argc, argv, 1, "nested"))(rt, amount(argument(argc, argv, 2, 20)));
  } catch (const weft::error& e) {
    require(false, e.what());
  }
}

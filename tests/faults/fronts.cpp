// One small program for each front. Each computes what the tasks whose submission was not refused must come to: a task
// that is lost, or runs twice, shows in a number. Bodies that submit catch what they are refused, so that no body fails
// but those that are meant to.
#include <array>
#include <deque>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <unistd.h>

#include "inject.hpp"
#include "ledger.hpp"

namespace faults {

namespace {

// A sum that every machine may add to.
using counter = std::atomic<long>;

// Whether what a handle came to is `right`: told by a wait, or else seen where nothing has failed.
template <class H> void check(ledger& l, weft::runtime& rt, H& h, long right, const char* what) {
  long is = 0;
  if (l.waits([&] { is = rt.get(h); }) && !l.anything_failed()) l.require(is == right, what);
}

void tasks(ledger& l, const weft::options& o) {
  weft::runtime rt(o);
  counter sum{0}, right{0};
  for (int i = 0; i < 1'500; ++i)
    if (l.submits([&, t = l.held()]() mutable { rt.submit([&, i, t] { t.ran(), sum += i; }); })) right += i;
  for (int i = 0; i < 40; ++i)
    if (l.submits(
            [&, t = l.held()] { rt.submit(weft::priority(1), weft::named("urgent"), [&, t] { t.ran(), ++sum; }); }))
      ++right;
  std::array<char, 3'000> large{};
  large.back() = 3;
  for (int i = 0; i < 4; ++i)
    if (l.submits([&, t = l.held()] { rt.submit([&, large, t] { t.ran(), sum += large.back(); }); })) right += 3;
  for (unsigned w = 0; w < rt.workers(); ++w)
    if (l.submits([&, t = l.held()] { rt.submit(weft::pin(w), [&, t] { t.ran(), ++sum; }); })) ++right;
  if (l.waits([&] { rt.wait(); })) l.require(sum == right, "the sum of all tasks");
}

// Bodies that submit and wait, three storeys deep.
void storey(ledger& l, weft::runtime& rt, counter& sum, counter& right, int depth) {
  counter below{0}, below_right{0};
  for (int i = 0; i < 4; ++i) {
    const bool taken = l.submits([&, t = l.held()] {
      rt.submit([&, depth, t] {
        t.ran();
        ++below;
        if (depth != 0) storey(l, rt, sum, right, depth - 1);
      });
    });
    if (taken) ++below_right;
  }
  if (l.waits([&] { rt.wait(); })) l.require(below == below_right, "what the children of a body come to");
  sum += below;
  right += below_right;
}
void waits(ledger& l, const weft::options& o) {
  weft::runtime rt(o);
  counter sum{0}, right{0};
  storey(l, rt, sum, right, 3);
  weft::handle<long> h{0};
  for (int i = 0; i < 20; ++i) {
    long mine = 0;
    const bool taken = l.submits([&, t = l.held()] { rt.submit(weft::write(h), [t](long& x) { t.ran(), ++x; }); });
    if (l.waits([&] { mine = rt.get(h); })) l.require(mine != 0 || !taken, "a wait for a handle");
  }
  if (l.waits([&] { rt.wait(); })) l.require(sum == right, "what nested waits come to");
}

void handles(ledger& l, const weft::options& o) {
  weft::runtime rt(o);
  constexpr std::size_t n = 24;
  std::vector<weft::handle<long>> h(n);
  std::vector<long> right(n);
  weft::handle<long> all{0};
  all.name("all");
  weft::resource units(3);
  long all_right = 0;
  for (int round = 0; round < 12; ++round)
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t j = (i + 1) % n, k = (i * 7 + 3) % n;
      if (l.submits([&, t = l.held()] {
            rt.submit(weft::write(h[i]), weft::read(h[j]), [t](long& x, long y) { t.ran(), x += y + 1; });
          }))
        right[i] += right[j] + 1;
      if (i == k) continue;
      if (l.submits([&, t = l.held()] {
            rt.submit(weft::add(h[i]), weft::add(h[k]), weft::use(units, 2),
                      [t](long& x, long& y) { t.ran(), ++x, ++y; });
          }))
        ++right[i], ++right[k];
    }
  for (int i = 0; i < 4; ++i)  // more than a task keeps in place
    if (l.submits([&, t = l.held()] {
          rt.submit(weft::write(all), weft::read(h), [t](long& x, const auto& each) {
            t.ran();
            for (const long& y : each) x += y;
          });
        }))
      all_right += std::accumulate(right.begin(), right.end(), 0L);
  for (std::size_t i = 0; i < n; ++i) check(l, rt, h[i], right[i], "a handle");
  check(l, rt, all, all_right, "a handle behind a range");
  l.waits([&] { rt.wait(); });
}

void reductions(ledger& l, const weft::options& o) {
  weft::runtime rt(o);
  weft::reduction<long> sum{0L};
  weft::repeatable_reduction<long> again{0L};
  long right = 0, again_right = 0;
  for (int round = 0; round < 6; ++round) {
    for (int i = 0; i < 12; ++i) {
      if (l.submits([&, t = l.held()] { rt.submit(weft::reduce(sum), [i, t](long& x) { t.ran(), x += i; }); }))
        right += i;
      if (l.submits([&, t = l.held()] { rt.submit(weft::reduce(again), [i, t](long& x) { t.ran(), x += 2 * i; }); }))
        again_right += 2 * i;
    }
    check(l, rt, sum, right, "a reduction");
    if (round % 2 == 0 && l.waits([&] { rt.wait(); }) && !l.anything_failed())
      l.require(again.unguarded() == again_right, "a repeatable reduction after a wait for all");
    if (l.submits([&, t = l.held()] { rt.submit(weft::write(sum), [t](long& x) { t.ran(), ++x; }); })) ++right;
  }
  check(l, rt, again, again_right, "a repeatable reduction");
}

void events(ledger& l, const weft::options& o) {
  weft::runtime rt(o);
  weft::handle<long> h{0};
  long right = 0;
  for (int i = 0; i < 8; ++i) {
    weft::event e("arrives");
    const bool tied =
        l.submits([&, t = l.held()] { rt.submit(weft::write(h), weft::completes(e), [t](long& x) { t.ran(), ++x; }); });
    if (tied) ++right;
    if (l.submits([&, t = l.held()] { rt.submit(weft::write(h), [t](long& x) { t.ran(), ++x; }); })) ++right;
    // Where memory fails once it is called again; where it fails for good it must not need any.
    int tries = 0;
    while (tries < 3 && !l.tries([&] { e.fulfil(); })) ++tries;
    l.require(tries < 3, "an event that cannot be fulfilled");
    l.waits([&] { e.wait(); });
  }
  check(l, rt, h, right, "tasks that complete events");
  l.waits([&] { rt.wait(); });
}

void streams(ledger& l, const weft::options& o) {
  weft::runtime rt(o);
  weft::handle<long> sum{0};
  long right = 0;
  bool all_matched = true;
  {
    weft::stream<long> raw("raw"), done("done");
    for (long i = 0; i < 16; ++i) {
      const bool pushed = l.submits([&, t = l.held()] {
        rt.submit(weft::push(raw, 8), [i, t](std::span<long> out) {
          t.ran();
          for (long& x : out) x = i;
        });
      });
      const bool moved = l.submits([&, t = l.held()] {
        rt.submit(weft::pop(raw, 8), weft::push(done, 4), [t](std::span<const long> in, std::span<long> out) {
          t.ran();
          for (std::size_t k = 0; k < out.size(); ++k) out[k] = in[2 * k] + in[2 * k + 1];
        });
      });
      all_matched = all_matched && pushed && moved;
      if (i % 2 == 0) continue;
      const bool taken = l.submits([&, t = l.held()] {
        rt.submit(weft::pop(done, 8), weft::add(sum), [t](std::span<const long> in, long& s) {
          t.ran();
          for (const long x : in) s += x;
        });
      });
      all_matched = all_matched && taken;
      right += 8 * i + 8 * (i - 1);
    }
    // Who pops what was to be pushed by a task that was refused waits in vain, as the header says, and is told.
    l.waits([&] { rt.wait(); });
  }
  if (all_matched) check(l, rt, sum, right, "a stream");
}

void teams(ledger& l, const weft::options& o) {
  weft::runtime rt(o);
  weft::handle<long> h{0};
  long right = 0;
  for (int i = 0; i < 10; ++i) {
    const unsigned width = 1 + static_cast<unsigned>(i) % rt.workers();
    if (l.submits([&, t = l.held()] {
          rt.submit(weft::team(width), weft::write(h), [t](weft::team_context& c, long& x) {
            c.barrier();
            counter mine{0};
            c.for_each(std::size_t{0}, std::size_t{40}, [&](std::size_t k) { mine += static_cast<long>(k); });
            const long all = c.reduce(mine.load(), std::plus<>());
            if (c.rank() == 0) t.ran(), x += all;
          });
        }))
      right += 40 * 39 / 2;
  }
  check(l, rt, h, right, "teams");
  l.waits([&] { rt.wait(); });
}

void graphs(ledger& l, const weft::options& o) {
  weft::runtime rt(o);
  constexpr std::size_t n = 12;
  std::vector<weft::handle<long>> h(n);
  long runs = 0;
  {
    std::optional<weft::graph> g;
    if (!l.tries([&] {
          g.emplace(rt, [&](weft::recorder& r) {
            for (int round = 0; round < 6; ++round)
              for (std::size_t i = 0; i < n; ++i)
                r.submit(weft::write(h[i]), weft::read(h[(i + 1) % n]), [](long& x, long) { ++x; });
          });
        }))
      return;
    for (int i = 0; i < 6; ++i) {
      bool ran = l.waits([&] { g->run(); });
      if (ran) ++runs;
      if (l.tries([&] { rt.submit(*g); })) ++runs;
    }
    l.waits([&] { rt.wait(); });
  }
  for (auto& x : h) check(l, rt, x, 6 * runs, "a graph");
}

long fib(int n) {
  if (n < 2) return n;
  const auto [a, b] = weft::fork_join([&] { return fib(n - 1); }, [&] { return fib(n - 2); });
  return a + b;
}
void forks(ledger& l, const weft::options& o) {
  weft::runtime rt(o);
  long is = 0;
  if (l.waits([&] { is = fib(15); })) l.require(is == 610, "fib");
  if (l.submits([&, t = l.held()] {
        rt.submit([&, t] {
          t.ran();
          if (l.waits([&] { is = fib(14); })) l.require(is == 377, "fib in a body");
        });
      }))
    l.waits([&] { rt.wait(); });
  std::vector<long> v(4'000);
  if (l.waits([&] {
        weft::for_each(std::size_t{0}, v.size(), [&](std::size_t i) { v[i] = static_cast<long>(v.size() - i); });
      }) &&
      l.waits([&] { weft::sort(v.begin(), v.end()); }))
    l.require(std::is_sorted(v.begin(), v.end()) && v.front() == 1, "a sort");
  std::vector<long> kept;
  if (l.waits([&] {
        kept = weft::collect(0, 4'000, [](int i) { return i % 4 == 0 ? std::optional(long{i}) : std::nullopt; });
      }))
    l.require(kept.size() == 1'000 && std::is_sorted(kept.begin(), kept.end()), "a collect");
}

void finishes(ledger& l, const weft::options& o) {
  weft::runtime rt(o);
  for (int round = 0; round < 4; ++round) {
    counter sum{0}, right{0};
    const bool whole = l.waits([&] {
      weft::finish([&] {
        for (int i = 0; i < 24; ++i)
          if (l.submits([&, t = l.held()] { weft::async([&, t] { t.ran(), ++sum; }); })) ++right;
        weft::finish([&] {
          for (int i = 0; i < 8; ++i)
            if (l.submits([&, t = l.held()] { weft::async(weft::named("inner"), [&, t] { t.ran(), ++sum; }); }))
              ++right;
        });
      });
    });
    if (whole) l.require(sum == right, "a finish");
  }
}

void failures(ledger& l, const weft::options& o) {
  weft::runtime rt(o);
  l.failed();  // on purpose: which tasks are skipped is not asked here, but that everything ends
  weft::handle<long> h{0}, other{0};
  for (int i = 0; i < 6; ++i) {
    l.submits([&, t = l.held()] {
      rt.submit(weft::write(h), [t](long&) {
        t.ran();
        throw weft::error("on purpose");
      });
    });
    l.submits(
        [&, t = l.held()] { rt.submit(weft::read(h), weft::write(other), [t](long x, long& y) { t.ran(), y += x; }); });
    if (i % 2 == 0) l.waits([&] { rt.wait(); });
  }
  l.waits([&] { rt.wait(); });
  long sound = 0;  // all has been told, so all is healed
  if (l.submits([&, t = l.held()] { rt.submit(weft::write(h), [t](long& x) { t.ran(), x = 7; }); }) &&
      l.waits([&] { sound = rt.get(h); }))
    l.require(sound == 7, "a handle that was healed");
}

void cancels(ledger& l, const weft::options& o) {
  weft::runtime rt(o);
  l.failed();
  for (int round = 0; round < 3; ++round) {
    weft::cancellation by;
    counter sum{0};
    bool asked = false;
    l.waits([&] {
      weft::finish(by, [&] {
        for (int i = 0; i < 20; ++i) {
          l.submits([&, t = l.held()] { weft::async([&, t] { t.ran(), ++sum; }); });
          if (i != 10 || round == 2) continue;
          asked = true;
          by.cancel();
        }
        if (round == 2)
          l.submits([&, t = l.held()] {
            weft::async([t] {
              t.ran();
              throw weft::error("on purpose");
            });
          });
      });
    });
    l.require(by.cancelled() || !asked, "a cancellation");
  }
  l.waits([&] { rt.wait(); });
}

void visit(weft::ordered_context& x, std::uint64_t now, long* cells, std::uint64_t at, std::uint64_t left) {
  x.store(cells[at], x.load(cells[at]) + static_cast<long>(now));
  if (left != 0) x.at(now + 3, visit, cells, (at + 5) % 16, left - 1);
}
void section(ledger& l, const weft::options& o, const char* executor) {
  weft::runtime rt(o);
  std::array<long, 16> is{}, right{};
  for (std::uint64_t i = 0; i < 24; ++i)
    for (std::uint64_t k = 0; k <= 4; ++k) right[(i + 5 * k) % 16] += static_cast<long>(i + 3 * k);
  if (l.waits([&] {
        weft::ordered q(rt, {.executor = executor});
        for (std::uint64_t i = 0; i < 24; ++i) q.at(i, visit, is.data(), i % 16, std::uint64_t{4});
        q.run();
      }))
    l.require(is == right, "an ordered section");
}
void speculative(ledger& l, const weft::options& o) { section(l, o, "speculative"); }
void serial(ledger& l, const weft::options& o) { section(l, o, "serial"); }

// Bodies of one cell never run together in "relaxed", nor do they share one in a level of "levels".
void relax(weft::ordered_context& x, std::uint64_t now, long* cell, std::uint64_t left) {
  x.store(*cell, x.load(*cell) + 1);
  if (left != 0) x.at(now + 1, relax, cell, left - 1);
}
void any_order(ledger& l, const weft::options& o, const char* executor) {
  weft::runtime rt(o);
  std::array<long, 16> is{};
  if (l.waits([&] {
        weft::ordered q(rt, {.executor = executor});
        for (std::uint64_t i = 0; i < is.size(); ++i) q.at(i % 3, relax, &is[i], std::uint64_t{6});
        q.run();
      }))
    for (const long x : is) l.require(x == 7, "a section without order");
}
void levels(ledger& l, const weft::options& o) { any_order(l, o, "levels"); }
void relaxed(ledger& l, const weft::options& o) { any_order(l, o, "relaxed"); }

void pipelines(ledger& l, const weft::options& o) {
  weft::runtime rt(o);
  long next = 0, sum = 0;
  if (l.waits([&] {
        weft::pipeline(
            weft::serial([&]() -> std::optional<long> { return next < 60 ? std::optional(next++) : std::nullopt; }),
            weft::parallel([](long x) { return 2 * x; }), weft::serial([&](long x) { sum += x; }));
      }))
    l.require(sum == 60 * 59, "a pipeline");
}

void guests(ledger& l, const weft::options& o) {
  weft::runtime rt(o);
  weft::handle<long> h{0};
  counter right{0};
  const auto outside = [&] {
    for (int i = 0; i < 20; ++i)
      if (l.submits([&, t = l.held()] { rt.submit(weft::write(h), [t](long& x) { t.ran(), ++x; }); })) ++right;
    l.waits([&] { rt.wait(); });
  };
  if (std::string_view(rt.machine()) == "host") {
    std::optional<std::thread> other;
    try {
      other.emplace(outside);
    } catch (const std::exception& e) {  // of the thread itself
      l.told(e.what());
    }
    outside();
    if (other) other->join();
  } else {
    outside();
  }
  check(l, rt, h, right, "what threads outside submitted");
}

void created_elsewhere(ledger& l, const weft::options& given) {
  weft::options o = given;
  o.creation = "decoupled";
  weft::runtime rt(o);
  weft::handle<long> h{0};
  weft::reduction<long> sum{0L};
  long right = 0, sum_right = 0;
  counter plain{0}, plain_right{0};
  for (int i = 0; i < 100; ++i) {
    if (l.submits([&, t = l.held()] { rt.submit(weft::write(h), [t](long& x) { t.ran(), ++x; }); })) ++right;
    if (l.submits([&, t = l.held()] { rt.submit([&, t] { t.ran(), ++plain; }); })) ++plain_right;
    if (i % 3 == 0 && l.submits([&, t = l.held()] { rt.submit(weft::reduce(sum), [t](long& x) { t.ran(), ++x; }); }))
      ++sum_right;
  }
  check(l, rt, h, right, "a handle, created elsewhere");
  check(l, rt, sum, sum_right, "a reduction, created elsewhere");
  if (l.waits([&] { rt.wait(); }) && !l.anything_failed())
    l.require(plain == plain_right, "plain tasks, created elsewhere");
}

void traces(ledger& l, const weft::options& given) {
  weft::options o = given;
  const std::string path = "faults-" + std::to_string(::getpid()) + ".weft";
  o.trace = path.c_str();
  {
    weft::runtime rt(o);
    weft::handle<long> h{0};
    h.name("h");
    long right = 0;
    for (int i = 0; i < 60; ++i) {
      if (l.submits(
              [&, t = l.held()] { rt.submit(weft::write(h), weft::named("step"), [t](long& x) { t.ran(), ++x; }); }))
        ++right;
      if (i == 30) l.tries([&] { rt.write_trace(); });
    }
    check(l, rt, h, right, "a handle in a trace");
    if (l.tries([&] { rt.write_trace(); })) l.require(::access(rt.trace_path(), R_OK) == 0, "a trace that was written");
  }
}

constexpr front all[] = {{"tasks", tasks},
                         {"waits", waits},
                         {"handles", handles},
                         {"reductions", reductions},
                         {"events", events},
                         {"streams", streams},
                         {"teams", teams},
                         {"graphs", graphs},
                         {"forks", forks},
                         {"finishes", finishes},
                         {"failures", failures},
                         {"cancels", cancels},
                         {"speculative", speculative},
                         {"serial", serial},
                         {"levels", levels},
                         {"relaxed", relaxed},
                         {"pipelines", pipelines},
                         {"guests", guests},
                         {"decoupled", created_elsewhere},
                         {"traces", traces}};

}  // namespace

const front* fronts(std::size_t& count) noexcept {
  count = std::size(all);
  return all;
}

}  // namespace faults

// Graphs that run again (weft/graph.hpp): whatever is recorded gives in each run what the same tasks give one by one.
#include "weft/graph.hpp"

#include <algorithm>
#include <atomic>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "everywhere.hpp"
#include "weft/weft.hpp"

namespace {

// The values that tasks find tell their order: each mixes what it reads into what it writes.
std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  return (a ^ (b + 0x9e3779b97f4a7c15u + (a << 6) + (a >> 2))) * 0x100000001b3u;
}

enum class how : std::uint8_t { read, write, add, concurrent, reduce };
struct use {
  unsigned cell;
  how kind;
};
struct job {
  std::vector<use> uses;
  std::uint64_t salt;
};
using program = std::vector<job>;

// Of `cells` data, some of which are sums.
program random_program(std::mt19937_64& draw, unsigned tasks, unsigned cells) {
  program p;
  for (unsigned i = 0; i < tasks; ++i) {
    job j;
    j.salt = draw();
    const unsigned wanted = 1 + static_cast<unsigned>(draw() % 4);
    for (unsigned k = 0; k < wanted; ++k) {
      const auto cell = static_cast<unsigned>(draw() % cells);
      if (std::any_of(j.uses.begin(), j.uses.end(), [cell](const use& u) { return u.cell == cell; })) continue;
      const unsigned kind = static_cast<unsigned>(draw() % 8);
      j.uses.push_back({cell, kind < 4 ? how::read : kind < 6 ? how::write : kind == 6 ? how::add : how::concurrent});
    }
    p.push_back(j);
  }
  return p;
}

struct cell {
  std::atomic<std::uint64_t> ordered{1};  // of reads and writes: order matters
  std::atomic<std::uint64_t> sum{0};      // of adds and concurrents: it does not
};

// What a task does to its data, the same wherever it runs.
void work(const job& j, const std::vector<cell*>& data) {
  std::uint64_t found = j.salt;
  for (std::size_t k = 0; k < j.uses.size(); ++k)
    if (j.uses[k].kind == how::read || j.uses[k].kind == how::write)
      found =
          mix(found, data[k]->ordered.load(std::memory_order_relaxed) + data[k]->sum.load(std::memory_order_relaxed));
  for (std::size_t k = 0; k < j.uses.size(); ++k) {
    if (j.uses[k].kind == how::write) data[k]->ordered.store(found, std::memory_order_relaxed);
    if (j.uses[k].kind == how::add)
      data[k]->sum.store(data[k]->sum.load(std::memory_order_relaxed) + j.salt, std::memory_order_relaxed);
    if (j.uses[k].kind == how::concurrent) data[k]->sum.fetch_add(j.salt, std::memory_order_relaxed);
  }
}

std::vector<std::uint64_t> serially(const program& p, unsigned cells, unsigned runs) {
  std::vector<cell> data(cells);
  for (unsigned run = 0; run < runs; ++run)
    for (const job& j : p) {
      std::vector<cell*> mine;
      for (const use& u : j.uses) mine.push_back(&data[u.cell]);
      work(j, mine);
    }
  std::vector<std::uint64_t> values;
  for (const cell& c : data) values.push_back(mix(c.ordered.load(), c.sum.load()));
  return values;
}

// Handles without data, in ranges: any number of accesses of each kind.
template <class To>
void submit(To& to, const job& j, std::vector<weft::handle<void>>& handles, std::vector<cell>& data) {
  std::vector<weft::handle<void>*> reads, writes, adds, concurrents;
  std::vector<cell*> mine;
  for (const use& u : j.uses) {
    mine.push_back(&data[u.cell]);
    (u.kind == how::read    ? reads
     : u.kind == how::write ? writes
     : u.kind == how::add   ? adds
                            : concurrents)
        .push_back(&handles[u.cell]);
  }
  to.submit(weft::read(reads), weft::write(writes), weft::add(adds), weft::concurrent(concurrents),
            [j, mine] { work(j, mine); });
}

std::vector<std::uint64_t> values_of(const std::vector<cell>& data) {
  std::vector<std::uint64_t> values;
  for (const cell& c : data) values.push_back(mix(c.ordered.load(), c.sum.load()));
  return values;
}

void check_random(weft::runtime& rt, std::uint64_t seed, unsigned tasks, unsigned cells, unsigned runs) {
  INFO("seed " << seed);
  std::mt19937_64 draw(seed);
  const program p = random_program(draw, tasks, cells);
  std::vector<cell> data(cells);
  std::vector<weft::handle<void>> handles(cells);
  weft::graph g(rt, [&](weft::recorder& r) {
    for (const job& j : p) submit(r, j, handles, data);
  });
  for (unsigned run = 0; run < runs; ++run) switch ((seed + run) % 3) {
    case 0: g.run(); break;
    case 1: rt.submit(g); break;
    default:  // the same tasks, submitted anew between runs
      for (const job& j : p) submit(rt, j, handles, data);
    }
  rt.wait();
  CHECK(values_of(data) == serially(p, cells, runs));
}

}  // namespace

TEST_CASE("graph: random programs, run again, between others, and submitted anew, give what they give serially") {
  everywhere([](weft::runtime& rt) {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) check_random(rt, seed * 7 + rt.workers(), 40, 6, 5);
  });
  for (const unsigned workers : {4u, 16u, 64u})
    for (const char* machine : both_machines) {
      INFO(machine << ", " << workers << " workers");
      weft::runtime rt({.workers = workers, .machine = machine});
      for (std::uint64_t seed = 1; seed <= 3; ++seed) check_random(rt, seed, 60, 8, 4);
      check_random(rt, 99, 300, 40, 3);
    }
}

TEST_CASE("graph: under every policy") {
  for (const char* policy : {"local", "random", "central", "near", "hpt", "pufferfish", "work_first"})
    for (const char* machine : both_machines) {
      INFO(machine << ", " << policy);
      weft::runtime rt({.workers = 3, .machine = machine, .policy = policy});
      for (std::uint64_t seed = 1; seed <= 4; ++seed) check_random(rt, seed, 50, 7, 4);
    }
}

TEST_CASE("graph: ten thousand runs, each as one task of its handles") {
  for (const unsigned workers : {1u, 2u, 3u}) {
    weft::runtime rt({.workers = workers});
    weft::handle<long> a{0}, b{0}, c{0};
    weft::graph g(rt, [&](weft::recorder& r) {
      r.submit(weft::write(a), [](long& x) { ++x; });
      for (int i = 0; i < 3; ++i) r.submit(weft::read(a), weft::add(b), [](const long& x, long& y) { y += x; });
      r.submit(weft::write(a), weft::read(b), weft::write(c), [](long& x, const long& y, long& z) { z += y - x++; });
    });
    for (int i = 0; i < 10'000; ++i) i % 2 == 0 ? g.run() : rt.submit(g);
    rt.wait();
    CHECK(g.runs() == 10'000);
    CHECK(rt.get(a) == 20'000);
    long sum = 0, total = 0;
    for (long i = 0; i < 10'000; ++i) {
      sum += 3 * (2 * i + 1);
      total += sum - (2 * i + 1);
    }
    CHECK(rt.get(b) == sum);
    CHECK(rt.get(c) == total);
  }
}

TEST_CASE("graph: a run stands between tasks as a task does, and a handle's version counts its accesses") {
  everywhere([](weft::runtime& rt) {
    weft::handle<std::string> s{std::string()};
    weft::handle<int> other{0};
    weft::graph g(rt, [&](weft::recorder& r) {
      r.submit(weft::write(s), [](std::string& x) { x += 'a'; });
      r.submit(weft::write(s), weft::read(other), [](std::string& x, int) { x += 'b'; });
      r.submit(weft::read(s), [](const std::string&) {});
    });
    rt.submit(weft::write(s), [](std::string& x) { x += '<'; });
    rt.submit(g);
    rt.submit(weft::write(s), [](std::string& x) { x += '>'; });
    g.submit();
    rt.submit(weft::write(s), [](std::string& x) { x += '.'; });
    CHECK(rt.get(s) == "<ab>ab.");
    CHECK(s.version() == 9);
  });
}

TEST_CASE("graph: new data by handle") {
  everywhere([](weft::runtime& rt) {
    weft::handle<long> a{1}, b{10}, c{100}, sum{0};
    weft::reduction<long> one, two;
    weft::graph g(rt, [&](weft::recorder& r) {
      r.submit(weft::read(a), weft::write(sum), [](const long& x, long& y) { y += x; });
      r.submit(weft::read(a), weft::reduce(one), [](const long& x, long& y) { y += x; });
    });
    g.run();
    g.bind(a, b);
    g.run();
    rt.submit(g);
    g.bind(b, c);  // waits
    g.bind(one, two);
    rt.submit(g);
    CHECK(rt.get(sum) == 121);
    CHECK(rt.get(one) == 21);
    CHECK(rt.get(two) == 100);
    CHECK_THROWS_WITH_AS(g.bind(a, b), doctest::Contains("which it does not name"), weft::error);
    CHECK_THROWS_WITH_AS(g.bind(c, sum), doctest::Contains("uses already"), weft::error);
    weft::handle<long> plain{0};
    weft::handle<long>& as_handle = two;
    CHECK_THROWS_WITH_AS(g.bind(as_handle, plain), doctest::Contains("bind it as a reduction"), weft::error);
  });
}

TEST_CASE("graph: reduces run together and are applied before anybody looks, within a run and behind it") {
  everywhere([](weft::runtime& rt) {
    weft::reduction<long> r1, r2;
    weft::handle<long> seen{0};
    weft::graph g(rt, [&](weft::recorder& r) {
      for (long i = 1; i <= 8; ++i) r.submit(weft::reduce(r1), [i](long& x) { x += i; });
      r.submit(weft::read(r1), weft::write(seen), [](const long& x, long& y) { y = x; });
      for (long i = 1; i <= 8; ++i) r.submit(weft::reduce(r1), [](long& x) { x += 1; });
      for (long i = 1; i <= 8; ++i) r.submit(weft::reduce(r2), [i](long& x) { x += i; });
    });
    for (int i = 1; i <= 3; ++i) {
      g.run();
      CHECK(rt.get(seen) == 36 * i + 8 * (i - 1));
      CHECK(rt.get(r1) == 44 * i);
      CHECK(rt.get(r2) == 36 * i);
    }
  });
}

TEST_CASE("graph: what uses what a failed node should have written is skipped, and the next run begins anew") {
  everywhere([](weft::runtime& rt) {
    weft::handle<int> a{0}, b{0}, c{0}, free{0};
    bool fails = true;
    std::atomic<int> after{0}, behind{0};
    weft::graph g(rt, [&](weft::recorder& r) {
      r.submit(weft::write(free), [](int& x) { ++x; });
      r.submit(weft::write(a), [&](int&) {
        if (fails) throw std::runtime_error("first");
      });
      r.submit(weft::read(a), weft::write(b), [&](int, int&) { ++after; });
      r.submit(weft::read(b), [&](int) { ++behind; });
      r.submit(weft::write(c), [&](int&) {
        if (fails) throw std::runtime_error("second");
      });
    });
    for (int i = 0; i < 3; ++i) {
      fails = true;
      CHECK_THROWS_WITH_AS(g.run(), "first", std::runtime_error);
      CHECK(after == 2 * i);
      fails = false;
      g.run();
      g.run();
      CHECK(after == 2 * i + 2);
      CHECK(behind == after);
    }
    fails = true;
    rt.submit(g);
    rt.submit(weft::read(b), [&](int) { ++behind; });  // is skipped
    CHECK_THROWS_WITH_AS(rt.wait(), "first", std::runtime_error);
    CHECK(behind == 6);
    fails = false;
    g.run();
    CHECK(rt.get(free) == 11);
  });
}

TEST_CASE("graph: nodes wait, submit, and run graphs; a run is over when all that is") {
  everywhere([](weft::runtime& rt) {
    weft::handle<int> a{0}, b{0};
    std::atomic<int> children{0}, inner{0}, early{0};
    weft::handle<int> of_inner{0};
    weft::graph small(rt, [&](weft::recorder& r) {
      for (int i = 0; i < 4; ++i) r.submit(weft::write(of_inner), [&](int&) { ++inner; });
    });
    weft::graph g(rt, [&](weft::recorder& r) {
      r.submit(weft::write(a), [&](int& x) {  // without waiting
        ++x;
        for (int i = 0; i < 3; ++i) rt.submit([&] { ++children; });
      });
      r.submit(weft::write(a), weft::subtasks(), [&](int& x) {
        for (int i = 0; i < 3; ++i) rt.submit([&] { ++children; });
        ++x;
      });
      r.submit(weft::read(a), weft::write(b), [&](int, int& y) {
        if (children % 6 < 3 && children % 6 != 0) ++early;  // those of the second are done
        for (int i = 0; i < 3; ++i) rt.submit([&] { ++children; });
        rt.wait();
        small.run();
        ++y;
      });
      r.submit(weft::read(b), [&](int) { rt.submit([&] { ++children; }); });
    });
    for (int i = 1; i <= 4; ++i) {
      g.run();
      CHECK(children == 10 * i);
      CHECK(inner == 4 * i);
      CHECK(rt.get(b) == i);
    }
  });
}

TEST_CASE("graph: teams as nodes") {
  everywhere([](weft::runtime& rt) {
    weft::handle<long> a{0};
    std::atomic<int> members{0};
    weft::graph g(rt, [&](weft::recorder& r) {
      for (int i = 0; i < 3; ++i)
        r.submit(weft::team(2), weft::write(a), [&](weft::team_context& t, long& x) {
          ++members;
          t.barrier();
          if (t.rank() == 0) x += t.width();
          t.barrier();
        });
    });
    for (int i = 1; i <= 5; ++i) g.run();
    CHECK(rt.get(a) == members);
    CHECK(members == 15 * (rt.workers() > 1 ? 2 : 1));
  });
}

TEST_CASE("graph: pins, priorities, names and hints are the node's") {
  everywhere([](weft::runtime& rt) {
    weft::handle<int> a{0};
    std::atomic<int> wrong{0};
    const unsigned last = rt.workers() - 1;
    weft::graph g(rt, [&](weft::recorder& r) {
      r.submit(weft::named("first"), weft::write(a), [](int&) {});
      for (int i = 0; i < 4; ++i) r.submit(weft::pin(0), weft::read(a), [&](int) { wrong += weft::worker_id() != 0; });
      r.submit(weft::priority(1), weft::read(a), weft::cost(100), [](int) {});
      r.submit(weft::near(a), weft::read(a), [](int) {});
    });
    for (int i = 0; i < 4; ++i) g.run();
    CHECK(wrong == 0);
    CHECK_THROWS_WITH_AS(weft::graph(rt, [&](weft::recorder& r) { r.submit(weft::pin(last + 1), [] {}); }),
                         doctest::Contains("is pinned to worker"), weft::error);
  });
}

TEST_CASE("graph: what a scope with a cancellation has not begun is skipped") {
  everywhere_inline([](weft::runtime& rt) {
    weft::handle<int> a{0};
    weft::cancellation stop;
    std::atomic<int> begun{0};
    bool cancels = true;
    weft::graph g(rt, [&](weft::recorder& r) {
      r.submit(weft::write(a), [&](int&) {
        if (cancels) stop.cancel();
      });
      for (int i = 0; i < 5; ++i) r.submit(weft::write(a), [&](int&) { ++begun; });
    });
    weft::finish(stop, [&] { rt.submit(g); });
    CHECK(begun == 0);
    cancels = false;
    try {
      rt.wait();
    } catch (const weft::cancelled_error&) {
    }
    g.run();
    CHECK(begun == 5);
  });
}

TEST_CASE("graph: closures live as long as the graph, and each run calls the same") {
  struct counted {
    std::shared_ptr<int> alive;
    int calls = 0;
    std::atomic<int>* total;
    void operator()() { *total += ++calls; }
  };
  for (const char* machine : both_machines) {
    weft::runtime rt({.workers = 2, .machine = machine});
    auto alive = std::make_shared<int>(0);
    std::atomic<int> total{0};
    {
      weft::graph g(rt, [&](weft::recorder& r) { r.submit(counted{alive, 0, &total}); });
      CHECK(alive.use_count() == 2);
      for (int i = 0; i < 4; ++i) g.run();
      CHECK(total == 1 + 2 + 3 + 4);
      for (int i = 0; i < 4; ++i) rt.submit(g);
    }
    CHECK(alive.use_count() == 1);
    CHECK(total == 36);
  }
}

TEST_CASE("graph: what cannot be held is refused in words; one that is empty runs") {
  everywhere_inline([](weft::runtime& rt) {
    CHECK_THROWS_WITH_AS(weft::graph(rt,
                                     [](weft::recorder& r) {
                                       weft::handle<int> mine{0};
                                       r.submit(weft::write(mine), [](int&) {});
                                     }),
                         doctest::Contains("was made while the graph is recorded"), weft::error);
    weft::handle<int> a{0};
    CHECK_THROWS_WITH_AS(
        weft::graph(rt, [&](weft::recorder& r) { r.submit(weft::read(a), weft::write(a), [](int, int&) {}); }),
        doctest::Contains("with two kinds of access"), weft::error);
    weft::graph none(rt, [](weft::recorder&) {});
    none.run();
    CHECK(none.nodes() == 0);
    CHECK(none.runs() == 1);
  });
}

TEST_CASE("graph: many reads before many concurrents meet in one join") {
  everywhere_inline([](weft::runtime& rt) {
    weft::handle<void> h;
    std::atomic<int> reads{0}, late{0};
    weft::graph g(rt, [&](weft::recorder& r) {
      for (int i = 0; i < 20; ++i) r.submit(weft::read(h), [&] { ++reads; });
      for (int i = 0; i < 20; ++i) r.submit(weft::concurrent(h), [&] { late += reads % 20 == 0 ? 0 : 1; });
    });
    CHECK(g.nodes() == 41);
    CHECK(g.edges() == 40);
    for (int i = 0; i < 5; ++i) g.run();
    CHECK(late == 0);
  });
}

TEST_CASE("graph: threads outside run it too") {
  weft::runtime rt({.workers = 2});
  weft::handle<long> a{0};
  weft::graph g(rt, [&](weft::recorder& r) {
    for (int i = 0; i < 3; ++i) r.submit(weft::write(a), [](long& x) { ++x; });
  });
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) g.run();
    });
  for (int i = 0; i < 200; ++i) g.run();
  for (std::thread& t : threads) t.join();
  CHECK(rt.get(a) == 2400);
}

TEST_CASE("graph: the same virtual times in every run of a program, traced or not") {
  const auto times = [](const char* trace) {
    weft::runtime rt({.workers = 4, .machine = "virtual", .trace = trace});
    std::vector<weft::handle<void>> cells(8);
    weft::graph g(rt, [&](weft::recorder& r) {
      for (int step = 0; step < 6; ++step)
        for (std::size_t i = 0; i < 8; ++i)
          r.submit(weft::write(cells[i]), weft::read(cells[(i + 1) % 8]), weft::cost(500), [] {});
    });
    std::vector<double> at;
    for (int i = 0; i < 5; ++i) {
      g.run();
      at.push_back(rt.now_ns());
    }
    return at;
  };
  const std::vector<double> once = times(nullptr);
  CHECK(once == times(nullptr));
  CHECK(once == times("/tmp/weft_graph_test.weft"));
}

TEST_CASE("graph: without a runtime its nodes are calls, in order") {
  weft::handle<std::string> a{std::string()};
  weft::handle<int> n{0};
  weft::graph g([&](weft::recorder& r) {
    r.submit(weft::write(a), [](std::string& x) { x += '1'; });
    r.submit(weft::team(2), weft::write(a),
             [](weft::team_context& t, std::string& x) { x += t.width() == 1 ? '2' : '?'; });
    r.submit(weft::read(a), weft::pin(7), weft::near(a), weft::write(n), [](const std::string& x, int& m) {
      m = static_cast<int>(x.size());
      if (m == 6) throw std::runtime_error("six");
    });
  });
  g.run();
  CHECK(n.unguarded() == 2);
  g.submit();
  CHECK(a.unguarded() == "1212");
  CHECK_THROWS_WITH_AS(g.run(), "six", std::runtime_error);
  weft::reduction<int> sum;
  CHECK_THROWS_WITH_AS(weft::graph([&](weft::recorder& r) { r.submit(weft::reduce(sum), [](int&) {}); }),
                       doctest::Contains("without a runtime"), weft::error);
}

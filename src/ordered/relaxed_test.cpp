// Bodies in no order in particular: shortest paths come out right, no update of one object is lost, and nothing runs on
// after a failure. And the queue by itself: nothing is lost or doubled, and one heap is in order.
#include <doctest/doctest.h>

#include <cstdint>
#include <memory>
#include <queue>
#include <set>
#include <span>
#include <stdexcept>
#include <vector>

#include "base/random.hpp"
#include "crews.hpp"
#include "machine/host/host.hpp"
#include "ordered/relaxed_queue.hpp"
#include "quick.hpp"
#include "weft/weft.hpp"

namespace {

constexpr unsigned crews[] = {1, 2, 3, 4, 7, 16, 64};
constexpr const char* orders[] = {"time", "random"};

struct roads {
  static constexpr std::uint64_t far = ~std::uint64_t{0};
  struct edge {
    std::uint32_t to;
    std::uint32_t length;
  };
  struct place {
    std::uint64_t distance = far;
    std::uint64_t visits = 0;
    std::vector<edge> edges;
  };
  std::vector<place> places;

  roads(std::uint32_t n, std::size_t edges, std::uint64_t seed) : places(n) {
    weft::base::random rng(seed);
    for (std::size_t i = 0; i < edges; ++i) {
      const std::uint32_t u = rng.below(n), v = rng.below(n), length = 1 + rng.below(100);
      places[u].edges.push_back({v, length});
      places[v].edges.push_back({u, length});
    }
  }
  static void visit(weft::ordered_context& x, std::uint64_t now, place* p, place* all) {
    x.store(p->visits, x.load(p->visits) + 1);
    if (x.load(p->distance) <= now) return;
    x.store(p->distance, now);
    for (const edge& e : p->edges) x.at(now + e.length, visit, &all[e.to], all);
  }
  weft::ordered_counts run(weft::runtime& rt, const char* executor) {
    for (place& p : places) p.distance = far, p.visits = 0;
    weft::ordered q(rt, {.executor = executor});
    q.at(0, visit, &places[0], places.data());
    q.run();
    return q.counts();
  }
  [[nodiscard]] std::vector<std::uint64_t> distances() const {
    std::vector<std::uint64_t> d;
    for (const place& p : places) d.push_back(p.distance);
    return d;
  }
  [[nodiscard]] std::uint64_t visits() const {
    std::uint64_t n = 0;
    for (const place& p : places) n += p.visits;
    return n;
  }
};

}  // namespace

TEST_CASE("ordered, relaxed: shortest paths are the shortest, and no visit is lost") {
  const std::uint32_t size = brief ? 400 : 2000;
  roads r(size, size * 5 / 2, 11);
  weft::runtime one({.workers = 1});
  const std::uint64_t serial = r.run(one, "serial").committed;
  const std::vector<std::uint64_t> shortest = r.distances();
  CHECK((r.run(one, "relaxed").committed == serial && r.distances() == shortest));
  on_each_crew(crews, orders, [&](weft::runtime& rt) {
    const weft::ordered_counts c = r.run(rt, "relaxed");
    CHECK(r.distances() == shortest);
    CHECK((c.committed == r.visits() && c.started == c.committed));
    CHECK(c.committed >= shortest.size() / 2);
  });
}

TEST_CASE("ordered, relaxed: bodies about one object take turns") {
  on_each_crew(crews, orders, [](weft::runtime& rt) {
    const std::uint64_t each = brief ? 200 : 1000;
    std::vector<std::uint64_t> sums(5);
    weft::ordered q(rt, {.executor = "relaxed"});
    const auto add = [](weft::ordered_context& x, std::uint64_t now, std::uint64_t* sum) {
      x.store(*sum, x.load(*sum) + now);
    };
    for (std::uint64_t i = 0; i < 5 * each; ++i) q.at(i, add, &sums[i % 5]);
    q.run();
    for (std::uint64_t i = 0; i < 5; ++i) CHECK(sums[i] == each * i + 5 * ((each - 1) * each / 2));
  });
}

TEST_CASE(
    "ordered, relaxed: bodies may wait, in sections beside each other; who wants the same object does not stand by") {
  on_each_crew(crews, orders, [](weft::runtime& rt) {
    struct account {
      weft::runtime* rt;
      std::uint64_t sum;
    };
    static const std::uint64_t bodies = brief ? 30 : 100;
    account accounts[3] = {{&rt, 0}, {&rt, 0}, {&rt, 0}};
    const auto none = [](weft::ordered_context&, std::uint64_t, account*) {};
    const auto add = [none](weft::ordered_context& x, std::uint64_t now, account* a) {
      x.at(now + 1000, none, a);  // so that others are invited
      weft::event over;
      a->rt->submit([&over] {
        for (int i = 0; i < 20; ++i) weft::yield();
        over.fulfil();
      });
      const std::uint64_t before = x.load(a->sum);
      over.wait();
      x.store(a->sum, before + now);
    };
    for (account& a : accounts)
      rt.submit([&rt, &a, add] {
        weft::ordered q(rt, {.executor = "relaxed"});
        for (std::uint64_t i = 0; i < bodies; ++i) q.at(i, add, &a);
        q.run();
        CHECK(q.counts().committed == 2 * bodies);
      });
    rt.wait();
    for (const account& a : accounts) CHECK(a.sum == (bodies - 1) * bodies / 2);
  });
}

TEST_CASE("ordered, relaxed: what a body throws ends the run and drops what is left; then it can begin anew") {
  on_each_crew(crews, [](weft::runtime& rt) {
    std::uint64_t last = 0;
    weft::ordered q(rt, {.executor = "relaxed"});
    const auto body = [&last](weft::ordered_context& x, std::uint64_t now) {
      if (now == 40) throw std::runtime_error("forty");
      x.exchange_if(last, x.load(last), now);
    };
    for (std::uint64_t i = 0; i < 100; ++i) q.at(i, body);
    CHECK_THROWS_WITH(q.run(), "forty");
    last = 0;
    q.run();
    CHECK(last == 0);
    q.at(7, body);
    q.run();
    CHECK(last == 7);
  });
}

TEST_CASE("relaxed_queue: nothing is lost or doubled; with one worker it is in order, with more nearly") {
  using queue = weft::ordered_run::relaxed_queue<weft::machine::host>;
  weft::base::random rng(3);
  for (const unsigned workers : {1u, 2u, 8u}) {
    queue q(workers);
    std::vector<unsigned> left(1000);
    std::uint64_t displaced = 0, latest = 0, taken = 0;
    const auto run = [](weft::ordered_context&, std::uint64_t, std::uint64_t) {};
    for (int round = 0; round < 20; ++round) {
      for (int i = 0; i < 50; ++i) {
        const std::uint64_t at = rng.below(1000);
        ++left[at];
        q.push(weft::detail::make_call(at, run, at), rng);
      }
      weft::detail::ordered_call c;
      for (int i = 0; i < (round < 19 ? 25 : 1000) && q.take(c, rng); ++i) {
        CHECK((c.object == c.timestamp && left[c.timestamp]-- > 0));
        ++taken;
        if (round == 19) {
          displaced += c.timestamp < latest ? 1 : 0;
          latest = std::max(latest, c.timestamp);
        }
      }
    }
    CHECK(taken == 1000);
    CHECK((workers == 1) == (displaced == 0));
    q.push(weft::detail::make_call(~std::uint64_t{0}, run, std::uint64_t{1}), rng);
    weft::detail::ordered_call c;
    CHECK((q.take(c, rng) && c.timestamp == ~std::uint64_t{0} && !q.take(c, rng)));
  }
}

TEST_CASE("relaxed: where the allocator puts a section has no say in virtual time") {
  std::vector<std::unique_ptr<char[]>> in_the_way;
  std::vector<std::uint64_t> cells(64);
  std::set<double> times;
  for (unsigned i = 0; i < 12; ++i) {
    weft::runtime rt({.workers = 1, .machine = "virtual", .model = {.mode = "fine"}});
    in_the_way.push_back(std::make_unique<char[]>(16 + 16 * i));
    weft::ordered q(rt, {.executor = "relaxed"});
    for (std::uint64_t n = 0; n < 64; ++n)
      q.at(
          n, [](weft::ordered_context& x, std::uint64_t, std::uint64_t* cell) { x.store(*cell, x.load(*cell) + 1); },
          cells.data());
    q.run();
    times.insert(rt.now_ns());
  }
  CHECK(times.size() == 1);
}

// What every private scheduler of a team must do, on both machines, with any number of workers and any width: each unit
// once, none too early, all of them done when the team is; a unit that throws ends the team as a member that throws
// does. A scheduler gets these tests by being in the list of weft/team_schedulers.hpp and by saying here, in `maker`,
// how it runs layers of units. Then what only one of them can do.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "crews.hpp"
#include "replay.hpp"
#include "weft/weft.hpp"

namespace {

constexpr unsigned crews[] = {1, 2, 3, 4, 7, 9, 16};
constexpr const char* orders[] = {"time", "random"};
constexpr unsigned widths[] = {1, 2, 3, 4, 5, 6, 7, 8};

// A scheduler of so many layers of so many units, each layer after the one before: run(t, body) calls body(layer, i).
template <class Scheduler> struct maker;
template <> struct maker<weft::team_table> {
  static constexpr const char* name = "table";
  weft::team_table all;
  maker(unsigned layers, unsigned units) : all(layers, units) {}
  template <class Body> void run(weft::team_context& t, Body body) const { all.run(t, body); }
};
template <> struct maker<weft::team_graph> {
  static constexpr const char* name = "graph";
  unsigned wide;
  weft::team_graph all;
  maker(unsigned layers, unsigned units) : wide(units), all(layers * units, edges(layers, units)) {}
  template <class Body> void run(weft::team_context& t, Body body) const {
    all.run(t, [&](unsigned unit) { body(unit / wide, unit % wide); });
  }
  static std::vector<weft::team_graph::edge> edges(unsigned layers, unsigned units) {
    std::vector<weft::team_graph::edge> all;
    for (unsigned i = units; i < layers * units; ++i)
      for (unsigned j = 0; j < units; ++j) all.push_back({i / units * units - units + j, i});
    return all;
  }
};

template <class Check, class... S> void fold(Check check, weft::team_scheduler_list<S...>) {
  const auto one = [&]<class T>(std::type_identity<T>) {
    INFO(maker<T>::name);
    check.template operator()<maker<T>>();
  };
  (one(std::type_identity<S>{}), ...);
}
template <class Check> void for_each_scheduler(Check check) { fold(check, weft::team_schedulers{}); }

// What came too early, or not once.
struct layers_done {
  unsigned units;
  std::vector<std::atomic<unsigned>> in_layer;
  std::atomic<unsigned> wrong = 0;
  layers_done(unsigned layers, unsigned each) : units(each), in_layer(layers) {}
  void unit(unsigned layer) {
    if (layer != 0 && in_layer[layer - 1] != units) ++wrong;
    if (++in_layer[layer] > units) ++wrong;
  }
  [[nodiscard]] bool complete() const {
    return wrong == 0 && std::all_of(in_layer.begin(), in_layer.end(), [&](unsigned n) { return n == units; });
  }
};

}  // namespace

TEST_CASE("team schedulers: each unit once, and none before the layer in front of it is done") {
  for_each_scheduler([]<class S>() {
    on_each_crew(crews, orders, [](weft::runtime& rt) {
      for (const unsigned width : widths)
        for (const auto& [layers, units] : {std::pair{1u, 1u}, {1u, 9u}, {4u, 1u}, {3u, 4u}, {5u, 7u}, {0u, 3u}}) {
          const S s(layers, units);
          layers_done done(layers, units);
          rt.submit(weft::team(width), [&](weft::team_context& t) {
            s.run(t, [&](std::size_t layer, std::size_t) { done.unit(static_cast<unsigned>(layer)); });
          });
          rt.wait();
          CHECK(done.complete());
        }
    });
  });
}

TEST_CASE("team schedulers: one after the other in one team, and a dynamic loop between") {
  for_each_scheduler([]<class S>() {
    on_each_crew(crews, orders, [](weft::runtime& rt) {
      const S s(3, 4);
      for (const unsigned width : {2u, 5u}) {
        layers_done first(3, 4), second(3, 4);
        std::atomic<int> looped = 0;
        rt.submit(weft::team(width), [&](weft::team_context& t) {
          s.run(t, [&](std::size_t layer, std::size_t) { first.unit(static_cast<unsigned>(layer)); });
          t.barrier();
          t.for_each(
              0, 20, [&](int) { ++looped; }, weft::dynamic());
          s.run(t, [&](std::size_t layer, std::size_t) { second.unit(static_cast<unsigned>(layer)); });
        });
        rt.wait();
        CHECK((first.complete() && second.complete() && looped == 20));
      }
    });
  });
}

TEST_CASE("team schedulers: many teams at once, of all widths, which share one scheduler") {
  for_each_scheduler([]<class S>() {
    on_each_crew(crews, orders, [](weft::runtime& rt) {
      const S s(3, 4);
      std::atomic<int> incomplete = 0;
      for (unsigned k = 0; k < 40; ++k)
        rt.submit(weft::team(1 + k % 8), [&, done = std::make_shared<layers_done>(3, 4)](weft::team_context& t) {
          s.run(t, [&](std::size_t layer, std::size_t) { done->unit(static_cast<unsigned>(layer)); });
          t.barrier();
          if (t.rank() == 0 && !done->complete()) ++incomplete;
        });
      rt.wait();
      CHECK(incomplete == 0);
    });
  });
}

TEST_CASE("team schedulers: units that wait, and that are teams with a scheduler of their own") {
  for_each_scheduler([]<class S>() {
    on_each_crew(crews, orders, [](weft::runtime& rt) {
      const S outer(2, 3), inner(2, 2);
      std::atomic<int> done = 0;
      for (const unsigned width : {1u, 2u, 4u})
        rt.submit(weft::team(width), [&](weft::team_context& t) {
          outer.run(t, [&](std::size_t, std::size_t) {
            weft::finish([&] {
              weft::async(weft::team(2),
                          [&](weft::team_context& u) { inner.run(u, [&](std::size_t, std::size_t) { ++done; }); });
            });
          });
        });
      rt.wait();
      CHECK(done == 3 * 6 * 4);
    });
  });
}

TEST_CASE("team schedulers: a unit throws: no unit after it begins, and the wait gets what was thrown") {
  for_each_scheduler([]<class S>() {
    on_each_crew(crews, orders, [](weft::runtime& rt) {
      for (const unsigned width : {1u, 2u, 3u, 8u}) {
        std::atomic<int> too_late = 0, told = 0, members = 0;
        const S s(3, 4);
        rt.submit(weft::team(width), weft::named("t"), [&](weft::team_context& t) {
          ++members;
          try {
            s.run(t, [&](std::size_t layer, std::size_t i) {
              if (layer == 1 && i == 2) throw std::runtime_error("unit 2 of layer 1");
              too_late += layer == 2;
            });
          } catch (const weft::team_error& e) {
            told += std::string(e.what()).find("team 't' has failed") != std::string::npos;
            throw;
          }
        });
        CHECK(thrown_by([&] { rt.wait(); }) == "unit 2 of layer 1");
        CHECK(too_late == 0);
        CHECK(told == members - 1);
      }
    });
  });
}

TEST_CASE("team schedulers: the same program gives the same virtual times, and units are shared by the members") {
  for_each_scheduler([]<class S>() {
    const S s(4, 8);
    const auto time_of = [&](unsigned width) {
      weft::runtime rt({.workers = 8, .machine = "virtual"});
      rt.submit(weft::team(width),
                [&](weft::team_context& t) { s.run(t, [](std::size_t, std::size_t) { weft::charge(1e6); }); });
      rt.wait();
      return rt.now_ns();
    };
    const double alone = time_of(1);
    CHECK(alone >= 32e6);
    for (const unsigned width : {2u, 4u, 8u}) {
      CHECK(time_of(width) == time_of(width));
      CHECK(time_of(width) >= 32e6 / width);
      CHECK(time_of(width) <= 1.02 * alone / width);
    }
  });
}

TEST_CASE("team schedulers: members that stay awake, in teams that cross, and where one is long in coming") {
  for_each_scheduler([]<class S>() {
    on_each_crew(crews, orders, [](weft::runtime& rt) {
      const S s(3, 4);
      std::atomic<int> done = 0;
      for (unsigned k = 0; k < 20; ++k)
        rt.submit(weft::team(1 + k % 5).awake(),
                  [&](weft::team_context& t) { s.run(t, [&](std::size_t, std::size_t) { ++done; }); });
      rt.wait();
      CHECK(done == 20 * 12);
    });
  });
}

TEST_CASE("team: a member that waits gives its core away, unless the team is awake") {
  for (const bool awake : {false, true}) {
    weft::runtime rt({.workers = 2, .machine = "virtual"});
    double other_began = 0;
    rt.submit(weft::pin(0), awake ? weft::team(2).awake() : weft::team(2), [&](weft::team_context& t) {
      if (t.rank() == 0) return weft::charge(1e6);
      rt.submit(weft::pin(1), [&] { other_began = rt.now_ns(); });
      t.barrier();
    });
    rt.wait();
    CHECK((other_began >= 1e6) == awake);
  }
}

TEST_CASE("team table: a member's slots are neighbours, and the same in each step") {
  weft::runtime rt({.workers = 3, .machine = "virtual"});
  std::vector<unsigned> who(4 * 8);
  rt.submit(weft::team(3), [&](weft::team_context& t) {
    const weft::team_table table(4, 8);
    table.run(t, [&](std::size_t step, std::size_t slot) { who[step * 8 + slot] = t.rank(); });
  });
  rt.wait();
  for (std::size_t i = 0; i < who.size(); ++i) CHECK(who[i] == std::vector{0u, 0u, 0u, 1u, 1u, 1u, 2u, 2u}[i % 8]);
}

TEST_CASE("team graph: who is free takes the next, so long units do not hold up short ones") {
  weft::runtime rt({.workers = 2, .machine = "virtual"});
  const weft::team_graph graph(9, {});
  rt.submit(weft::team(2),
            [&](weft::team_context& t) { graph.run(t, [](unsigned unit) { weft::charge(unit == 0 ? 8e6 : 1e6); }); });
  rt.wait();
  CHECK(rt.now_ns() >= 8e6);
  CHECK(rt.now_ns() < 8.2e6);
}

TEST_CASE("team graph: random graphs, in the order that their edges say") {
  for_each_seed("team graph: random graphs*", 1, 60, [](std::uint64_t seed) -> std::string {
    std::uint64_t x = seed * 0x9e3779b97f4a7c15u;
    const auto below = [&x](std::uint64_t n) {
      x ^= x << 13, x ^= x >> 7, x ^= x << 17;
      return static_cast<std::uint32_t>(x % n);
    };
    const std::uint32_t units = 1 + below(40);
    std::vector<std::uint32_t> name(units);
    for (std::uint32_t i = 0; i < units; ++i) std::swap(name[i] = i, name[below(i + 1)]);
    std::vector<weft::team_graph::edge> edges;
    for (std::uint32_t n = below(80); units > 1 && n != 0; --n) {
      const std::uint32_t later = 1 + below(units - 1);
      edges.push_back({name[below(later)], name[later]});
    }
    const weft::team_graph graph(units, edges);
    weft::runtime rt({.workers = 1 + below(6),
                      .machine = seed % 2 == 0 ? "host" : "virtual",
                      .seed = seed,
                      .model = {.schedule = seed % 2 == 0 ? "time" : "random"}});
    std::vector<std::atomic<int>> done(units);
    std::atomic<int> wrong = 0;
    for (int runs = 1; runs <= 3; ++runs) {
      rt.submit(weft::team(1 + below(6)), [&](weft::team_context& t) {
        graph.run(t, [&](unsigned unit) {
          for (const auto& e : edges) wrong += e.later == unit && done[e.earlier] != runs;
          if (++done[unit] != runs) ++wrong;
        });
      });
      rt.wait();
    }
    return wrong == 0 && std::all_of(done.begin(), done.end(), [](int n) { return n == 3; })
               ? ""
               : "a unit too early, or not once";
  });
}

TEST_CASE("team graph: members that do not run the same graph are told") {
  on_both_machines([](const weft::options& o) {
    if (o.workers == 1) return;
    weft::runtime rt(o);
    const weft::team_graph graphs[] = {weft::team_graph(2, {}), weft::team_graph(3, {})};
    rt.submit(weft::team(2), [&](weft::team_context& t) { graphs[t.rank()].run(t, [](unsigned) {}); });
    CHECK(thrown_by([&] { rt.wait(); }).find("all must run the same") != std::string::npos);
  });
}

TEST_CASE("team graph: units in a circle and edges to nowhere are refused, in words") {
  using graph = weft::team_graph;
  const auto circle = thrown_by([] { static_cast<void>(graph(7, {{0, 1}, {1, 4}, {4, 2}, {2, 1}, {2, 3}, {5, 6}})); });
  const bool named = circle.find("units 1, 4, 2 of") != std::string::npos ||
                     circle.find("units 4, 2, 1 of") != std::string::npos ||
                     circle.find("units 2, 1, 4 of") != std::string::npos;
  CHECK_MESSAGE(named, circle);
  CHECK(thrown_by([] { static_cast<void>(graph(2, {{1, 1}})); }).find("units 1 of") != std::string::npos);
  CHECK(thrown_by([] { static_cast<void>(graph(2, {{0, 2}})); }).find("from unit 0 to unit 2") != std::string::npos);
  CHECK(thrown_by([] { static_cast<void>(graph(3, {{0, 1}, {0, 1}, {1, 2}})); }) == "");
}

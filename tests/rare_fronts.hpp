// As fronts.hpp: what programs do less often, and what goes wrong in them. Part of its list.
#pragma once
#include <deque>
#include <functional>
#include <span>
#include <vector>

#include "weft/after.hpp"
#include "weft/data_use.hpp"
#include "weft/range.hpp"
#include "weft/team_graph.hpp"
#include "weft/weft.hpp"

namespace fronts {

inline std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  const std::uint64_t x = (a + 1) * 0x9e3779b97f4a7c15u ^ (b + 1) * 0xbf58476d1ce4e5b9u;
  return (x ^ (x >> 29)) * 0x94d049bb133111ebu >> 7;
}
inline double noise(unsigned i, double least, double most) {
  return least + static_cast<double>(mix(i, 3) % 1000) / 1000 * (most - least);
}
// What `call` throws is what this program expects.
template <class Call> void fails(Call call) {
  try {
    call();
  } catch (const weft::error&) {
  }
}
[[noreturn]] inline void on_purpose() { throw weft::error("on purpose"); }

// Halves that throw, the first, the second, or both, near their parent and away from it; and parts of loops.
inline void failing_forks(weft::runtime& rt) {
  const auto half = [](unsigned i, bool throws) {
    weft::charge(noise(i, 300, 6000));
    if (throws) on_purpose();
  };
  for (unsigned i = 0; i < 24; ++i) {
    rt.submit([=, &rt] {
      fails([&] {
        weft::fork_join([&] { half(i, i % 3 == 1); },
                        [&] {
                          weft::fork_join([&] { half(i + 50, i % 4 == 2); }, [&] { half(i + 90, i % 6 == 0); });
                          if (i % 5 == 0) rt.submit([&] { half(i + 7, true); }), rt.wait();
                        });
      });
      fails([&] { weft::for_each(0u, 60u, [&](unsigned k) { half(i * 60 + k, k == 2 * i); }); });
      weft::charge(200);
      if (i % 8 == 7) on_purpose();
    });
    if (i % 6 == 5) fails([&] { rt.wait(); });
  }
  fails([&] { weft::fork_join([&] { half(1, true); }, [&] { half(2, true); }); });
  fails([&] { rt.wait(); });
}

// Elements that are named before anybody pushes them, seen by several, handed on, in arrays.
inline void early_elements(weft::runtime& rt) {
  weft::stream<std::uint64_t> a("a"), b("b"), c;
  std::vector<weft::stream<int>> wide(3);
  for (unsigned i = 0; i < 24; ++i) {
    const auto body = [i] { weft::charge(noise(i, 200, 2500)); };
    rt.submit(weft::pop(a, 20, 60), [=](std::span<const std::uint64_t>) { body(); });
    rt.submit(weft::peek(a, 30), [=](std::span<const std::uint64_t>) { body(); });
    if (i % 3 == 2) rt.submit(weft::push(a, 60), [=](std::span<std::uint64_t>) { body(); });
    rt.submit(weft::push(b, 300), weft::cost(noise(i, 500, 900)), [](std::span<std::uint64_t>) {});
    rt.submit(weft::reuse(b, c, i % 4 == 3 ? 150 : 300), [=](std::span<std::uint64_t>) { body(); });
    if (i % 4 == 3) rt.submit(weft::reuse(b, c, 150), [=](std::span<std::uint64_t>) { body(); });
    rt.submit(weft::pop(c, 300), [=](std::span<const std::uint64_t>) { body(); });
    rt.submit(weft::pop<3>(wide, 2), [=](std::span<const std::span<const int>>) { body(); });
    rt.submit(weft::push<3>(wide, 2), [=](std::span<const std::span<int>>) { body(); });
    if (i % 8 == 7) rt.submit(weft::push(a, 1), [=](std::span<std::uint64_t>) { body(); });
  }
  rt.submit(weft::push(a, 60), [](std::span<std::uint64_t>) { weft::charge(100); });
  rt.wait();
  a.discard(static_cast<std::size_t>(a.pushed()) - 24 * 20);
}

// Data of some size that are read, written and moved, with what bodies say of their bytes.
inline void sized_data(weft::runtime& rt) {
  std::deque<weft::handle<std::vector<double>>> h;
  for (unsigned i = 0; i < 10; ++i) {
    h.emplace_back(std::size_t{16});
    h.back().bytes((1u + i % 4) << 16);
    if (i % 3 == 0) h.back().name("large");
  }
  std::vector<char> memory(1 << 18);
  weft::place_memory(memory.data(), memory.size(), weft::memory_placement::interleaved());
  for (unsigned i = 0; i < 160; ++i) {
    auto &x = h[i % 10], &y = h[mix(i, 5) % 10];
    const auto body = [&memory, i] {
      const std::size_t from = mix(i, 9) % 8 << 14;
      weft::charge(noise(i, 500, 9000), weft::loads(memory.data() + from, 1 << 14));
    };
    if (&x == &y || i % 4 == 0)
      rt.submit(weft::write(x), [=](std::vector<double>&) { body(); });
    else if (i % 4 == 3)
      rt.submit(weft::near(y), weft::read(x), [=](const std::vector<double>&) { body(); });
    else
      rt.submit(weft::read(x), weft::write(y), weft::team(1 + i % 9 / 8),
                [=](weft::team_context&, const std::vector<double>&, std::vector<double>&) { body(); });
  }
  rt.wait();
  weft::place_memory(memory.data(), memory.size(), weft::memory_placement::first_touch());
}

// Bodies that wait: for data, for versions, for children, for others to go on.
inline void waiting_bodies(weft::runtime& rt) {
  std::deque<weft::handle<int>> h(6);
  weft::resource units(2);
  for (unsigned i = 0; i < 60; ++i) {
    auto &a = h[i % 6], &b = h[(i + 1) % 6];
    rt.submit(weft::write(a), [i](int&) { weft::charge(noise(i, 400, 3000)); });
    rt.submit([&rt, &b, &units, i] {
      weft::charge(300);
      if (i % 5 == 0) rt.wait(b);
      if (i % 5 == 1) rt.wait(b, i / 6);
      if (i % 5 == 2) static_cast<void>(rt.get(b));
      if (i % 5 == 3) {
        rt.submit(weft::priority(1), weft::use(units), [] { weft::charge(1200); });
        rt.submit(weft::pin(i % rt.workers()), [] { weft::charge(900); });
        weft::yield();
        rt.wait();
      }
      if (i % 7 == 4) weft::yield();
      weft::charge(500);
    });
    if (i % 20 == 19) rt.wait(a);
    if (i % 30 == 13) {
      rt.pause();
      rt.start();
    }
  }
  rt.wait();
}

// Tasks that need several data alone, of many kinds, many at once, some named twice; and chains of edges.
inline void wide_accesses(weft::runtime& rt) {
  std::vector<weft::handle<long>> h(40);
  std::vector<weft::task_token> tokens(60);
  weft::resource few(2), more(5);
  using look = weft::access_type<3, weft::commutative | weft::readonly>;
  std::vector<weft::handle<long>*> backwards;
  for (auto& x : h)
    if (&x != &h[20]) backwards.insert(backwards.begin(), &x);
  for (unsigned i = 0; i < 60; ++i) {
    const auto body = [i] { weft::charge(noise(i, 200, 2600)); };
    auto &a = h[i % 5], &b = h[5 + mix(i, 1) % 5], &c = h[10 + mix(i, 2) % 5];
    rt.submit(weft::add(a), weft::add(b), weft::add(c), [=](long&, long&, long&) { body(); });
    rt.submit(weft::use(few, 1 + i % 2), weft::add(b), weft::use(more, 1 + i % 4), [=](long&) { body(); });
    rt.submit(weft::with_access<look>(c), weft::read(a), [=](long, long) { body(); });
    rt.submit(weft::read(a), weft::write(b), weft::read(a), [=](long, long&, long) { body(); });
    if (i % 10 == 4) rt.submit(weft::write(backwards), weft::add(h[20]), [=](weft::view<long>, long&) { body(); });
    std::vector<weft::task_token*> edges;
    for (unsigned k = 1; k <= i % 4 && k <= i; ++k) edges.push_back(&tokens[i - k]);
    rt.submit(weft::after(edges), weft::as(tokens[i]), weft::priority(i % 9 == 0 ? 1 : 0), body);
  }
  rt.wait();
}

// Teams whose members meet, leave early, run graphs of units, and have teams and waits of their own.
inline void meeting_teams(weft::runtime& rt) {
  const weft::team_graph units(12, {{0, 3}, {1, 3}, {2, 4}, {3, 5}, {4, 5}, {5, 9}, {6, 10}, {9, 11}, {10, 11}});
  for (unsigned i = 0; i < 30; ++i) {
    const unsigned width = 1 + i % 5 % rt.workers();
    const auto wish = i % 3 == 0   ? weft::team(width).together()
                      : i % 3 == 1 ? weft::team(width).awake()
                                   : weft::team(width);
    rt.submit(wish, weft::priority(i % 7 == 0 ? 1 : 0), [&units, &rt, i](weft::team_context& t) {
      weft::charge(noise(i * 5 + t.rank(), 300, 5000));
      static_cast<void>(t.reduce(1.0, std::plus<>()));
      if (i % 4 == 0) static_cast<void>(t.scan(1, std::plus<>()) + t.broadcast(3));
      if (i % 5 == 1) units.run(t, [](unsigned unit) { weft::charge(300.0 * (1 + unit)); });
      if (i % 5 == 2)
        t.for_each(
            0u, 200u, [](unsigned k) { weft::charge(k % 30 * 9.0); }, weft::guided());
      if (i % 5 == 3 && t.rank() == 0) {
        rt.submit(weft::team(2), [](weft::team_context& inner) { weft::charge(900), inner.barrier(); });
        rt.wait();
      }
      if (i % 6 == 5 && t.rank() == 1) return;
      weft::charge(200);
      if (i % 10 == 9) on_purpose();
    });
    if (i % 10 == 9) fails([&] { rt.wait(); });
  }
  fails([&] { rt.wait(); });
}

// Graphs with nodes of every kind, run behind one another, some of which fail.
inline void failing_graphs(weft::runtime& rt) {
  std::deque<weft::handle<int>> h(6);
  unsigned runs = 0;
  weft::graph g(rt, [&](weft::recorder& r) {
    for (unsigned i = 0; i < 30; ++i) {
      auto &a = h[i % 6], &b = h[(i + 2) % 6];
      const auto body = [&rt, &runs, i] {
        weft::charge(noise(i, 100, 3000));
        if (i == 11 && runs % 3 == 1) on_purpose();
        if (i % 9 == 4) rt.submit([] { weft::charge(400); });
      };
      switch (i % 6) {
      case 0: r.submit(weft::write(a), weft::named("writes"), [=](int&) { body(); }); break;
      case 1: r.submit(weft::add(a), weft::read(b), weft::priority(1), [=](int&, int) { body(); }); break;
      case 2: r.submit(weft::team(2), weft::write(a), [=](weft::team_context& t, int&) { t.barrier(), body(); }); break;
      case 3: r.submit(weft::pin(i % rt.workers()), weft::read(a), [=](int) { body(); }); break;
      case 4: r.submit(weft::near(b), weft::subtasks(), weft::write(a), [=](int&) { body(); }); break;
      default: r.submit(weft::read(a), weft::cost(700), weft::write(b), [](int, int&) {}); break;
      }
    }
  });
  for (; runs < 6; ++runs) {
    rt.submit(weft::write(h[runs % 6]), [](int&) { weft::charge(500); });
    runs % 2 == 0 ? fails([&] { g.run(); }) : g.submit();
    rt.submit(weft::read(h[(runs + 1) % 6]), [](int) { weft::charge(200); });
    fails([&] { rt.wait(); });
  }
}

// Values in order: by comparisons and by keys, kept and not kept in order; and sums of all before.
inline void sorted(weft::runtime& rt) {
  struct value {
    std::uint32_t key, was;
  };
  std::vector<value> x(6000);
  const auto fill = [&x](std::uint32_t kinds) {
    for (std::uint32_t i = 0; i < x.size(); ++i) x[i] = {static_cast<std::uint32_t>(mix(i, 11) % kinds), i};
  };
  const auto less = [](const value& a, const value& b) {
    weft::charge(6);
    return a.key < b.key;
  };
  for (const std::uint32_t kinds : {3u, 100'000u}) {
    rt.submit([&] {
      fill(kinds), weft::sort(x.begin(), x.end(), less);
      fill(kinds), weft::stable_sort(x.begin(), x.end(), less);
      fill(kinds), weft::integer_sort(x.begin(), x.end(), [](const value& v) {
        weft::charge(4);
        return v.key;
      });
      weft::inclusive_scan(x.begin(), x.end(), x.begin(), value{0, 0}, [](const value& a, const value& b) {
        weft::charge(3);
        return value{a.key + b.key, b.was};
      });
    });
    rt.wait();
  }
}

}  // namespace fronts

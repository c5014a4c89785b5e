// A program of some hundred tasks for each front of the library, whose bodies take modelled time: short and long ones,
// of even and of uneven length. What they compute is nothing; what the scheduler does with them is the question.
#pragma once
#include <deque>
#include <functional>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rare_fronts.hpp"
#include "weft/fork_each.hpp"
#include "weft/guest.hpp"
#include "weft/near.hpp"
#include "weft/ordered_for.hpp"
#include "weft/pipeline.hpp"
#include "weft/weft.hpp"

namespace fronts {

inline void tiny_tasks(weft::runtime& rt) {
  for (unsigned round = 0; round < 3; ++round) {
    for (unsigned i = 0; i < 600; ++i) rt.submit([i] { weft::charge(noise(i, 20, 90)); });
    rt.wait();
  }
}
inline void long_tasks(weft::runtime& rt) {
  for (unsigned i = 0; i < 120; ++i) rt.submit([i] { weft::charge(noise(i, 2e3, 9e4)); });
  rt.wait();
}
inline void mixed_tasks(weft::runtime& rt) {
  for (unsigned i = 0; i < 400; ++i) {
    const double ns = i % 7 == 0 ? noise(i, 1e4, 3e4) : noise(i, 50, 900);
    rt.submit(weft::cost(ns), weft::priority(i % 11 == 0 ? 1 : 0), [ns] { weft::charge(ns); });
    if (i % 5 == 0) rt.submit(weft::pin(i % rt.workers()), [] { weft::charge(300); });
    if (i % 16 == 0) weft::charge(600);  // the program itself
  }
  rt.wait();
}
inline void bodies_that_submit(weft::runtime& rt) {
  for (unsigned i = 0; i < 12; ++i)
    rt.submit([i, &rt] {
      for (unsigned k = 0; k < 25; ++k)
        rt.submit([=, &rt] {
          weft::charge(noise(i * 25 + k, 100, 4000));
          if (k % 6 == 0) rt.submit(weft::subtasks(), [] { weft::charge(700); });
        });
      weft::charge(500);
      if (i % 2 == 0) rt.wait();
      if (i % 3 == 0) weft::yield();
      weft::charge(800);
    });
  rt.wait();
}
inline double fib(unsigned n) {
  if (n < 2) return weft::charge(60), n;
  const auto [a, b] = weft::fork_join([&] { return fib(n - 1); }, [&] { return fib(n - 2); });
  return a + b;
}
inline void forks(weft::runtime& rt) {
  rt.submit([] { static_cast<void>(fib(13)); });
  rt.wait();
  static_cast<void>(fib(11));
}
inline void skewed(unsigned depth, unsigned at) {
  weft::charge(noise(at, 50, 600));
  if (depth == 0) return;
  weft::finish([=] {
    for (unsigned i = 0; i < 1 + at % 3; ++i) weft::async([=] { skewed(depth - 1, at * 3 + i); });
    if (at % 4 == 1) weft::charge(2e4);
  });
}
inline void scopes(weft::runtime& rt) {
  rt.submit([] { skewed(7, 2); });
  rt.wait();
  skewed(6, 5);
}
inline void loops(weft::runtime& rt) {
  std::vector<unsigned> x(3000);
  std::iota(x.begin(), x.end(), 0u);
  const auto ns = [](unsigned i) { return noise(i, 5, i % 97 == 0 ? 5000 : 60); };
  rt.submit([&] {
    weft::for_each(std::size_t{0}, x.size(), [&](std::size_t i) { weft::charge(ns(x[i])); });
    weft::sort(x.begin(), x.end(), [](unsigned a, unsigned b) { return a % 101 < b % 101; });
    static_cast<void>(weft::reduce(std::size_t{0}, x.size(), 0u, std::plus<>(), [&](std::size_t i) {
      weft::charge(20);
      return x[i];
    }));
  });
  rt.wait();
  weft::for_each(std::size_t{0}, x.size() / 4, [&](std::size_t i) { weft::charge(ns(x[i])); });
  static_cast<void>(weft::fork_each<8>(
      8, 0u, [](weft::here&, std::size_t i) { return weft::charge(3000.0 * static_cast<double>(1 + i)), 1u; },
      std::plus<>()));
}
inline void handles(weft::runtime& rt) {
  std::deque<weft::handle<int>> h(12);
  weft::resource units(3);
  for (unsigned i = 0; i < 500; ++i) {
    auto &a = h[i % 12], &b = h[(i * 7 + 5) % 12];
    const auto body = [i] { weft::charge(noise(i, 100, 3000)); };
    switch (&a == &b ? 0 : i % 6) {
    case 0: rt.submit(weft::write(a), [=](int&) { body(); }); break;
    case 1: rt.submit(weft::read(a), weft::write(b), [=](int, int&) { body(); }); break;
    case 2: rt.submit(weft::add(a), weft::add(b), [=](int&, int&) { body(); }); break;
    case 3: rt.submit(weft::read(a), weft::read(b), [=](int, int) { body(); }); break;
    case 4: rt.submit(weft::use(units, 1 + i % 3), weft::add(a), [=](int&) { body(); }); break;
    default: rt.submit(weft::concurrent(a), weft::read(b), [=](int&, int) { body(); }); break;
    }
    if (i % 100 == 99) static_cast<void>(rt.get(h[i % 12]));
  }
  rt.wait();
}
inline void reductions(weft::runtime& rt) {
  weft::reduction<long> sum{0L};
  weft::repeatable_reduction<long> again{0L};
  for (unsigned i = 0; i < 150; ++i) {
    rt.submit(weft::reduce(sum), [i](long& x) { weft::charge(noise(i, 100, 2000)), x += i; });
    rt.submit(weft::reduce(again), [i](long& x) { weft::charge(400), x += i; });
    if (i % 50 == 49) static_cast<void>(rt.get(sum));
  }
  rt.wait();
}
inline void streams(weft::runtime& rt) {
  weft::stream<std::uint64_t> a("a"), b("b"), c("c");
  c.immediate();
  for (unsigned i = 0; i < 60; ++i) {
    const unsigned n = 200 + 100 * (i % 3);
    rt.submit(weft::pop(b, n / 4, n / 2),
              [](std::span<const std::uint64_t> in) { weft::charge(static_cast<double>(in.size()) * 3); });
    rt.submit(weft::push(a, n), [=](std::span<std::uint64_t> out) { weft::charge(noise(i, 300, 900)), out[0] = i; });
    rt.submit(weft::pop(a, n), weft::push(b, n / 4),
              [](std::span<const std::uint64_t>, std::span<std::uint64_t>) { weft::charge(900); });
    rt.submit(weft::push(c, 3), [](std::span<std::uint64_t>) { weft::charge(200); });
    if (i % 4 == 3) c.discard(12);
  }
  rt.submit(weft::push(b, 300), [](std::span<std::uint64_t>) { weft::charge(100); });
  rt.wait();
}
// Elements that are never made, because a push fails.
inline void failing_streams(weft::runtime& rt) {
  for (unsigned round = 0; round < 4; ++round) {
    weft::stream<std::uint64_t> s("s");
    for (unsigned i = 0; i < 12; ++i) {
      rt.submit(weft::push(s, 40), [i](std::span<std::uint64_t>) {
        weft::charge(300);
        if (i % 5 == 3) throw weft::error("on purpose");
      });
      if (i % 4 != 1) rt.submit(weft::pop(s, 30), [](std::span<const std::uint64_t>) { weft::charge(200); });
    }
    try {
      rt.wait();
    } catch (const weft::error&) {
    }
  }
}
inline void pipelines(weft::runtime& rt) {
  for (const double ns : {40.0, 900.0, 6000.0})
    rt.submit([=] {
      unsigned next = 0;
      weft::pipeline(weft::serial([&]() -> std::optional<unsigned> {
                       weft::charge(30);
                       return next == 150 ? std::nullopt : std::optional(next++);
                     }),
                     weft::parallel([=](unsigned i) { return weft::charge(noise(i, ns / 2, 2 * ns)), i; }),
                     weft::serial([=](unsigned) { weft::charge(ns / 8); }),
                     weft::parallel([=](unsigned) { weft::charge(ns / 3); }));
      next = 0;
      weft::pipeline(weft::serial([&] { return next == 150 ? std::nullopt : std::optional(next++); }),
                     weft::parallel([=](unsigned& i) { weft::charge(noise(i, ns / 2, 2 * ns)); }));
    }),
        rt.wait();
}
inline void teams(weft::runtime& rt) {
  weft::handle<int> order(0);
  for (unsigned i = 0; i < 60; ++i) {
    rt.submit(weft::team(1 + i % 4 % rt.workers()), weft::named("fixed"), [i](weft::team_context& t) {
      weft::charge(noise(i, 500, 4000) / t.width());
      t.barrier();
      t.for_each(0u, 16u, [](unsigned k) { weft::charge(20.0 * k); });
    });
    if (i % 3 == 0) rt.submit(weft::write(order), [](int&) { weft::charge(2000); });
  }
  rt.wait();
}
inline void learned_teams(weft::runtime& rt) {
  weft::handle<int> order(0);
  for (unsigned i = 0; i < 120; ++i) {
    const double ns = i < 70 ? 2e4 : 6e4;
    rt.submit(weft::team(weft::learned), weft::write(order), weft::named("chain"),
              [=](weft::team_context& t, int&) { weft::charge(ns * (0.3 + 0.7 / t.width() + 0.02 * t.width())); });
    if (i % 4 == 0)
      rt.submit(weft::team(1, rt.workers()), weft::named("beside"),
                [=](weft::team_context& t) { weft::charge(ns / t.width()); });
    if (i % 3 == 0)
      rt.submit(weft::team(weft::learned), weft::named("flat"),
                [=](weft::team_context& t) { weft::charge(ns * (0.5 + 0.5 / t.width())); });
  }
  rt.wait();
}
inline void guests(weft::runtime& rt) {
  for (unsigned i = 0; i < 20; ++i) {
    rt.submit(weft::team(1 + i % 3 % rt.workers()), [](weft::team_context& t) {
      weft::charge(300);
      weft::guest(t, [](weft::guest_context& g) {
        weft::charge(4000);
        g.at_once([](unsigned) { weft::charge(500); });
      });
      t.barrier();
    });
    for (unsigned k = 0; k < 4; ++k) rt.submit([] { weft::charge(1500); });
  }
  rt.wait();
}
inline void graphs(weft::runtime& rt) {
  std::deque<weft::handle<int>> h(8);
  weft::graph g(rt, [&](weft::recorder& r) {
    for (unsigned i = 0; i < 60; ++i)
      i % 4 == 1 ? r.submit(weft::near(h[i % 8]), weft::write(h[i % 8]), [](int&) { weft::charge(900); })
                 : r.submit(weft::read(h[(i + 3) % 8]), weft::write(h[i % 8]),
                            [i](int, int&) { weft::charge(noise(i, 80, 2500)); });
  });
  for (unsigned i = 0; i < 5; ++i) {
    i % 2 == 0 ? g.run() : g.submit();
    rt.submit(weft::read(h[0]), [](int) { weft::charge(100); });
  }
  rt.wait();
}
inline void events(weft::runtime& rt) {
  std::deque<weft::event> e(12);
  weft::handle<int> h(0);
  for (unsigned i = 0; i < 12; ++i) {
    rt.submit(weft::completes(e[i]), weft::write(h), [&, i](int&) { e[i].fulfil_after(300 * (i % 4)); });
    rt.submit([&, i] {
      weft::charge(400);
      e[(i * 5) % 12].wait();
      weft::charge(900);
    });
  }
  e[3].wait();
  weft::event twice;
  rt.submit(weft::completes(twice), [&] { twice.fulfil_after(2000); });
  try {  // what the body has is gone with it
    rt.submit(weft::completes(twice), [v = std::vector<int>(9)] { weft::charge(static_cast<double>(v.size())); });
  } catch (const weft::error&) {
  }
  rt.wait();
}
inline void cancelled(weft::runtime& rt) {
  for (unsigned i = 0; i < 6; ++i) {
    weft::cancellation stop;
    rt.submit([&, i] {
      weft::finish(stop, [&] {
        for (unsigned k = 0; k < 30; ++k)
          weft::async([&, k] {
            weft::charge(400);
            if (k == 5 * i) stop.cancel();
          });
      });
    });
    rt.wait();
  }
  for (unsigned i = 0; i < 8; ++i) try {
      const auto half = [i](bool fails) {
        weft::charge(fails ? 400 : 3000);
        if (fails) throw weft::error("a half of fork " + std::to_string(i) + ", on purpose");
      };
      weft::fork_join([&] { half(i % 4 == 1); }, [&] { half(i % 2 == 0); });
    } catch (const weft::error&) {
    }
  weft::handle<int> h(0), after(0);
  for (unsigned i = 0; i < 20; ++i) {
    rt.submit(weft::write(h), [i](int&) {
      weft::charge(300);
      if (i % 6 == 3) throw weft::error("on purpose");
    });
    rt.submit(weft::read(h), weft::add(after), [](int, int&) { weft::charge(200); });
    if (i % 5 == 4) try {
        rt.wait();
      } catch (const weft::error&) {
      }
  }
}
inline void in_order(weft::runtime& rt) {
  std::vector<weft::reservation> places(8);
  rt.submit([&] {
    weft::ordered_for(
        0, 200, [&](std::uint64_t i) { return places[mix(i, 1) % 8].reserve(i), true; },
        [&](std::uint64_t i) {
          if (!places[mix(i, 1) % 8].release(i)) return false;
          weft::charge(noise(static_cast<unsigned>(i), 50, 900));
          return true;
        });
  });
  rt.wait();
}
struct field {
  std::vector<int> cells;
  explicit field(std::size_t n) : cells(n) {
    weft::place_memory(cells.data(), n * sizeof(int), weft::memory_placement::blocked());
  }
  ~field() { weft::place_memory(cells.data(), cells.size() * sizeof(int), weft::memory_placement::first_touch()); }
  field(const field&) = delete;
  field& operator=(const field&) = delete;
  [[nodiscard]] auto near(std::size_t from, std::size_t to) const {
    return weft::near(cells.data() + from, (to - from) * sizeof(int));
  }
  void age(std::size_t from, std::size_t to) {
    if (to - from <= 512) return weft::charge(noise(static_cast<unsigned>(from), 200, 3000));
    const std::size_t middle = from + (to - from) / 2;
    weft::finish([&] {
      weft::async(near(from, middle), [=, this] { age(from, middle); });
      weft::async(near(middle, to), [=, this] { age(middle, to); });
    });
  }
};
inline void hints(weft::runtime& rt) {
  constexpr std::size_t n = 1 << 15;
  field f(n);
  rt.submit([&] { f.age(0, n); });
  rt.wait();
  for (std::size_t i = 0; i < 64; ++i)
    rt.submit(f.near(i * 512, (i + 1) * 512), [i] { weft::charge(noise(static_cast<unsigned>(i), 300, 5000)); });
  rt.wait();
}

inline constexpr struct {
  const char* name;
  void (*run)(weft::runtime&);
} programs[] = {{"tiny tasks", tiny_tasks},
                {"long tasks", long_tasks},
                {"mixed tasks", mixed_tasks},
                {"bodies that submit", bodies_that_submit},
                {"forks", forks},
                {"scopes", scopes},
                {"loops", loops},
                {"handles", handles},
                {"reductions", reductions},
                {"streams", streams},
                {"failing streams", failing_streams},
                {"pipelines", pipelines},
                {"teams", teams},
                {"learned teams", learned_teams},
                {"guests", guests},
                {"graphs", graphs},
                {"events", events},
                {"cancelled", cancelled},
                {"in order", in_order},
                {"hints", hints},
                {"failing forks", failing_forks},
                {"early elements", early_elements},
                {"sized data", sized_data},
                {"waiting bodies", waiting_bodies},
                {"wide accesses", wide_accesses},
                {"meeting teams", meeting_teams},
                {"failing graphs", failing_graphs},
                {"sorted", sorted}};

}  // namespace fronts

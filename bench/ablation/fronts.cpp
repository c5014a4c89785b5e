// The other fronts: streams, graphs that run again, teams, guests, pipelines, ordered sections.
#include <algorithm>
#include <array>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/ablation/program.hpp"

namespace weft::bench::ablation {

namespace {

// Three stages over streams, of which the second is the longest.
program streams(const char* name, const char* summary, std::uint32_t blocks, double ns) {
  return {name, summary, [=](scene& s) -> pass {
            return [=, &s]() -> outcome {
              constexpr std::size_t n = 64;
              const std::uint32_t count = s.some(blocks);
              stream<std::uint32_t> raw("raw"), ready("ready");
              handle<value> sum(0);
              for (std::uint32_t b = 0; b < count; ++b) {
                s.task(ns, push(raw, n), [b](std::span<std::uint32_t> out) { std::fill(out.begin(), out.end(), b); });
                s.task(2 * ns, pop(raw, n), push(ready, n),
                       [](std::span<const std::uint32_t> in, std::span<std::uint32_t> out) {
                         std::copy(in.begin(), in.end(), out.begin());
                       });
                s.task(ns / 2, pop(ready, n), write(sum), [](std::span<const std::uint32_t> in, value& x) {
                  x = std::accumulate(in.begin(), in.end(), x);
                });
              }
              s.rt().wait();
              return {s.rt().get(sum) == value{count} * (count - 1) / 2 * n};
            };
          }};
}

// Eight steps of a ring, recorded once and run again and again.
program graph_again(const char* name, const char* summary, std::size_t width, double ns, std::uint32_t times) {
  return {name, summary, [=](scene& s) -> pass {
            auto cells = std::make_shared<std::vector<handle<value>>>(2 * width);
            auto g = std::make_shared<graph>(s.rt(), [&](recorder& r) {
              for (std::size_t step = 0; step < 8; ++step)
                for (std::size_t i = 0; i < width; ++i) {
                  auto* const from = cells->data() + step % 2 * width;
                  auto* const to = cells->data() + (1 - step % 2) * width;
                  s.task_to(r, ns, read(from[(i + width - 1) % width]), read(from[i]), read(from[(i + 1) % width]),
                            write(to[i]), [](value, value, value, value& x) { touch(x); });
                }
            });
            auto runs = std::make_shared<value>(0);
            return [=, &s]() -> outcome {
              for (std::uint32_t i = 0, n = s.some(times); i < n; ++i, ++*runs) g->run();
              return {std::all_of(cells->begin(), cells->end(),
                                  [&](handle<value>& c) { return s.rt().get(c) == 4 * *runs; })};
            };
          }};
}

// How long each member of a team computes: a part of it is serial, and each member costs.
[[nodiscard]] double amdahl(double ns, double serial, double each, unsigned width) {
  return ns * (serial + (1 - serial) / width + each * width);
}

// Chains of teams, side by side, of several kinds; with short tasks behind each team, or none.
struct team_shape {
  detail::team_clause wish;
  unsigned chains, teams, barriers, tasks;
  double ns;
};
outcome run_teams(scene& s, const team_shape& t) {
  std::vector<handle<value>> order(t.chains);
  std::vector<handle<value>> behind(t.chains * std::max(t.tasks, 1u));
  constexpr std::array names = {"panel", "update", "solve"};
  constexpr unsigned kinds = names.size();
  const std::uint32_t n = s.some(t.teams);
  for (std::uint32_t i = 0; i < n; ++i)
    for (unsigned c = 0; c < t.chains; ++c) {
      s.rt().submit(t.wish, write(order[c]), named(names[c % kinds]),
                    [&s, barriers = t.barriers, ns = t.ns / (1 + c % kinds)](team_context& in, value& x) {
                      for (unsigned b = 0; b <= barriers; ++b) {
                        s.take(amdahl(ns / (barriers + 1), 0.1, 0.01, in.width()));
                        if (b < barriers) in.barrier();
                      }
                      if (in.rank() == 0) touch(x);
                    });
      for (unsigned k = 0; k < t.tasks; ++k)
        s.task(2000, read(order[c]), write(behind[c * t.tasks + k]), [](value, value& x) { touch(x); });
    }
  s.rt().wait();
  const auto all = [n](std::vector<handle<value>>& in) {
    return std::all_of(in.begin(), in.end(), [n](handle<value>& h) { return h.unguarded() == n; });
  };
  return {all(order) && (t.tasks == 0 || all(behind))};
}
program teams(const char* name, const char* summary, unsigned width, unsigned chains, unsigned count, unsigned barriers,
              unsigned tasks, double ns) {
  return {name, summary, [=](scene& s) -> pass {
            const unsigned most = std::min(width, s.workers());
            return [=, &s] {
              return run_teams(s, {width == 0 ? team(learned) : team(most), chains, count, barriers, tasks, ns});
            };
          }};
}

// A chain of teams that learn, whose members gain from each other, or do not any more.
program changing() {
  return {"learned_change", "a chain of teams that learn; what they do changes three times", [](scene& s) -> pass {
            return [&s]() -> outcome {
              handle<value> order(0);
              const std::uint32_t n = s.some(480);
              for (std::uint32_t i = 0; i < n; ++i)
                s.rt().submit(team(learned), write(order), named("changing"), [=, &s](team_context& in, value& x) {
                  const bool is_serial = i / (n / 4) % 2 == 0;
                  s.take(amdahl(50'000, is_serial ? 1 : 0.02, is_serial ? 0.02 : 0.005, in.width()));
                  if (in.rank() == 0) touch(x);
                });
              s.rt().wait();
              return {order.unguarded() == n};
            };
          }};
}

// A chain of teams that learn, and two chains of tasks, which wait beside them for the same workers.
program beside_chains() {
  return {"learned_beside", "a chain of teams that learn beside two of tasks of 30 us", [](scene& s) -> pass {
            return [&s]() -> outcome {
              handle<value> order(0);
              std::array<handle<value>, 2> chains;
              const std::uint32_t n = s.some(200);
              for (std::uint32_t i = 0; i < n; ++i) {
                s.rt().submit(team(learned), write(order), named("beside"), [&s](team_context& in, value& x) {
                  s.take(amdahl(100'000, 0.1, 0.01, in.width()));
                  if (in.rank() == 0) touch(x);
                });
                for (auto& c : chains) s.task(30'000, write(c), [](value& x) { touch(x); });
              }
              s.rt().wait();
              return {order.unguarded() == n && chains[0].unguarded() == n && chains[1].unguarded() == n};
            };
          }};
}

// Guests one after the other, on the same threads.
program guests() {
  return {"guests", "200 teams of two with a guest of 10 us, in a chain", [](scene& s) -> pass {
            return [&s]() -> outcome {
              handle<value> order(0);
              const std::uint32_t n = s.some(200);
              const unsigned width = std::min(2u, s.workers());
              for (std::uint32_t i = 0; i < n; ++i)
                s.rt().submit(team(width), write(order), [&s](team_context& t, value& x) {
                  guest(t, [&](guest_context&) { s.take(10'000), touch(x); });
                });
              s.rt().wait();
              return {order.unguarded() == n};
            };
          }};
}

// A guest that has its threads do something again and again, with a little of its own in between.
program guest_calls() {
  return {"guest_calls", "a guest on two threads that uses them 500 times for 5 us", [](scene& s) -> pass {
            return [&s]() -> outcome {
              const std::uint32_t n = s.some(500);
              const unsigned width = std::min(2u, s.workers());
              std::array<value, 2> done{};
              unsigned threads = 0;
              s.rt().submit(team(width), [&](team_context& t) {
                guest(t, [&](guest_context& g) {
                  threads = g.threads();
                  for (std::uint32_t i = 0; i < n; ++i) {
                    s.take(3000);
                    g.at_once([&](unsigned thread) { s.take(5000), touch(done[thread]); });
                  }
                });
              });
              s.rt().wait();
              return {done[0] == n && (threads < 2 || done[1] == n)};
            };
          }};
}

// A serial source, two parallel stages, a serial sink.
program pipe(const char* name, const char* summary, std::uint32_t items, double source_ns, double stage_ns,
             double sink_ns) {
  return {name, summary, [=](scene& s) -> pass {
            return [=, &s]() -> outcome {
              const std::uint32_t n = s.some(items);
              std::uint32_t made = 0, out = 0;
              bool in_order = true;
              pipeline(serial([&]() -> std::optional<std::uint32_t> {
                         if (made == n) return std::nullopt;
                         s.take(source_ns);
                         return made++;
                       }),
                       parallel([&](std::uint32_t& x) { s.take(stage_ns), x *= 3; }),
                       parallel([&](std::uint32_t& x) { s.take(stage_ns), x += 1; }), serial([&](std::uint32_t x) {
                         s.take(sink_ns);
                         in_order = in_order && x == 3 * out + 1;
                         ++out;
                       }));
              return {in_order && out == n};
            };
          }};
}

// Accounts that transactions change, in order; so many in a hundred change the first one, too.
constexpr std::size_t account_count = 4096;
alignas(1 << 16) std::array<value, account_count> accounts;
struct bank {
  scene* s;
  unsigned hot;
  double ns;
};
void transact(ordered_context& x, std::uint64_t now, bank* b) {
  const value draw = (now + 1) * 0x9e3779b97f4a7c15U >> 20;
  value& mine = accounts[draw % 100 < b->hot ? 0 : 1 + draw % (account_count - 1)];
  const value before = x.load(mine);
  b->s->take(b->ns);
  x.store(mine, before * 3 + now);
}
program section(const char* name, const char* summary, unsigned hot, std::uint32_t bodies, double ns) {
  return {name, summary, [=](scene& s) -> pass {
            return [=, &s]() -> outcome {
              const std::uint32_t n = s.some(bodies);
              bank b{&s, hot, ns};
              accounts.fill(0);
              std::array<value, account_count> expected{};
              ordered q(s.rt());
              for (std::uint32_t i = 0; i < n; ++i) q.at(i, transact, &b);
              q.run();
              for (std::uint64_t i = 0; i < n; ++i) {
                const value draw = (i + 1) * 0x9e3779b97f4a7c15U >> 20;
                value& mine = expected[draw % 100 < hot ? 0 : 1 + draw % (account_count - 1)];
                mine = mine * 3 + i;
              }
              return {accounts == expected};
            };
          }};
}

}  // namespace

std::vector<program> fronts() {
  return {streams("streams_0.2us", "three stages over streams, 0.2 us", 2000, 200),
          streams("streams_5us", "three stages over streams, 5 us", 2000, 5000),
          graph_again("graph_empty", "a graph of 256 empty nodes, 200 runs", 32, 1, 200),
          graph_again("graph_2us", "a graph of 512 nodes of 2 us, 20 runs", 64, 2000, 20),
          teams("teams_barriers", "a chain of teams of 8 with 10 barriers each", 8, 1, 150, 10, 0, 20'000),
          teams("teams_apart", "eight chains of teams of 4, two barriers", 4, 8, 40, 2, 0, 20'000),
          teams("learned_chain", "a chain of teams that learn, 100 us", 0, 1, 300, 0, 0, 100'000),
          teams("learned_bands", "eight chains of three kinds that learn, a barrier", 0, 8, 80, 1, 0, 60'000),
          teams("learned_tasks", "a chain of teams that learn, eight tasks behind each", 0, 1, 120, 0, 8, 60'000),
          teams("learned_flat", "teams that learn, 40 chains side by side", 0, 40, 12, 0, 0, 60'000),
          changing(),
          beside_chains(),
          guests(),
          guest_calls(),
          pipe("pipe_tiny", "a pipeline of items of 0.15 us", 8000, 30, 45, 30),
          pipe("pipe_1us", "a pipeline of items of 1.5 us", 6000, 100, 600, 200),
          pipe("pipe_20us", "a pipeline of items of 20 us", 1500, 100, 10'000, 100),
          pipe("pipe_serial", "a pipeline whose source takes most", 4000, 1500, 150, 100),
          pipe("pipe_slow_source", "a pipeline whose source takes 5 us of 9", 2000, 5000, 2000, 100),
          section("ordered_apart", "bodies in order that share nothing, 1 us", 0, 6000, 1000),
          section("ordered_tenth", "a tenth of the bodies change one word, 1 us", 10, 4000, 1000),
          section("ordered_all", "all bodies change one word, 1 us", 100, 6000, 1000),
          section("ordered_10us", "a fifth of the bodies change one word, 10 us", 20, 2000, 10'000)};
}

}  // namespace weft::bench::ablation

// One thread submits: the streams of `weft bench` with empty bodies and with short ones, independent tasks of four
// lengths and of mixed ones, and tasks that submit in their turn. Most rules about stealing were made for these
// (decisions 0012, 0019, 0053 to 0056, 0065).
#include <algorithm>
#include <cmath>
#include <memory>
#include <mutex>
#include <numeric>
#include <tuple>
#include <utility>

#include "bench/ablation/program.hpp"
#include "bench/problem.hpp"

namespace weft::bench::ablation {

namespace {

// What a problem leaves in the cells that its tasks write first: one for each task.
class counted {
 public:
  explicit counted(std::size_t cells) : cells_(cells) {}
  template <class Body> void independent_task(cell_index c, Body) { ++cells_[c]; }
  template <std::size_t R, std::size_t W, class Body>
  void task(const std::array<cell_index, R>&, const std::array<cell_index, W>& writes, Body) {
    ++cells_[writes[0]];
  }
  std::vector<value> cells_;
};

// The tasks of a problem, each of one length.
class stream_of {
 public:
  stream_of(scene& s, const problem& p, double ns) : scene_(s), p_(p), ns_(ns), cells_(cell_count(p)) {}

  template <class Body> void independent_task(cell_index c, Body body) {
    scene_.task(ns_, [cell = &cells_[c].unguarded(), body] { body(*cell); });
  }
  template <std::size_t R, std::size_t W, class Body>
  void task(const std::array<cell_index, R>& reads, const std::array<cell_index, W>& writes, Body body) {
    [&]<std::size_t... I, std::size_t... J>(std::index_sequence<I...>, std::index_sequence<J...>) {
      static_cast<void>(reads);  // unused when nothing is read
      scene_.task(ns_, weft::read(cells_[reads[I]])..., weft::write(cells_[writes[J]])...,
                  [body](auto&... data) { body(std::get<R>(std::tie(data...))); });
    }(std::make_index_sequence<R>{}, std::make_index_sequence<W>{});
  }

  outcome run(unsigned times) {
    for (unsigned i = 0; i < times; ++i) submit_pass(p_, *this, increment{});
    scene_.rt().wait();
    passes_ += times;
    counted once(cells_.size());
    submit_pass(p_, once, increment{});
    for (std::size_t c = 0; c < cells_.size(); ++c)
      if (cells_[c].unguarded() != passes_ * once.cells_[c]) return {};
    return {true};
  }

 private:
  scene& scene_;
  problem p_;
  double ns_;
  std::vector<handle<value>> cells_;
  value passes_ = 0;
};

program stream(const char* name, const char* summary, shape form, std::uint32_t width, std::uint32_t tasks, double ns,
               unsigned times = 1) {
  return {name, summary, [=](scene& s) -> pass {
            problem p{name, summary, form, width, 1};
            if (form == shape::independent || form == shape::chain) p.length = s.some(tasks);
            if (form == shape::stencil) p.length = s.some(tasks / width);
            if (form == shape::cholesky) p.width += s.some(1) - 1;
            auto all = std::make_shared<stream_of>(s, p, ns);
            return [all, times] { return all->run(times); };
          }};
}

// Independent tasks of which every hundredth is long.
program mixed() {
  return {"mixed", "independent tasks of 0.2 us, each 100th of 50 us", [](scene& s) -> pass {
            auto slots = std::make_shared<std::vector<value>>(s.some(8'000));
            auto passes = std::make_shared<value>(0);
            return [&s, slots, passes]() -> outcome {
              for (std::size_t i = 0; i < slots->size(); ++i)
                s.task(i % 100 == 50 ? 50'000 : 200, [at = slots->data() + i] { touch(*at); });
              s.rt().wait();
              ++*passes;
              return {std::count(slots->begin(), slots->end(), *passes) == std::ssize(*slots)};
            };
          }};
}

// Tasks that submit children, with or without a wait for them.
program nested(const char* name, const char* summary, std::uint32_t parents, std::uint32_t children, double ns,
               bool waits) {
  return {name, summary, [=](scene& s) -> pass {
            const std::uint32_t n = s.some(parents);
            auto slots = std::make_shared<std::vector<value>>(std::size_t{n} * children);
            auto passes = std::make_shared<value>(0);
            return [=, &s]() -> outcome {
              for (std::uint32_t i = 0; i < n; ++i)
                s.task(100, [&s, at = slots->data() + std::size_t{i} * children, children, ns, waits] {
                  for (std::uint32_t c = 0; c < children; ++c) s.task(ns, [slot = at + c] { touch(*slot); });
                  if (waits) s.rt().wait();
                });
              s.rt().wait();
              ++*passes;
              return {std::count(slots->begin(), slots->end(), *passes) == std::ssize(*slots)};
            };
          }};
}

// The program waits for one short task beside a long one that is ready, again and again; what counts is that wait.
program wait_for_one() {
  return {"wait_for_one", "main waits for a task of 1 ms beside one of 4 ms", [](scene& s) -> pass {
            auto one = std::make_shared<handle<value>>();
            auto passes = std::make_shared<value>(0);
            return [&s, one, passes]() -> outcome {
              constexpr int rounds = 4;
              double waited = 0;
              for (int i = 0; i < rounds; ++i) {
                const double begin = s.rt().now_ns();
                s.task(1e6, weft::write(*one), [](value& x) { touch(x); });
                s.task(4e6, [] {});  // the newest, which the main thread would take
                s.rt().wait(*one);
                waited += s.rt().now_ns() - begin;
                s.rt().wait();
              }
              *passes += rounds;
              return {one->unguarded() == *passes, waited};
            };
          }};
}

// A submitter that computes between its submissions, so that thieves starve and search.
program slow_submitter() {
  return {"slow_submitter", "a task of 2 us for each 1.5 us of the program's own", [](scene& s) -> pass {
            auto slots = std::make_shared<std::vector<value>>(s.some(4'000));
            auto passes = std::make_shared<value>(0);
            return [&s, slots, passes]() -> outcome {
              for (value& x : *slots) {
                if (s.is_modelled())
                  s.rt().charge(s.length(1500));
                else
                  s.take(1500);
                s.task(2000, [at = &x] { touch(*at); });
              }
              s.rt().wait();
              ++*passes;
              return {std::count(slots->begin(), slots->end(), *passes) == std::ssize(*slots)};
            };
          }};
}

// What lives at a time decides how much is in sight: a chain first, then as many tasks that could run beside it.
program behind_a_chain() {
  return {"behind_a_chain", "a chain of 6,000 tasks of 2 us, submitted before 6,000 independent ones",
          [](scene& s) -> pass {
            auto chain = std::make_shared<handle<value>>();
            auto slots = std::make_shared<std::vector<value>>(s.some(6'000));
            auto passes = std::make_shared<value>(0);
            return [&s, chain, slots, passes]() -> outcome {
              for (std::size_t i = 0; i < slots->size(); ++i)
                s.task(2000, weft::write(*chain), [](value& x) { touch(x); });
              for (value& x : *slots) s.task(2000, [at = &x] { touch(*at); });
              s.rt().wait();
              ++*passes;
              return {chain->unguarded() == *passes * slots->size() &&
                      std::count(slots->begin(), slots->end(), *passes) == std::ssize(*slots)};
            };
          }};
}

// The same window afterwards: what an earlier part needed is in the way of short tasks.
program after_a_chain() {
  return {"after_a_chain", "empty tasks, behind a chain for which the window has grown", [](scene& s) -> pass {
            auto before = std::make_shared<pass>(behind_a_chain().make(s));
            auto slots = std::make_shared<std::vector<value>>(s.some(20'000));
            auto passes = std::make_shared<value>(0);
            return [&s, before, slots, passes]() -> outcome {
              const bool is_right = (*before)().is_right;
              const double begin = s.rt().now_ns();
              for (int i = 0; i < 4; ++i, ++*passes) {
                for (value& x : *slots) s.task(1, [at = &x] { touch(*at); });
                s.rt().wait();
              }
              const bool all = std::count(slots->begin(), slots->end(), *passes) == std::ssize(*slots);
              return {is_right && all, s.rt().now_ns() - begin};
            };
          }};
}

// A submitter that has work of its own, for which it is not to be kept.
program then_works() {
  return {"then_works", "8,000 tasks of 5 us, then 50 ms of the program's own", [](scene& s) -> pass {
            auto slots = std::make_shared<std::vector<value>>(s.some(8'000));
            auto passes = std::make_shared<value>(0);
            return [&s, slots, passes]() -> outcome {
              for (value& x : *slots) s.task(5000, [at = &x] { touch(*at); });
              if (s.is_modelled())
                s.rt().charge(s.length(5e7));
              else
                s.take(5e7);
              s.rt().wait();
              ++*passes;
              return {std::count(slots->begin(), slots->end(), *passes) == std::ssize(*slots)};
            };
          }};
}

// The submitter has a lock in its hand that bodies take, so none ends until it is through. A modelled machine is one
// thread, on which a body cannot block.
program lock_held() {
  return {"lock_held", "20,000 tasks that take a lock which their submitter has meanwhile", [](scene& s) -> pass {
            auto lock = std::make_shared<std::mutex>();
            return [&s, lock]() -> outcome {
              value done = 0;
              const std::uint32_t n = s.some(20'000);
              std::unique_lock<std::mutex> mine(*lock);
              for (std::uint32_t i = 0; i < n; ++i)
                s.task(100, [&done, &l = *lock, locks = !s.is_modelled()] {
                  std::unique_lock<std::mutex> guard(l, std::defer_lock);
                  if (locks) guard.lock();
                  ++done;
                });
              mine.unlock();
              s.rt().wait();
              return {done == n};
            };
          }};
}

}  // namespace

std::vector<program> submitters() {
  constexpr auto independent = shape::independent;
  return {stream("independent", "tasks without accesses, empty", independent, 1, 40'000, 1),
          stream("chain1", "tasks that write one cell, empty", shape::chain, 1, 30'000, 1),
          stream("chain3", "tasks that write three cells, empty", shape::chain, 3, 20'000, 1),
          stream("dependency", "tasks that write eight cells, empty", shape::chain, 8, 6'000, 1),
          stream("stencil4", "a ring of 4, empty", shape::stencil, 4, 16'000, 1),
          stream("stencil32", "a ring of 32, empty", shape::stencil, 32, 16'000, 1),
          stream("cholesky20", "eight factorizations of 20 tiles, empty", shape::cholesky, 20, 0, 1, 8),
          stream("cholesky50", "a factorization of 50 tiles, empty", shape::cholesky, 50, 0, 1),
          stream("metg4", "a ring of 4, 0.5 us", shape::stencil, 4, 8'000, 500),
          stream("metg32", "a ring of 32, 1 us", shape::stencil, 32, 12'800, 1000),
          stream("stencil64", "a ring of 64, 0.5 us", shape::stencil, 64, 16'000, 500),
          stream("stencil64_3us", "a ring of 64, 3 us", shape::stencil, 64, 12'800, 3000),
          stream("submit_0.1us", "independent tasks of 0.1 us", independent, 1, 40'000, 100),
          stream("submit_0.3us", "independent tasks of 0.3 us", independent, 1, 20'000, 300),
          stream("submit_1us", "independent tasks of 1 us", independent, 1, 20'000, 1000),
          stream("submit_2.5us", "independent tasks of 2.5 us", independent, 1, 20'000, 2500),
          stream("submit_10us", "independent tasks of 10 us", independent, 1, 12'800, 10'000),
          stream("submit_100us", "independent tasks of 100 us", independent, 1, 6'400, 100'000),
          stream("factor_20us", "a factorization of 20 tiles, 20 us", shape::cholesky, 20, 0, 20'000),
          mixed(),
          slow_submitter(),
          behind_a_chain(),
          after_a_chain(),
          then_works(),
          lock_held(),
          nested("children_0.1us", "300 tasks that submit 32 of 0.1 us each and wait", 300, 32, 100, true),
          nested("children_5us", "300 tasks that submit 32 of 5 us each and wait", 300, 32, 5000, true),
          nested("producers", "40 tasks that submit 300 of 2 us each", 40, 300, 2000, false),
          wait_for_one()};
}

}  // namespace weft::bench::ablation

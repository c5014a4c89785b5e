// Recursions that fork and join: those of `weft bench`, where a node takes 20 ns on a modelled machine; many short ones
// that the main thread starts outside of tasks (decision 0056), and those of finish and async.
#include <memory>
#include <utility>
#include <vector>

#include "bench/ablation/program.hpp"
#include "bench/problem.hpp"
#include "bench/recursion.hpp"

namespace weft::bench::ablation {

namespace {

// Forks whose bodies take so long each, beside what they call.
struct forking {
  const scene* s;
  double ns;
  template <class First, class Second> auto fork(const First& first, const Second& second) const {
    return fork_join([&] { return (*this)(first); }, [&] { return (*this)(second); });
  }
  template <class Body> auto operator()(const Body& body) const {
    if (s->is_modelled()) s->take(ns);
    return body(*this);
  }
};

struct finishing {
  const scene* s;
  double ns;
  template <class First, class Second> auto fork(const First& first, const Second& second) const {
    std::pair<decltype(first(*this)), decltype(second(*this))> found{};
    finish([&] {
      async([&] { found.second = (*this)(second); });
      found.first = (*this)(first);
    });
    return found;
  }
  template <class Body> auto operator()(const Body& body) const {
    if (s->is_modelled()) s->take(ns);
    return body(*this);
  }
};

// A recursion from the main thread, outside of tasks, so many times in a row.
template <class Place>
program tree(const char* name, const char* summary, shape form, std::uint32_t length, double ns, std::uint32_t times) {
  return {name, summary, [=](scene& s) -> pass {
            auto r = std::make_shared<recursion>(problem{name, summary, form, 200, length, metric::node});
            return [=, &s]() -> outcome {
              bool is_right = true;
              for (std::uint32_t i = 0, n = s.some(times); i < n; ++i)
                is_right = r->run(Place{&s, ns * (1 + 0.01 * i / n)}) == r->expected() && is_right;
              return {is_right};
            };
          }};
}

// The same from within a task.
program in_a_task(const char* name, const char* summary, shape form, std::uint32_t length, double ns) {
  return {name, summary, [=](scene& s) -> pass {
            auto r = std::make_shared<recursion>(problem{name, summary, form, 200, length, metric::node});
            return [=, &s]() -> outcome {
              value found = 0;
              s.rt().submit([&] { found = r->run(forking{&s, ns}); });
              s.rt().wait();
              return {found == r->expected()};
            };
          }};
}

// Forks of the main thread that are long enough to be shared.
program loop_of_forks(const char* name, const char* summary, std::uint32_t count, double ns) {
  return {name, summary, [=](scene& s) -> pass {
            return [=, &s]() -> outcome {
              unsigned done = 0;
              const std::uint32_t n = s.some(count);
              for (std::uint32_t i = 0; i < n; ++i) {
                const auto [a, b] = fork_join([&] { return s.take(ns), 1u; }, [&] { return s.take(ns), 1u; });
                done += a + b;
              }
              return {done == 2 * n};
            };
          }};
}

}  // namespace

std::vector<program> forks() {
  return {
      tree<forking>("fib", "the 20th Fibonacci number", shape::fib, 20, 20, 2),
      tree<forking>("uts", "search of an unbalanced tree of 200 branches, eight times", shape::uts, 200, 20, 8),
      tree<forking>("nqueens", "8 queens", shape::queens, 8, 20, 4),
      tree<forking>("skynet", "10,000 leaves, three times", shape::skynet, 10'000, 20, 3),
      tree<forking>("matmul", "quarters of 128 x 128, 1 us a node, eight times", shape::matmul, 128, 1000, 8),
      tree<forking>("treesum1k", "600 sums over trees of 127 nodes, one after the other", shape::tree, 7, 5, 600),
      tree<forking>("treesum_20us", "300 sums over trees of 127 nodes, 0.15 us a node", shape::tree, 7, 150, 300),
      tree<finishing>("finish", "the 15th Fibonacci number by finish and async, eight times", shape::fib, 15, 100, 8),
      in_a_task("fib_in_task", "the 20th Fibonacci number, within a task", shape::fib, 20, 20),
      loop_of_forks("forks_10us", "1,000 forks in two of 10 us each, one after the other", 1000, 10'000),
      loop_of_forks("forks_100us", "1,000 forks in two of 100 us each, one after the other", 1000, 100'000)};
}

}  // namespace weft::bench::ablation

// The shapes of real programs, as lists of tasks for the reference, and the few that a list cannot express: tasks that
// submit tasks and wait for them. Each of the latter gives what is wrong, or "".
#pragma once
#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "execute.hpp"

namespace reference {

inline constexpr kind R = kind::read, W = kind::write, A = kind::add, C = kind::concurrent;

[[nodiscard]] inline program chain(unsigned length) { return {1, std::vector<task>(length, task{{0, W}})}; }

// One writes, many read and each writes its own, one gathers in three adds per leaf.
[[nodiscard]] inline program diamond(unsigned width) {
  program p{width + 2, {{{0, W}}}};
  for (unsigned i = 0; i < width; ++i) p.tasks.push_back({{0, R}, {2 + i, W}});
  for (unsigned i = 0; i < width; ++i) p.tasks.push_back({{1, A}, {2 + i, R}});
  p.tasks.push_back({{0, W}, {1, R}});
  return p;
}

// A ring of cells, each renewed in place from its neighbours, some times over.
[[nodiscard]] inline program stencil(unsigned cells, unsigned steps) {
  program p{cells, {}};
  for (unsigned s = 0; s < steps; ++s)
    for (unsigned i = 0; i < cells; ++i)
      p.tasks.push_back({{(i + cells - 1) % cells, R}, {i, W}, {(i + 1) % cells, R}});
  return p;
}

// The tiled factorisation of SuperGlue §5: the right-looking order of potrf, trsm, syrk and gemm.
[[nodiscard]] inline program cholesky(unsigned n) {
  program p{n * n, {}};
  auto tile = [n](unsigned i, unsigned j) { return i * n + j; };
  for (unsigned k = 0; k < n; ++k) {
    p.tasks.push_back({{tile(k, k), W}});
    for (unsigned i = k + 1; i < n; ++i) p.tasks.push_back({{tile(k, k), R}, {tile(i, k), W}});
    for (unsigned i = k + 1; i < n; ++i) {
      for (unsigned j = k + 1; j < i; ++j) p.tasks.push_back({{tile(i, k), R}, {tile(j, k), R}, {tile(i, j), A}});
      p.tasks.push_back({{tile(i, k), R}, {tile(i, i), A}});
    }
  }
  return p;
}

// Adds to one, two and three of five sums at once: exclusive access to several handles, in every order of naming.
[[nodiscard]] inline program many_adds(unsigned tasks) {
  program p{5, {}};
  for (unsigned i = 0; i < tasks; ++i) {
    const unsigned a = i % 5, b = (a + 1 + i / 5 % 4) % 5, c = (b + 2) % 5;
    if (i % 3 == 0) p.tasks.push_back({{a, A}});
    if (i % 3 == 1) p.tasks.push_back({{a, A}, {b, A}});
    if (i % 3 == 2 && c != a) p.tasks.push_back({{c, A}, {b, A}, {a, A}});
  }
  return p;
}

// Up to three accesses of any kind per task, sometimes to one handle twice: with the same kind then, two are an error.
[[nodiscard]] inline program draw(weft::base::random& rng, unsigned handles, unsigned tasks) {
  program p{handles, {}};
  for (unsigned i = 0; i < tasks; ++i) {
    task t;
    for (std::uint32_t left = rng.below(task::uses_max + 1); left > 0; --left) {
      use next{rng.below(handles), static_cast<kind>(rng.below(4))};
      for (const use& earlier : t)
        if (earlier.handle == next.handle) next.how = earlier.how;
      t.uses[t.count++] = next;
    }
    p.tasks.push_back(t);
  }
  return p;
}

// Tasks without accesses: each runs exactly once.
[[nodiscard]] inline std::string independent(weft::runtime& rt, std::size_t n) {
  std::vector<std::atomic<int>> ran(n);
  for (std::size_t i = 0; i < n; ++i) rt.submit([&ran, i] { ++ran[i]; });
  rt.wait();
  for (std::size_t i = 0; i < n; ++i)
    if (ran[i] != 1) return "independent task " + std::to_string(i) + " ran " + std::to_string(ran[i]) + " times";
  return "";
}

// A tree of tasks in tasks. Nobody waits but the program: the wait must cover grandchildren whose parents are long
// done.
[[nodiscard]] inline std::string nested(weft::runtime& rt, unsigned depth, unsigned width) {
  struct tree {
    weft::runtime& rt;
    unsigned width;
    std::atomic<std::uint64_t> ran{0};
    void grow(unsigned levels) {
      ++ran;
      if (levels == 0) return;
      for (unsigned i = 0; i < width; ++i) rt.submit([this, levels] { grow(levels - 1); });
    }
  } t{rt, width};
  rt.submit([&t, depth] { t.grow(depth); });
  rt.wait();
  std::uint64_t expected = 0;
  for (std::uint64_t level = 0, tasks = 1; level <= depth; ++level, tasks *= width) expected += tasks;
  return t.ran == expected ? "" : std::to_string(t.ran) + " nested tasks ran of " + std::to_string(expected);
}

// Fibonacci with a wait for the children in every task: as many stacks set aside as there are tasks alive.
inline void fibonacci(weft::runtime& rt, unsigned n, std::uint64_t& result) {
  if (n < 2) {
    result = n;
    return;
  }
  std::uint64_t a = 0, b = 0;
  rt.submit([&rt, n, &a] { fibonacci(rt, n - 1, a); });
  rt.submit([&rt, n, &b] { fibonacci(rt, n - 2, b); });
  rt.wait();
  result = a + b;
}

[[nodiscard]] inline std::string waits_for_children(weft::runtime& rt, unsigned n) {
  std::uint64_t got = 0, a = 0, b = 1;
  rt.submit([&rt, n, &got] { fibonacci(rt, n, got); });
  rt.wait();
  for (unsigned i = 0; i < n; ++i) b = std::exchange(a, b) + b;
  return got == a ? "" : "fib(" + std::to_string(n) + ") = " + std::to_string(got);
}

// Every task makes a handle of its own, lets children write it in turn and waits for the handle, not for the children.
[[nodiscard]] inline std::string waits_for_handles(weft::runtime& rt, unsigned tasks) {
  std::atomic<unsigned> wrong{0}, ran{0};
  for (unsigned t = 0; t < tasks; ++t)
    rt.submit([&rt, &wrong, &ran, t] {
      weft::handle<std::uint64_t> h{t};
      for (unsigned i = 1; i <= 3; ++i) rt.submit(weft::write(h), [i](std::uint64_t& x) { x = x * 31 + i; });
      const std::uint64_t expected = ((t * std::uint64_t{31} + 1) * 31 + 2) * 31 + 3;
      if (rt.get(h) != expected) ++wrong;
      ++ran;
    });
  rt.wait();
  if (ran != tasks) return std::to_string(ran) + " tasks that wait for handles ran of " + std::to_string(tasks);
  return wrong == 0 ? "" : std::to_string(wrong) + " waits for a handle returned too early";
}

}  // namespace reference

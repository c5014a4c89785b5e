// Forks and asyncs under load, in bodies that do all else that a body may do between a fork and its join, or in a
// finish: they fork several, submit, wait, open finishes, throw, cancel, and are long now and then, so that thieves
// pull. Catches a branch that is lost or run twice, one that runs for the wrong body, and a list of branches that
// outlives its stack.
#include <algorithm>
#include <array>
#include <chrono>
#include <stdexcept>
#include <string>

#include "base/random.hpp"
#include "programs.hpp"
#include "stress.hpp"

namespace {

using weft::here;

// What a node does with its two to five children. The last two only count what was begun.
enum class way : unsigned { forks, nested, several, submits, waits_first, finishes, asyncs, failing, throws, all };

struct node {
  way does;
  unsigned children;
  bool is_long;
  std::array<std::uint64_t, 5> seeds;

  node(std::uint64_t seed, unsigned depth) {
    weft::base::random rng(seed);
    does = static_cast<way>(rng.below(static_cast<unsigned>(way::all)));
    children = depth == 0 ? 0 : 2 + rng.below(4);
    is_long = rng.below(2000) == 0;
    for (std::uint64_t& s : seeds) s = rng.next();
  }
};

std::uint64_t count(std::uint64_t seed, unsigned depth) {
  const node n(seed, depth);
  std::uint64_t sum = 1;
  for (unsigned i = 0; i < n.children; ++i) sum += count(n.seeds[i], depth - 1);
  return sum;
}

void be_long() {
  const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(120);
  while (std::chrono::steady_clock::now() < end) {
  }
}

struct forest {
  weft::runtime& rt;
  bool in_task = true;  // where it grows. Outside a wait for all is told what any task has thrown

  // Children `from` to the last: the first against the rest, or the rest against the first.
  std::uint64_t chain(here& at, const node& n, unsigned depth, unsigned from, bool newest_first) {
    const auto one = [&](here& on) { return grow(on, n.seeds[from], depth - 1); };
    if (from + 1 == n.children) return one(at);
    const auto rest = [&, from](here& on) { return chain(on, n, depth, from + 1, newest_first); };
    const auto [a, b] = newest_first ? weft::fork_join(at, rest, one) : weft::fork_join(at, one, rest);
    return a + b;
  }
  std::uint64_t several(here& at, const node& n, unsigned depth) {
    return weft::fork_each<5>(
        at, n.children, std::uint64_t{0}, [&](here& on, std::size_t i) { return grow(on, n.seeds[i], depth - 1); },
        [](std::uint64_t a, std::uint64_t b) { return a + b; });
  }
  // Tasks beside a fork: submitted before it and in it, waited for behind it or in its first body.
  std::uint64_t submits(here& at, const node& n, unsigned depth, bool waits_first) {
    std::array<std::uint64_t, 5> sums{};
    const auto task = [&](unsigned i) {
      rt.submit([this, &sums, &n, i, depth] { sums[i] = grow(n.seeds[i], depth - 1); });
    };
    task(0);
    const auto [a, b] = weft::fork_join(
        at,
        [&](here& on) {
          for (unsigned i = 2; i < n.children; ++i) task(i);
          if (waits_first) rt.wait();
          return grow(on, n.seeds[1], depth - 1);
        },
        [] { return std::uint64_t{7}; });
    rt.wait();
    return sums[0] + a + sums[2] + sums[3] + sums[4] + (b - 7);
  }
  std::uint64_t finishes(here& at, const node& n, unsigned depth) {
    std::array<std::uint64_t, 5> sums{};
    const auto [a, b] = weft::fork_join(
        at,
        [&] {
          weft::finish([&] {
            for (unsigned i = 1; i < n.children; ++i)
              weft::async([this, &sums, &n, i, depth] { sums[i] = grow(n.seeds[i], depth - 1); });
          });
          return std::uint64_t{0};
        },
        [&](here& on) { return grow(on, n.seeds[0], depth - 1); });
    return a + b + sums[1] + sums[2] + sums[3] + sums[4];
  }
  // Asyncs in a finish of their own, some beside tasks, and one in an async that is in none. Now and then the body
  // waits for those so far.
  std::uint64_t asyncs(here& at, const node& n, unsigned depth) {
    std::array<std::atomic<std::uint64_t>, 5> sums{};
    const auto part = [&](unsigned i) {
      return [&, i, depth](here& on) { sums[i] += grow(on, n.seeds[i], depth - 1); };
    };
    weft::finish(at, [&](here& in) {
      for (unsigned i = 0; i < n.children; ++i) {
        const auto how = n.seeds[i] % 8;
        if (how == 0) rt.submit([&, i, depth] { sums[i] += grow(n.seeds[i], depth - 1); });
        if (how == 1) weft::async(in, [&, i](here& on) { weft::async(on, part(i)); });
        if (how > 1) weft::async(in, part(i));
        if (how != 7) continue;
        rt.wait();
        for (unsigned k = 0; k <= i; ++k)
          if (sums[k] == 0) sums[k] = 1'000'000;  // it is not over
      }
    });
    return sums[0] + sums[1] + sums[2] + sums[3] + sums[4];
  }
  // All asyncs do their part, and those from a number on throw: the first of these is told.
  std::uint64_t failing(here& at, const node& n, unsigned depth) {
    std::array<std::uint64_t, 5> sums{};
    const unsigned from = static_cast<unsigned>(n.seeds[0] % n.children);
    try {
      weft::finish(at, [&](here& in) {
        for (unsigned i = 0; i < n.children; ++i)
          weft::async(in, [&, i, depth](here& on) {
            sums[i] = grow(on, n.seeds[i], depth - 1);
            if (i >= from) throw std::runtime_error(std::to_string(i));
          });
      });
      return 0;
    } catch (const std::runtime_error& e) {
      if (e.what() != std::to_string(from)) return 0;
    }
    return sums[0] + sums[1] + sums[2] + sums[3] + sums[4];
  }
  // Both bodies do their part; then the first throws, or the second.
  std::uint64_t throws(here& at, const node& n, unsigned depth) {
    std::array<std::atomic<std::uint64_t>, 2> sums{};
    const bool first = n.seeds[0] % 2 == 0;
    const auto part = [&](unsigned which, here& on) {
      for (unsigned i = which; i < n.children; i += 2) sums[which] += grow(on, n.seeds[i], depth - 1);
      if ((which == 0) == first) throw std::runtime_error("planted");
      return 0;
    };
    try {
      weft::fork_join(
          at, [&](here& on) { return part(0, on); }, [&](here& on) { return part(1, on); });
      return 0;
    } catch (const std::runtime_error& e) {
      if (std::string(e.what()) != "planted") return 0;
    }
    // The second need not have run when the first has thrown.
    if (sums[1] == 0)
      for (unsigned i = 1; i < n.children; i += 2) sums[1] += count(n.seeds[i], depth - 1);
    return sums[0] + sums[1];
  }

  // How many nodes there are below this one, with it; another number where something went wrong.
  std::uint64_t grow(here& at, std::uint64_t seed, unsigned depth) {
    const node n(seed, depth);
    if (n.is_long) be_long();
    if (n.children == 0) return 1;
    switch (n.does) {
    case way::forks: return 1 + chain(at, n, depth, 0, false);
    case way::nested: return 1 + chain(at, n, depth, 0, true);
    case way::several: return 1 + several(at, n, depth);
    case way::submits: return 1 + submits(at, n, depth, false);
    case way::waits_first: return 1 + submits(at, n, depth, true);
    case way::finishes: return 1 + finishes(at, n, depth);
    case way::asyncs: return 1 + asyncs(at, n, depth);
    case way::failing: return 1 + (in_task ? failing(at, n, depth) : asyncs(at, n, depth));
    case way::throws: return 1 + throws(at, n, depth);
    case way::all: break;
    }
    return 0;
  }
  std::uint64_t grow(std::uint64_t seed, unsigned depth) {
    return weft::fork_join([&](here& at) { return grow(at, seed, depth); }, [] { return 0; }).first;
  }

  // A tree in a scope that is cancelled after so many bodies: each is begun, or counted as skipped.
  void cancelled(std::uint64_t seed, unsigned after) {
    weft::cancellation stop;
    std::atomic<std::uint64_t> begun{0}, offered{0};
    weft::finish(stop, [&](here& at) { branch_out(at, 7, stop, after, begun, offered); });
    require(begun + stop.skipped() == offered, "seed " + std::to_string(seed) + ": " + std::to_string(begun) +
                                                   " begun and " + std::to_string(stop.skipped()) + " skipped of " +
                                                   std::to_string(offered));
  }
  static void branch_out(here& at, unsigned depth, weft::cancellation& stop, unsigned after,
                         std::atomic<std::uint64_t>& begun, std::atomic<std::uint64_t>& offered) {
    if (depth == 0) return;
    offered += 2;
    const auto body = [&, depth](here& on) {
      if (++begun == after) stop.cancel();
      branch_out(on, depth - 1, stop, after, begun, offered);
    };
    if (depth % 2 == 0) {
      weft::fork_join(at, body, body);
    } else {
      weft::finish(at, [&](here& in) {
        weft::async(in, body);
        weft::async(in, body);
      });
    }
  }
};

void run(weft::runtime& rt, std::uint64_t seed) {
  forest f{rt};
  constexpr unsigned depth = 6;
  const std::uint64_t wanted = count(seed, depth);
  std::uint64_t in_task = 0;
  rt.submit([&] { in_task = f.grow(seed, depth); });
  rt.wait();
  const std::string of = " nodes of " + std::to_string(wanted) + ", seed " + std::to_string(seed);
  require(in_task == wanted, std::to_string(in_task) + of);
  f.in_task = false;
  const std::uint64_t outside = f.grow(seed, depth);
  require(outside == wanted, "outside of tasks, " + std::to_string(outside) + of);
  f.cancelled(seed, 1 + static_cast<unsigned>(seed % 300));
}

}  // namespace

int main() {
  for (const char* policy : {"local", "random", "near"})
    for (unsigned workers : {1u, 2u, 3u, 4u, 7u, 16u}) {
      begin("forks: policy " + std::string(policy) + ", " + std::to_string(workers) + " workers");
      weft::runtime rt({.workers = workers, .machine = "host", .policy = policy, .stack_kib = 512});
      for (std::uint64_t seed = 1; seed <= amount(200); ++seed) run(rt, seed);
    }
}

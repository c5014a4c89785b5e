// One sample of one system on one problem: a pass whose result proves that dependences are kept, a pass to warm up
// (threads awake, memory touched), passes that are timed, and a look at every cell. Clock and checks stand outside of
// the passes.
#pragma once
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <vector>

#include "problem.hpp"

namespace weft::bench {

struct settings {
  unsigned workers = 1;
  const char* policy = nullptr;  // of Weft; nullptr: the default
};

struct effort {
  double milliseconds = 100;  // to spend at least on the timed passes
  std::uint32_t passes = 0;   // exactly so many instead, for counting instructions
};

struct sample {
  double ns = 0;             // what the problem measures
  bool above = false;        // the true figure is above `ns`, where the search ended
  bool counts_right = true;  // every cell was changed as often as it had to be
  bool order_right = true;   // and the tasks of the proving pass saw what program order says
};

using steady = std::chrono::steady_clock;
using nanoseconds = std::chrono::duration<double, std::nano>;

inline constexpr std::uint64_t proof_tasks_max = 2'000;
inline constexpr double grain_ns_max = 1e6;

// What the cells must hold, kept by running every pass in program order beside the system.
class reference {
 public:
  explicit reference(std::size_t cells) : cells_(cells) {}
  void prove(const problem& p);
  void count(const problem& p, std::uint64_t passes);
  template <class System> [[nodiscard]] bool agrees(System& s) const {
    for (std::size_t c = 0; c < cells_.size(); ++c)
      if (s.cell(static_cast<cell_index>(c)) != cells_[c]) return false;
    return true;
  }

 private:
  std::vector<value> cells_;
};

[[nodiscard]] double median(std::vector<double> values);

// Nanoseconds of one round of spin(), the least of several tries: whatever disturbs makes it longer.
[[nodiscard]] double calibrate_spin();

// The length in nanoseconds at which `efficiency` (of a length; growing) is one half, within 3 %. At most grain_ns_max,
// and then `above`.
[[nodiscard]] sample find_grain(const std::function<double(double)>& efficiency);

// Tasks in a pass when each takes about so long: enough to see the runtime at work, few enough to come to an end.
[[nodiscard]] std::uint64_t grain_tasks(double ns) noexcept;

// Nanoseconds of a pass; timed(n) runs n of them and returns how long that took. Batches of 1, 2, 4, ... passes until
// the time is used: the clock is looked at so seldom that the shortest pass does not notice. One pass first, to warm
// up.
template <class Timed> double ns_per_pass(const effort& e, double milliseconds, Timed timed) {
  timed(1);
  if (e.passes > 0) return timed(e.passes) / e.passes;
  double ns = 0;
  std::uint64_t passes = 0;
  for (std::uint64_t batch = 1; passes == 0 || ns < milliseconds * 1e6; batch *= 2) {
    ns += timed(batch);
    passes += batch;
  }
  return ns / static_cast<double>(passes);
}

template <class System> class trial {
 public:
  trial(const problem& p, const settings& how, const effort& e)
      : p_(p), effort_(e), workers_(how.workers), expected_(cell_count(p)), system_(cell_count(p), how) {}

  sample run() {
    if constexpr (requires { system_.inside([] {}); })
      system_.inside([this] { run_inside(); });
    else
      run_inside();
    return result_;
  }

 private:
  void run_inside() {
    const problem proof = shortened(p_, proof_tasks_max);
    pass(proof, mix{});
    expected_.prove(proof);
    result_.order_right = expected_.agrees(system_);
    switch (p_.measures) {
    case metric::cost: result_.ns = cost(p_, effort_.milliseconds); break;
    case metric::access: result_.ns = access(); break;
    case metric::grain: {
      const sample found = grain();
      result_.ns = found.ns;
      result_.above = found.above;
      break;
    }
    case metric::node: assert(false);  // of recursions, which recursion_trial.hpp measures
    }
    result_.counts_right = !result_.order_right || expected_.agrees(system_);
  }

  template <class Body> void pass(const problem& p, Body body) {
    submit_pass(p, system_, body);
    system_.wait();
  }

  double timed(const problem& p, std::uint64_t passes) {
    const auto start = steady::now();
    for (std::uint64_t i = 0; i < passes; ++i) pass(p, increment{});
    const double ns = nanoseconds(steady::now() - start).count();
    expected_.count(p, passes);
    return ns;
  }

  double cost(const problem& p, double milliseconds) {
    const double ns = ns_per_pass(effort_, milliseconds, [&](std::uint64_t passes) { return timed(p, passes); });
    return ns / static_cast<double>(tasks_per_pass(p));
  }

  // The two chains take turns, as their difference is wanted.
  double access() {
    constexpr int turns = 3;
    problem one = p_;
    one.width = 1;
    std::vector<double> first, all;
    for (int i = 0; i < turns; ++i) {
      first.push_back(cost(one, effort_.milliseconds / (2 * turns)));
      all.push_back(cost(p_, effort_.milliseconds / (2 * turns)));
    }
    return (median(all) - median(first)) / (p_.width - 1);
  }

  sample grain() {
    const double round_ns = calibrate_spin();
    const int repeats = effort_.milliseconds >= 100 ? 3 : 1;
    double task_ns = grain_ns_max;  // of the last pass: a system far from half its efficiency must not take for ever
    return find_grain([&](double ns) {
      const problem p = shortened(p_, grain_tasks(std::max(ns, task_ns)));
      const double tasks = static_cast<double>(tasks_per_pass(p));
      const auto rounds = static_cast<std::uint64_t>(std::max(ns / round_ns, 1.0));
      std::vector<double> spans;
      for (int i = 0; i < repeats; ++i) {
        const auto start = steady::now();
        pass(p, spin_and_increment{rounds});
        spans.push_back(nanoseconds(steady::now() - start).count());
      }
      expected_.count(p, static_cast<std::uint64_t>(repeats));
      task_ns = median(spans) / tasks;
      return static_cast<double>(rounds) * round_ns / workers_ / task_ns;
    });
  }

  const problem p_;
  const effort effort_;
  const unsigned workers_;
  reference expected_;
  sample result_;
  System system_;
};

template <class System> sample measure(const problem& p, const settings& how, const effort& e) {
  return trial<System>(p, how, e).run();
}

}  // namespace weft::bench

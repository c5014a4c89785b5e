// What SuperGlue's micro-benchmarks have in common (§5.2, §5.3, §7.1 to §7.3): tasks that only wait for a given time,
// so that the runtime is all there is to see; a series repeated and given as median and quartiles; and proof that every
// task ran once and after the tasks it depends on, without which a short time means nothing.
// The paper counts cycles of 2.3 to 3.4 GHz; here a task's length is in nanoseconds, which a modelled machine has too.
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "../app.hpp"

namespace weft::apps::micro {

// How long the body of a task waits: by the clock on real cores, by its cost clause on a modelled machine.
class grain {
 public:
  grain(const runtime& rt, double ns);
  [[nodiscard]] double ns() const noexcept { return ns_; }
  void wait() const {
    if (spin_.count() == 0) return;
    const auto end = std::chrono::steady_clock::now() + spin_;
    while (std::chrono::steady_clock::now() < end) {
    }
  }

 private:
  double ns_;
  std::chrono::nanoseconds spin_;
};

// What one run of a benchmark took, and how many of its tasks ran too often, never, or too early.
struct sample {
  double seconds = 0;
  std::uint64_t wrong = 0;
};

// Repeated samples of one row of a table.
class series {
 public:
  void note(const sample& s) {
    seconds_.push_back(s.seconds);
    wrong_ += s.wrong;
  }
  [[nodiscard]] std::uint64_t wrong() const noexcept { return wrong_; }
  [[nodiscard]] double total() const noexcept;
  // The q-th quantile of seconds, 0 to 1, between neighbours by proportion.
  [[nodiscard]] double seconds(double q) const;

 private:
  std::vector<double> seconds_;
  std::uint64_t wrong_ = 0;
};

// Share of the workers' time spent in bodies: tasks * grain / workers over the time it took.
[[nodiscard]] double efficiency(double tasks, double grain_ns, unsigned workers, double seconds) noexcept;
// Time of one worker per task that is not the body's.
[[nodiscard]] double overhead_ns(double tasks, double grain_ns, unsigned workers, double seconds) noexcept;

// Adds a row: `name` from the median, and from the quartiles name_q1 <= name_q3 if there are samples enough. `value`
// makes the number to show from seconds, rising or falling.
template <class Value>
void add_row(result& r, const std::string& name, const series& s, std::size_t repeat, const char* unit, Value value) {
  r.add(name, value(s.seconds(0.5)), unit);
  if (repeat < 3) return;
  const double a = value(s.seconds(0.25)), b = value(s.seconds(0.75));
  r.add(name + "_q1", a < b ? a : b, unit);
  r.add(name + "_q3", a < b ? b : a, unit);
}

[[nodiscard]] check tasks_in_order(std::uint64_t wrong, std::uint64_t tasks);

// Lengths to try: doubled from `first` to `last` nanoseconds.
[[nodiscard]] std::vector<std::size_t> doubled(std::size_t first, std::size_t last);

// For tests of the checks: plants a mistake in each run.
struct mistake {
  static constexpr std::size_t nothing = SIZE_MAX;
  std::size_t omitted = nothing;     // a task, by order of submission, that is not submitted
  std::size_t undeclared = nothing;  // a task whose first read is not declared
};

}  // namespace weft::apps::micro

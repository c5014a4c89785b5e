// What teams of one kind of task took, by width, and which width the next one gets. It goes for one of two aims: where
// nothing else waits to be run, the shortest time from entry to last exit; else the fewest core-seconds, the time that
// members spent in the team.
//
// A trial of a width is two runs in a row, and the better time counts: the first of another width is slow, because
// members sleep, and code and data are elsewhere. Each width is tried once. From then on the best is taken, and now and
// then another is tried, the one that has been waiting longest. What such trials may lose is a fiftieth of what
// all runs take: a width that is nearly as good is tried often, a bad one seldom, none never.
//
// Of those that are nearly as good as the best the narrowest is taken, because what is not measured - members that come
// together - grows with the width: within an eighth of the cost, a thirty-second of the time.
// Of the width in use a single time far off says little; two in a row on the same side are believed. When those are a
// quarter away from what they were, or a trial says that of what is the best now, the load has changed, and all others
// are tried again.
//
// No clock, no lock, no address: the same calls give the same answers. Who: one thread at a time (widths.hpp).
#pragma once
#include <array>
#include <cstdint>
#include <span>

#include "sched/balance/rules.hpp"

namespace weft::sched {

class width_table {
 public:
  // What the members of a team share: a leaf of the place tree, a memory node, or only the machine.
  enum class place : std::uint8_t { leaf, node, machine };
  struct option {
    std::uint16_t width;
    place at;
    [[nodiscard]] friend bool operator==(const option&, const option&) = default;
  };
  enum class aim : std::uint8_t { time, cost };
  static constexpr std::size_t options_max = 24;

  explicit width_table(const rules& r = rules::usual()) noexcept : rules_(&r) {}

  struct choice {
    option of{};
    aim goal = aim::time;
    bool counts = false;    // else it is the first run behind a trial, as slow as the first of one
    bool is_trial = false;  // after the first ones
  };
  // One of the options, at least one and at most options_max.
  [[nodiscard]] choice choose(std::span<const option> options, aim a);
  // A team has been through as was chosen. elapsed: from entry to last exit; busy: the sum over its members.
  void measured(const choice& c, std::uint64_t elapsed_ps, std::uint64_t busy_ps);

  // What is known of it, 0: nothing.
  [[nodiscard]] std::uint64_t expected_ps(option o, aim a) const noexcept;

 private:
  struct estimate {
    std::uint64_t mean_ps = 0;
    std::uint64_t last_ps = 0;
    std::uint64_t half_ps = 0;   // of a trial, its first run; 0: there was none
    std::uint64_t trial_ps = 0;  // what the last one took, both runs
    std::uint64_t saved_ps = 0;  // for the next, up to what it loses
    std::uint32_t begun = 0;     // runs of the first trial
    std::uint32_t tried_at = 0;
    bool is_known = false;  // else the mean says nothing, or what was before the load changed

    // A run of the width in use. Returns whether the mean has moved by more than a quarter.
    bool add(std::uint64_t ps) noexcept;
    // A run of another. Returns whether the trial is over, and it was known before and now is a quarter better.
    bool add_trial(std::uint64_t ps) noexcept;
  };
  struct cell {
    option of{};
    estimate by[2];
  };
  struct course {  // of one aim
    std::uint32_t runs = 0;
    std::uint32_t trial_at = 0;
    option in_use{};
    option again{};  // has been tried once and is tried twice; width 0: none
    bool after_trial = false;
  };

  [[nodiscard]] cell& of(option o);
  [[nodiscard]] estimate& at(option o, aim a) { return of(o).by[static_cast<unsigned>(a)]; }
  [[nodiscard]] const option* first_trial(std::span<const option> options, aim a);
  [[nodiscard]] const option* best(std::span<const option> options, aim a);
  [[nodiscard]] const option* later_trial(std::span<const option> options, aim a, std::uint64_t best_ps);
  void forget_others(option in_use, aim a) noexcept;

  static constexpr std::uint32_t runs_of_trial = 2;
  static constexpr std::uint32_t runs_between_trials = 10;

  const rules* rules_;
  std::array<cell, 3 * options_max> cells_{};
  std::size_t used_ = 0;
  course course_[2];
};

}  // namespace weft::sched

// What teams took, by width, and which width the next one gets. It goes for one of two aims: the shortest time, or,
// where other tasks wait for a worker, the fewest core-seconds, the time that members spend in the team. The time is
// that of one team from its entry to its last exit; of several at once it is what passes from the end of one to that of
// the next, for the work of that one (widths.hpp).
//
// A trial of a width is two runs in a row, and the better counts: the first of another width is slow, because members
// sleep, and code and data are elsewhere. Where several teams run at a time one of another width says little: so then a
// trial is as many runs, until all have that width, and as many that count, all together. Each width is tried once, the
// narrow ones first; those beyond one that takes twice the least are put off. From then on the best is taken, and now
// and then another is tried, the one that has been waiting longest. What such trials may lose is a sixty-fourth of what
// all runs take: a width that is nearly as good is tried often, a bad one seldom, none never.
//
// Of those that are nearly as good as the best the narrowest is taken, because what is not measured - members that come
// together - grows with the width: within an eighth of the core-seconds, a thirty-second of the time.
// Of the width in use a single time far off says little; two in a row on the same side are believed. When those are a
// quarter away from what they were, or a trial says that of what is the best now, the load has changed, and all others
// are tried again; if that changes nothing, the next change is believed later, and each that is none doubles that.
// Where several run at a time such a time is that of as many runs together, and what is kept is the mean of the last 50
// of a width, without a bound: there a rare one that holds up all others must not be passed over.
//
// No clock, no lock, no address: the same calls give the same answers. Who: one thread at a time (widths.hpp).
#pragma once
#include <array>
#include <cstdint>
#include <span>

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

  struct choice {
    option of{};
    aim goal = aim::time;
    bool counts = false;       // else it is one of the first of a trial, or behind one, which say little
    std::uint8_t at_once = 1;  // teams that run at a time, up to a bound
  };
  // One of the options, at least one and at most options_max. at_once: how many teams run now, this one included.
  [[nodiscard]] choice choose(std::span<const option> options, aim a, std::uint32_t at_once = 1);
  // A team has been through as was chosen. elapsed: its time; busy: the sum over its members. worth: how much work it
  // is, in any unit, where teams of several kinds have one table; then the time of several for their work counts.
  void measured(const choice& c, std::uint64_t elapsed_ps, std::uint64_t busy_ps, std::uint64_t worth = 0);

  // What is known of it, 0: nothing.
  [[nodiscard]] std::uint64_t expected_ps(option o, aim a) const noexcept;

 private:
  struct estimate {
    std::uint64_t mean_ps = 0;
    std::uint64_t last_ps = 0;
    std::uint64_t trial_ps = 0;  // what a run of the last trial took
    std::uint64_t saved_ps = 0;  // for the next, up to what it loses
    std::uint64_t sum_ps = 0;    // of runs that count together, those that have come,
    std::uint64_t worth = 0;     // how much work they are,
    std::uint32_t come = 0;      // and how many
    std::uint32_t wanted = 0;    // of a trial
    std::uint64_t half_ps = 0;   // of a trial of one team at a time, its first run; 0: it has not come
    std::uint32_t heard = 0;     // times of several teams that are in the mean, up to a bound
    std::uint32_t tried_at = 0;
    bool is_begun = false;  // has been tried, or put off
    bool is_known = false;  // else the mean says nothing, or what was before the load changed

    void begin_trial(std::uint32_t runs) noexcept;
    // One of `runs` that count together has come. Returns what they took, each or for their work; 0: more are to come.
    [[nodiscard]] std::uint64_t gather(std::uint64_t ps, std::uint64_t of_worth, std::uint32_t runs) noexcept;
    // A time of the width in use. Returns whether the mean has moved by more than a quarter.
    bool add(std::uint64_t ps, bool is_alone) noexcept;
    // One of another. Returns whether the trial is over, and it was known before and now is a quarter better.
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
    option on_trial{};             // width 0: none
    std::uint32_t left = 0;        // runs of that trial that have not begun,
    std::uint32_t wanted = 0;      // the last of which count
    std::uint32_t settling = 0;    // runs behind a trial that do not
    option before{};               // in use when the load last seemed to change,
    std::uint32_t deaf_until = 0;  // and until when no other change is believed,
    std::uint32_t deaf_for = 0;    // so many runs
  };

  [[nodiscard]] cell& of(option o);
  [[nodiscard]] estimate& at(option o, aim a) { return of(o).by[static_cast<unsigned>(a)]; }
  [[nodiscard]] const option* next_of_trial(std::span<const option> options, course& c);
  [[nodiscard]] const option* first_trial(std::span<const option> options, aim a);
  [[nodiscard]] const option* best(std::span<const option> options, aim a);
  [[nodiscard]] const option* later_trial(std::span<const option> options, aim a, std::uint64_t best_ps,
                                          std::uint32_t at_once);
  void put_off(option o, aim a, std::uint64_t ps);
  void open_trial(option o, aim a, std::uint32_t at_once);
  void seems_changed(option in_use, aim a, std::uint32_t at_once) noexcept;

  static constexpr std::uint32_t at_once_max = 4;    // more would not be tried within 50 runs of a kind
  static constexpr std::uint32_t runs_alone = 2;     // of a trial that count, of one team at a time,
  static constexpr std::uint32_t runs_together = 4;  // and of several, at least
  static constexpr std::uint32_t runs_between_trials = 10;
  static constexpr std::uint64_t part_for_trials = 64;
  static constexpr std::uint32_t deaf_first = 64, deaf_most = 100'000;  // runs
  static constexpr std::uint32_t heard_most = 50;
  static constexpr std::uint64_t too_dear = 2;  // times the least: wider ones are not tried at first

  std::array<cell, 3 * options_max> cells_{};
  std::size_t used_ = 0;
  course course_[2];
};

}  // namespace weft::sched

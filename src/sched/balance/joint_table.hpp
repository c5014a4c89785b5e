// One width for the teams of several kinds that run at one time, by what all of them get done. The time of a team among
// others says little about its width: its members come when others' are done, and go where others could be. So here a
// width is tried by as many teams in a row as run at a time, whatever their kinds, and what counts is the time that
// they take for their work, together.
//
// Beside the widths there is one more choice: each kind as its own table says (width_table.hpp), which is the best
// where some kinds should be wide and others narrow.
//
// A batch is so many teams that begin in a row, and is over when all of them are: who counts those that end first
// counts the quick ones. Its time is the sum of their parts (joint_widths.hpp). Behind a change of width the first
// batch only settles: teams of the old one end in it. First each width is tried, from narrow to wide. Behind one that
// takes twice as long as the best, or two in a row that take a thirty-second longer, the wider ones are put off: a
// trial of a wide one that holds up all others may cost more than the rest of the run. One that is near the best is
// tried twice. From then on the best is in use, and now and then another is tried: the one that has waited longest of
// those that have saved what their trial loses. What all save together is a sixty-fourth of what batches take. Of one
// that was put off that is guessed. Times of a choice are averaged without a bound: a rare team that holds up all
// others must not be passed over. Two batches in a row that take half as long again as the mean, or half of it, say
// that the load has changed, and all others are tried again; each time that this changes nothing the next change is
// believed later.
//
// No clock, no lock, no address: the same calls give the same answers. Who: one thread at a time (joint_widths.hpp).
#pragma once
#include <array>
#include <cstdint>

#include "sched/balance/rules.hpp"

namespace weft::sched {

class joint_table {
 public:
  static constexpr std::uint32_t own = 0;  // instead of a width: each kind as its own table says
  static constexpr std::size_t choices_max = 20;

  struct batch {
    std::uint32_t width = own;
    std::uint32_t teams = 1;  // it settles: any that end; else the next to begin, which count,
    bool settles = true;
    std::uint32_t behind = own;  // and what those get that begin long behind these
    bool is_trial = false;       // of another width than the one in use, after the first ones
  };
  explicit joint_table(const rules& r = rules::usual()) noexcept : rules_(&r) {}

  // Widths are the powers of two below `widest`, and that. Returns the first batch. at_once: teams on their way.
  [[nodiscard]] batch open(unsigned widest, std::uint32_t at_once);
  // The batch is over. took: its time, above 0; worth: its work, in any unit. Returns the next one.
  [[nodiscard]] batch next(std::uint64_t took_ps, std::uint64_t worth, std::uint32_t at_once);

  // What is in use but for trials, and what is known of a choice: its time for a unit of work. 0: nothing.
  [[nodiscard]] std::uint32_t in_use() const noexcept { return all_[in_use_].width; }
  [[nodiscard]] double expected(std::uint32_t width) const noexcept;

 private:
  struct choice {
    std::uint32_t width = own;
    double mean = 0;
    double last = 0;
    double saved = 0;  // for the next trial, up to what it loses
    std::uint32_t heard = 0;
    std::uint32_t tried_at = 0;
    bool is_known = false;    // has been tried since the load changed,
    bool is_put_off = false;  // or is not yet to be
  };

  [[nodiscard]] std::uint32_t behind() const noexcept;
  void hear(double took);
  [[nodiscard]] double loss(const choice& c) const noexcept;
  void seems_changed() noexcept;
  [[nodiscard]] std::size_t pick();
  [[nodiscard]] std::size_t first_trial() noexcept;
  [[nodiscard]] std::size_t doubtful() const noexcept;
  [[nodiscard]] double best_mean() const noexcept;
  [[nodiscard]] std::size_t best() const noexcept;
  [[nodiscard]] std::size_t later_trial() noexcept;

  const rules* rules_;
  std::array<choice, choices_max> all_{};
  std::size_t used_ = 0;
  std::size_t on_ = 0;      // of the batch that is under way
  std::size_t in_use_ = 0;  // is on, but for trials
  bool is_settling_ = false;
  bool is_later_trial_ = false;  // what is on
  std::uint32_t batches_ = 0;
  std::uint32_t trial_at_ = 0;    // the last batch that was a trial
  std::uint32_t before_ = own;    // in use when the load last seemed to change,
  std::uint32_t deaf_for_ = 0;    // for so many batches no other change was believed,
  std::uint32_t deaf_until_ = 0;  // until this one
};

}  // namespace weft::sched

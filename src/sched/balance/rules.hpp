// The rules: all that the scheduler decides by measurement, or by a number that somebody chose, in one table. A row has
// a name, a unit, what it decides, its usual number, and the number with which it decides nothing. An engine has
// numbers of its own (options::rules); each is read by the one noun that decides, as rules[by::name]. rules.md says
// what is no rule, and why. Invariant: a number lies in the bounds of its row, or is what switches it off. Who: made
// once, then read by anyone.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "weft/rule.hpp"

namespace weft::sched {

// The rows, in the order of the table in rules.cpp.
enum class by : std::uint8_t {
  // how long bodies are (tempo.hpp)
  tiny,
  coarse,
  fine_after,
  waited,
  worth_the_way,
  // whom a thief robs, and when it lets others be (stealing.hpp)
  asks_anew,
  give_way,
  rests_again,
  one_thief,
  supplier,
  partners,
  sweep,
  // what the main thread shares, and when
  many,
  together,
  brisk,
  main_moves,
  hand_out,
  // two ways in turns
  fork_trial,
  brief_forks,
  turn_gain,
  turn_change,
  // who searches, and who is woken
  one_searcher,
  wakes,
  // how many tasks live
  first_window,
  first_patience,
  idle_grows,
  // teams, and how wide they are
  barrier_wait,
  guest_wait,
  width_trials,
  joint,
  joint_trials,
  // pipelines
  pipeline_share,
  pipeline_again,
  pipeline_wait,
  pipeline_alone,
  // ordered sections
  ahead,
  in_vain,
  count
};

class rules {
 public:
  static constexpr std::size_t count = static_cast<std::size_t>(by::count);
  // In any unit more than there ever is, and small enough to be multiplied.
  static constexpr std::uint64_t never = 1'000'000'000'000;
  static_assert(count == detail::rule_count && count <= 64);

  // All as usual.
  rules() noexcept;
  // As `settings` says: "tiny=off,sweep=16", and what it does not name as `otherwise` has it. Errors: weft::error
  // naming what is wrong in it, and what may be there.
  explicit rules(std::string_view settings, const rules& otherwise = usual());
  [[nodiscard]] static const rules& usual() noexcept;
  // Without those by which who has nothing to do looks again and again: nobody uses a core that does nothing on it.
  [[nodiscard]] static const rules& still();

  [[nodiscard]] std::uint64_t operator[](by r) const noexcept { return numbers_[static_cast<std::size_t>(r)]; }
  // The same of one in nanoseconds.
  [[nodiscard]] std::uint64_t ps(by r) const noexcept { return 1000 * (*this)[r]; }
  [[nodiscard]] bool is_on(by r) const noexcept { return (on_ >> static_cast<unsigned>(r) & 1) != 0; }

  // What differs from what is usual, as settings; "": nothing.
  [[nodiscard]] std::string text() const;

  [[nodiscard]] static const weft::rule& row(by r) noexcept;
  [[nodiscard]] static rule_list rows() noexcept;

 private:
  void set(std::string_view setting);
  void set(std::size_t row, std::uint64_t number) noexcept;

  // Together whole cache lines, so that what lies behind stays where it is.
  static constexpr std::size_t in_lines = (count + 1 + 7) / 8 * 8;
  std::array<std::uint64_t, in_lines - 1> numbers_{};
  std::uint64_t on_ = 0;  // a bit for each row
};

}  // namespace weft::sched

// Two ways to do the same, of which nobody can say beforehand which is faster: they are taken in turns, each for so
// many of whatever is done, and the faster one is kept. Now and then the other is tried again; as long as it is slower,
// more and more seldom, and no longer than a turn of the better one takes. So what trying costs is a part of what is
// done, and a program that is over soon pays nothing. If the better one gets slower by half, what is done is something
// else, and the other is tried at once. The first way is taken to begin with. Owned by one thread.
#pragma once
#include <algorithm>
#include <cstdint>

#include "base/assert.hpp"
#include "base/limits.hpp"
#include "sched/balance/decisions.hpp"
#include "sched/balance/rules.hpp"

namespace weft::sched {

class turns {
 public:
  // A turn is so many steps. Half as many come before, and do not count, if the way has changed.
  explicit turns(std::uint64_t length, const rules& r = rules::usual()) noexcept : rules_(r), length_(length) {}

  // Whether it is the second way's turn.
  [[nodiscard]] bool second() const noexcept { return second_; }
  [[nodiscard]] bool under_way() const noexcept { return is_under_way_; }

  // Forgets what is known, but not the way. `steps`: how many have been taken, `done`: and what has been done by them,
  // which may come later or be thrown back; both grow.
  void begin_anew(std::uint64_t now_ps, std::uint64_t steps, std::uint64_t done) noexcept {
    is_under_way_ = true;
    left_ = hold_ = base::turns_min;
    better_ps_ = 0;
    better_is_second_ = second_;
    settles_ = false;
    begin(now_ps, steps, done);
  }
  // Until begin_anew(). The way stays.
  void stop() noexcept { is_under_way_ = false; }

  // So many steps have been taken by now. Who: the owner, several times in a turn. done() may be dear: it is asked at
  // the end of a turn. Returns whether the way changes. told: hears what is decided; nullptr: nobody does.
  template <class Done>
  [[nodiscard]] bool look(std::uint64_t now_ps, std::uint64_t steps, Done done, decisions* told = nullptr) noexcept {
    WEFT_ASSERT(under_way() && left_ != 0 && steps >= steps_ && now_ps >= began_ps_);
    const auto for_ps = static_cast<double>(now_ps - began_ps_);
    const bool is_lost = tries_other() && for_ps * gain() >= better_ps_;
    if (!is_lost && steps - steps_ < (settles_ ? length_ / 2 : length_)) return false;
    const std::uint64_t all = done();
    const auto n = static_cast<double>(all - done_);
    const bool changes =
        (!settles_ || is_lost) && judge(is_lost, for_ps * static_cast<double>(length_) / (n + 1), told);
    if (changes) second_ = !second_;
    settles_ = changes;
    begin(now_ps, steps, all);
    return changes;
  }

 private:
  [[nodiscard]] double gain() const noexcept { return part(by::turn_gain); }
  [[nodiscard]] double part(by percent) const noexcept { return static_cast<double>(rules_[percent]) / 100; }
  [[nodiscard]] bool tries_other() const noexcept { return second_ != better_is_second_; }
  void begin(std::uint64_t now_ps, std::uint64_t steps, std::uint64_t done) noexcept {
    began_ps_ = now_ps;
    steps_ = steps;
    done_ = done;
  }
  // A turn is over, and would have taken so long if all of it had been done. Returns whether the way changes.
  [[nodiscard]] bool judge(bool is_lost, double turn_took_ps, decisions* told) noexcept {
    if (!tries_other()) {
      const bool has_slowed = better_ps_ != 0 && turn_took_ps > better_ps_ * part(by::turn_change);
      better_ps_ = turn_took_ps;
      if (has_slowed) left_ = hold_ = 1;
      if (has_slowed && told != nullptr) told->count(by::turn_change);
      if (--left_ != 0) return false;
      left_ = 1;
      return true;
    }
    const bool won = !is_lost && turn_took_ps * gain() < better_ps_;
    const bool gained = !won && turn_took_ps < better_ps_;
    if (gained && rules_.is_on(by::turn_gain) && told != nullptr) told->count(by::turn_gain);
    hold_ = won ? base::turns_min : std::min(2 * hold_, base::turns_max);
    left_ = hold_;
    if (won) {
      better_is_second_ = second_;
      better_ps_ = turn_took_ps;
    }
    return !won;
  }

  const rules& rules_;
  std::uint64_t length_;
  bool is_under_way_ = false;
  bool second_ = false;
  bool better_is_second_ = false;
  bool settles_ = false;
  unsigned hold_ = base::turns_min;  // turns of the better way before the other is tried,
  unsigned left_ = base::turns_min;  // so many of them are left
  double better_ps_ = 0;             // what its last turn took
  std::uint64_t began_ps_ = 0;       // this turn,
  std::uint64_t steps_ = 0;          // after so many steps,
  std::uint64_t done_ = 0;           // and with so much done
};

}  // namespace weft::sched

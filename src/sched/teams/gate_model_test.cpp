// The gate of a team under thousands of random schedules: members come to some barriers and leave, some by an
// exception; in a barrier they look for a while and then list themselves and sleep until they are placed. Nobody may
// pass a barrier before all who are in the team have come, nobody may sleep for ever, all must hear the same of a
// failure, and one alone is the last, behind all others. The same harness must reject eight gates that are broken on
// purpose.
#include <array>
#include <vector>

#include "interleave.hpp"
#include "machine/host/host.hpp"
#include "sched/teams/gate.hpp"

namespace weft::sched {
namespace {

using M = interleave::unsteady;
using sound = gate<M>;

enum class flaw {
  none,
  copied,                   // no flaw: the copy that the following are planted in
  forgets_who_is_aside,     // opens without a look at whether somebody is
  lists_without_a_look,     // at whether the barrier is over
  leaves_uncounted,         // in the barrier that the others are in
  opens_before_it_counts,   // the phase changes before the count is made anew
  asks_again_who_was_last,  // after the subtraction, by a second look
  hears_of_failures_early,  // by the flag, and not by what the barrier says
  takes_the_list_unlocked,  // and before the phase changes
  takes_the_list_late       // when a quick one may be in the next barrier
};

// As gate<M>, for one team.
template <flaw Flaw> struct copied_gate : sound {
  using team = detail::team_state;
  static constexpr std::uint64_t member = std::uint64_t{1} << 32;
  static constexpr std::uint64_t low = member - 1;

  [[nodiscard]] static bool comes(team& t) {
    const std::uint64_t before = M::fetch_sub(t.present, std::uint64_t{1}, base::acq_rel);
    if (Flaw == flaw::asks_again_who_was_last) return (M::load(t.present, base::acquire) & low) == 0;
    return (before & low) == 1;
  }
  [[nodiscard]] static departure leaves(team& t, bool has_failed) {
    if (has_failed) M::store(t.failed, std::uint8_t{1}, base::relaxed);
    const std::uint64_t before =
        M::fetch_sub(t.present, member + (Flaw == flaw::leaves_uncounted ? 0 : 1), base::acq_rel);
    if (before >> 32 == 1) return departure::was_last;
    return (before & low) == 1 ? departure::opens : departure::others_go_on;
  }
  [[nodiscard]] static record* opens(team& t) {
    const std::uint64_t members = M::load(t.present, base::relaxed) >> 32;
    const std::uint32_t failed = M::load(t.failed, base::relaxed) != 0 ? 2 : 0;
    const std::uint32_t next = (M::load(t.phase, base::relaxed) / 4 + 1) * 4 | failed;
    record* early = nullptr;
    if (Flaw == flaw::takes_the_list_unlocked) {
      early = t.aside;
      t.aside = nullptr;
    }
    const bool late = Flaw == flaw::takes_the_list_late || Flaw == flaw::forgets_who_is_aside ||
                      Flaw == flaw::opens_before_it_counts || Flaw == flaw::takes_the_list_unlocked;
    if (Flaw != flaw::opens_before_it_counts) M::store(t.present, members * (member + 1), base::relaxed);
    std::uint32_t before = M::load(t.phase, base::relaxed);
    if (!late) {
      if ((before & 1) == 0 && M::compare_exchange(t.phase, before, next, base::acq_rel)) return nullptr;
      base::locked<M> guard(t.lock);
      record* const all = t.aside;
      t.aside = nullptr;
      M::store(t.phase, next, base::release);
      return all;
    }
    before = M::exchange(t.phase, next, base::acq_rel);
    if (Flaw == flaw::opens_before_it_counts) M::store(t.present, members * (member + 1), base::relaxed);
    if (Flaw == flaw::takes_the_list_unlocked) return early;
    if (Flaw == flaw::forgets_who_is_aside || (before & 1) == 0) return nullptr;
    base::locked<M> guard(t.lock);
    record* const all = t.aside;
    t.aside = nullptr;
    return all;
  }
  [[nodiscard]] static bool lists(team& t, record* r, std::uint32_t now) {
    base::locked<M> guard(t.lock);
    if (Flaw == flaw::lists_without_a_look) {
      static_cast<void>(M::fetch_or(t.phase, 1u, base::acq_rel));
    } else {
      std::uint32_t seen = now;
      if (!M::compare_exchange(t.phase, seen, now | 1u, base::acq_rel) && seen != (now | 1u)) return false;
    }
    r->waiting.next = t.aside;
    t.aside = r;
    return true;
  }
  [[nodiscard]] static bool had_failed(team& t) {
    if (Flaw == flaw::hears_of_failures_early) return M::load(t.failed, base::relaxed) != 0;
    return sound::had_failed(t);
  }
};

template <class Gate> class trial {
 public:
  explicit trial(std::uint64_t seed) : play_(seed), rng_(seed * 11), n_(2 + rng_.below(3)) {
    gate<machine::host>::make(t_, n_);  // before there is a machine
    for (unsigned i = 0; i < n_; ++i) {
      of_[i].barriers = rng_.below(5);
      of_[i].throws = rng_.below(4) == 0;
      of_[i].patience = rng_.below(4);
    }
  }

  const char* run() {
    const bool done = play_.run(
        n_, [this](unsigned id) { member(id - 1); }, [this] { return play_.all_left() || wrong_ != nullptr; }, 1 << 15);
    if (!done) complain("a member waits for ever");
    if (wrong_ == nullptr && ends_ != 1) complain("the team does not end once");
    return wrong_;
  }

 private:
  struct seat {
    unsigned barriers = 0, patience = 0;
    bool throws = false;
    unsigned come = 0;  // to so many barriers; all, once it has left
    detail::record r{};
    bool placed = false;
  };
  static constexpr unsigned all = ~0u;
  void complain(const char* what) noexcept {
    if (wrong_ == nullptr) wrong_ = what;
  }
  [[nodiscard]] bool stops() const noexcept { return play_.over() || wrong_ != nullptr; }

  void member(unsigned i) {
    seat& self = of_[i];
    for (unsigned k = 1; k <= self.barriers && !stops(); ++k) {
      if (!barrier(i, k)) return leave(i, true);
    }
    if (!stops()) leave(i, self.throws);
  }
  // Returns false where a member has thrown.
  [[nodiscard]] bool barrier(unsigned i, unsigned k) {
    seat& self = of_[i];
    const std::uint32_t now = Gate::phase(t_);
    self.come = k;
    if (Gate::comes(t_))
      open();
    else
      wait(self, i, now);
    if (stops()) return true;
    for (unsigned j = 0; j < n_; ++j)
      if (of_[j].come < k) complain("somebody passes a barrier that not all have come to");
    const bool failed = Gate::had_failed(t_);
    if (verdict_.size() < k) verdict_.resize(k, -1);
    if (verdict_[k - 1] != -1 && verdict_[k - 1] != static_cast<int>(failed))
      complain("members hear different things of a failure");
    verdict_[k - 1] = failed;
    return !failed;
  }
  void wait(seat& self, unsigned i, std::uint32_t now) {
    for (unsigned look = 0; look < self.patience; ++look) {
      if (Gate::is_over(t_, now)) return;
      M::relax(1);
    }
    self.placed = false;
    self.r = {};
    self.r.order = i;
    if (!Gate::lists(t_, &self.r, now)) return;
    while (!self.placed && !stops()) play_.machine().park(i + 1);
  }
  void open() {
    unsigned woken = 0;
    for (detail::record* r = Gate::opens(t_); r != nullptr && woken <= n_; ++woken) {
      detail::record* const next = r->waiting.next;
      const auto i = static_cast<unsigned>(r->order);
      of_[i].placed = true;
      play_.machine().wake(i + 1);
      r = next;
    }
    if (woken > n_) complain("somebody is placed twice");
  }
  void leave(unsigned i, bool fails) {
    of_[i].come = all;
    ++left_;
    switch (Gate::leaves(t_, fails)) {
    case Gate::departure::others_go_on: return;
    case Gate::departure::opens: return open();
    case Gate::departure::was_last: break;
    }
    ++ends_;
    if (left_ != n_) complain("somebody ends the team before all have left");
  }

  interleave::play<M> play_;
  base::random rng_;
  unsigned n_;
  detail::team_state t_{};
  std::array<seat, 4> of_;
  std::vector<int> verdict_;
  unsigned left_ = 0, ends_ = 0;
  const char* wrong_ = nullptr;
};

template <class Gate> const char* one(std::uint64_t seed) { return trial<Gate>(seed).run(); }

}  // namespace

TEST_CASE("gate: nobody passes too early, sleeps for ever, or hears another verdict") {
  interleave::all_seeds(20000, one<sound>);
  interleave::all_seeds(4000, one<copied_gate<flaw::copied>>);
}

TEST_CASE("gate: the harness finds each planted flaw") {
  CHECK(interleave::caught(4000, one<copied_gate<flaw::forgets_who_is_aside>>));
  CHECK(interleave::caught(4000, one<copied_gate<flaw::lists_without_a_look>>));
  CHECK(interleave::caught(4000, one<copied_gate<flaw::leaves_uncounted>>));
  CHECK(interleave::caught(4000, one<copied_gate<flaw::opens_before_it_counts>>));
  CHECK(interleave::caught(4000, one<copied_gate<flaw::asks_again_who_was_last>>));
  CHECK(interleave::caught(4000, one<copied_gate<flaw::hears_of_failures_early>>));
  CHECK(interleave::caught(4000, one<copied_gate<flaw::takes_the_list_unlocked>>));
  CHECK(interleave::caught(4000, one<copied_gate<flaw::takes_the_list_late>>));
}

}  // namespace weft::sched

// Where the members of a team meet: a barrier for those who are still in the team. A member that leaves counts as
// having come to the barrier that the others are in, and to all after. Members that are long in a barrier list
// themselves, and whoever opens it gets that list. Protocol and proof: teams.md. State: detail::team_state, which the
// last member to leave has for itself.
#pragma once
#include <cstdint>

#include "base/assert.hpp"
#include "base/lock.hpp"
#include "weft/detail/team.hpp"

namespace weft::sched {

template <class M> struct gate {
  using team = detail::team_state;
  using record = detail::record;

  // Who: nobody else knows t.
  static void make(team& t, std::uint32_t width) noexcept {
    WEFT_ASSERT(width != 0);
    t.width = width;
    t.aside = nullptr;
    M::store(t.next, std::uint64_t{0}, base::relaxed);
    M::store(t.failed, std::uint8_t{0}, base::relaxed);
    M::store(t.phase, 0u, base::relaxed);
    M::store(t.present, width * (one_member + 1), base::relaxed);
  }

  // The barrier that the caller comes to next. Who: a member.
  [[nodiscard]] static std::uint32_t phase(team& t) noexcept { return M::load(t.phase, base::acquire) & ~aside_bit; }
  // A member has come. Returns whether it was the last: then it opens. Order: acq_rel; what members did before comes
  // before what any does after.
  [[nodiscard]] static bool comes(team& t) noexcept {
    const std::uint64_t before = M::fetch_sub(t.present, std::uint64_t{1}, base::acq_rel);
    WEFT_ASSERT(waited_for(before) != 0);
    return waited_for(before) == 1;
  }
  // Whether the barrier that began as `now` is over. Order: acquire.
  [[nodiscard]] static bool is_over(team& t, std::uint32_t now) noexcept { return phase(t) != now; }
  // Whether a member had thrown when the last barrier opened. Who: a member that has come through it, before it comes
  // to the next.
  [[nodiscard]] static bool had_failed(team& t) noexcept { return (M::load(t.phase, base::relaxed) & failed_bit) != 0; }

  // Whether nobody has left. Who: the last to come, before it opens.
  [[nodiscard]] static bool all_are_in(team& t) noexcept {
    return members_in(M::load(t.present, base::relaxed)) == t.width;
  }
  // Whether a member has thrown so far. Who: as above, of which the others then hear.
  [[nodiscard]] static bool has_failed(team& t) noexcept { return M::load(t.failed, base::relaxed) != 0; }
  // What was done for the members before the barrier opens has failed. Who: as above.
  static void fails(team& t) noexcept { M::store(t.failed, std::uint8_t{1}, base::relaxed); }

  enum class departure : std::uint8_t { others_go_on, opens, was_last };
  // A member leaves. opens: all others are in a barrier, and the caller opens it; was_last: t is the caller's alone;
  // else t may be gone.
  [[nodiscard]] static departure leaves(team& t, bool has_failed) noexcept {
    if (has_failed) M::store(t.failed, std::uint8_t{1}, base::relaxed);  // published by the subtraction
    const std::uint64_t before = M::fetch_sub(t.present, one_member + 1, base::acq_rel);
    WEFT_ASSERT(members_in(before) != 0 && waited_for(before) != 0);
    if (members_in(before) == 1) return departure::was_last;
    return waited_for(before) == 1 ? departure::opens : departure::others_go_on;
  }

  // Lets go who is in the barrier. Returns the list of those who are set aside, each to be placed. Who: the last to
  // come, or to leave. If it has left, t may be gone when the phase has changed and nobody is set aside; if somebody
  // is, t stays until that one is placed.
  [[nodiscard]] static record* opens(team& t) noexcept {
    const std::uint64_t present = M::load(t.present, base::relaxed);
    WEFT_ASSERT(waited_for(present) == 0 && members_in(present) != 0);
    const std::uint32_t failed = M::load(t.failed, base::relaxed) != 0 ? failed_bit : 0;
    std::uint32_t before = M::load(t.phase, base::relaxed);
    const std::uint32_t after = (before / one_barrier + 1) * one_barrier | failed;
    M::store(t.next, std::uint64_t{0}, base::relaxed);
    M::store(t.present, members_in(present) * (one_member + 1), base::relaxed);
    if ((before & aside_bit) == 0 && M::compare_exchange(t.phase, before, after, base::release)) return nullptr;
    base::locked<M> guard(t.lock);  // until the phase has changed: a quick one may be in the next barrier then
    record* const all = t.aside;
    WEFT_ASSERT(all != nullptr && (M::load(t.phase, base::relaxed) & aside_bit) != 0);
    t.aside = nullptr;
    M::store(t.phase, after, base::release);
    return all;
  }
  // r stands for a member that waits in the barrier that began as `now`. Returns false if that is over. Order:
  // acquire, for that case; the list is under the lock.
  [[nodiscard]] static bool lists(team& t, record* r, std::uint32_t now) noexcept {
    base::locked<M> guard(t.lock);
    std::uint32_t seen = now;
    if (!M::compare_exchange(t.phase, seen, now | aside_bit, base::acquire) && seen != (now | aside_bit)) return false;
    r->waiting.next = t.aside;
    t.aside = r;
    return true;
  }

 private:
  static constexpr std::uint32_t aside_bit = 1, failed_bit = 2, one_barrier = 4;
  static constexpr std::uint64_t one_member = std::uint64_t{1} << 32;
  [[nodiscard]] static std::uint64_t members_in(std::uint64_t present) noexcept { return present >> 32; }
  [[nodiscard]] static std::uint64_t waited_for(std::uint64_t present) noexcept { return present & (one_member - 1); }
};

}  // namespace weft::sched

// The boxes of members of teams: one at each worker, which it empties before it begins a body. What is for several
// workers is put in all at one moment, so that two teams, or two gangs, stand in one order wherever both do (teams.md,
// gang.md): all locks are taken, in the order of the workers' numbers, so nobody waits for one who has one that comes
// later.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "base/assert.hpp"
#include "base/plain.hpp"
#include "sched/idle/sleep.hpp"
#include "sched/place/main_seats.hpp"
#include "sched/workers/crew.hpp"
#include "sched/workers/worker.hpp"

namespace weft::sched {

template <class M> class team_boxes {
 public:
  team_boxes(M& machine, sleep<M>& sleep, crew<M>& all)
      : machine_(machine), sleep_(sleep), crew_(all), seats_(machine) {}

  // The members for the workers ids[0], ids[1], ...: ids[0] is w's own and the others ascend. Returns whether
  // members[0] stands first in w's box; then it is the caller's, and not put there. Workers that sleep are told to
  // `asleep`, which has room for them: each must be called up. Who: w's thread. Cost: a line from each of the others.
  [[nodiscard]] bool put(worker<M>& w, std::span<const std::uint16_t> ids, std::span<detail::record* const> members,
                         std::vector<base::plain<std::uint16_t>>& asleep) {
    WEFT_ASSERT(ids.size() == members.size() && !ids.empty());
    hold(w, ids.subspan(1));
    const bool at_once = w.team_box.empty();
    for (std::size_t i = at_once ? 1 : 0; i < ids.size(); ++i)
      (i == 0 ? w : crew_[ids[i]]).team_box.push_held(members[i]);
    for (const std::uint16_t id : ids.subspan(1)) crew_[id].team_box.release();
    w.team_box.release();
    for (const std::uint16_t id : ids.subspan(1))
      if (sleep_.is_asleep(id) && !(id == 0 && crew_.main_is_away()))
        asleep.emplace_back().write() = id;
      else
        call_up(id);
    return at_once;
  }
  // One, which goes on there.
  void put(std::uint16_t id, detail::record* member) {
    crew_[id].team_box.push(member);
    call_up(id);
  }
  // There is something in that worker's box: it looks there before its next body, or wakes. What stands in the box of a
  // main thread that is away is for whoever has nothing else to do. Who: anyone.
  void call_up(std::uint16_t id) noexcept {
    M::store(crew_[id].tick_limit, 0u, base::relaxed);
    if (id == 0 && crew_.main_is_away()) return sleep_.notify(machine_);
    sleep_.notify(machine_, id);
  }

  // The seats of a gang for workers that all are others, in ascending order. They may be gone when this returns. Who:
  // any thread, which has called seats_of_main().expect() for their gang.
  void summon(std::span<const std::uint16_t> ids, std::span<detail::record* const> seats) {
    WEFT_ASSERT(ids.size() == seats.size() && !ids.empty());
    for (const std::uint16_t id : ids) crew_[id].team_box.hold();
    for (std::size_t i = 0; i < ids.size(); ++i) crew_[ids[i]].team_box.push_held(seats[i]);
    for (const std::uint16_t id : ids) crew_[id].team_box.release();
    const bool wants_main = ids.front() == 0;
    for (const std::uint16_t id : ids) call_up(id);
    if (wants_main && crew_.main_is_away()) seats_.empty();
  }
  [[nodiscard]] main_seats<M>& seats_of_main() noexcept { return seats_; }
  // The main thread has just gone.
  void main_goes_away() noexcept {
    seats_.empty();
    if (!crew_.main().team_box.empty()) sleep_.notify(machine_);
  }

 private:
  // w's own in its place among the others.
  void hold(worker<M>& w, std::span<const std::uint16_t> others) noexcept {
    bool has_own = false;
    for (const std::uint16_t id : others) {
      if (!has_own && w.id < id) {
        w.team_box.hold();
        has_own = true;
      }
      WEFT_ASSERT(id < crew_.workers() && id != w.id);
      crew_[id].team_box.hold();
    }
    if (!has_own) w.team_box.hold();
  }

  M& machine_;
  sleep<M>& sleep_;
  crew<M>& crew_;
  main_seats<M> seats_;
};

}  // namespace weft::sched

// The boxes of members of teams: one at each worker, which it empties before it begins a body. What is for several
// workers is put in all at one moment, so that two teams, or two gangs, stand in one order wherever both do (teams.md,
// gang.md): all locks are taken, in the order of the workers' numbers, so nobody waits for one who has one that comes
// later.
#pragma once
#include <cstdint>
#include <span>

#include "base/assert.hpp"
#include "sched/workers/crew.hpp"
#include "sched/workers/worker.hpp"

namespace weft::sched {

template <class M> class team_boxes {
 public:
  explicit team_boxes(crew<M>& all) noexcept : crew_(all) {}

  // The members for the workers ids[0], ids[1], ...: ids[0] is w's own and the others ascend. Returns whether
  // members[0] stands first in w's box; then it is the caller's, and not put there. Who: w's thread. Cost: a line from
  // each of the others.
  [[nodiscard]] bool put(worker<M>& w, std::span<const std::uint16_t> ids, std::span<detail::record* const> members) {
    WEFT_ASSERT(ids.size() == members.size() && !ids.empty());
    hold(w, ids.subspan(1));
    const bool at_once = w.team_box.empty();
    for (std::size_t i = at_once ? 1 : 0; i < ids.size(); ++i)
      (i == 0 ? w : crew_[ids[i]]).team_box.push_held(members[i]);
    for (const std::uint16_t id : ids.subspan(1)) crew_[id].team_box.release();
    w.team_box.release();
    return at_once;
  }
  // The same for workers that all are others, in ascending order. What is put there may be gone when this returns.
  void put(std::span<const std::uint16_t> ids, std::span<detail::record* const> seats) {
    WEFT_ASSERT(ids.size() == seats.size() && !ids.empty());
    for (const std::uint16_t id : ids) crew_[id].team_box.hold();
    for (std::size_t i = 0; i < ids.size(); ++i) crew_[ids[i]].team_box.push_held(seats[i]);
    for (const std::uint16_t id : ids) crew_[id].team_box.release();
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

  crew<M>& crew_;
};

}  // namespace weft::sched

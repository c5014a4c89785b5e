// Those of a team whose workers sleep, and who must be woken for it. Whoever of the team is awake takes on the next of
// them: the leader, and each that has been woken, before its own member begins. So the number of those who wake others
// doubles about with each wake, and the time until all are there grows with the logarithm of how many sleep.
// Invariant: each is woken once: who adds 1 to `taken` wakes the one at that place. None is forgotten: the leader goes
// on until all are taken on, and who has taken one on wakes it before all else. Protocol and what was checked:
// teams.md.
#pragma once
#include <cstdint>
#include <vector>

#include "base/assert.hpp"
#include "base/atomic.hpp"
#include "base/plain.hpp"

namespace weft::sched {

template <class M> class sleepers {
 public:
  // A new team of at most `most`: nobody sleeps yet, as far as others know. Who: the leader, alone with it.
  void open(std::size_t most) {
    ids_.clear();
    ids_.reserve(most);
    M::store(known_, 0u, base::relaxed);
    M::store(taken_, 0u, base::relaxed);
  }
  // The leader writes them down here, while no other reads: there is room for `most`.
  [[nodiscard]] std::vector<base::plain<std::uint16_t>>& list() noexcept { return ids_; }
  // From here on others wake them, too. Who: the leader, once. Order: release; pairs with the load in wake().
  void publish() { M::store(known_, static_cast<std::uint32_t>(ids_.size()), base::release); }

  // Wakes those that nobody has taken on yet, one after the other. Who: the leader behind publish(); each member before
  // its body, which finds nothing to do if it comes before that.
  template <class Wake> void wake(Wake wakes) {
    const std::uint32_t n = M::load(known_, base::acquire);
    if (n == 0) return;
    WEFT_ASSERT(n == ids_.size());
    for (std::uint32_t i; (i = M::fetch_add(taken_, 1u, base::relaxed)) < n;) wakes(ids_[i].read());
  }

 private:
  std::vector<base::plain<std::uint16_t>> ids_;
  detail::cell<std::uint32_t> known_;  // how many; 0: not known yet
  detail::cell<std::uint32_t> taken_;  // how many of them somebody has taken on
};

}  // namespace weft::sched

// A thief acts for an owner that does not come: the main thread in the program's code, or a worker in a long body. What
// is private there, and what is kept, comes within reach of all. Protocol: deque.md, "A thief acts for the owner", and
// branches.md, "What is kept".
#pragma once
#include <algorithm>
#include <cstdint>

#include "base/assert.hpp"
#include "sched/queues/deque.hpp"

namespace weft::sched {

template <class M> class pull {
 public:
  // Puts all that `owner` has within reach of thieves. Who: any thief, with nothing else to do. Returns whether the
  // caller is to search once more: tasks were shared, or another thief pulls, whose look may have come before a task
  // that the owner did not share. Cost: two barriers on all threads. Errors: false also where the owner is at its end
  // at the moment, or the system has no such barrier; the owner then sees `starved`.
  static bool from(detail::worker& owner) noexcept {
    if (M::exchange(owner.pulled, std::uint8_t{1}, base::acquire) != 0) return true;
    if (!deque::stealable(owner)) deque::starve(owner);
    const bool got = M::barrier_everywhere() && detail::peek_acquire(owner.inside) == 0 && take_over(owner);
    WEFT_ASSERT(detail::peek(owner.pulled) != 0);
    M::store(owner.pulled, std::uint8_t{0}, base::release);  // pairs with at_end's load
    return got;
  }

 private:
  using deque = sched::deque<M>;

  // The thief's half of pop() and of a fork's way back, turned round: it moves split over all that is private, says
  // that it looks at what is kept, and looks at bottom and at that after.
  static bool take_over(detail::worker& owner) noexcept {
    detail::deque_owner& d = owner.deque;
    const std::uint32_t split = detail::peek(d.split);
    const std::uint32_t end = detail::peek_acquire(d.bottom);
    const bool claims = kept<M>::any(owner);
    const std::uint32_t n = deque::reaches_beyond(end, d.split) ? end - split : 0;
    if (n == 0 && !claims) return false;
    detail::poke(d.split, split + n);
    if (claims) detail::poke(owner.claimed, std::uint8_t{1});
    const bool may = M::barrier_everywhere();
    const std::uint32_t m = may && claims ? take_kept(owner, split, n) : 0;
    if (n + m == 0 || !may || static_cast<std::int32_t>(detail::peek_acquire(d.bottom) - (split + n)) < 0) {
      M::between_steps();  // the owner may look at split here, and wait for what the thief does
      detail::poke(d.split, split);
      return false;
    }
    detail::poke(d.split, split + n + m);
    deque::publish(owner, split, n + m);
    return true;
  }
  // What is kept comes to the owner's deque, as far as there is room, behind `split` and n tasks more that are to be
  // shared. Returns how many can be shared with them. While something is kept bottom stands still, but for an owner at
  // its end; so does the room, and which body it is of.
  static std::uint32_t take_kept(detail::worker& owner, std::uint32_t split, std::uint32_t n) noexcept {
    detail::deque_owner& d = owner.deque;
    detail::branch* const newest = detail::peek_acquire(owner.kept);
    const std::uint32_t all = kept<M>::size(newest);
    const std::uint32_t bottom = detail::peek_acquire(d.bottom);
    const std::uint32_t shared = shared_part::of(M::load(owner.shared, base::acquire)).size;
    if (all != 0) d.limit = split - shared + d.mask + 1;
    const std::uint32_t m = std::min(all, d.limit - bottom);
    const detail::branch* const none_left_of = m == all ? newest : nullptr;
    M::unseen::store(owner.looked_through, none_left_of, base::relaxed);
    if (m == 0) return 0;
    deque::put_kept(owner, newest, all, m);
    return bottom == split + n ? m : 0;
  }
};

}  // namespace weft::sched

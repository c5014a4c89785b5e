// Workers that are held, all at once, while something else uses their cores (weft/guest.hpp). Each has a seat, which it
// answers for when it comes to it: it is held there, or it cannot be. Who answers last calls the first that is held,
// and that one has all the others. A worker that is held sleeps in the kernel until it is called. Which seats stand
// before which, and why all are taken in the end: gang.md.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "base/assert.hpp"
#include "base/atomic.hpp"
#include "base/limits.hpp"
#include "weft/detail/cell.hpp"

namespace weft::sched {

template <class M> class gang {
 public:
  enum class answer : std::uint32_t { none, held, absent };
  // What a worker that is held is called for. awake, asleep: nothing, and whether it must be woken.
  enum class call : std::uint32_t { awake, asleep, job, host, over };
  enum class step : std::uint8_t { too_late, others_missing, complete };

  // Who: nobody else knows this gang. Errors: std::bad_alloc.
  void make(std::span<const std::uint16_t> workers) {
    WEFT_ASSERT(!workers.empty());
    if (seats_.size() < workers.size()) {
      seats_ = std::vector<seat>(workers.size());
      M::fresh(seats_.data(), seats_.size() * sizeof(seat));
    }
    count_ = static_cast<unsigned>(workers.size());
    for (unsigned i = 0; i < count_; ++i) {
      seats_[i].worker = workers[i];
      M::store(seats_[i].answered, answer::none, base::relaxed);
      M::store(seats_[i].called, call::awake, base::relaxed);
    }
    M::store(missing_, count_, base::relaxed);  // published with the seats
  }
  [[nodiscard]] unsigned size() const noexcept { return count_; }
  [[nodiscard]] unsigned worker(unsigned i) const noexcept { return seats_[i].worker; }

  // Somebody answers for seat i, once; too_late: somebody has. complete: it was the last one, and the caller calls
  // first(), which may be its own. Order: acq_rel; all that was written before any answer is seen by who completes.
  [[nodiscard]] step answers(unsigned i, answer a) noexcept {
    WEFT_ASSERT(i < count_ && a != answer::none);
    answer before = answer::none;
    if (!M::compare_exchange(seats_[i].answered, before, a, base::relaxed)) return step::too_late;
    const std::uint32_t missing = M::fetch_sub(missing_, std::uint32_t{1}, base::acq_rel);
    WEFT_ASSERT(missing != 0 && missing <= count_);
    return missing == 1 ? step::complete : step::others_missing;
  }
  // Who: from here on, whoever completes it or is called by it. Order: relaxed; the
  // subtractions of answers() have brought them all.
  [[nodiscard]] bool is_held(unsigned i) noexcept { return M::load(seats_[i].answered, base::relaxed) == answer::held; }
  [[nodiscard]] unsigned first() noexcept {
    unsigned i = 0;
    while (!is_held(i)) ++i;
    WEFT_ASSERT(i < count_);  // only the main thread can be absent
    return i;
  }

  // Sleeps until it is called, at once or after a look of `patience_ps`. Who: the worker of seat i, which is held.
  [[nodiscard]] call await(M& machine, unsigned i, std::uint64_t patience_ps) noexcept {
    detail::cell<call>& mine = seats_[i].called;
    if (const call c = look(machine, mine, patience_ps); c != call::awake) return take(mine);
    call seen = call::awake;
    // Order: relaxed; take() sees what came with the call.
    if (M::compare_exchange(mine, seen, call::asleep, base::relaxed)) machine.park(seats_[i].worker);
    return take(mine);
  }
  // Calls the worker of seat i. Who: it has taken what it was called for before, or was never called.
  void tell(M& machine, unsigned i, call c) noexcept {
    const unsigned id = seats_[i].worker;  // the gang may be gone once it is told that it is over
    const call before = M::exchange(seats_[i].called, c, base::release);  // pairs with take()
    WEFT_ASSERT(before == call::awake || before == call::asleep);
    if (before == call::asleep) machine.wake(id);
  }

 private:
  struct seat {
    alignas(64) detail::cell<call> called;
    detail::cell<answer> answered;
    std::uint16_t worker = 0;
  };
  [[nodiscard]] static call look(M& machine, detail::cell<call>& mine, std::uint64_t patience_ps) noexcept {
    call c = M::load(mine, base::relaxed);
    if (patience_ps == 0 || c != call::awake) return c;
    const std::uint64_t until = machine.now_ps() + patience_ps;
    for (unsigned spins = 0; (c = M::load(mine, base::relaxed)) == call::awake && machine.now_ps() < until;)
      M::relax(++spins);
    return c;
  }
  // Before what it was called for is begun, so that it can be called again when that is done.
  [[nodiscard]] static call take(detail::cell<call>& mine) noexcept {
    const call c = M::exchange(mine, call::awake, base::acquire);  // pairs with tell()
    WEFT_ASSERT(c != call::awake && c != call::asleep);
    return c;
  }

  std::vector<seat> seats_;
  unsigned count_ = 0;
  alignas(64) detail::cell<std::uint32_t> missing_;
};

}  // namespace weft::sched

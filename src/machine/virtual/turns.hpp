// Whose turn it is on a modelled machine where time does not decide: any core that is awake may be next.
//   random       one drawn evenly
//   by priority  the one with the highest. Priorities are drawn; at `depth` moments, drawn among the first `length`
//                turns, the core that would be next becomes the last of all (PCT: Burckhardt et al., ASPLOS 2010; what
//                needs d orderings shows itself with probability 1/(n k^(d-1)) or more, n cores, k turns). A core that
//                waits in a loop becomes the last, too, or those it waits for would never come.
// For tests of the scheduler itself a run can be disturbed on top of that (`disturbance`): nothing happens then that
// could not happen on a real machine, only more often. Stores that become visible late are not among it: a modelled
// machine is sequentially consistent.
#pragma once
#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

#include "base/random.hpp"

namespace weft::machine {

// Each as one in so many; 0: never.
struct disturbance {
  unsigned stall = 0;       // a core that is next stands still for some turns instead
  unsigned late_wake = 0;   // so does a core that is woken
  unsigned lost_steal = 0;  // a compare-exchange that would succeed fails: those with acq_rel, after which all retry
  unsigned turns_max = 48;  // that a core stands still at most
  // Not chances but sizes: what deques begin with; 0: as always. With 2 they grow all the time,
  unsigned deque_slots = 0;
  unsigned deque_slots_max = 0;  // and what they grow to at most
};

class turns {
 public:
  struct setup {
    std::uint64_t seed = 1;
    bool by_priority = false;
    unsigned depth = 3;
    std::uint64_t length = 1000;
    disturbance disturbed{};
  };
  explicit turns(const setup& s);
  void open(unsigned cores);

  // Which of the cores that are awake is next: an index into `awake`, whose elements have an `id`.
  template <class Event> [[nodiscard]] std::size_t next(const std::vector<Event>& awake) {
    if (!by_priority_ && quiet_) return random_.below(static_cast<std::uint32_t>(awake.size()));
    ids_.clear();
    try {
      ids_.reserve(awake.size());
    } catch (const std::bad_alloc&) {
      return 0;  // may be next as well as any other
    }
    for (const Event& e : awake) ids_.push_back(e.id);
    return choose();
  }
  // Core `id` waits in a loop.
  void waits(unsigned id) noexcept {
    if (by_priority_) priority_[id] = --last_;
  }
  // Core `id` has been woken.
  void woken(unsigned id) noexcept {
    if (one_in(disturbed_.late_wake)) hold(id);
  }
  [[nodiscard]] bool loses_steal() noexcept { return one_in(disturbed_.lost_steal); }

 private:
  [[nodiscard]] std::size_t choose();
  [[nodiscard]] std::size_t first();
  void hold(unsigned id) noexcept { held_[id] = 1 + random_.below(disturbed_.turns_max); }
  [[nodiscard]] bool one_in(unsigned n) noexcept { return n != 0 && random_.below(n) == 0; }

  base::random random_;
  disturbance disturbed_;
  bool by_priority_;
  bool quiet_;                           // undisturbed
  std::vector<unsigned> ids_;            // of those awake, for the choice under way
  std::vector<std::uint64_t> priority_;  // by core
  std::vector<unsigned> held_;           // turns that each core still stands still
  std::vector<std::uint64_t> moments_;   // ascending
  std::size_t moments_met_ = 0;
  std::uint64_t turn_ = 0;
  std::uint64_t last_ = std::uint64_t{1} << 62;  // below all drawn priorities, and lower each time
};

}  // namespace weft::machine

// Gangs that have a seat for the main thread (gang.md). It may be away, in the program's own code, for as long as it
// likes, so no gang waits for it then: each is told that this seat stays empty. When it goes, those that wait are told;
// one that comes while it is away is told by who made it.
// Invariant: a gang is in the list from expect() until its seat was answered for; whoever answers takes it out.
#pragma once
#include <vector>

#include "base/assert.hpp"
#include "base/lock.hpp"
#include "sched/place/gang.hpp"

namespace weft::sched {

template <class M> class main_seats {
 public:
  explicit main_seats(M& machine) : machine_(machine) {}

  // The main thread may have a seat of g, which is its first then. Errors: std::bad_alloc. Who: any thread.
  void expect(gang<M>& g) {
    if (g.worker(0) != 0) return;
    base::locked<M> guard(lock_);
    waiting_.push_back(&g);
  }
  // Its seat of g, if it has one, has come to somebody who will answer for it, or never will be. Who: that one; g lives
  // until then.
  void taken(gang<M>& g) noexcept {
    base::locked<M> guard(lock_);
    std::erase(waiting_, &g);
  }
  // The main thread is away. All gangs that wait for it do so no longer: workers that they hold could not come to its
  // box. Who: any thread.
  void empty() noexcept {
    base::locked<M> guard(lock_);
    for (gang<M>* g : waiting_) {
      WEFT_ASSERT(g->worker(0) == 0);
      if (g->answers(0, gang<M>::answer::absent) == gang<M>::step::complete)
        g->tell(machine_, g->first(), gang<M>::call::host);
    }
    waiting_.clear();
  }

 private:
  M& machine_;
  detail::cell<std::uint8_t> lock_;
  std::vector<gang<M>*> waiting_;  // guarded by lock_
};

}  // namespace weft::sched

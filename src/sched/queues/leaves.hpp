// What workers that share a cache - a leaf of the place tree - know of each other, under policies that follow hints:
//
//   busy   somebody has pushed here, or shared what was private, since a thief last found nothing; so an idle leaf is
//          passed over with one look (PufferFish §IV-C)
//   calm   nobody here starves: the last thing that happened was that a worker with more than two tasks pushed one, and
//          not that a thief found nothing. Then tasks with hints for this place are called where they are submitted, as
//          functions, until a theft fails; that makes them tasks again, until one has more than enough (§IV-D)
//
// Both are hints and plain words: a thief that clears `busy` at the moment of a push may overlook that task until the
// next push here, or until somebody looks at the deques themselves, as every worker does before it sleeps
// (hierarchy.hpp); a push or a theft that meets a change of `calm` makes one task too many or too few.
#pragma once
#include <cstdint>
#include <vector>

#include "base/assert.hpp"
#include "base/atomic.hpp"
#include "place/tree.hpp"

namespace weft::sched {

template <class M> class leaves {
 public:
  static constexpr std::uint32_t enough = 2;  // tasks in a deque, which thieves may have while its owner goes on

  // Who: the thread that makes the runtime, before any worker runs.
  void open(const place::tree& places) {
    WEFT_ASSERT(all_.empty());
    places_ = &places;
    all_ = std::vector<leaf>(places.leaves());
  }
  [[nodiscard]] bool are_used() const noexcept { return !all_.empty(); }

  // A worker has pushed, and has so many tasks now. Who: it. Cost: two loads, where nothing changes.
  void pushed(unsigned worker, std::uint32_t tasks) noexcept {
    leaf& l = of(worker);
    set(l.busy, true);
    if (tasks > enough) set(l.calm, true);
  }
  [[nodiscard]] bool busy(unsigned number) noexcept { return M::load(all_[number].busy, base::relaxed) != 0; }
  [[nodiscard]] bool calm(unsigned worker) noexcept { return M::load(of(worker).calm, base::relaxed) != 0; }

  // A thief has found nothing in the deques of that leaf; in spite of `busy` somebody has seen a task there.
  void found_empty(unsigned number) noexcept { set(all_[number].busy, false); }
  void found_task(unsigned number) noexcept { set(all_[number].busy, true); }
  // A worker at that leaf, or one who may rob it, has nothing to do.
  void starves(unsigned number) noexcept { set(all_[number].calm, false); }

 private:
  struct alignas(64) leaf {
    detail::cell<std::uint8_t> busy, calm;
  };
  [[nodiscard]] leaf& of(unsigned worker) noexcept {
    WEFT_ASSERT(places_ != nullptr && worker < places_->workers());
    return all_[places_->leaf_of(worker)];
  }
  static void set(detail::cell<std::uint8_t>& word, bool to) noexcept {
    if ((M::load(word, base::relaxed) != 0) != to) M::store(word, static_cast<std::uint8_t>(to), base::relaxed);
  }

  const place::tree* places_ = nullptr;
  std::vector<leaf> all_;
};

}  // namespace weft::sched

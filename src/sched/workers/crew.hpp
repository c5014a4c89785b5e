// The workers of a runtime: worker 0 is the thread that made it, and where threads are real the last one is the
// reserve, which has no number of its own. Made once, before any of them runs; never grows or shrinks.
#pragma once
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/assert.hpp"
#include "base/limits.hpp"
#include "sched/balance/rules.hpp"
#include "sched/workers/worker.hpp"

namespace weft::sched {

template <class M> class crew {
 public:
  explicit crew(const sched::rules& r = sched::rules::usual()) noexcept : rules_(r) {}
  ~crew() {
    if (!main_stays_) return;
    worker<M>* const w = seats_.front().release();
    w->engine = w->creates_for = nullptr;
    w->where = nullptr;
    detail::poke(w->shown_id, worker<M>::no_id);
    w->workspace.clear();
    static constinit detail::cell<worker<M>*> all;  // so that they are no leak
    const auto first = base::shared(all);
    w->next_guest = first.load(base::relaxed);
    while (!first.compare_exchange_strong(w->next_guest, w, base::relaxed, base::relaxed)) {
    }
  }
  crew(const crew&) = delete;
  crew& operator=(const crew&) = delete;

  // Who: the thread that makes the runtime, once.
  void open(unsigned workers, bool with_reserve) {
    WEFT_ASSERT(seats_.empty() && workers != 0);
    workers_ = workers;
    for (unsigned id = 0; id < workers + (with_reserve ? 1 : 0); ++id) {
      seats_.push_back(std::make_unique<worker<M>>());
      worker<M>& w = *seats_.back();
      w.id = static_cast<std::uint16_t>(id);
      if (id == workers) w.role = role::reserve;
      detail::poke(w.shown_id, id == workers ? worker<M>::no_id : w.id);
    }
    detail::poke(main().away, with_reserve);
  }

  [[nodiscard]] const sched::rules& rules() const noexcept { return rules_; }
  // A rule has decided something for this thread's worker, if that is one of these.
  void decides(by r) const noexcept {
    detail::worker* const w = current_worker();
    if (w != nullptr && w->id < seats() && seats_[w->id].get() == w) seats_[w->id]->decides(r);
  }
  [[nodiscard]] bool is_open() const noexcept { return !seats_.empty(); }
  // Without the reserve.
  [[nodiscard]] unsigned workers() const noexcept { return workers_; }
  [[nodiscard]] unsigned seats() const noexcept { return static_cast<unsigned>(seats_.size()); }
  [[nodiscard]] worker<M>& operator[](unsigned seat) const noexcept {
    WEFT_ASSERT(seat < seats_.size());
    return *seats_[seat];
  }
  [[nodiscard]] worker<M>& main() const noexcept { return *seats_.front(); }
  // Whether there are so many that the main thread collects while they starve (collecting.hpp).
  [[nodiscard]] bool are_many() const noexcept { return workers_ >= rules_[by::many]; }
  [[nodiscard]] bool has_reserve() const noexcept { return seats_.size() != workers_; }
  [[nodiscard]] worker<M>& reserve() const noexcept {
    WEFT_ASSERT(has_reserve());
    return *seats_.back();
  }
  // Whether the main thread is in the program. With a reserve it says so itself, for it comes and goes while others
  // run; without one all are one thread, and it is away while no worker is on its stack. Order: seq_cst.
  [[nodiscard]] bool main_is_away() const noexcept {
    return has_reserve() ? M::load(main().away, base::seq_cst) : main().where->on == nullptr;
  }
  // The thread that made the runtime is not the one that ends it, and may still take worker 0 for the worker that it
  // is: so that one stays, and belongs to no runtime. Who: the thread that ends it.
  void main_stays() noexcept { main_stays_ = true; }
  [[nodiscard]] auto begin() const noexcept { return seats_.begin(); }
  [[nodiscard]] auto end() const noexcept { return seats_.end(); }

  // Bodies that have begun. Order: relaxed; grows, and who compares two of them learns whether anything moved.
  [[nodiscard]] std::uint64_t tasks_begun() const noexcept {
    std::uint64_t tasks = 0;
    for (const auto& w : seats_) tasks += M::load(w->tasks, base::relaxed);
    return tasks;
  }

 private:
  const sched::rules& rules_;
  std::vector<std::unique_ptr<worker<M>>> seats_;
  unsigned workers_ = 0;
  bool main_stays_ = false;
};

}  // namespace weft::sched

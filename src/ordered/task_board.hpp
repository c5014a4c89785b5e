// What becomes of the tasks of a section: which is next, what a run leads to, who has to run again, who is taken back,
// and which has happened. The states are those of `phase`; speculative.md draws them.
// Who: whoever holds the section's lock.
#pragma once
#include <cstdint>
#include <cstring>
#include <exception>
#include <utility>
#include <vector>

#include "ordered/commit_order.hpp"
#include "ordered/pending_calls.hpp"
#include "ordered/speculative_runner.hpp"
#include "ordered/versions.hpp"

namespace weft::speculative {

template <class M> class task_board {
 public:
  explicit task_board(versions<M>& v) : versions_(v) {}
  ~task_board() { free_garbage(); }
  task_board(const task_board&) = delete;
  task_board& operator=(const task_board&) = delete;

  pending_calls pending;

  [[nodiscard]] bool nothing_admitted() const noexcept { return admitted_.empty(); }
  [[nodiscard]] std::size_t running() const noexcept { return running_; }
  // Whether all that comes before t has happened; then nothing can come before it any more. Never of a dead one.
  [[nodiscard]] bool comes_first(const task& t) const noexcept {
    return !t.dead && admitted_.first() == &t && !pending.any_before(t);
  }
  // Whether its run is the last one, too. A dead one may not know, as a run that was slow to begin has cleared what
  // told it so.
  [[nodiscard]] bool is_oldest(const task& t) const noexcept { return comes_first(t) && detail::peek(t.stale) == 0; }
  // Where this is false t is not the oldest, or just became it. Who: anybody.
  [[nodiscard]] bool may_be_oldest(const task& t) const noexcept { return admitted_.is_first(t); }
  // Whether more than one worker would find something to do.
  [[nodiscard]] bool has_more(std::size_t window) const noexcept {
    return !ready_.empty() || (!pending.empty() && admitted_.size() < window);
  }

  // The earliest task whose body may run, which is then running; nullptr: there is none now.
  [[nodiscard]] task* pick(std::size_t window) {
    task* oldest = admitted_.first();
    if (oldest != nullptr && oldest->now == phase::first_only && !pending.any_before(*oldest)) return begin(*oldest);
    task* again = ready_.first();
    if (again != nullptr && !pending.any_before(*again)) return begin_again(*again);
    if (!pending.empty() && may_admit(window)) {
      task& t = pending.take_first(pool_);
      admitted_.insert(t);
      return begin(t);
    }
    again = ready_.first();  // who may admit may have taken one back
    return again != nullptr ? begin_again(*again) : nullptr;
  }

  // The run of t has come to this. Returns whether it counts, as far as is known.
  bool settle(task& t, outcome came_to, runner<M>& r) {
    WEFT_ASSERT(t.now == phase::running && running_ > 0);
    WEFT_ASSERT(!t.dead || t.children.empty());
    WEFT_ASSERT(!r.has_happened || (admitted_.first() == &t && !t.dead && detail::peek(t.stale) == 0));
    --running_;
    run_again(r.made_stale);
    if (came_to != outcome::published) throw_away(r.allocated);
    if (t.dead) {
      if (came_to == outcome::published) throw_away(r.allocated);
      undo(t);
      admitted_.remove(t);
      pool_.give(t);
      return false;
    }
    switch (came_to) {
    case outcome::published: return keep(t, r);
    case outcome::first_only: t.wants_first = true; break;
    case outcome::waits:
      if (wait_for(t, r.waits_for)) return false;
      break;
    case outcome::stale: break;
    }
    make_ready(t);
    return false;
  }

  // The next task that has happened but for its writes, which is then committing; nullptr: none yet. `former` were
  // given before it and are committing, too.
  [[nodiscard]] task* next_to_commit(const task* former) noexcept {
    task* const t = former == nullptr ? admitted_.first() : former->next;
    if (t == nullptr || t->now != phase::done || pending.any_before(*t)) return nullptr;
    WEFT_ASSERT(detail::peek(t->stale) == 0);  // who made it so comes before it, and was settled since
    t->now = phase::committing;
    return t;
  }
  // Its writes are in base memory: it is over. Returns what it threw.
  [[nodiscard]] std::exception_ptr happened(task& t) {
    WEFT_ASSERT(admitted_.first() == &t && t.now == phase::committing);
    WEFT_ASSERT(t.number != unborn && !pending.any_before(t));  // its parent has happened, and all before it
    WEFT_ASSERT(!t.dead && t.waiters.empty());
    for (task* c : t.children) {
      WEFT_ASSERT(c->number == unborn && c->parent == &t && !c->dead);
      const std::uint64_t number = pending.next_number();
      if (c->now == phase::pending) {
        pending.take_back(*c);
        pending.push(c->call, number);
        pool_.give(*c);
      } else {
        c->number = number;
        c->parent = nullptr;
      }
    }
    t.children.clear();
    throw_away(t.released);  // what ran ahead of this may look there still
    t.allocated.clear();
    t.last_run().clear();
    admitted_.remove(t);
    std::exception_ptr error = std::exchange(t.error, nullptr);
    pool_.give(t);
    return error;
  }

  // All that is admitted and does not run is taken back, to be run later.
  void take_all_back() {
    task* t = admitted_.last();
    while (t != nullptr) {
      WEFT_ASSERT(t->now != phase::running && t->now != phase::committing);
      take_back(*t);
      t = admitted_.last();
    }
  }
  // All calls are dropped; bodies that run will be for nothing.
  void drop_all() {
    for (task* t = admitted_.last(); t != nullptr;) {
      WEFT_ASSERT(t->now != phase::committing);  // that has happened
      task* const previous = t->previous;
      t->children.clear();
      if (t->now == phase::running) {
        t->dead = true;
        M::store(t->stale, std::uint32_t{1}, base::relaxed);
      } else {
        leave_heap(*t);
        undo(*t);
        admitted_.remove(*t);
        pool_.give(*t);
      }
      t = previous;
    }
    pending.clear(pool_);
    WEFT_ASSERT(admitted_.size() == running_ && ready_.empty());  // only bodies that nobody can stop are left
  }

  // Memory that was released, or taken by runs in vain: others may look at it as long as anything is admitted.
  [[nodiscard]] bool much_garbage() const noexcept {
    return garbage_.size() >= garbage_max || garbage_bytes_ >= garbage_bytes_max;
  }
  void free_garbage() noexcept {
    WEFT_ASSERT(admitted_.empty());
    for (const allocation& a : garbage_) {
      WEFT_ASSERT(garbage_bytes_ >= a.bytes);
      garbage_bytes_ -= a.bytes;
      free_memory(a);
    }
    WEFT_ASSERT(garbage_bytes_ == 0);
    garbage_.clear();
  }

 private:
  static constexpr std::size_t garbage_max = 8192;  // so that emptying the window for it is rare,
  static constexpr std::size_t garbage_bytes_max = std::size_t{16} << 20;  // and it does not fill the caches for long

  [[nodiscard]] task* begin(task& t) noexcept {
    WEFT_ASSERT(t.now == phase::pending || t.now == phase::ready || t.now == phase::first_only);
    WEFT_ASSERT(!t.dead && t.heap_index == in_no_heap);
    t.now = phase::running;
    ++running_;
    WEFT_ASSERT(running_ <= admitted_.size());
    return &t;
  }
  [[nodiscard]] task* begin_again(task& t) noexcept {
    ready_.remove(t);
    return begin(t);
  }
  void make_ready(task& t) {
    WEFT_ASSERT(t.now == phase::running || t.now == phase::parked || t.now == phase::done);
    WEFT_ASSERT(!t.dead);
    if (t.wants_first) {
      t.now = phase::first_only;
      return;
    }
    t.now = phase::ready;
    ready_.push(t);
  }
  // Whoever comes before all others always may, or nothing would ever happen. Who comes before some is let in up to
  // twice the window, and beyond that in place of the last: that would only be in the way.
  [[nodiscard]] bool may_admit(std::size_t window) {
    const task* const first = admitted_.first_alive();
    if (first == nullptr) return admitted_.size() < window || admitted_.empty();
    if (pending.any_before(*first)) return true;
    if (!admitted_.has_room()) return false;
    if (admitted_.size() < window) return true;
    task* const last = admitted_.last_alive();
    if (!pending.any_before(*last)) return false;
    if (admitted_.size() < 2 * window) return true;
    if (last->now == phase::running || last->now == phase::committing) return false;
    take_back(*last);
    return true;
  }

  // What the run of t did is what t does, for now.
  bool keep(task& t, runner<M>& r) {
    throw_away(t.allocated);
    std::swap(t.allocated, r.allocated);
    std::swap(t.released, r.released);
    t.error = r.error;
    if (t.error != nullptr) r.created.clear();
    renew_children(t, r.created);
    if (detail::peek(t.stale) != 0) {
      make_ready(t);
      return false;
    }
    t.now = phase::done;
    wake(t);
    return true;
  }
  // Children that are created again by the same call stay, with all that they have done.
  void renew_children(task& t, const std::vector<detail::ordered_call>& created) {
    for (std::size_t i = created.size(); i < t.children.size(); ++i) doomed_.push_back(t.children[i]);
    if (t.children.size() > created.size()) t.children.resize(created.size());
    for (std::size_t i = 0; i < created.size(); ++i) {
      if (i < t.children.size()) {
        WEFT_ASSERT(t.children[i]->parent == &t && t.children[i]->child == i);
        if (std::memcmp(&t.children[i]->call, &created[i], sizeof created[i]) == 0) continue;
        doomed_.push_back(t.children[i]);
      } else {
        t.children.push_back(nullptr);
      }
      task& c = pool_.take();
      c.call = created[i];
      c.parent = &t;
      c.child = static_cast<std::uint32_t>(i);
      pending.push_unborn(c);
      t.children[i] = &c;
    }
    end_doomed();
  }
  // Those in `doomed_` and all their children are no more.
  void end_doomed() {
    while (!doomed_.empty()) {
      task& t = *doomed_.back();
      doomed_.pop_back();
      WEFT_ASSERT(t.number == unborn && t.now != phase::committing && !t.dead);  // its parent has not happened
      doomed_.insert(doomed_.end(), t.children.begin(), t.children.end());
      t.children.clear();
      if (t.now == phase::running) {
        t.dead = true;
        M::store(t.stale, std::uint32_t{1}, base::relaxed);
        continue;
      }
      if (t.now == phase::pending) {
        pending.take_back(t);
      } else {
        leave_heap(t);
        undo(t);
        admitted_.remove(t);
      }
      pool_.give(t);
    }
  }
  void take_back(task& t) {
    WEFT_ASSERT(t.now != phase::running && t.now != phase::committing && !t.dead);
    doomed_.insert(doomed_.end(), t.children.begin(), t.children.end());
    t.children.clear();
    end_doomed();
    leave_heap(t);
    undo(t);
    admitted_.remove(t);
    if (t.number != unborn) {
      pending.push(t.call, t.number);
      pool_.give(t);
    } else {
      ++t.generation;
      t.runs = 0;
      t.wants_first = false;
      pending.push_unborn(t);
    }
  }
  void leave_heap(task& t) noexcept {
    if (t.now == phase::ready) ready_.remove(t);
  }
  // Nothing that t has done is so. It does not run.
  void undo(task& t) {
    WEFT_ASSERT(t.now != phase::committing && t.heap_index == in_no_heap);
    std::vector<task_ref> stale;
    access_set& last = t.last_run();
    for (std::size_t i = 0; i < last.size(); ++i) {
      versions_.retract(last[i], stale);
      versions_.forget_read(last[i]);
    }
    last.clear();
    t.published = false;
    M::store(t.stale, std::uint32_t{0}, base::relaxed);
    M::store(t.redone, std::uint32_t{0}, base::relaxed);
    throw_away(t.allocated);
    t.released.clear();
    t.error = nullptr;
    wake(t);
    run_again(stale);
  }

  void run_again(std::vector<task_ref>& stale) {
    for (const task_ref& s : stale)
      if (s.to->generation == s.generation && s.to->now == phase::done && detail::peek(s.to->stale) != 0)
        make_ready(*s.to);
    stale.clear();
  }
  // Whether t has to wait for that one still.
  [[nodiscard]] bool wait_for(task& t, task_ref other) {
    if (other.to->generation != other.generation) return false;
    if (other.to->now == phase::done && detail::peek(other.to->stale) == 0) return false;
    if (other.to->now == phase::committing) return false;
    WEFT_ASSERT(other.to != &t && precedes(*other.to, t));  // so nobody waits in a circle
    other.to->waiters.push_back({&t, t.generation});
    t.now = phase::parked;
    return true;
  }
  void wake(task& t) {
    for (const task_ref& w : t.waiters)
      if (w.to->generation == w.generation && w.to->now == phase::parked) make_ready(*w.to);
    t.waiters.clear();
  }
  void throw_away(std::vector<allocation>& memory) {
    for (const allocation& a : memory) garbage_bytes_ += a.bytes;
    garbage_.insert(garbage_.end(), memory.begin(), memory.end());
    memory.clear();
  }

  versions<M>& versions_;
  task_pool pool_;
  admitted_tasks admitted_;
  task_heap ready_;
  std::size_t running_ = 0;
  std::vector<task*> doomed_;
  std::vector<allocation> garbage_;
  std::size_t garbage_bytes_ = 0;
};

}  // namespace weft::speculative

// A place to look for work. A worker has one ordered list of them (worker::sources), and everything that has to know
// where work can be folds over that list: the search, the last look before sleep, the look for a stall. A new mechanism
// that makes work adds a source to the lists; nothing enumerates queues by hand.
//
// How to write one:
//   take(w)      a record for w to run, or nullptr. Who: w's thread, which has nothing to run or comes by now and then.
//   visible(w)   whether take(w) might find something. Order: the loads are seq_cst, because a worker that is about to
//                sleep relies on them (sleep.md): whoever puts work here publishes it by a seq_cst read-modify-write
//                and then notifies. Who: w's thread; also any worker that looks for a stall, about any other: where the
//                source is not `shared` (a deque, an inbox) about each, else about one that has it.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/assert.hpp"
#include "sched/workers/worker.hpp"

namespace weft::sched {

template <class M> class source {
 public:
  struct traits {
    bool shared = false;        // what one worker sees here all see who have it; not all need to (`everywhere`)
    bool while_paused = false;  // is asked while the runtime is paused, too
    bool now_and_then = false;  // is asked now and then by a worker that never runs dry
    bool serves_one = false;    // nobody else takes what is here, or it is no task: also asked by who is expected
    bool at_hand = false;       // tasks here are this worker's, or anybody's: they need not be stolen
  };
  source(const char* name, traits t) noexcept : name_(name), traits_(t) { WEFT_ASSERT(name != nullptr); }
  virtual ~source() = default;
  source(const source&) = delete;
  source& operator=(const source&) = delete;

  [[nodiscard]] virtual detail::record* take(worker<M>& w) = 0;
  [[nodiscard]] virtual bool visible(worker<M>& w) noexcept = 0;

  [[nodiscard]] const char* name() const noexcept { return name_; }
  [[nodiscard]] const traits& is() const noexcept { return traits_; }

 private:
  const char* name_;
  traits traits_;
};

// The folds. `paused`: only sources that are asked then.
template <class M> [[nodiscard]] detail::record* take_any(worker<M>& w, bool paused) {
  for (source<M>* s : w.sources)
    if (!paused || s->is().while_paused)
      if (detail::record* r = s->take(w)) return r;
  return nullptr;
}
template <class M> [[nodiscard]] detail::record* take_now_and_then(worker<M>& w) {
  for (source<M>* s : w.sources)
    if (s->is().now_and_then)
      if (detail::record* r = s->take(w)) return r;
  return nullptr;
}
template <class M> [[nodiscard]] bool any_visible(worker<M>& w, bool paused) noexcept {
  for (source<M>* s : w.sources)
    if ((!paused || s->is().while_paused) && s->visible(w)) return true;
  return false;
}

// The same for a worker that leaves to others what others may run.
template <class M> [[nodiscard]] detail::record* take_own(worker<M>& w, bool paused) {
  for (source<M>* s : w.sources)
    if (s->is().serves_one && (!paused || s->is().while_paused))
      if (detail::record* r = s->take(w)) return r;
  return nullptr;
}
template <class M> [[nodiscard]] bool own_visible(worker<M>& w, bool paused) noexcept {
  for (source<M>* s : w.sources)
    if (s->is().serves_one && (!paused || s->is().while_paused) && s->visible(w)) return true;
  return false;
}

template <class M> [[nodiscard]] bool any_at_hand(worker<M>& w) noexcept {
  for (source<M>* s : w.sources)
    if (s->is().at_hand && s->visible(w)) return true;
  return false;
}

// Whether anything is visible to anybody, w or another: who looks for a stall asks. A worker need not have every source
// that others have: the creator has no place where others find what it made.
template <class M> class everywhere {
 public:
  // Who: the thread that makes the runtime, when all have their sources.
  template <class Crew> void open(const Crew& all) {
    WEFT_ASSERT(shared_.empty());
    for (const auto& w : all)
      for (source<M>* s : w->sources)
        if (s->is().shared && std::ranges::find(shared_, s, &entry::what) == shared_.end()) shared_.push_back({s, &*w});
  }
  // Who: w's thread.
  template <class Crew> [[nodiscard]] bool any(worker<M>& w, const Crew& all) noexcept {
    if (any_visible(w, false)) return true;
    for (const auto& other : all) {
      if (&*other == &w) continue;
      for (source<M>* s : other->sources)
        if (!s->is().shared && s->visible(*other)) return true;
    }
    for (const entry& e : shared_)
      if (std::ranges::find(w.sources, e.what) == w.sources.end() && e.what->visible(*e.who)) return true;
    return false;
  }

 private:
  struct entry {
    source<M>* what;
    worker<M>* who;  // one that has it
  };
  std::vector<entry> shared_;
};

}  // namespace weft::sched

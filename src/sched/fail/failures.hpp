// Exceptions of tasks, kept until somebody waits. A failed task poisons what it would have written; a task that uses a
// poisoned handle is skipped, which counts as failing with the same exception, and poisons what it would have written
// in turn. So nothing is skipped that no wait hears of. The wait that ends the tasks' scope gets the first exception in
// program order - the order of submission, compared level by level; that is the same one on every machine, except that
// among adds or concurrents on one handle the one that failed first makes the others be skipped.
// A task that is skipped because its scope is cancelled counts as failing in the same way, but behind all that is
// thrown: the finish with that cancellation keeps quiet about it (cancellation.hpp).
// Where there is no memory to note a failure, what is known is that something has failed: until the program is told, at
// top level, no task with accesses runs any more, and every wait throws that. So no task uses what a failed one left.
// Not on the path of tasks that succeed: they read one flag per access. Of the children of one parent only the first is
// kept, and handles are found by their address, so that many failures cost as much each as one does.
#pragma once
#include <algorithm>
#include <cstdint>
#include <exception>
#include <new>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/assert.hpp"
#include "base/atomic.hpp"
#include "base/lock.hpp"
#include "weft/detail/handle_state.hpp"
#include "weft/detail/record.hpp"

namespace weft::sched {

struct failure {
  std::exception_ptr exception;        // null: none
  detail::cancel_scope* in = nullptr;  // of a task that was cancelled: the innermost scope around it that can be
};

template <class M> class failures {
 public:
  // Order: relaxed, as all of these words: what they tell of is under the lock. Who must know of a failure comes behind
  // the failed task, by a version, a count of children or a wait, and so sees no older count than that task left.
  [[nodiscard]] bool any() noexcept { return M::load(count_, base::relaxed) != 0; }

  // r failed with e, by throwing or because it was skipped; cancelled_in: because it was cancelled. Who: r's worker,
  // before r's accesses finish.
  void add(const detail::record& r, std::exception_ptr e, detail::cancel_scope* cancelled_in = nullptr) noexcept {
    WEFT_ASSERT(e != nullptr);
    base::locked<M> guard(lock_);
    keep(r.parent, {r.order, ++added_, {std::move(e), cancelled_in}});
    publish();
  }

  void poison(detail::handle_state& h, const std::exception_ptr& e) noexcept {
    WEFT_ASSERT(e != nullptr);
    base::locked<M> guard(lock_);
    if (h.poisoned.raw) return;
    try {
      poisoned_.insert_or_assign(&h, poisoned{++added_, e});
      M::store(h.poisoned, true, base::relaxed);
    } catch (const std::bad_alloc&) {
      lose(e);
    }
    publish();
  }
  // What poisoned h, or null.
  [[nodiscard]] std::exception_ptr of(const detail::handle_state& h) noexcept {
    base::locked<M> guard(lock_);
    const auto found = poisoned_.find(const_cast<detail::handle_state*>(&h));
    return found == poisoned_.end() ? unnoted_ : found->second.exception;
  }
  // Whether a failure could not be noted, and nobody has been told of it at top level.
  [[nodiscard]] bool any_unnoted() const noexcept { return detail::peek(has_unnoted_); }
  // The program has been told of what poisoned h: it may be used again.
  void heal(detail::handle_state& h) noexcept {
    base::locked<M> guard(lock_);
    if (poisoned_.erase(&h) != 0) M::store(h.poisoned, false, base::relaxed);
    publish();
  }
  // Who: a handle's destructor.
  void forget(detail::handle_state& h) noexcept {
    base::locked<M> guard(lock_);
    poisoned_.erase(&h);
    publish();
  }

  // `parent` is done and nobody waited in it: the first that its children threw, else what it threw itself, now counts
  // as thrown by it, for its own parent, and is given back; null if none did. A child comes before the rest of its
  // parent's body, as in a serial program; unless it was only cancelled, and the parent threw.
  [[gnu::cold, gnu::noinline]] std::exception_ptr hand_up(const detail::record& parent) noexcept {
    base::locked<M> guard(lock_);
    const auto found = first_.find(&parent);
    if (found == first_.end()) return nullptr;
    const failure below = std::move(found->second.what);
    first_.erase(found);
    const entry up{parent.order, ++added_, below};
    const auto own = first_.find(parent.parent);
    if (own != first_.end() && own->second.order == parent.order &&
        (own->second.what.in != nullptr || below.in == nullptr))
      own->second = up;
    else
      keep(parent.parent, up);
    publish();
    return below.exception;
  }

  // The first below `parent` (nullptr: anywhere), or none; forgets the others of that scope. At top level all handles
  // are healed: the program has been told.
  [[nodiscard]] failure take(const detail::record* parent) noexcept {
    base::locked<M> guard(lock_);
    failure first;
    if (parent != nullptr) {
      const auto found = first_.find(parent);
      if (found != first_.end()) {
        first = std::move(found->second.what);
        first_.erase(found);
      }
      if (first.exception == nullptr) first.exception = unnoted_;
    } else {
      const entry* best = nullptr;
      for (const auto& [of, e] : first_)
        if (best == nullptr || comes_before(e, *best)) best = &e;
      if (best != nullptr) first = best->what;
      if (first.exception == nullptr) first.exception = unnoted_;
      first_.clear();
      heal();
      unnoted_ = nullptr;
      detail::poke(has_unnoted_, false);
    }
    publish();
    return first;
  }

  // A scope is cancelled, or gone again: from here on tasks look before they run. Who: any thread. On a modelled
  // machine it takes no time: no core of it need be the caller.
  void cancelled(bool begins) noexcept {
    const std::uint32_t n = begins ? 1u : ~std::uint32_t{0};
    static_cast<void>(M::unseen::fetch_add(cancelled_, n, base::relaxed));
    static_cast<void>(M::unseen::fetch_add(count_, n, base::relaxed));
  }
  [[nodiscard]] bool any_cancelled() const noexcept { return detail::peek(cancelled_) != 0; }
  // If a child of `parent` was cancelled, and nobody has been told: the innermost scope around them, which all children
  // of one parent share. So who looks for it need not go up a long chain for each of them, nor, since what is handed up
  // says it too, for each parent in a chain.
  [[nodiscard]] detail::cancel_scope* known_cancelled(const detail::record* parent) noexcept {
    base::locked<M> guard(lock_);
    const auto found = first_.find(parent);
    return found == first_.end() ? nullptr : found->second.what.in;
  }

 private:
  struct entry {
    std::uint64_t order;
    std::uint64_t number;  // as they came: among equals of different parents
    failure what;
  };
  struct poisoned {
    std::uint64_t number;
    std::exception_ptr exception;
  };
  [[nodiscard]] static bool comes_before(const entry& a, const entry& b) noexcept {
    if ((a.what.in == nullptr) != (b.what.in == nullptr)) return a.what.in == nullptr;
    return a.order != b.order ? a.order < b.order : a.number < b.number;
  }
  void keep(const detail::record* parent, const entry& e) noexcept {
    WEFT_ASSERT(base::held(lock_) && e.what.exception != nullptr);
    try {
      const auto [at, is_new] = first_.try_emplace(parent, e);
      if (!is_new && comes_before(e, at->second)) at->second = e;
    } catch (const std::bad_alloc&) {
      lose(e.what.exception);
    }
  }
  void lose(const std::exception_ptr& e) noexcept {
    if (unnoted_ == nullptr) unnoted_ = e;
    detail::poke(has_unnoted_, true);
  }

  // In the order in which they were poisoned: on a modelled machine each store takes time, the same in every run.
  void heal() noexcept {
    try {
      std::vector<std::pair<std::uint64_t, detail::handle_state*>> all;
      all.reserve(poisoned_.size());
      for (const auto& [h, p] : poisoned_) all.emplace_back(p.number, h);
      std::sort(all.begin(), all.end());
      for (const auto& [number, h] : all) M::store(h->poisoned, false, base::relaxed);
    } catch (const std::bad_alloc&) {
      for (const auto& [h, p] : poisoned_) M::store(h->poisoned, false, base::relaxed);
    }
    poisoned_.clear();
  }

  // Who: holder of the lock, after a change. Added and not stored: whoever cancels does not take the lock.
  void publish() noexcept {
    WEFT_ASSERT(base::held(lock_));
    const auto now = static_cast<std::uint32_t>(first_.size() + poisoned_.size()) + (unnoted_ != nullptr ? 1 : 0);
    if (now == published_) return;
    static_cast<void>(M::fetch_add(count_, now - published_, base::relaxed));
    published_ = now;
  }

  detail::cell<std::uint8_t> lock_;
  // Failures, poisoned handles, cancelled scopes: 0 lets everybody pass. On a line of its own, which all have, since
  // nobody who succeeds writes it.
  alignas(64) detail::cell<std::uint32_t> count_;
  detail::cell<std::uint32_t> cancelled_;    // of these the scopes
  alignas(64) std::uint32_t published_ = 0;  // the others
  std::uint64_t added_ = 0;
  std::exception_ptr unnoted_;                              // a failure that there was no memory to note
  detail::cell<bool> has_unnoted_;                          // written under lock_
  std::unordered_map<const detail::record*, entry> first_;  // by parent
  std::unordered_map<detail::handle_state*, poisoned> poisoned_;
};

}  // namespace weft::sched

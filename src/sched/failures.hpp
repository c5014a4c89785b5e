// Exceptions of tasks, kept until somebody waits. A failed task poisons what it would have written; a task that uses a
// poisoned handle is skipped, which counts as failing with the same exception, and poisons what it would have written
// in turn. So nothing is skipped that no wait hears of. The wait that ends the tasks' scope gets the first exception in
// program order - the order of submission, compared level by level; that is the same one on every machine, except that
// among adds or concurrents on one handle the one that failed first makes the others be skipped.
// Not on the path of tasks that succeed: they read one flag per access.
#pragma once
#include <cstdint>
#include <exception>
#include <vector>

#include "base/assert.hpp"
#include "base/atomic.hpp"
#include "base/lock.hpp"
#include "weft/detail/handle_state.hpp"
#include "weft/detail/record.hpp"

namespace weft::sched {

template <class M> class failures {
 public:
  [[nodiscard]] bool any() noexcept { return M::load(count_, base::acquire) != 0; }

  // r failed with e, by throwing or because it was skipped. Who: r's worker, before r's accesses finish.
  void add(const detail::record& r, std::exception_ptr e) {
    WEFT_ASSERT(e != nullptr);
    base::locked<M> guard(lock_);
    all_.push_back({r.parent, r.order, std::move(e)});
    publish();
  }

  void poison(detail::handle_state& h, const std::exception_ptr& e) {
    WEFT_ASSERT(e != nullptr);
    base::locked<M> guard(lock_);
    if (h.poisoned.raw) return;
    M::store(h.poisoned, true, base::release);
    poisoned_.push_back({&h, e});
    publish();
  }
  // What poisoned h, or null.
  [[nodiscard]] std::exception_ptr of(const detail::handle_state& h) noexcept {
    base::locked<M> guard(lock_);
    for (const poisoned& p : poisoned_)
      if (p.handle == &h) return p.exception;
    return nullptr;
  }
  // Who: a handle's destructor.
  void forget(detail::handle_state& h) noexcept {
    base::locked<M> guard(lock_);
    std::erase_if(poisoned_, [&h](const poisoned& p) { return p.handle == &h; });
    publish();
  }

  // `parent` is done and nobody waited in it: the first that its children threw, else what it threw itself, now counts
  // as thrown by it, for its own parent, and is given back; null if none did. A child comes before the rest of its
  // parent's body, as in a serial program.
  [[gnu::cold, gnu::noinline]] std::exception_ptr hand_up(const detail::record& parent) noexcept {
    base::locked<M> guard(lock_);
    const entry* first = nullptr;
    for (const entry& e : all_)
      if (e.parent == &parent && (first == nullptr || e.order < first->order)) first = &e;
    if (first == nullptr) return nullptr;
    const std::exception_ptr thrown = first->exception;
    std::erase_if(all_, [&parent](const entry& e) {
      return e.parent == &parent || (e.parent == parent.parent && e.order == parent.order);
    });
    all_.push_back({parent.parent, parent.order, thrown});
    publish();
    return thrown;
  }

  // The first exception thrown below `parent` (nullptr: anywhere), or null; forgets the others of that scope. At top
  // level all handles are healed: the program has been told.
  [[nodiscard]] std::exception_ptr take(const detail::record* parent) noexcept {
    base::locked<M> guard(lock_);
    std::exception_ptr first = peek_first(parent);
    std::erase_if(all_, [&](const entry& e) { return parent == nullptr || e.parent == parent; });
    if (parent == nullptr) {
      for (const poisoned& p : poisoned_) M::store(p.handle->poisoned, false, base::release);
      poisoned_.clear();
    }
    publish();
    return first;
  }

 private:
  struct entry {
    const detail::record* parent;
    std::uint64_t order;
    std::exception_ptr exception;
  };
  struct poisoned {
    detail::handle_state* handle;
    std::exception_ptr exception;
  };

  // Who: holder of the lock, after a change.
  void publish() noexcept {
    WEFT_ASSERT(base::held(lock_));
    M::store(count_, static_cast<std::uint32_t>(all_.size() + poisoned_.size()), base::release);
  }
  [[nodiscard]] std::exception_ptr peek_first(const detail::record* parent) const noexcept {
    WEFT_ASSERT(base::held(lock_));
    const entry* best = nullptr;
    for (const entry& e : all_)
      if ((parent == nullptr || e.parent == parent) && (best == nullptr || e.order < best->order)) best = &e;
    return best == nullptr ? nullptr : best->exception;
  }

  detail::cell<std::uint8_t> lock_;
  detail::cell<std::uint32_t> count_;  // exceptions and poisoned handles: 0 lets everybody pass
  std::vector<entry> all_;
  std::vector<poisoned> poisoned_;
};

}  // namespace weft::sched

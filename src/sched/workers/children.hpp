// How many children of a record are not done. Most children of a body that waits for them end where they are called, on
// its own stack; so the body counts what it submits and what ends there in plain words, and only a child that ends
// elsewhere touches the shared one, `pending`:
//
//   while the body runs                children - ended_here + pending - body_share   are not done
//   when it waits or has returned      pending                                        are not done
//
// The body passes from the first to the second with one addition, after which whoever brings `pending` to 0 goes on
// with what is next: the body that waits, or the end of the record. Before it nobody else can: body_share is more than
// there can be children (renew()).
// Order: what a child did comes before what the body does when it finds that the child is done, by acq_rel on
// `pending`. Beside the count `pending` has two bits for a task that completes with an event (weft/detail/record.hpp).
#pragma once
#include <cstdint>

#include "base/assert.hpp"
#include "base/atomic.hpp"
#include "weft/detail/record.hpp"

namespace weft::sched {

template <class M> struct children {
  using record = detail::record;

  // A child is submitted. Returns its number among its siblings. Who: the body of `parent`.
  [[gnu::always_inline]] static std::uint32_t added(record& parent) noexcept {
    WEFT_DEBUG_ASSERT(parent.state == detail::record_state::running);
    parent.has_children = true;
    const std::uint32_t number = parent.running.children++;
    if ((number + 1) % record::renew_every == 0) [[unlikely]]
      renew(parent);
    return number;
  }
  // The same by anybody, while a child of `parent` that is not done keeps it alive.
  static void added_elsewhere(record& parent) noexcept {
    static_cast<void>(M::fetch_add(parent.pending, 1u, base::relaxed));
  }
  // One that was added will not be, after all. Who: the body of `parent`.
  static void withdrawn(record& parent) noexcept {
    const std::uint32_t before = M::fetch_sub(parent.pending, 1u, base::relaxed);
    WEFT_ASSERT((before & ~marks) > 1);
  }

  // Whether any is not done. Who: the body of r. Order: acquire.
  [[nodiscard]] static bool any(record& r) noexcept {
    return r.has_children && (M::load(r.pending, base::acquire) & ~marks) + open(r) != record::body_share;
  }

  // The body of r waits: from here on whoever is last makes `waiter` ready. Returns whether that is the caller. Who:
  // the body of r, set aside.
  [[nodiscard]] static bool awaited(record& r, record* waiter) noexcept {
    WEFT_ASSERT(waiter != nullptr);
    const std::uint32_t some = open(r) - record::body_share;
    r.running.awaits_children = waiter;  // published by the addition
    return ((M::fetch_add(r.pending, some, base::acq_rel) + some) & ~marks) == 0;
  }
  // It goes on: all are done, or it has been told that nothing can run any more. Who: the body of r.
  static void goes_on(record& r) noexcept {
    r.running.ended_here = r.running.children;
    if (detail::peek(r.pending) == 0)
      M::store(r.pending, record::body_share, base::relaxed);  // nobody else counts
    else
      static_cast<void>(M::fetch_add(r.pending, record::body_share, base::relaxed));
  }

  // The body of r has returned. Returns whether the caller ends r: nothing of it is left.
  [[nodiscard]] static bool body_over(record& r) noexcept {
    const std::uint32_t some = open(r) - (record::body_share | (detail::peek(r.pending) & record::body_bit));
    r.running.awaits_children = nullptr;  // nobody, and that is published, too
    return M::fetch_add(r.pending, some, base::acq_rel) + some == 0;
  }

  // A child of `parent` has ended on its stack, on top of its body, which waits. Who: that stack.
  static void ended_here(record& parent) noexcept { ++parent.running.ended_here; }
  // One that may have failed has ended on its stack, and not in a wait: it counts as one that ended elsewhere, so that
  // `parent` looks whether it has. Who: the body of `parent`.
  static void looked_for(record& parent) noexcept {
    --parent.running.ended_here;
    withdrawn(parent);
  }
  // One has ended elsewhere. Returns whether the caller goes on with what is next: it was the last, and the body of
  // `parent` waits or has returned. Of a task whose event is outstanding: whether its body waits.
  [[nodiscard]] static bool ended(record& parent) noexcept {
    const std::uint32_t before = M::fetch_sub(parent.pending, 1u, base::acq_rel);
    return before == 1 || (before & ~record::event_bit) == (record::body_bit | 1);
  }

 private:
  static constexpr std::uint32_t marks = record::event_bit | record::body_bit;

  [[nodiscard]] static std::uint32_t open(const record& r) noexcept {
    return r.running.children - static_cast<std::uint32_t>(r.running.ended_here);
  }
  // So many more may end elsewhere before the body waits.
  [[gnu::cold, gnu::noinline]] static void renew(record& r) noexcept {
    r.running.ended_here += record::renew_every;
    static_cast<void>(M::fetch_add(r.pending, record::renew_every, base::relaxed));
  }
};

}  // namespace weft::sched

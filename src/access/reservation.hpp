// Fairness for tasks that need several handles exclusively. Such a task takes all of them or none (walk.hpp), so
// streams of tasks that keep each of its handles busy leave it no moment to start. One that was told often enough in
// vain *reserves*: a place of its own is listed on each of its handles, behind those that stand there and before all
// that come, is granted as if it were a task with that one add, and keeps what it got until it has all.
//
// To hold one handle while waiting for another is what the rule of all or none is there to prevent; it is harmless
// under two conditions, which this class keeps. Only one task of an engine reserves at a time, the oldest claim first.
// And nobody holds exclusive access over a wait meanwhile: who begins to do so ends the reservation, which gives
// everything back. Proof: version.md, "Several adds are not overtaken for ever".
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <vector>

#include "access/walk.hpp"
#include "base/limits.hpp"

namespace weft::access {

template <class M> class reservations {
 public:
  // The condition that r was listed for is met. Returns whether r is ready; if not, it is listed elsewhere and may be
  // gone. r may be a place: then r becomes the task that it stood for, if that is ready now.
  // Who: whoever took r from a list of woken records; holds no lock. Cost: for tasks with less than two exclusive
  // accesses that of advance().
  [[nodiscard]] bool advance(record*& r, woken& out) noexcept {
    if (r->kind == detail::record_kind::place) return arrive(r, out);
    if (r->waiting.cursor < r->access_count)
      ++r->waiting.cursor;
    else if (r->exclusives > 1)
      return told(r, out);
    return access::advance<M>(r, out);
  }

  // A task with exclusive access begins, or ends, to depend on others that have not run: its body waits, or it waits
  // for its subtasks. Who: holds no lock. Cost: one lock.
  void wait_begins(woken& out) noexcept {
    base::locked<M> guard(lock_);
    if (waits_++ == 0 && reserver_ != nullptr) revoke(out);
  }
  void wait_ends() noexcept {
    base::locked<M> guard(lock_);
    WEFT_ASSERT(waits_ != 0);
    --waits_;
  }

 private:
  // Stands in the list of one handle. Its state is known under that handle's lock: listed while waits_exclusive is set,
  // else granted; held once it has arrived.
  struct place {
    record r{};
    entry a{};
    bool held = false;
  };
  static_assert(offsetof(place, a) == sizeof(record));

  // r, with its versions there, was told that a handle is free, or has lost its reservation.
  [[nodiscard]] bool told(record* r, woken& out) noexcept {
    if (r->denied < base::denials_max && ++r->denied == base::denials_max) claim(r);
    const bool claims = r->denied == base::denials_max;
    if (claims) {
      base::locked<M> guard(lock_);
      if (may_reserve(r)) return reserve(r, out);
    }
    if (!access::advance<M>(r, out)) return false;
    if (claims) {
      base::locked<M> guard(lock_);
      std::erase(claims_, r);
    }
    return true;
  }

  // Without memory for it r stays as it is, and unlucky.
  void claim(record* r) noexcept {
    base::locked<M> guard(lock_);
    try {
      claims_.push_back(r);
    } catch (const std::bad_alloc&) {
    }
  }

  // Who below: holder of lock_, which is taken before the lock of any handle and never while one is held.

  [[nodiscard]] bool may_reserve(record* r) noexcept {
    if (reserver_ != nullptr || coming_ != 0 || waits_ != 0 || claims_.empty() || claims_.front() != r) return false;
    if (capacity_ >= r->access_count) return true;
    places_.reset(new (std::nothrow) place[r->access_count]);
    capacity_ = places_ != nullptr ? r->access_count : 0;
    return places_ != nullptr;
  }

  // One handle after the other, each with its own lock alone: what r gets it keeps. r itself is in no list.
  [[nodiscard]] bool reserve(record* r, woken& out) noexcept {
    const std::uint32_t n = r->access_count;
    const std::uint32_t told_of = r->waiting.cursor > n ? r->waiting.cursor - n - 1 : n;
    WEFT_ASSERT(waits_ == 0);
    reserver_ = r;
    used_ = 0;
    missing_ = 1;  // not to be complete before the last is listed
    for (std::uint32_t i = 0; i < n; ++i) {
      const entry& a = r->accesses()[i];
      if (!is_held(condition_of(a))) continue;
      WEFT_ASSERT(used_ < capacity_);
      place& p = places_[used_++];
      p.a = a;
      base::locked<M> guard(handle_of(a).lock);
      p.held = i == told_of && !is_taken(a);  // it was the first in the list
      p.held ? take(a) : list(p);
      if (!p.held) {
        ++missing_;
        r->waiting.cursor = n + 1 + i;  // what it waits for, as a report may say
      }
      if (i == told_of || is_resource(a)) tell_next<M>(handle_of(a), out);  // r was in the way of what it has not taken
    }
    return is_complete();
  }

  void list(place& p) noexcept {
    begin(p.r, detail::record_state::filling);
    p.r.kind = detail::record_kind::place;
    p.r.access_count = 1;
    p.r.waiting.cursor = 2;  // as one that is listed for exclusive access to its first entry
    p.r.exclusives = 1;
    p.r.waits_exclusive = true;
    p.held = !wait_unless_available<M>(handle_of(p.a), &p.r);
  }

  [[nodiscard]] bool is_complete() noexcept {
    WEFT_ASSERT(reserver_ != nullptr && missing_ != 0);
    if (--missing_ != 0) return false;
    std::erase(claims_, reserver_);
    reserver_ = nullptr;
    return true;
  }

  [[nodiscard]] bool arrive(record*& r, woken& out) noexcept {
    place& p = *reinterpret_cast<place*>(r);
    base::locked<M> guard(lock_);
    if (coming_ != 0) {  // no other reservation has begun, so p was granted before its own was revoked
      --coming_;
      give_back(p, out);
      return false;
    }
    WEFT_ASSERT(reserver_ != nullptr && !p.held);
    p.held = true;
    r = reserver_;
    return is_complete();
  }

  void give_back(const place& p, woken& out) noexcept {
    handle_state& h = handle_of(p.a);
    base::locked<M> guard(h.lock);
    access::give_back(p.a);
    tell_next<M>(h, out);
  }

  // Everything goes back, and the reserver tries again as any other. Places that have been granted and not arrived are
  // on their way in somebody's list of woken records.
  void revoke(woken& out) noexcept {
    WEFT_ASSERT(coming_ == 0);
    for (std::uint32_t i = 0; i < used_; ++i) {
      place& p = places_[i];
      if (p.held) {
        give_back(p, out);
        continue;
      }
      handle_state& h = handle_of(p.a);
      base::locked<M> guard(h.lock);
      if (p.r.waits_exclusive) {
        remove_waiter(h, &p.r);
        tell_next<M>(h, out);  // units that were too few for p may do for the next
      } else {
        ++coming_;
      }
    }
    reserver_->waiting.cursor = reserver_->access_count;
    out.append(reserver_);
    reserver_ = nullptr;
  }

  detail::cell<std::uint8_t> lock_;  // guards all below
  std::vector<record*> claims_;      // live tasks that were told in vain too often, oldest first
  std::unique_ptr<place[]> places_;  // of the reservation; the first used_ of them
  std::uint32_t capacity_ = 0;
  std::uint32_t used_ = 0;
  record* reserver_ = nullptr;  // the oldest claim, while it reserves
  std::uint32_t missing_ = 0;   // its places that have not arrived
  std::uint32_t coming_ = 0;    // places of a revoked reservation that have not arrived
  std::uint64_t waits_ = 0;     // tasks that hold exclusive access and wait; while there are any, nobody reserves
};

}  // namespace weft::access

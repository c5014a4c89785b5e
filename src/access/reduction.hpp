// Reductions whose group of reduces is still open: what they left over has not been applied (weft/reduction.hpp).
// The group closes when an internal task that writes the handle, and applies, is registered behind it: before any
// access of another kind, and at every wait that could be followed by a look. So this list is what a wait has to close.
//
// Who waits for everything closes what strangers opened, and their owners may destroy it meanwhile. So such a closer
// claims a reduction first. Whoever closes a group takes it off the list before, so one that is closed cannot be
// claimed any more: its owner waits until the last claim has ended, and nobody else comes.
#pragma once
#include <cstdint>
#include <set>

#include "base/assert.hpp"
#include "base/lock.hpp"
#include "weft/clause.hpp"
#include "weft/detail/handle_state.hpp"

namespace weft::access {

using detail::handle_state;
using apply_function = void (*)(handle_state& h);

// What the reduction around h registered when it was made.
[[nodiscard]] apply_function reduction_of(handle_state& h);
[[nodiscard]] inline bool reduction_open(const handle_state& h) noexcept { return h.group_kind == detail::kind_reduce; }

template <class M> class open_reductions {
 public:
  // Who: holder of h's lock, for as long as the group is open.
  void add(handle_state& h) {
    base::locked<M> guard(lock_);
    all_.insert(&h);
    changed();
  }
  void remove(handle_state& h) noexcept {
    base::locked<M> guard(lock_);
    all_.erase(&h);
    changed();
  }
  // Whether any is listed. Order: acquire; who knows that a task is done sees what it opened. Takes no modelled time.
  [[nodiscard]] bool any() noexcept { return M::unseen::load(listed_, base::acquire) != 0; }

  // The oldest handle that is listed; it lives until the claim ends. None if nothing is.
  class claim {
   public:
    explicit claim(open_reductions& all) noexcept : all_(all) {
      base::locked<M> guard(all_.lock_);
      if (all_.all_.empty()) return;
      h_ = *all_.all_.begin();
      next_ = all_.claims_;
      all_.claims_ = this;
      all_.changed();
    }
    ~claim() {
      if (h_ == nullptr) return;
      const typename M::section guard(all_.lock_);
      claim** at = &all_.claims_;
      for (; *at != this; at = &(*at)->next_) WEFT_ASSERT(*at != nullptr);
      *at = next_;
      all_.changed();
    }
    claim(const claim&) = delete;
    claim& operator=(const claim&) = delete;
    [[nodiscard]] handle_state* what() const noexcept { return h_; }

   private:
    friend open_reductions;
    open_reductions& all_;
    handle_state* h_ = nullptr;
    claim* next_ = nullptr;
  };
  // Returns when nobody has a claim on h. Who: whoever may destroy h after that, when its group is closed. Order:
  // acquire, pairs with the end of the claim. Cost: a load while nobody has any.
  void await_claims(const handle_state& h) noexcept {
    for (unsigned spins = 0; M::unseen::load(claimed_, base::acquire) && is_claimed(h);) M::relax(++spins);
  }
  // One that is open, the oldest handle first; nullptr if none is.
  [[nodiscard]] handle_state* first() noexcept {
    base::locked<M> guard(lock_);
    return all_.empty() ? nullptr : *all_.begin();
  }

 private:
  [[nodiscard]] bool is_claimed(const handle_state& h) noexcept {
    const typename M::section guard(lock_);
    for (const claim* c = claims_; c != nullptr; c = c->next_)
      if (c->h_ == &h) return true;
    return false;
  }
  // Who: holder of lock_.
  void changed() noexcept {
    M::unseen::store(listed_, static_cast<std::uint32_t>(all_.size()), base::release);
    M::unseen::store(claimed_, claims_ != nullptr, base::release);
  }

  detail::cell<std::uint8_t> lock_;
  detail::cell<bool> claimed_;          // for who only asks whether anybody has a claim,
  detail::cell<std::uint32_t> listed_;  // or whether any is listed: how many
  claim* claims_ = nullptr;
  struct before {
    [[nodiscard]] bool operator()(const handle_state* a, const handle_state* b) const noexcept {
      return comes_before(*a, *b);
    }
  };
  std::set<handle_state*, before> all_;  // a wait closes them in this order
};

}  // namespace weft::access

// Reductions whose group of reduces is still open: what they left over has not been applied (weft/reduction.hpp).
// The group closes when an internal task that writes the handle, and applies, is registered behind it: before any
// access of another kind, and at every wait that could be followed by a look. So this list is what a wait has to close.
//
// Who waits for everything closes what strangers opened, and their owners may destroy it meanwhile. So such a closer
// claims a reduction first, and its owner, once the group is closed, waits until nobody has a claim: whoever closes a
// group takes it off the list before, so a reduction that is not open is not on it and cannot be claimed any more.
#pragma once
#include <cstdint>
#include <map>
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
    by_id_.emplace(std::uint32_t{h.id}, &h);
    changed();
  }
  void remove(handle_state& h) noexcept {
    base::locked<M> guard(lock_);
    by_id_.erase(std::uint32_t{h.id});
    changed();
  }
  // Whether any is listed. Order: acquire; who knows that a task is done sees what it opened. Takes no modelled time.
  [[nodiscard]] bool any() noexcept { return M::unseen::load(listed_, base::acquire) != 0; }

  // The oldest handle that is listed, which stays so and lives until the claim ends; none if nothing is.
  // Errors: std::bad_alloc.
  class claim {
   public:
    explicit claim(open_reductions& all) : all_(all) {
      base::locked<M> guard(all_.lock_);
      if (all_.by_id_.empty()) return;
      h_ = all_.by_id_.begin()->second;
      all_.claimed_.insert(h_);
      all_.changed();
    }
    ~claim() {
      if (h_ == nullptr) return;
      base::locked<M> guard(all_.lock_);
      const auto mine = all_.claimed_.find(h_);
      WEFT_ASSERT(mine != all_.claimed_.end());
      all_.claimed_.erase(mine);
      all_.changed();
    }
    claim(const claim&) = delete;
    claim& operator=(const claim&) = delete;
    [[nodiscard]] handle_state* what() const noexcept { return h_; }

   private:
    open_reductions& all_;
    handle_state* h_ = nullptr;
  };
  // Returns when nobody has a claim on h. Who: whoever may destroy h after that, when its group is closed. Cost: a load
  // while nobody has any.
  void await_claims(const handle_state& h) noexcept {
    for (unsigned spins = 0; M::unseen::load(claims_, base::seq_cst) != 0 && is_claimed(h);) M::relax(++spins);
  }
  // One that is open, the oldest handle first; nullptr if none is.
  [[nodiscard]] handle_state* first() noexcept {
    base::locked<M> guard(lock_);
    return by_id_.empty() ? nullptr : by_id_.begin()->second;
  }

 private:
  [[nodiscard]] bool is_claimed(const handle_state& h) noexcept {
    base::locked<M> guard(lock_);
    return claimed_.find(&h) != claimed_.end();
  }
  // Who: holder of lock_.
  void changed() noexcept {
    M::unseen::store(listed_, static_cast<std::uint32_t>(by_id_.size()), base::release);
    M::unseen::store(claims_, static_cast<std::uint32_t>(claimed_.size()), base::seq_cst);
  }

  detail::cell<std::uint8_t> lock_;
  detail::cell<std::uint32_t> listed_, claims_;  // how many of each, for who only asks whether there are any
  std::multiset<const handle_state*> claimed_;
  std::map<std::uint32_t, handle_state*> by_id_;  // by id and not by address: a wait closes them in this order
};

}  // namespace weft::access

// Reductions whose group of reduces is still open: what they left over has not been applied (weft/reduction.hpp).
// The group closes when an internal task that writes the handle, and applies, is registered behind it: before any
// access of another kind, and at every wait that could be followed by a look. So this list is what a wait has to close.
#pragma once
#include <cstdint>

#include "base/assert.hpp"
#include "base/lock.hpp"
#include "weft/clause.hpp"
#include "weft/detail/handle_state.hpp"
#include "weft/detail/record.hpp"

namespace weft::access {

using detail::handle_state;
using apply_function = void (*)(handle_state& h);

// What the reduction around h registered when it was made.
[[nodiscard]] apply_function reduction_of(handle_state& h);
[[nodiscard]] inline bool reduction_open(const handle_state& h) noexcept { return h.group_kind == detail::kind_reduce; }

// The task that closes a group is made before the group is opened, and lies here until it is wanted: a wait, which has
// to close what is open, needs no memory for it.
template <class M> class open_reductions {
 public:
  // closer: names h alone. Who: holder of h's lock, for as long as the group is open.
  void add(detail::record& closer) noexcept {
    base::locked<M> guard(lock_);
    const handle_state* const h = handle(closer);
    detail::record** at = &oldest_;
    while (*at != nullptr && handle(**at)->id < h->id) at = &(*at)->waiting.next;
    closer.waiting.next = *at;
    *at = &closer;
  }
  // Takes the closer of h's group out, or nullptr if somebody has it; who gets it registers it and says closed().
  [[nodiscard]] detail::record* take(const handle_state& h) noexcept {
    base::locked<M> guard(lock_);
    detail::record** at = &oldest_;
    while (*at != nullptr && handle(**at) != &h) at = &(*at)->waiting.next;
    detail::record* const closer = *at;
    if (closer == nullptr) return nullptr;
    *at = closer->waiting.next;
    ++closing_;
    return closer;
  }
  void closed() noexcept {
    base::locked<M> guard(lock_);
    WEFT_ASSERT(closing_ != 0);
    --closing_;
  }
  // One that is open, the oldest handle first (by id and not by address: a wait closes them in this order); nullptr if
  // none is.
  [[nodiscard]] handle_state* first() noexcept {
    base::locked<M> guard(lock_);
    return oldest_ == nullptr ? nullptr : handle(*oldest_);
  }
  // Whether a group is open, or its closer on the way.
  [[nodiscard]] bool any() noexcept {
    base::locked<M> guard(lock_);
    return oldest_ != nullptr || closing_ != 0;
  }

 private:
  [[nodiscard]] static handle_state* handle(detail::record& closer) noexcept {
    return reinterpret_cast<handle_state*>(closer.accesses()[0].handle_and_kind & detail::handle_address_mask);
  }

  detail::cell<std::uint8_t> lock_;
  detail::record* oldest_ = nullptr;  // linked by waiting.next, by the ids of their handles
  std::uint32_t closing_ = 0;         // taken and not yet registered
};

// Closers for the groups that a task may open, linked by waiting.next.
struct closers {
  detail::record* first = nullptr;
  [[nodiscard]] detail::record& take_for(handle_state& h) noexcept {
    WEFT_ASSERT(first != nullptr);
    detail::record& c = *first;
    first = c.waiting.next;
    c.accesses()[0].handle_and_kind =
        reinterpret_cast<std::uintptr_t>(&h) | detail::kind_bits(detail::kind_write);
    return c;
  }
};

}  // namespace weft::access

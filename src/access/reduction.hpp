// Reductions whose group of reduces is still open: what they left over has not been applied (weft/reduction.hpp).
// The group closes when an internal task that writes the handle, and applies, is registered behind it: before any
// access of another kind, and at every wait that could be followed by a look. So this list is what a wait has to close.
#pragma once
#include <cstdint>
#include <set>

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
  }
  void remove(handle_state& h) noexcept {
    base::locked<M> guard(lock_);
    all_.erase(&h);
  }
  // One that is open, the oldest handle first; nullptr if none is.
  [[nodiscard]] handle_state* first() noexcept {
    base::locked<M> guard(lock_);
    return all_.empty() ? nullptr : *all_.begin();
  }

 private:
  detail::cell<std::uint8_t> lock_;
  struct before {
    [[nodiscard]] bool operator()(const handle_state* a, const handle_state* b) const noexcept {
      return comes_before(*a, *b);
    }
  };
  std::set<handle_state*, before> all_;  // a wait closes them in this order
};

}  // namespace weft::access

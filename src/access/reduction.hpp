// Reductions whose group of reduces is still open: what they left over has not been applied (weft/reduction.hpp).
// The group closes when an internal task that writes the handle, and applies, is registered behind it: before any
// access of another kind, and at every wait that could be followed by a look. So this list is what a wait has to close.
#pragma once
#include <cstdint>
#include <map>

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
  }
  void remove(handle_state& h) noexcept {
    base::locked<M> guard(lock_);
    by_id_.erase(std::uint32_t{h.id});
  }
  // One that is open, the oldest handle first; nullptr if none is.
  [[nodiscard]] handle_state* first() noexcept {
    base::locked<M> guard(lock_);
    return by_id_.empty() ? nullptr : by_id_.begin()->second;
  }

 private:
  detail::cell<std::uint8_t> lock_;
  std::map<std::uint32_t, handle_state*> by_id_;  // by id and not by address: a wait closes them in this order
};

}  // namespace weft::access

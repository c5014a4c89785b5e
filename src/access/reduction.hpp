// Reductions whose group of reduces is still open: what they left over has not been applied (weft/reduction.hpp).
// The group closes when an internal task that writes the handle, and applies, is registered behind it: before any
// access of another kind, and at every wait that could be followed by a look. So this list is what a wait has to close.
//
// A wait must not fail halfway. So the record of that task, its closer, is put aside before the group is opened, and
// lies in the list; who closes takes it out, with the right to close. Nobody else looks at the handle then: its owner,
// who may be about to destroy it, finds no closer and waits until the group is closed.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <utility>

#include "base/assert.hpp"
#include "base/lock.hpp"
#include "weft/clause.hpp"
#include "weft/detail/handle_state.hpp"
#include "weft/detail/record.hpp"

namespace weft::access {

using detail::handle_state;
using apply_function = void (*)(handle_state& h);

// Who: holder of h's lock. h is or was a reduction.
[[nodiscard]] apply_function reduction_of(handle_state& h);
[[nodiscard]] inline bool reduction_open(const handle_state& h) noexcept { return h.group_kind == detail::kind_reduce; }

// Free records for the groups that a worker may open, each with its place in the list. Who: one thread.
class closers {
 public:
  using places = std::multimap<handle_state*, detail::record*, std::less<>>;

  [[nodiscard]] std::size_t count() const noexcept { return spare_.size(); }
  // record: makes one. Errors: std::bad_alloc, and then nothing has changed.
  template <class Make> void add(Make record) {
    const auto at = spare_.emplace(nullptr, nullptr);
    try {
      at->second = record();
    } catch (...) {
      spare_.erase(at);
      throw;
    }
  }
  [[nodiscard]] places::node_type take() noexcept {
    WEFT_ASSERT(!spare_.empty());
    return spare_.extract(spare_.begin());
  }

 private:
  places spare_;
};

template <class M> class open_reductions {
 public:
  struct closing {
    handle_state* h = nullptr;
    detail::record* closer = nullptr;  // nullptr: there is none to be had
  };

  // Who: holder of h's lock, for as long as the group is open.
  void add(handle_state& h, closers& from) noexcept {
    closers::places::node_type place = from.take();
    place.key() = &h;
    base::locked<M> guard(lock_);
    all_.insert(std::move(place));
    changed();
  }
  // The right to close h's group; who gets it says closed() when the group is. Who: whoever keeps h alive.
  [[nodiscard]] closing take(handle_state& h) noexcept {
    base::locked<M> guard(lock_);
    return take(all_.find(&h));
  }
  // That of the oldest handle: a wait closes them in this order.
  [[nodiscard]] closing take_first() noexcept {
    base::locked<M> guard(lock_);
    return take(all_.begin());
  }
  void closed() noexcept {
    const std::uint32_t were = M::unseen::fetch_add(closing_, ~std::uint32_t{0}, base::release);
    WEFT_ASSERT(were != 0);
  }
  // Whether somebody closes a group at this moment. Order: acquire, so that who finds that it is over sees the task.
  [[nodiscard]] bool any_closing() noexcept { return M::unseen::load(closing_, base::acquire) != 0; }
  // Whether a group is open, or on its way to be closed: who takes one counts it there before it is off the list.
  // Order: acquire; who knows that a task is done sees what it opened. Takes no modelled time.
  [[nodiscard]] bool any() noexcept { return M::unseen::load(listed_, base::acquire) != 0 || any_closing(); }

 private:
  struct before {
    [[nodiscard]] bool operator()(const handle_state* a, const handle_state* b) const noexcept {
      return comes_before(*a, *b);
    }
  };
  using list = std::map<handle_state*, detail::record*, before>;
  // Who: holder of lock_.
  [[nodiscard]] closing take(list::iterator at) noexcept {
    if (at == all_.end()) return {};
    const closing c{at->first, at->second};
    static_cast<void>(M::unseen::fetch_add(closing_, 1u, base::relaxed));
    all_.erase(at);
    changed();
    return c;
  }
  // Who: holder of lock_.
  void changed() noexcept { M::unseen::store(listed_, static_cast<std::uint32_t>(all_.size()), base::release); }

  detail::cell<std::uint8_t> lock_;
  detail::cell<std::uint32_t> listed_;   // how many, for who only asks whether there are any
  detail::cell<std::uint32_t> closing_;  // taken and not yet registered
  list all_;
};

}  // namespace weft::access

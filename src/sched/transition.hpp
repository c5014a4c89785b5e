// The phases of a record, and which follows which. A record is in exactly one: in a magazine, being filled in, listed
// for a condition, in a queue, running, or waiting for its children. Every change goes through transition(), so that a
// record which is in two places at once is found where it happens and not where it crashes.
//
//   free -> filling -> blocked -> ready -> running -> draining -> free
//   filling -> ready       nothing to wait for
//   blocked -> blocked     the next condition
//   ready -> ready         taken from a queue and put back: a pause, another worker's turn
//   running -> free        no children
//   filling -> free        discarded, or refused
#pragma once
#include <cstdint>

#include "base/assert.hpp"
#include "weft/detail/record.hpp"

namespace weft::sched {

[[nodiscard]] constexpr bool may_become(detail::record_state from, detail::record_state to) noexcept {
  using enum detail::record_state;
  constexpr auto bit = [](detail::record_state s) { return 1u << static_cast<unsigned>(s); };
  switch (to) {
  case filling: return (bit(from) & (bit(free) | bit(filling))) != 0;
  case blocked: return (bit(from) & (bit(filling) | bit(blocked) | bit(running))) != 0;
  // A waiter is not filled in and never freed: it goes from its first state, or from its list, to a queue.
  case ready: return (bit(from) & (bit(free) | bit(filling) | bit(blocked) | bit(ready))) != 0;
  case running: return from == ready;
  case draining: return from == running;
  case free: return from != free;
  }
  return false;
}

// Cost: one load, a predictable branch, one store.
inline void transition(detail::record& r, detail::record_state to) noexcept {
  WEFT_ASSERT(may_become(r.state, to));
  r.state = to;
}

}  // namespace weft::sched

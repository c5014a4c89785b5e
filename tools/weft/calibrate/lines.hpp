// What shared words cost on real cores: the figures of model::line_costs, and the locks that are made of them.
#pragma once
#include "probe.hpp"

namespace weft::tool::calibrate {

// On one core, whose caches have the line. Nanoseconds for each.
[[nodiscard]] summary load_hit(const effort& e);
[[nodiscard]] summary store_hit(const effort& e);
[[nodiscard]] summary modify_hit(const effort& e);  // fetch_add
[[nodiscard]] summary one_pause(const effort& e);
[[nodiscard]] summary clock_read(const effort& e);
[[nodiscard]] summary system_call(const effort& e);
// Clock speed in cycles per nanosecond, by a chain of additions that no core does faster than one per cycle.
[[nodiscard]] summary gigahertz(const effort& e);
// Time of the same instructions on one core while the other is idle, over the time while it runs them too: 1 if the
// two share no units.
[[nodiscard]] double speed_when_shared(const effort& e, pair_of_cores cores);

// Between two cores. Nanoseconds for each.
[[nodiscard]] summary transfer(const effort& e, pair_of_cores cores);      // load of a line that the other has written
[[nodiscard]] summary invalidation(const effort& e, pair_of_cores cores);  // fetch_add on a line that both have
[[nodiscard]] summary ping_pong(const effort& e,
                                pair_of_cores cores);  // one way: from a store to the other's knowing it
[[nodiscard]] summary lock_hand_off(const effort& e, pair_of_cores cores);  // per acquisition, both wanting it always

}  // namespace weft::tool::calibrate

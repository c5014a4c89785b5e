// Whoever includes a header of weft/lab/ has the executors "oracle" and "swarm" of ordered sections, and links
// weft::lab (pkg-config: weft-lab). The library itself has no chip in it.
#pragma once

namespace weft::detail {

// Who: before main(). Cost: two pointers.
bool know_lab_executors() noexcept;
inline const bool knows_lab_executors = know_lab_executors();

}  // namespace weft::detail

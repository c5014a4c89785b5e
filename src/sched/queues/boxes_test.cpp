// Boxes of workers: short ones refuse what is too much, far ends take all; the oldest comes out first.
#include "sched/queues/boxes.hpp"

#include <doctest/doctest.h>

#include <array>

#include "machine/host/host.hpp"

namespace weft::sched {

TEST_CASE("boxes: there is none before they are opened, and then one for each worker, of one kind") {
  for (const bool far_ends : {false, true}) {
    boxes<machine::host> all;
    CHECK((all.size() == 0 && !all.are_far_ends()));
    all.open(3, far_ends);
    CHECK((all.size() == 3 && all.are_far_ends() == far_ends));
  }
}

TEST_CASE("boxes: a short one refuses what it has no room for, a far end takes all, and the oldest comes first") {
  for (const bool far_ends : {false, true}) {
    boxes<machine::host> all;
    all.open(2, far_ends);
    std::array<detail::record, base::pushed_max + 2> records{};
    std::size_t taken = 0;
    for (detail::record& r : records) taken += all.push(1, &r) ? 1 : 0;
    CHECK(taken == (far_ends ? records.size() : base::pushed_max));
    CHECK((all.empty(0) && !all.empty(1) && all.pop(0) == nullptr));
    for (std::size_t i = 0; i < taken; ++i) CHECK(all.pop(1) == &records[i]);
    CHECK((all.empty(1) && all.pop(1) == nullptr));
  }
}

}  // namespace weft::sched

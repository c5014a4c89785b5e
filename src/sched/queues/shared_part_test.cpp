// The word that thieves exchange: what it says, and that top goes round.
#include "sched/queues/shared_part.hpp"

#include <doctest/doctest.h>

#include <initializer_list>

namespace weft::sched {

TEST_CASE("shared part: the word says where it begins and how many tasks it has") {
  for (const std::uint64_t top : {std::uint64_t{0}, std::uint64_t{7}, (std::uint64_t{1} << 48) - 1})
    for (const std::uint32_t size : {0u, 1u, shared_part::size_max}) {
      const shared_part s = shared_part::of(shared_part{top, size}.word());
      CHECK((s.top == top && s.size == size));
    }
  CHECK(shared_part::of(0).size == 0);
}

TEST_CASE("shared part: it loses its oldest, and top goes round without touching the size") {
  const shared_part s = shared_part{41, 9}.without_oldest(4);
  CHECK((s.top == 45 && s.size == 5));
  const shared_part last{(std::uint64_t{1} << 48) - 1, 3};
  const shared_part round = shared_part::of(last.without_oldest(2).word());
  CHECK((round.top == 1 && round.size == 1));
}

}  // namespace weft::sched

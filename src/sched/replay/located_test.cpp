// Whose data lay near, by hand: each kind of placement, data that nobody knows of, and handles that are named twice.
#include "sched/replay/located.hpp"

#include <doctest/doctest.h>

#include "scheduler.hpp"
#include "weft/clause.hpp"
#include "weft/handle.hpp"

namespace weft::sched {
namespace {

using where = memory_placement;
constexpr std::uint64_t kib = 1024;

// Two nodes with a core each, and a third with memory alone.
[[nodiscard]] place::tree three_nodes() {
  return place::tree({{.cpu = 0, .cache = 0, .node = 0}, {.cpu = 1, .cache = 1, .node = 1}}, 2,
                     {{0, 2, 1}, {2, 0, 2}, {1, 2, 0}}, {.unit_bytes = 4 * kib});
}

struct sums {
  std::uint64_t local, remote;
  [[nodiscard]] bool operator==(const sums&) const = default;
};
[[nodiscard]] sums of(testing::task& t, const place::tree& places, unsigned node) {
  const located found = data_of(t.r, places, node);
  return {found.local, found.remote};
}

}  // namespace

TEST_CASE("located: bytes count where they were said to lie, and once") {
  const place::tree places = three_nodes();
  handle<void> here, spread, unsized, unplaced;
  here.bytes(10 * kib, where::on_node(1));
  spread.bytes(24 * kib, where::interleaved());
  unplaced.bytes(kib);
  testing::task t;
  t.uses(here.state(), detail::kind_write).uses(spread.state(), detail::kind_read);
  t.uses(unsized.state(), detail::kind_read).uses(unplaced.state(), detail::kind_read);
  CHECK(of(t, places, 0) == sums{8 * kib, 26 * kib});
  CHECK(of(t, places, 1) == sums{18 * kib, 16 * kib});
  testing::task twice;
  twice.uses(here.state(), detail::kind_read);
  twice.uses(here.state(), detail::kind_read | detail::kind_repeated);
  CHECK(of(twice, places, 1) == sums{10 * kib, 0});
}

TEST_CASE("located: what was touched first counts from then on") {
  const place::tree places = three_nodes();
  handle<void> h;
  h.bytes(3 * kib, where::first_touch());
  testing::task t;
  t.uses(h.state(), detail::kind_write);
  CHECK(of(t, places, 0) == sums{0, 0});
  detail::find_home(h.state(), 1);
  CHECK(of(t, places, 0) == sums{0, 3 * kib});
  CHECK(of(t, places, 1) == sums{3 * kib, 0});
}

TEST_CASE("located: on a machine with one node nothing is near or far") {
  const place::tree one({{0, 0, 0}}, 1);
  handle<void> h;
  h.bytes(kib, where::on_node(0));
  testing::task t;
  t.uses(h.state(), detail::kind_write);
  CHECK(of(t, one, 0) == sums{0, 0});
}

}  // namespace weft::sched

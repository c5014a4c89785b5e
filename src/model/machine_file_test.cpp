// Machine files: all that are shipped load and are sane, a few facts in them, and every way to be wrong has its
// message.
#include "model/machine_file.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string>

#include "weft/error.hpp"

namespace weft::model {
namespace {

using times = std::vector<std::uint64_t>;

}  // namespace

TEST_CASE("machine files: virtual is one core of many alike, at the costs that the struct has by default") {
  const machine m = load_machine("virtual");
  CHECK(m.any_size);
  REQUIRE(m.cores.size() == 1);
  const machine defaults;
  CHECK(m.lines.load_ps == defaults.lines.load_ps);
  CHECK(m.lines.store_ps == defaults.lines.store_ps);
  CHECK(m.lines.modify_ps == defaults.lines.modify_ps);
  CHECK(m.lines.kept == defaults.lines.kept);
  CHECK(m.lines.transfer_ps == times{0, 167'000, 167'000, 167'000});
  CHECK(m.runtime.step_ps == defaults.runtime.step_ps);
  CHECK(m.runtime.relax_ps == defaults.runtime.relax_ps);
  CHECK(m.runtime.switch_ps == defaults.runtime.switch_ps);
  CHECK(m.runtime.body_ps == defaults.runtime.body_ps);
  CHECK(m.runtime.sleep_ps == defaults.runtime.sleep_ps);
  CHECK(m.runtime.waker_ps == defaults.runtime.waker_ps);
  CHECK(m.runtime.wake_ps == defaults.runtime.wake_ps);
  const machine many = with_cores(m, 5);
  REQUIRE(many.cores.size() == 5);
  for (unsigned a = 0; a < 5; ++a)
    for (unsigned b = 0; b < 5; ++b) CHECK(many.distance(a, b) == (a == b ? 0 : 2));
}

TEST_CASE("machine files: opteron-6282-64 is OpenStream's Opteron-64") {
  const machine m = load_machine("opteron-6282-64");
  REQUIRE(m.cores.size() == 64);
  CHECK(m.ghz == 2.6);
  CHECK(m.classes == 4);
  CHECK(m.memory.read_line_ps == times{76'800, 138'800, 165'800, 333'900});
  CHECK(m.memory.write_line_ps == times{134'500, 162'000, 234'500, 333'900});
  std::set<unsigned> nodes;
  for (unsigned c = 0; c < 64; ++c) {
    nodes.insert(m.cores[c].at.node);
    CHECK(m.cores[c].at.node == c / 8);
    CHECK(m.cores[c].at.cache == c / 8);
    CHECK(m.cores[c].inner == c / 2);
    CHECK(m.cores[c].physical == c / 2);
  }
  CHECK(nodes.size() == 8);
  for (unsigned n = 0; n < 8; ++n) {  // "4 neighbors are at a distance of 1 hop and 3 neighbors are at 2 hops"
    unsigned of_class[4] = {};
    for (const unsigned c : m.apart[n]) ++of_class[c];
    CHECK(of_class[0] == 1);
    CHECK(of_class[1] + of_class[2] == 4);
    CHECK(of_class[3] == 3);
  }
}

}  // namespace weft::model

// The circuit: its gates as counted in the published ones, and that it adds.
#include "circuit.hpp"

#include <doctest/doctest.h>

namespace weft::apps::order {

namespace {

// What each gate says for these inputs, in the order of gates until nothing changes.
std::vector<std::uint64_t> settle(const circuit& c, const std::vector<std::uint64_t>& inputs) {
  std::vector<std::uint64_t> pins(c.gates.size()), says(c.gates.size());
  std::size_t next = 0;
  for (std::size_t i = 0; i < c.gates.size(); ++i)
    if (c.gates[i].kind == gate_kind::input) pins[i] = inputs[next++];
  for (std::size_t round = 0; round < c.gates.size(); ++round)
    for (std::size_t i = 0; i < c.gates.size(); ++i) {
      says[i] = output_of(c.gates[i].kind, pins[i]);
      for (std::uint64_t f = c.gates[i].first; f < c.gates[i].last; ++f) {
        std::uint64_t& to = pins[c.fanouts[f].gate];
        to = (to & ~(std::uint64_t{1} << c.fanouts[f].pin)) | says[i] << c.fanouts[f].pin;
      }
    }
  return says;
}

}  // namespace

TEST_CASE("order, circuit: an adder has 3 inverters, 10 and-gates and 5 or-gates, and adds") {
  const circuit c = adders(1, 0, 1);
  CHECK(c.count(gate_kind::input) == 3);
  CHECK(c.count(gate_kind::inverter) == 3);
  CHECK(c.count(gate_kind::and2) == 10);
  CHECK(c.count(gate_kind::or2) == 5);
  CHECK(c.count(gate_kind::output) == 2);
  for (std::uint64_t bits = 0; bits < 8; ++bits) {
    const std::uint64_t a = bits & 1, b = bits >> 1 & 1, d = bits >> 2;
    const std::vector<std::uint64_t> says = settle(c, {a, b, d});
    CHECK(says[says.size() - 2] + 2 * says[says.size() - 1] == a + b + d);
  }
}

TEST_CASE("order, circuit: every input toggles so often, at rising times, as the seed says") {
  const circuit c = adders(5, 20, 7), again = adders(5, 20, 7), other = adders(5, 20, 8);
  REQUIRE(c.toggles.size() == 15 * 21);
  bool differs = false;
  for (std::size_t i = 0; i < c.toggles.size(); ++i) {
    CHECK(c.gates[c.toggles[i].gate].kind == gate_kind::input);
    CHECK((c.toggles[i].time == again.toggles[i].time && c.toggles[i].value == again.toggles[i].value));
    differs |= c.toggles[i].time != other.toggles[i].time;
    if (i % 21 != 0) {
      CHECK(c.toggles[i].gate == c.toggles[i - 1].gate);
      CHECK(c.toggles[i].time > c.toggles[i - 1].time);
      CHECK(c.toggles[i].time <= c.toggles[i - 1].time + 100);
    }
  }
  CHECK(differs);
}

}  // namespace weft::apps::order

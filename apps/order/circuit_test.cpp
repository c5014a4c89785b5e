// The circuits: their gates as counted in the published ones, and that they add.
#include "circuit.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <utility>

namespace weft::apps::order {

namespace {

// What each gate says for these inputs, in the order of gates until nothing changes. Inputs without a toggle are 0.
std::vector<std::uint64_t> settle(const circuit& c, const std::vector<std::uint64_t>& inputs) {
  std::vector<std::uint64_t> pins(c.gates.size()), says(c.gates.size());
  std::vector<std::uint64_t> toggling;
  for (const toggle& t : c.toggles)
    if (toggling.empty() || toggling.back() != t.gate) toggling.push_back(t.gate);
  REQUIRE(toggling.size() == inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) pins[toggling[i]] = inputs[i];
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
  const circuit c = carry_save_adders(1, 0, 1);
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

namespace {

// A carry, then the bits of both numbers in turn.
std::vector<std::uint64_t> operands(std::uint64_t a, std::uint64_t b, std::uint64_t carry, std::size_t bits) {
  std::vector<std::uint64_t> all{carry};
  for (std::size_t i = 0; i < bits; ++i) all.push_back(a >> i & 1), all.push_back(b >> i & 1);
  return all;
}

std::uint64_t outputs_of(const circuit& c, const std::vector<std::uint64_t>& says) {
  std::uint64_t number = 0, bit = 0;
  for (std::size_t i = 0; i < c.gates.size(); ++i)
    if (c.gates[i].kind == gate_kind::output) number |= says[i] << bit++;
  return number;
}

}  // namespace

TEST_CASE("order, circuit: a carry-select adder adds, whatever is carried into a block") {
  const circuit six = carry_select_adders(1, 6, 0, 1);
  for (std::uint64_t a = 0; a < 64; ++a)
    for (const std::uint64_t b : {std::uint64_t{0}, 63 - a, 64 - std::max<std::uint64_t>(a, 1), a * 37 % 64})
      for (const std::uint64_t carry : {0u, 1u})
        CHECK(outputs_of(six, settle(six, operands(a, b, carry, 6))) == a + b + carry);
  const circuit wide = carry_select_adders(1, 32, 0, 1);
  for (const auto& [a, b] : {std::pair<std::uint64_t, std::uint64_t>{0xffffffffu, 0},
                             {0xffffffffu, 0xffffffffu},
                             {0x89abcdefu, 0x76543210u},
                             {0xf0f0f0f1u, 0x0f0f0f0fu}})
    for (const std::uint64_t carry : {0u, 1u})
      CHECK(outputs_of(wide, settle(wide, operands(a, b, carry, 32))) == a + b + carry);
}

TEST_CASE(
    "order, circuit: carry-select blocks of four bits are there twice but for the first, and select by 3 gates a bit") {
  const circuit c = carry_select_adders(2, 32, 3, 1);
  const std::size_t added = 2 * (4 + 2 * 28), selected = 2 * (28 + 7);
  CHECK(c.count(gate_kind::and2) == 10 * added + 2 * selected);
  CHECK(c.count(gate_kind::or2) == 5 * added + selected);
  CHECK(c.count(gate_kind::inverter) == 3 * added + 2 * (7 + 7));  // that select, and that say one
  CHECK(c.count(gate_kind::input) == 2 * (65 + 7));
  CHECK(c.count(gate_kind::output) == 2 * 33);
  CHECK(c.toggles.size() == 2 * 65 * 4);  // what says nothing does not toggle
  for (std::uint64_t i = 0; i < c.gates.size(); ++i)
    for (std::uint64_t f = c.gates[i].first, before = i; f < c.gates[i].last; before = c.fanouts[f++].gate)
      CHECK(c.fanouts[f].gate > before);  // so that locks cannot block all (des_threads.cpp)
}

TEST_CASE("order, circuit: every input toggles so often, at rising times, as the seed says") {
  const circuit c = carry_save_adders(5, 20, 7), again = carry_save_adders(5, 20, 7);
  const circuit other = carry_save_adders(5, 20, 8);
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

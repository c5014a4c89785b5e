#include "circuit.hpp"

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "random.hpp"

namespace weft::apps::order {

std::size_t circuit::count(gate_kind kind) const noexcept {
  return static_cast<std::size_t>(std::ranges::count(gates, kind, &gate::kind));
}

namespace {

class builder {
 public:
  std::uint64_t add(gate_kind kind, std::uint64_t delay, std::initializer_list<std::uint64_t> from = {}) {
    const std::uint64_t number = gates_.size();
    gates_.push_back({kind, delay, 0, 0});
    drives_.emplace_back();
    std::uint64_t pin = 0;
    for (const std::uint64_t f : from) drives_[f].push_back({number, pin++});
    return number;
  }
  // One bit of three numbers: their sum and what is carried.
  void add_adder() {
    using enum gate_kind;
    const auto a = add(input, 0), b = add(input, 0), c = add(input, 0);
    const auto not_a = add(inverter, 4, {a}), not_b = add(inverter, 4, {b}), not_c = add(inverter, 4, {c});
    const auto only_a = add(and2, 2, {add(and2, 2, {a, not_b}), not_c});
    const auto only_b = add(and2, 2, {add(and2, 2, {not_a, b}), not_c});
    const auto only_c = add(and2, 2, {add(and2, 3, {not_a, not_b}), c});
    const auto all = add(and2, 2, {add(and2, 2, {a, b}), c});
    const auto sum = add(or2, 3, {add(or2, 3, {only_a, only_b}), add(or2, 3, {only_c, all})});
    const auto carry = add(or2, 5, {add(and2, 2, {a, b}), add(and2, 2, {add(or2, 3, {a, b}), c})});
    add(output, 0, {sum});
    add(output, 0, {carry});
  }
  [[nodiscard]] circuit build() {
    circuit c;
    for (std::size_t i = 0; i < gates_.size(); ++i) {
      gates_[i].first = c.fanouts.size();
      c.fanouts.insert(c.fanouts.end(), drives_[i].begin(), drives_[i].end());
      gates_[i].last = c.fanouts.size();
    }
    c.gates = std::move(gates_);
    return c;
  }

 private:
  paged<gate> gates_;
  std::vector<std::vector<fanout>> drives_;
};

}  // namespace

circuit adders(std::size_t count, std::size_t toggles_per_input, std::uint64_t seed) {
  constexpr std::uint64_t gap_max = 100;
  builder b;
  for (std::size_t i = 0; i < count; ++i) b.add_adder();
  circuit c = b.build();
  random_numbers random(seed);
  for (std::uint64_t g = 0; g < c.gates.size(); ++g) {
    if (c.gates[g].kind != gate_kind::input) continue;
    std::uint64_t time = 0;
    for (std::size_t i = 0; i <= toggles_per_input; ++i) {
      time += random.between(1, gap_max);
      c.toggles.push_back({time, g, i < toggles_per_input ? 1 - i % 2 : random.below(2)});
    }
  }
  return c;
}

}  // namespace weft::apps::order

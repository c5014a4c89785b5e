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
  // One that toggles.
  std::uint64_t add_input() {
    inputs_.push_back(add(gate_kind::input, 0));
    return inputs_.back();
  }
  struct added {
    std::uint64_t sum, carry;
  };
  // One bit of three numbers: their sum and what is carried.
  added add_bits(std::uint64_t a, std::uint64_t b, std::uint64_t c) {
    using enum gate_kind;
    const auto not_a = add(inverter, 4, {a}), not_b = add(inverter, 4, {b}), not_c = add(inverter, 4, {c});
    const auto only_a = add(and2, 2, {add(and2, 2, {a, not_b}), not_c});
    const auto only_b = add(and2, 2, {add(and2, 2, {not_a, b}), not_c});
    const auto only_c = add(and2, 2, {add(and2, 3, {not_a, not_b}), c});
    const auto all = add(and2, 2, {add(and2, 2, {a, b}), c});
    const auto sum = add(or2, 3, {add(or2, 3, {only_a, only_b}), add(or2, 3, {only_c, all})});
    return {sum, add(or2, 5, {add(and2, 2, {a, b}), add(and2, 2, {add(or2, 3, {a, b}), c})})};
  }
  void add_carry_save() {
    const auto a = add_input(), b = add_input(), c = add_input();
    const added bit = add_bits(a, b, c);
    add(gate_kind::output, 0, {bit.sum});
    add(gate_kind::output, 0, {bit.carry});
  }
  // Blocks of a few bits. Each but the first is there twice, for what is carried into it and for nothing, and once that
  // is known it selects which of both is right.
  void add_carry_select(std::size_t bits) {
    std::vector<added> sums;
    std::uint64_t carry = add_input();
    for (std::size_t from = 0; from < bits; from += block_bits) {
      const std::size_t width = std::min(block_bits, bits - from);
      std::vector<std::uint64_t> a, b;
      for (std::size_t i = 0; i < width; ++i) a.push_back(add_input()), b.push_back(add_input());
      if (from == 0) {
        carry = ripple(a, b, carry, sums);
        continue;
      }
      std::vector<added> if_none, if_one;
      const std::uint64_t nothing = add(gate_kind::input, 0), one = add(gate_kind::inverter, 4, {nothing});
      ripple(a, b, nothing, if_none);
      ripple(a, b, one, if_one);
      const std::uint64_t not_carry = add(gate_kind::inverter, 4, {carry});
      const auto select = [&](std::uint64_t none, std::uint64_t some) {
        return add(gate_kind::or2, 3,
                   {add(gate_kind::and2, 2, {not_carry, none}), add(gate_kind::and2, 2, {carry, some})});
      };
      for (std::size_t i = 0; i < width; ++i) sums.push_back({select(if_none[i].sum, if_one[i].sum), 0});
      carry = select(if_none.back().carry, if_one.back().carry);
    }
    for (const added& s : sums) add(gate_kind::output, 0, {s.sum});
    add(gate_kind::output, 0, {carry});
  }
  [[nodiscard]] const std::vector<std::uint64_t>& inputs() const noexcept { return inputs_; }
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
  static constexpr std::size_t block_bits = 4;

  // Adds one bit after the other, and appends them. Returns what is carried out.
  std::uint64_t ripple(const std::vector<std::uint64_t>& a, const std::vector<std::uint64_t>& b, std::uint64_t carry,
                       std::vector<added>& to) {
    for (std::size_t i = 0; i < a.size(); ++i) {
      to.push_back(add_bits(a[i], b[i], carry));
      carry = to.back().carry;
    }
    return carry;
  }

  paged<gate> gates_;
  std::vector<std::uint64_t> inputs_;
  std::vector<std::vector<fanout>> drives_;
};

// Each input toggles so often, and then once more.
circuit toggled(builder& b, std::size_t toggles_per_input, std::uint64_t seed) {
  constexpr std::uint64_t gap_max = 100;
  circuit c = b.build();
  random_numbers random(seed);
  for (const std::uint64_t g : b.inputs()) {
    std::uint64_t time = 0;
    for (std::size_t i = 0; i <= toggles_per_input; ++i) {
      time += random.between(1, gap_max);
      c.toggles.push_back({time, g, i < toggles_per_input ? 1 - i % 2 : random.below(2)});
    }
  }
  return c;
}

}  // namespace

circuit carry_save_adders(std::size_t count, std::size_t toggles_per_input, std::uint64_t seed) {
  builder b;
  for (std::size_t i = 0; i < count; ++i) b.add_carry_save();
  return toggled(b, toggles_per_input, seed);
}

circuit carry_select_adders(std::size_t count, std::size_t bits, std::size_t toggles_per_input, std::uint64_t seed) {
  builder b;
  for (std::size_t i = 0; i < count; ++i) b.add_carry_select(bits);
  return toggled(b, toggles_per_input, seed);
}

}  // namespace weft::apps::order

// Circuits of gates for event simulation, and two to simulate: an array of carry-select adders (the Swarm paper's words
// for its csa.Array32, §5), and one of carry-save adders, which the name may stand for as well. Bits are added by 3
// inverters, 10 and-gates and 5 or-gates each. Inputs toggle at random times.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "paged.hpp"

namespace weft::apps::order {

enum class gate_kind : std::uint64_t { input, output, inverter, and2, or2 };

struct fanout {
  std::uint64_t gate;
  std::uint64_t pin;
};

struct gate {
  gate_kind kind = gate_kind::input;
  std::uint64_t delay = 0;
  std::uint64_t first = 0;  // of what it drives
  std::uint64_t last = 0;   // behind that
};

struct toggle {
  std::uint64_t time;
  std::uint64_t gate;  // an input
  std::uint64_t value;
};

struct circuit {
  paged<gate> gates;
  paged<fanout> fanouts;
  std::vector<toggle> toggles;  // by input, then time

  [[nodiscard]] std::size_t count(gate_kind kind) const noexcept;
};

// What a gate says if its pins have these bits. All pins are 0 at first, and all gates say what follows from that.
[[nodiscard]] constexpr std::uint64_t output_of(gate_kind kind, std::uint64_t pins) noexcept {
  switch (kind) {
  case gate_kind::inverter: return ~pins & 1;
  case gate_kind::and2: return (pins & 3) == 3 ? 1 : 0;
  case gate_kind::or2: return (pins & 3) != 0 ? 1 : 0;
  default: return pins & 1;
  }
}

// Each input toggles so often, after random gaps of 1 to 100, and then once more, to the value it ends with.
// Adders of three bits, side by side: what one carries goes nowhere.
[[nodiscard]] circuit carry_save_adders(std::size_t count, std::size_t toggles_per_input, std::uint64_t seed);
// Adders of two numbers of so many bits and a carry, side by side.
[[nodiscard]] circuit carry_select_adders(std::size_t count, std::size_t bits, std::size_t toggles_per_input,
                                          std::uint64_t seed);

}  // namespace weft::apps::order

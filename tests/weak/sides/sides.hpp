// One hand-over between two or three cores, alone: each side does its few steps of the protocol with the library's own
// nouns, and then somebody judges. So an order that is too weak shows within tens of seeds, and not behind all that a
// whole scheduler does besides.
//
//   struct lost { bells& machine; ... void side(unsigned core); const char* wrong(); };
//   TEST_CASE("two sides: ...") { of_sides<lost>(2); }
#pragma once
#include <array>
#include <cstdint>

#include "base/plain.hpp"
#include "interleave.hpp"

namespace weft::weak {

// Who is woken is noted: nobody sleeps in earnest.
class bells : public interleave::unsteady {
 public:
  using unsteady::unsteady;
  void wake(unsigned id) { rung_[id] = true; }
  [[nodiscard]] bool rung(unsigned id) const { return rung_[id]; }

 private:
  std::array<bool, 256> rung_{};
};

constexpr unsigned seeds_of_sides = 1000;

// Program(bells&) is made before the cores begin; side(n) is what core n does, 1 to `cores`.
template <class Program> void of_sides(unsigned cores, unsigned seeds = seeds_of_sides) {
  interleave::all_seeds(seeds, [cores](std::uint64_t seed) -> const char* {
    interleave::play<bells> play(seed);
    Program p(play.machine());
    const bool ended = play.run(
        cores, [&p](unsigned core) { p.side(core); }, [&play] { return play.all_left(); });
    return ended ? p.wrong() : "a side does not end";
  });
}

}  // namespace weft::weak

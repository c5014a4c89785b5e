// A reduction that a body makes, adds to and destroys, while the program waits for everything: its memory was written
// after its destructor had returned, by that wait, which closes what is open and belongs to others.
// Right: the destructor returns after the last write.
// Run: 8
// Long: 300
// Machines: random host virtual
// Workers: 64 3 8
// Times: 3
#include <weft/weft.hpp>

#include <array>
#include <memory>
#include <new>

#include "found.hpp"

namespace {

template <class Reduction> struct room {
  alignas(64) std::array<unsigned char, sizeof(Reduction)> bytes{};
};
constexpr int rooms = 8;
constexpr unsigned char free_byte = 0xAA;

template <class Reduction> void lives(long seed, int adds) {
  auto all = std::make_unique<std::array<room<Reduction>, rooms>>();
  {
    weft::runtime rt({.seed = static_cast<std::uint64_t>(seed), .search_us = seed % 2 == 0 ? 0u : 25u});
    for (room<Reduction>& at : *all)
      rt.submit([&rt, &at, adds] {
        auto* const sum = new (at.bytes.data()) Reduction();
        for (int k = 0; k < adds; ++k) rt.submit(weft::reduce(*sum), [](long& part) { ++part; });
        sum->~Reduction();
        at.bytes.fill(free_byte);
      });
    rt.wait();
  }
  for (const room<Reduction>& at : *all)
    for (const unsigned char byte : at.bytes)
      require(byte == free_byte, in_words("seed ", seed, ": written after its end"));
}

}  // namespace

int main(int argc, char** argv) {
  const long seeds = amount(argument(argc, argv, 1, 8));
  for (long seed = 1; seed <= seeds; ++seed)
    for (const int adds : {1, 2, 5}) {
      lives<weft::reduction<long>>(seed, adds);
      lives<weft::repeatable_reduction<long>>(seed, adds);
    }
}

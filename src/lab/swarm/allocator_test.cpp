#include "lab/swarm/allocator.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <map>

#include "base/random.hpp"

namespace {

std::uintptr_t number(const void* p) { return reinterpret_cast<std::uintptr_t>(p); }

}  // namespace

TEST_CASE("swarm allocator: blocks are apart, aligned, and used again") {
  weft::swarm::allocator a(2);
  weft::base::random draw(4);
  struct block {
    std::size_t bytes, alignment;
    unsigned tile;
  };
  std::map<std::byte*, block> taken;
  for (int i = 0; i < 5000; ++i) {
    if (draw.below(5) < 3) {
      const block b{1 + draw.below(draw.below(20) == 0 ? 100'000 : 300), std::size_t{1} << draw.below(8),
                    draw.below(2)};
      auto* const at = static_cast<std::byte*>(a.take(b.tile, b.bytes, b.alignment));
      REQUIRE(number(at) % b.alignment == 0);
      REQUIRE(number(at) % 64 == 0);
      const auto next = taken.lower_bound(at);
      if (next != taken.end()) REQUIRE(at + b.bytes <= next->first);
      if (next != taken.begin()) REQUIRE(std::prev(next)->first + std::prev(next)->second.bytes <= at);
      std::memset(at, 1, b.bytes);
      taken.emplace(at, b);
    } else if (!taken.empty()) {
      const auto any = taken.begin();
      a.give_back(any->second.tile, any->first, any->second.bytes, any->second.alignment);
      taken.erase(any);
    }
  }
  for (const auto& [at, b] : taken) a.give_back(b.tile, at, b.bytes, b.alignment);
  void* const one = a.take(0, 24, 8);
  a.give_back(0, one, 24, 8);
  CHECK(a.take(0, 30, 8) == one);
  a.give_back(0, one, 30, 8);
  CHECK_THROWS_AS(static_cast<void>(a.take(0, SIZE_MAX / 2, 8)), std::bad_alloc);
}

TEST_CASE("swarm allocator: what was taken elsewhere goes back there") {
  weft::swarm::allocator a(1);
  void* const own = a.take(0, 8, 8);
  a.give_back(0, ::operator new(40, std::align_val_t(8)), 40, 8);  // a leak checker says if not
  a.give_back(0, own, 8, 8);
  CHECK(own != nullptr);
}

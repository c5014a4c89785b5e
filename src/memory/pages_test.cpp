// Pages of this computer, and of one with four nodes that is only described: nothing can be laid there, and that is
// said once. Where real nodes are, tests/numa asks where each page is.
#include "memory/pages.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <hwloc.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "capture.hpp"
#include "sanitized.hpp"
#include "weft/error.hpp"

namespace weft::memory {
namespace {

using where = memory_placement;
constexpr std::uint64_t page = 4096;

// Every byte is zero and can be written.
bool usable(void* begin, std::uint64_t bytes) {
  auto* const p = static_cast<unsigned char*>(begin);
  const bool zeros = std::all_of(p, p + bytes, [](unsigned char c) { return c == 0; });
  std::fill(p, p + bytes, static_cast<unsigned char>(7));
  return zeros;
}

}  // namespace

TEST_CASE("pages: of every layout and size they are zeros on whole pages, and go back") {
  const host& computer = host::here();
  CHECK(computer.nodes() >= 1);
  for (const where& how : {where::first_touch(), where::on_node(0), where::on_node(1000), where::interleaved(),
                           where::blocked(), where::block_cyclic(1), where::block_cyclic(1 << 20)})
    for (const std::uint64_t bytes : {std::uint64_t{1}, page, page + 1, std::uint64_t{3 << 20}})
      for (const bool huge : {false, true}) {
        void* const begin = computer.take(bytes, how, huge);
        CHECK(reinterpret_cast<std::uintptr_t>(begin) % computer.units(huge).unit_bytes == 0);
        CHECK(usable(begin, bytes));
        computer.give_back(begin, bytes, huge);
      }
}

TEST_CASE("pages: the system says where one is, or nothing; of a page that nobody wrote nothing") {
  const host& computer = host::here();
  auto* const begin = static_cast<unsigned char*>(computer.take(4 * page, where::blocked(), false));
  CHECK(!computer.node_of(begin));
  begin[page] = 1;
  if (const auto node = computer.node_of(begin + page)) CHECK(*node < computer.nodes());
  CHECK(!computer.node_of(begin));
  CHECK(computer.current_node() < computer.nodes());
  computer.give_back(begin, 4 * page, false);
}

// How many pages of addresses the process has.
TEST_CASE("pages: of what is mapped to be aligned nothing is left over before it or behind it" *
          doctest::skip(sanitized)) {
  const auto addresses = [] {
    char text[64]{};
    const int file = ::open("/proc/self/statm", O_RDONLY);
    REQUIRE(file >= 0);
    REQUIRE(::read(file, text, sizeof text - 1) > 0);
    ::close(file);
    return std::strtoull(text, nullptr, 10);
  };
  const auto before = addresses();
  void* all[4];
  for (void*& begin : all) begin = host::map(5 * page, 1 << 21, host::promise::memory);
  CHECK(addresses() == before + 4 * 5);
  for (void* begin : all) {
    REQUIRE(begin != nullptr);
    CHECK(reinterpret_cast<std::uintptr_t>(begin) % (1 << 21) == 0);
    host::unmap(begin, 5 * page);
  }
  CHECK(addresses() == before);
}

TEST_CASE("pages: memory that there is not is refused in words") {
  for (const std::uint64_t bytes : {std::uint64_t{1} << 46, ~std::uint64_t{0}}) {
    std::string why;
    try {
      static_cast<void>(host::here().take(bytes, where::first_touch(), false));
    } catch (const error& e) {
      why = e.what();
    }
    CHECK(why.find("no memory for an array of " + std::to_string(bytes) + " bytes") != std::string::npos);
  }
}

TEST_CASE("pages: a topology that is not there is one node") {
  const host nothing(nullptr);
  CHECK(nothing.nodes() == 1);
  CHECK(nothing.current_node() == 0);
  CHECK(!nothing.node_of(&nothing));
  void* const begin = nothing.take(page, where::blocked(), false);
  CHECK(usable(begin, page));
  nothing.give_back(begin, page, false);
}

TEST_CASE("pages: where nothing can be laid the program goes on, and stderr hears of it once") {
  hwloc_topology_t raw = nullptr;
  REQUIRE(hwloc_topology_init(&raw) == 0);
  REQUIRE(hwloc_topology_set_synthetic(raw, "NUMANode:4 PU:2") == 0);
  REQUIRE(hwloc_topology_load(raw) == 0);
  {
    const host described(raw);
    CHECK(described.nodes() == 4);
    CHECK(!described.node_of(&described));
    const std::string said = stderr_of([&] {
      for (const where& how : {where::interleaved(), where::blocked(), where::on_node(3)}) {
        void* const begin = described.take(64 * page, how, false);
        CHECK(usable(begin, 64 * page));
        described.give_back(begin, 64 * page, false);
      }
    });
    CHECK(said.find("weft: pages do not lie on the memory nodes") == 0);
    CHECK(std::count(said.begin(), said.end(), '\n') == 1);
  }
  hwloc_topology_destroy(raw);
}

}  // namespace weft::memory

// Homes against a count byte by byte: deal units out in order, as the words in weft/memory_placement.hpp say.
#include "memory/home.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace weft::memory {
namespace {

using where = memory_placement;

// Where a unit's first byte belongs, by walking there.
std::vector<unsigned> dealt(const where& how, std::uint64_t whole, const shape& machine) {
  std::uint64_t block = 0;
  switch (how.how()) {
  case where::kind::first_touch: return {};
  case where::kind::on_node: return std::vector<unsigned>(whole, how.node() % machine.nodes);
  case where::kind::interleaved: block = machine.unit_bytes; break;
  case where::kind::blocked:
    while (block * machine.nodes < whole) ++block;
    break;
  case where::kind::block_cyclic: block = how.block_bytes(); break;
  }
  std::vector<unsigned> belongs, lies;
  unsigned node = 0;
  for (std::uint64_t at = 0, left = block; at < whole; ++at, --left) {
    if (left == 0) node = node + 1 == machine.nodes ? 0 : node + 1, left = block;
    belongs.push_back(node);
    lies.push_back(at % machine.unit_bytes == 0 ? node : lies.back());
  }
  return lies;
}

}  // namespace

TEST_CASE("home: every byte of every layout, against a count by hand, and runs end where the node changes") {
  for (const unsigned nodes : {1u, 2u, 3u, 4u, 8u})
    for (const std::uint64_t unit : {1u, 16u, 64u})
      for (const std::uint64_t whole : {1u, 15u, 64u, 65u, 128u, 1000u, 1024u})
        for (const where& how :
             {where::blocked(), where::interleaved(), where::on_node(0), where::on_node(6), where::block_cyclic(1),
              where::block_cyclic(16), where::block_cyclic(40), where::block_cyclic(5000)}) {
          const shape machine{nodes, unit};
          const std::vector<unsigned> lies = dealt(how, whole, machine);
          INFO(static_cast<int>(how.how())
               << ' ' << how.block_bytes() << ": " << whole << " bytes by " << unit << " on " << nodes);
          bool right = true, whole_units = true, same_to_end = true;
          for (std::uint64_t at = 0; at < whole; ++at) {
            const run r = *home_of(how, whole, at, machine);
            right &= r.node == lies[at];
            whole_units &= r.end % unit == 0 && r.end > at;
            for (std::uint64_t b = at; b < r.end && b < whole; ++b) same_to_end &= lies[b] == r.node;
          }
          CHECK(right);
          CHECK(whole_units);
          CHECK(same_to_end);
        }
}

TEST_CASE("home: by who touches first, nobody can say; the largest sizes do not overflow") {
  CHECK(!home_of(where::first_touch(), 100, 7, {4, 16}));
  const std::uint64_t large = std::uint64_t{1} << 46;
  CHECK(home_of(where::blocked(), large, large - 1, {4, 4096})->node == 3);
  CHECK(home_of(where::block_cyclic(~std::uint64_t{0}), large, large - 1, {4, 4096})->node == 0);
  CHECK(home_of(where::block_cyclic(~std::uint64_t{0}), large, large - 1, {4, 4096})->end == large);
}

TEST_CASE("home: bytes by node, against a count byte by byte") {
  for (const unsigned nodes : {1u, 2u, 3u, 8u})
    for (const std::uint64_t whole : {1u, 15u, 64u, 65u, 1000u})
      for (const where& how : {where::first_touch(), where::on_node(10), where::interleaved(), where::blocked(),
                               where::block_cyclic(1), where::block_cyclic(48), where::block_cyclic(5000)})
        for (const std::uint64_t offset : {std::uint64_t{0}, whole / 3, whole - 1}) {
          const shape machine{nodes, 16};
          const std::uint64_t bytes = whole - offset;
          std::vector<std::uint64_t> by_node(nodes), counted(nodes);
          add_by_node({how, offset, whole}, bytes, machine, by_node.data());
          const std::vector<unsigned> each = dealt(how, whole, {nodes, 1});
          for (std::uint64_t at = offset; at < whole; ++at) {
            const auto node = node_of_byte(how, whole, at, machine);
            CHECK(node.has_value() == (how != where::first_touch()));
            if (node) ++counted[*node];
            if (node && how != where::interleaved()) CHECK(*node == each[at]);  // whose turns are units
          }
          CHECK(by_node == counted);
        }
}

}  // namespace weft::memory

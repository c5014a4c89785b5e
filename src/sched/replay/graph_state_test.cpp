// How nodes lie in memory.
#include "sched/replay/graph_state.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <string>

#include "weft/graph.hpp"
#include "weft/runtime.hpp"

namespace weft::sched {

namespace {
std::uintptr_t address(const void* p) { return reinterpret_cast<std::uintptr_t>(p); }
}  // namespace

TEST_CASE("graph state: what a run reads of a node is one cache line, with a small closure before it") {
  detail::graph_state g;
  detail::graph_recording to{g};
  for (const std::size_t closure_bytes : {1u, 8u, 16u}) {
    detail::record& r = *to.allocate(sizeof(detail::record) + 3 * sizeof(detail::access), closure_bytes);
    const auto first = address(detail::node_closure(r, closure_bytes));
    CHECK(first % 64 == 0);
    CHECK(first + 16 == address(&detail::graph_node::of(r)));
    CHECK(first + 63 == address(&r.waiting.next) + 7);
    CHECK(address(r.accesses()) % 64 == 48);
  }
}

TEST_CASE("graph state: nodes lie one behind the other, also large ones, and what is discarded gives its room back") {
  detail::graph_state g;
  detail::graph_recording to{g};
  detail::record* const a = to.allocate(sizeof(detail::record), 16);
  detail::record* const b = to.allocate(sizeof(detail::record), 16);
  CHECK(address(b) - address(a) == 128);
  to.discard(b);
  CHECK(to.allocate(sizeof(detail::record), 100) != a);
  std::uintptr_t last = 0;
  unsigned breaks = 0;
  for (int i = 0; i < 20'000; ++i) {
    detail::record* const r = to.allocate(sizeof(detail::record) + 1000, 40);
    CHECK_MESSAGE(address(r) % 64 == 32, i);
    breaks += address(r) < last || address(r) > last + 2048 ? 1 : 0;
    last = address(r);
  }
  CHECK(breaks <= 25);
  CHECK(g.chunks.size() <= 25);
}

TEST_CASE("graph state: closures of all sizes are whole when they are called") {
  runtime rt({.workers = 1});
  std::string all;
  graph g(rt, [&](recorder& r) {
    std::array<char, 100> large{};
    large[99] = 'c';
    r.submit([&all, x = 'a'] { all += x; });
    r.submit([&all, s = std::string(40, 'b')] { all += s[39]; });
    r.submit([&all, large] { all += large[99]; });
  });
  g.run();
  g.run();
  CHECK(all == "abcabc");
}

}  // namespace weft::sched

// Where Algorithm 1 sends a task, against a slow count by hand: every node tried, every byte walked.
#include "sched/policies/pushing.hpp"

#include <doctest/doctest.h>

#include <deque>
#include <string>

#include "base/random.hpp"
#include "sanitized.hpp"
#include "scheduler.hpp"
#include "weft/clause.hpp"
#include "weft/handle.hpp"

namespace weft::sched {
namespace {

using where = memory_placement;
using counts = pushing::counts;
constexpr std::uint64_t kib = 1024, unit = 4 * kib;
constexpr std::uint8_t reads = detail::kind_read, writes = detail::kind_write;
constexpr counts all_counts[] = {counts::inputs, counts::outputs, counts::both};

// So many nodes in a ring, two workers each; to write costs something else than to read.
[[nodiscard]] place::tree ring_of(unsigned nodes, bool with_costs = true) {
  std::vector<place::core> cores;
  std::vector<std::vector<unsigned>> apart(nodes, std::vector<unsigned>(nodes));
  for (unsigned n = 0; n < nodes; ++n) {
    for (unsigned i = 0; i < 2; ++i) cores.push_back({.cpu = 2 * n + i, .cache = n, .node = n});
    for (unsigned m = 0; m < nodes; ++m) apart[n][m] = std::min((n + nodes - m) % nodes, (m + nodes - n) % nodes);
  }
  place::memory_facts facts{.unit_bytes = unit};
  if (with_costs) facts.read_line = {100, 181, 434}, facts.write_line = {260, 310, 645};
  return place::tree(cores, 2 * nodes, apart, facts);
}

struct datum {
  handle<void> h;
  where how;
  std::uint64_t bytes = 0;
  datum(std::uint64_t n, where lies) : how(lies), bytes(n) { h.bytes(n, lies); }
};

// By hand: the node of each byte in turn, one KiB at a time; nodes from the own one on.
struct by_hand {
  const place::tree& places;
  counts which;
  [[nodiscard]] int of_byte(const datum& d, std::uint64_t at) const {
    const unsigned nodes = places.memory_nodes();
    switch (d.how.how()) {
    case where::kind::first_touch:
      return detail::home_of(const_cast<datum&>(d).h.state()) == detail::no_home
                 ? -1
                 : detail::home_of(const_cast<datum&>(d).h.state());
    case where::kind::on_node: return static_cast<int>(d.how.node() % nodes);
    case where::kind::interleaved: return static_cast<int>(at / unit % nodes);
    case where::kind::blocked: return static_cast<int>(at / (d.bytes / nodes));  // which it divides
    case where::kind::block_cyclic: return static_cast<int>(at / d.how.block_bytes() % nodes);
    }
    return -1;
  }
  std::uint64_t total = 0;
  std::vector<std::uint64_t> cost = std::vector<std::uint64_t>(places.nodes());
  by_hand(const place::tree& on, counts what, const std::vector<std::pair<const datum*, std::uint8_t>>& uses)
      : places(on), which(what) {
    for (const auto& [d, kind] : uses)
      for (const bool write : {false, true}) {
        if (write ? which == counts::inputs || kind == reads : which == counts::outputs) continue;
        total += d->bytes;
        for (std::uint64_t at = 0; at < d->bytes; at += kib)
          for (unsigned n = 0; n < places.nodes(); ++n)
            if (const int home = of_byte(*d, at); home >= 0)
              cost[n] += kib * (write ? places.write_cost(n, unsigned(home)) : places.read_cost(n, unsigned(home)));
      }
  }
  [[nodiscard]] int node(unsigned own) const {
    if (total < 64 * kib || places.memory_nodes() == 1) return -1;
    unsigned best = own;
    for (unsigned n = own; n < own + places.nodes(); ++n)
      if (cost[n % places.nodes()] < cost[best]) best = n % places.nodes();
    return static_cast<int>(best);
  }
};

[[nodiscard]] int chosen(const pushing& p, unsigned own, const testing::task& t) {
  const auto node = p.node(own, t.r);
  return node ? static_cast<int>(*node) : -1;
}

}  // namespace

TEST_CASE("pushing: any accesses to data anywhere, against a count by hand, for each heuristic and on 1 to 24 nodes") {
  for (const unsigned nodes : {1u, 2u, 3u, 8u, 24u})
    for (const bool with_costs : {false, true}) {
      const place::tree places = ring_of(nodes, with_costs);
      for (std::uint64_t seed = 1; seed <= (sanitized ? 6 : 60); ++seed) {
        base::random rng(seed);
        std::deque<datum> data;
        testing::task t;
        std::vector<std::pair<const datum*, std::uint8_t>> uses;
        for (unsigned i = rng.below(4) + 1; i != 0; --i) {
          const where all[] = {where::first_touch(), where::on_node(rng.below(30)), where::interleaved(),
                               where::blocked(), where::block_cyclic(kib * (1 + rng.below(9)))};
          const std::uint64_t bytes = kib * nodes * (1 + rng.below(64));  // whole KiB in each block
          datum& d = data.emplace_back(bytes, all[rng.below(5)]);
          if (d.how == where::first_touch() && rng.below(2) == 0)
            detail::find_home(d.h.state(), static_cast<std::uint16_t>(rng.below(nodes)));
          const std::uint8_t kind = rng.below(2) == 0 ? reads : writes;
          t.uses(d.h.state(), kind);
          uses.emplace_back(&d, kind);
        }
        for (const counts which : all_counts) {
          const by_hand expected(places, which, uses);
          for (unsigned own = 0; own < nodes; ++own) {
            CAPTURE(nodes);
            CAPTURE(seed);
            CAPTURE(own);
            REQUIRE(chosen(pushing(places, which), own, t) == expected.node(own));
          }
        }
      }
    }
}

TEST_CASE("pushing: inputs, outputs and both are told apart, and a write is an input, too") {
  const place::tree places = ring_of(8);
  const pushing in(places, counts::inputs), out(places, counts::outputs), both(places, counts::both);
  datum from(64 * kib, where::on_node(3)), to(64 * kib, where::on_node(5)), large(256 * kib, where::on_node(1));
  testing::task only_reads, only_writes, moves, reads_much;
  only_reads.uses(from.h.state(), reads);
  only_writes.uses(to.h.state(), writes);
  CHECK((chosen(in, 0, only_reads) == 3 && chosen(out, 0, only_reads) == -1 && chosen(both, 0, only_reads) == 3));
  CHECK((chosen(in, 0, only_writes) == 5 && chosen(out, 0, only_writes) == 5 && chosen(both, 0, only_writes) == 5));
  moves.uses(from.h.state(), reads).uses(to.h.state(), writes);
  // From node 4 between them two reads cost 181 and the write 310; from node 5, which has most, 434, 100 and 260.
  CHECK((chosen(out, 0, moves) == 5 && chosen(both, 0, moves) == 4));
  reads_much.uses(large.h.state(), reads).uses(to.h.state(), writes);
  CHECK((chosen(in, 0, reads_much) == 1 && chosen(out, 0, reads_much) == 5 && chosen(both, 0, reads_much) == 1));
}

TEST_CASE("pushing: the threshold is of the bytes that count, those of no known home among them") {
  const place::tree places = ring_of(4);
  datum small(32 * kib, where::on_node(2)), almost(64 * kib - 1, where::on_node(2)), unknown(40 * kib, {});
  testing::task a, b, c, d;
  a.uses(small.h.state(), writes);
  CHECK(chosen(pushing(places, counts::inputs), 0, a) == -1);
  CHECK(chosen(pushing(places, counts::both), 0, a) == 2);  // in and out: twice 32 KiB
  b.uses(almost.h.state(), reads);
  CHECK(chosen(pushing(places, counts::inputs), 0, b) == -1);
  c.uses(unknown.h.state(), reads);
  c.uses(small.h.state(), reads);
  CHECK(chosen(pushing(places, counts::inputs), 0, c) == 2);
  datum nowhere(pushing::threshold_bytes, {});
  d.uses(nowhere.h.state(), reads);
  for (unsigned own = 0; own < 4; ++own) CHECK(chosen(pushing(places, counts::inputs), own, d) == int(own));
}

TEST_CASE("pushing: of equals the own node, then the next; a thread outside has none") {
  const place::tree places = ring_of(8);
  const pushing in(places, counts::inputs);
  datum a(64 * kib, where::on_node(2)), b(64 * kib, where::on_node(6));
  testing::task t;
  t.uses(a.h.state(), reads).uses(b.h.state(), reads);
  CHECK((chosen(in, 2, t) == 2 && chosen(in, 6, t) == 6));
  CHECK((chosen(in, 3, t) == 6 && chosen(in, 7, t) == 2));
  CHECK(chosen(in, pushing::nowhere, t) == 2);
}

TEST_CASE("pushing: a node without workers is served by the cheapest that has some; many nodes are one place") {
  const std::vector<std::vector<unsigned>> apart = {{0, 2, 1}, {2, 0, 1}, {1, 1, 0}};
  const place::tree places({{.cpu = 0, .node = 0}, {.cpu = 1, .node = 1}}, 2, apart);
  datum there(64 * kib, where::on_node(2)), one(100 * kib, where::on_node(1));
  testing::task t, u;
  t.uses(there.h.state(), reads);
  CHECK((chosen(pushing(places, counts::inputs), 0, t) == 0 && chosen(pushing(places, counts::inputs), 1, t) == 1));
  u.uses(there.h.state(), reads).uses(one.h.state(), reads);
  CHECK(chosen(pushing(places, counts::inputs), 0, u) == 1);
  CHECK(chosen(pushing(ring_of(65), counts::inputs), 0, u) == -1);
}

TEST_CASE("pushing: amounts, resources and data without a size do not count") {
  const place::tree places = ring_of(4);
  datum d(64 * kib, where::on_node(2));
  handle<void> token, resource;
  testing::task t;
  t.uses(token.state(), writes).uses(d.h.state(), static_cast<std::uint8_t>(reads | detail::kind_repeated));
  CHECK(chosen(pushing(places, counts::inputs), 0, t) == -1);
}

namespace {
unsigned asked = 0;
std::optional<unsigned> answer;
}  // namespace

TEST_CASE("pushing: a computer is asked once for the page of a datum, and again only while nobody has touched it") {
  place::memory_facts facts{.unit_bytes = 4096, .node_of = [](const void*) {
                              ++asked;
                              return answer;
                            }};
  const place::tree places({{.cpu = 0, .node = 0}, {.cpu = 1, .node = 1}}, 2, {{0, 1}, {1, 0}}, facts);
  const pushing in(places, counts::inputs);
  std::vector<char> memory(100 * kib);
  handle<void> h, small;
  h.lies_at(memory.data(), memory.size());
  small.lies_at(memory.data(), 4095);
  testing::task t;
  t.uses(h.state(), reads).uses(small.state(), reads);
  asked = 0;
  answer = std::nullopt;
  CHECK((chosen(in, 0, t) == 0 && asked == 1));
  answer = 1;
  CHECK((chosen(in, 0, t) == 1 && asked == 2));
  for (int i = 0; i < 5; ++i) CHECK((chosen(in, 0, t) == 1 && asked == 2));
  h.lies_at(memory.data(), memory.size());  // said anew: what was found is forgotten
  CHECK((chosen(in, 0, t) == 1 && asked == 3));
  h.bytes(100 * kib, where::on_node(0));
  CHECK((chosen(in, 0, t) == 0 && asked == 3));
}

}  // namespace weft::sched

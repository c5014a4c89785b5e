// At which memory node a ready task has the cheapest data (OpenStream §2.3, Algorithm 1): the bytes of its accesses are
// summed by the node where they lie, and the node is taken from which all lines together cost least to read and write.
//
//   inputs   what a task may read: every access. Weft's write() gives what is there, so it is an input, too
//   outputs  what it may write: every access but read()
//   both     each weighted by what a line costs to read, or to write, on this machine (place::memory_facts). A write()
//            counts for both, as data that OpenStream reuses in place do
//
// Bytes whose home nobody knows count to the total and to no node. A total below the threshold says: stay. Beyond the
// paper: of nodes that cost the same it is the own one, then the next by number from there on, so that ties neither
// push nor gather at node 0; and only nodes with workers are asked for.
// Where a datum of a first touch came to lie is known after that (detail::find_home). A computer is asked for it once,
// for the page where it begins.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "access/entry.hpp"
#include "base/assert.hpp"
#include "memory/home.hpp"
#include "place/tree.hpp"
#include "weft/detail/record.hpp"

namespace weft::sched {

class pushing {
 public:
  enum class counts : std::uint8_t { inputs, outputs, both };
  static constexpr unsigned nodes_max = 64;  // beyond them a machine is one place
  static constexpr unsigned nowhere = ~0u;
  // Of data: below it what comes over cheaper is less than what a push costs. OpenStream's own.
  static constexpr std::uint64_t threshold_bytes = std::uint64_t{64} << 10;

  pushing(const place::tree& places, counts which) : places_(places), which_(which) {
    WEFT_ASSERT(places.nodes() != 0 && places.memory_nodes() >= places.nodes());
    workers_.resize(places.nodes());
    for (unsigned id = 0; id < places.workers(); ++id)
      workers_[places.node_of(id)].push_back(static_cast<std::uint16_t>(id));
    WEFT_ASSERT(!workers_[places.node_of(0)].empty());
  }

  // The workers at a node; empty where there are none.
  [[nodiscard]] const std::vector<std::uint16_t>& at(unsigned node) const noexcept {
    WEFT_ASSERT(node < workers_.size());
    return workers_[node];
  }

  // The node where r is to run, by a worker at `own` that made it ready (nowhere: a thread outside); nothing where its
  // data are too few or of no known home. Who: anybody, of a task that is ready. Cost: O(accesses + nodes^2).
  [[nodiscard]] std::optional<unsigned> node(unsigned own, const detail::record& r) const {
    WEFT_ASSERT(own == nowhere || own < places_.nodes());
    const unsigned nodes = places_.memory_nodes();
    if (nodes == 1 || nodes > nodes_max) return {};
    sums all;
    for (std::uint32_t i = 0; i < r.access_count; ++i) add(const_cast<detail::record&>(r).accesses()[i], all);
    if (all.total < threshold_bytes) return {};
    return cheapest(own, all);
  }

 private:
  struct sums {
    std::uint64_t total = 0;
    std::array<std::uint64_t, nodes_max> read{}, written{};
  };

  void add(const access::entry& a, sums& to) const {
    if (!access::has_handle(a) || access::is_repeated(a) || access::is_resource(a)) return;
    detail::handle_state& h = access::handle_of(a);
    const std::uint64_t bytes = detail::bytes_of(h);
    if (bytes == 0) return;
    const bool reads = which_ != counts::outputs;
    const bool writes = which_ != counts::inputs && (access::kind_of(a) & detail::kind_readonly) == 0;
    to.total += bytes * (std::uint64_t{reads} + std::uint64_t{writes});
    const detail::data_layout lies = where(h, bytes);
    const memory::shape machine{places_.memory_nodes(), places_.unit_bytes()};
    if (reads) memory::add_by_node(lies, bytes, machine, to.read.data());
    if (writes) memory::add_by_node(lies, bytes, machine, to.written.data());
  }

  // As said, or else as found, or else as the system says now.
  [[nodiscard]] detail::data_layout where(detail::handle_state& h, std::uint64_t bytes) const {
    const detail::data_layout said = detail::layout_of(h);
    if (said.how.how() != memory_placement::kind::first_touch) return said;
    if (!detail::is_home_found(h)) {
      const void* const begin = bytes < places_.unit_bytes() ? nullptr : detail::address_of(h);
      const std::optional<unsigned> is = begin == nullptr ? std::nullopt : places_.node_of_page(begin);
      if (!is) return said;
      detail::find_home(h, static_cast<std::uint16_t>(*is));
    }
    return {memory_placement::on_node(detail::home_of(h)), 0, bytes};
  }

  [[nodiscard]] std::optional<unsigned> cheapest(unsigned own, const sums& all) const noexcept {
    const unsigned memories = places_.memory_nodes(), nodes = places_.nodes();
    std::optional<unsigned> best;
    std::uint64_t least = 0;
    const unsigned first = own == nowhere ? 0 : own;
    for (unsigned step = 0; step < nodes; ++step) {
      const unsigned n = (first + step) % nodes;
      if (workers_[n].empty()) continue;
      std::uint64_t cost = 0;
      for (unsigned m = 0; m < memories; ++m)
        if ((all.read[m] | all.written[m]) != 0)
          cost += all.read[m] * places_.read_cost(n, m) + all.written[m] * places_.write_cost(n, m);
      if (!best || cost < least) best = n, least = cost;
    }
    WEFT_ASSERT(best.has_value());
    return best;
  }

  const place::tree& places_;
  counts which_;
  std::vector<std::vector<std::uint16_t>> workers_;  // [node]
};

}  // namespace weft::sched

// How long a task body takes on a modelled machine where it shares something with others. The data behind a handle is a
// region, cut into chunks; caches keep chunks (caches.hpp), memory nodes are their homes, and what comes from memory or
// crosses between nodes is a flow that shares controllers and links with the flows of other bodies (sharing.hpp). The
// units of a physical core are one more thing to share, by what its cores compute.
// A body is one steady mix: it moves its bytes from all its sources, and computes, in step from beginning to end. Alone
// it takes the longer of its computing and of
//     sum over its sources of max(bytes / rate, bytes / 64 * latency of a line / lines in flight),
// and longer if a controller or link gives it less than that pace needs. Pace lost to others is not caught up later: a
// core computes no faster because it waited before.
// Computing is a second flow, of time on the units of a physical core, where its cores share them: n cores that all
// compute have each the machine's `speed_when_shared` s, so the units give n s together, and a core takes 1 of it at
// most, in step with its data. A kind of work with a speed of its own, t < 1, takes s / t at most; one that is not
// slowed down takes nothing. Where all cores together are slowed down (`speed_when_busy`), the same flow also passes
// what the whole machine computes. The body is over when both flows are.
// Where the system moves pages (page_migration.hpp), a body that has some moved takes that time in addition, and a
// third flow is of the one lock that all moves need. Not here: write-backs, the price of dropping copies, prefetching
// into caches, lines within a chunk, and TLBs (docs/guide/28-memory-model.md). Who: one thread. Every result depends on
// the calls alone - no address, no hash order - and is the same in every run.
#pragma once
#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "model/caches.hpp"
#include "model/machine.hpp"
#include "model/page_migration.hpp"
#include "model/sharing.hpp"
#include "weft/memory_placement.hpp"

namespace weft::model {

// What a body does with a region: so many of its first bytes.
struct use {
  std::uint32_t region;
  std::uint64_t bytes;
  bool reads;
  bool writes;
};

// Where bytes came from, and what became of the time. Sums over all bodies so far.
struct traffic {
  std::vector<std::uint64_t> level_bytes;   // [cache level] found there
  std::vector<std::uint64_t> core_bytes;    // [distance] from a cache of another core, which had written them
  std::vector<std::uint64_t> memory_bytes;  // [class of node distance] from memory: [0] local, the rest remote
  std::vector<std::uint64_t> node_bytes;    // [node] the same by the node they came from
  std::uint64_t bodies_ps = 0;              // of bodies that have ended: from their begin to the end told last
  std::uint64_t computing_ps = 0;           // of that, what computing alone takes
  std::uint64_t latency_ps = 0;             // what caches and latency add to it
  std::uint64_t bandwidth_ps = 0;           // and what controllers and links do
  std::uint64_t units_ps = 0;               // or siblings that compute, where these took longer
  std::uint64_t paging_ps = 0;              // and the system, that looks at pages and moves them
};

// The same bytes by kind.
struct bytes_by_kind {
  std::uint64_t own = 0;           // in a cache that is the core's alone
  std::uint64_t shared = 0;        // in one that it shares with others
  std::uint64_t modified = 0;      // in another core's, which had written them
  std::uint64_t local = 0;         // in the memory of the core's node
  std::uint64_t remote = 0;        // and of others
  std::uint64_t written_back = 0;  // beside these: what went back to memory because it had been written
};

class memory {
 public:
  // The machine is copied from, not kept. Cost: O(cores * levels + nodes^2).
  explicit memory(const machine& m);

  // The body on `core` starts to move its data at `now_ps`, beside `compute_ps` of computing, of a kind that takes so
  // much of the core's units. Returns when it ends if nothing changes; other bodies whose ends move by it are appended
  // to `changed`, by core once each.
  // Caches are touched here, in the order of `uses`, all at once. Calls come in order of time; one body per core.
  // Region numbers are small: memory grows with the largest.
  // Cost: O(chunks * levels), and as sharing::start.
  std::uint64_t begin(unsigned core, std::span<const use> uses, std::uint64_t now_ps, std::uint64_t compute_ps,
                      std::vector<change>& changed, double of_units = 1);
  // What a body takes of units that its core shares, at most; 0: it shares none, or does not need them.
  [[nodiscard]] double of_units(unsigned core, const char* task_name) const noexcept;

  // The core's body ended, at the time last told or at another.
  void end(unsigned core, std::uint64_t now_ps, std::vector<change>& changed);

  // Where the chunks of a region will lie, instead of where the machine file says. Before its first use. Of a range of
  // addresses, by its number, not 0: then it is in the range's pages, if the machine has some.
  void place(std::uint32_t region, const detail::data_layout& layout, std::uint64_t range = 0);
  // Whether the machine has pages: then also ranges of a first touch are to be placed.
  [[nodiscard]] bool has_pages() const noexcept { return pages_.is_on(); }
  [[nodiscard]] const page_migration& pages() const noexcept { return pages_; }

  // The data behind the region is no more: its next use is a first touch.
  void forget(std::uint32_t region);

  [[nodiscard]] const traffic& moved() const noexcept { return moved_; }
  [[nodiscard]] bytes_by_kind kinds() const noexcept;
  // Of a node's controller; nothing if it has no limit.
  [[nodiscard]] sharing::use_of_time controller(unsigned node, std::uint64_t now_ps) const;
  // The node where all chunks of a region live; caches::none if they live on several, or before its first touch. Cost:
  // as many steps as chunks that are together.
  [[nodiscard]] std::uint32_t home(std::uint32_t region) const noexcept;

 private:
  static constexpr std::uint32_t none = caches::none;
  struct chunk {
    std::uint32_t home = 0;
    std::uint32_t bytes = 0;
    std::uint32_t next = none;  // of the same region, or free
    std::uint32_t page = none;  // that says the home instead
  };
  struct extent {
    std::uint32_t first = none, last = none;
    std::uint32_t layout = none;  // index into layouts_
    std::uint64_t bytes = 0;
    std::uint64_t range = 0;  // 0: it is in no pages
  };
  struct body {
    bool active = false;
    std::uint64_t began_ps = 0, compute_ps = 0, paging_ps = 0, alone_ps = 0;
    // When its data will have moved, when it will have computed, and when its pages will have moved.
    std::uint64_t moved_ps = 0, computed_ps = 0, paged_ps = 0;
    [[nodiscard]] std::uint64_t end_ps() const noexcept { return std::max({moved_ps, computed_ps, paged_ps}); }
  };
  // Bytes of one body by where they come from; all zero between bodies.
  struct sources {
    std::vector<std::uint64_t> level;          // [level]
    std::vector<std::uint64_t> core;           // [distance], same node
    std::vector<std::uint64_t> far;            // [node] from caches of its cores, not the body's own node
    std::vector<std::uint64_t> read, written;  // [node] from memory
  };

  void move(unsigned core, const use& u, std::uint64_t now_ps);
  void cover(const use& u, std::size_t here);
  [[nodiscard]] extent& region(std::uint32_t number);
  [[nodiscard]] std::size_t home_of_new(std::uint32_t region, const extent& r, std::size_t here) const;
  [[nodiscard]] std::uint32_t page_of_new(const extent& r, std::size_t here);
  [[nodiscard]] std::size_t home_of(const chunk& c) const noexcept {
    return c.page == none ? c.home : pages_.home(c.page);
  }
  std::uint32_t new_chunk();
  void count(unsigned core, bool writes, std::size_t home, caches::source from, std::uint64_t bytes);
  double price_alone(std::size_t here) const;
  void find_units();
  [[nodiscard]] bool shares_computing(unsigned core) const noexcept { return units_[core] != none || whole_ != none; }
  void find_demands(std::size_t here);
  void start_computing(unsigned core, std::uint64_t now_ps, double of_units, std::vector<change>& changed);
  void start_paging(unsigned core, std::uint64_t now_ps);
  void tell(std::vector<change>& changed);
  void book(std::size_t here);
  void clear();
  [[nodiscard]] double line_ns(const std::vector<std::uint64_t>& costs_ps, std::size_t at) const;
  [[nodiscard]] unsigned class_of(std::size_t a, std::size_t b) const { return machine_.apart[a][b]; }
  [[nodiscard]] std::uint32_t link(std::size_t from, std::size_t to) const { return links_[from * nodes_ + to]; }

  const machine machine_;
  std::size_t nodes_;
  caches caches_;
  sharing sharing_;
  sharing computing_;                       // of units, as sharing_ is of controllers and links
  std::vector<std::uint32_t> controllers_;  // [node] resource, none without a limit
  std::vector<std::uint32_t> links_;        // [from * nodes + to]
  std::vector<extent> regions_;
  std::vector<detail::data_layout> layouts_;
  std::vector<chunk> chunks_;
  std::uint32_t free_ = none;  // chunks
  std::vector<body> bodies_;   // [core]
  sources sources_;
  std::vector<std::uint32_t> units_;  // [core] resource of its physical core, none if it shares nothing
  std::uint32_t whole_ = none;        // resource of all cores together
  page_migration pages_;
  sharing paging_;  // of the lock that moves of pages need
  std::uint32_t page_lock_ = none;
  page_migration::cost paging_now_;  // of one body
  std::vector<change> moved_now_, computed_now_, paged_now_;
  std::uint64_t flow_bytes_ = 0;
  std::vector<sharing::demand> demands_;
  traffic moved_;
};

}  // namespace weft::model

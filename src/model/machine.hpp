// A machine that is described, not present: what a machine file (machines/*.toml) says, checked and in one set of
// units. Times are picoseconds, sizes bytes, rates bytes per nanosecond (= 10^9 bytes/s). src/machine/virtual runs the
// scheduler on it.
// Costs that depend on how far apart two cores are, are indexed by `distance`: 0 the same core, 1 a shared second-level
// cache, 2 a shared outermost cache, then 3 + c for two cores whose memory nodes are c apart, where c is the file's own
// class of node distance: 0 the same node, 1 the nearest other ones, and so on, as `apart` says.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "model/network_costs.hpp"
#include "place/tree.hpp"

namespace weft::model {

// Where a scheduler spends instructions of its own, beside shared words. One event each in coarse mode.
enum class step : std::uint8_t {
  submit,         // a record, its closure, the count
  submit_access,  // one access registered
  run,            // from taken to body, and from body to done
  run_access,     // one access finished
  advance,        // a waiting task told that a version is there
  steal,          // one look at a victim
  request,        // a task handed to a creator instead of being registered (TaskGenX §3)
};
inline constexpr std::size_t steps = 7;
// As machine files call them.
inline constexpr const char* step_names[steps] = {"submit",  "submit_access", "run",    "run_access",
                                                  "advance", "steal",         "request"};

// Of bodies of tasks with that name.
struct task_speed {
  std::string task;
  double speed;
};

struct core_type {
  std::string name;
  double speed = 1;                  // of bodies, against the type that the file's costs are of
  double runtime_speed = 1;          // of the scheduler's own instructions
  std::vector<task_speed> speed_of;  // bodies of tasks with that name, instead of `speed`
  // Steps that its core does for all others, one after the other: they wait for it. Of one core at most.
  std::array<bool, steps> serves{};
};

struct core {
  place::core at;         // cpu, outermost shared cache, memory node
  unsigned inner = 0;     // number of the second-level cache
  unsigned type = 0;      // index into types
  unsigned physical = 0;  // number of the physical core: two with the same share its units
};

// Shared words: cache lines that move between cores.
struct line_costs {
  std::uint64_t load_ps = 280;             // a line that is here
  std::uint64_t store_ps = 280;            // one that is here alone
  std::uint64_t modify_ps = 2'060;         // atomic read-modify-write of one that is here alone
  std::vector<std::uint64_t> transfer_ps;  // [distance] from the core that wrote it last, or to those that hold copies
  std::vector<std::uint64_t> memory_ps;    // [class] a line nobody has, from the memory node so far away
  unsigned kept = 8192;                    // lines of scheduler state that a core's own caches keep
  // Before a line is written its copies elsewhere must go, which takes until the farthest of them has answered. Each
  // after the first adds this; and where the machine does not know who has copies once there are several, all of its
  // cores are asked.
  std::uint64_t invalidate_ps = 0;
  bool probes_all = false;
};

struct runtime_costs {
  // Instructions between the shared words, on the reference type; as measured on a Zen 4 server at 3.7 GHz.
  std::array<std::uint64_t, steps> step_ps{4'300, 2'200, 8'100, 0, 2'100, 0, 4'300};
  std::uint64_t relax_ps = 10'000;     // one pause in a waiting loop
  std::uint64_t switch_ps = 5'700;     // from one stack to another
  std::uint64_t body_ps = 1'000'000;   // a body that says nothing about itself
  std::uint64_t sleep_ps = 1'000'000;  // what going to sleep takes of the sleeper
  std::uint64_t waker_ps = 7'200'000;  // what waking a sleeper takes of the waker
  std::uint64_t wake_ps = 12'800'000;  // from the wake to the sleeper's first instruction
};

// A level of cache as bodies' data sees it.
struct cache {
  enum class shared_by : std::uint8_t { core, inner, outer };
  shared_by who = shared_by::core;
  std::uint64_t bytes = 0;
  double bytes_per_ns = 0;  // for one core
};

// Memory in pages, for ranges of addresses, and what it costs that the system moves them: page_migration.hpp.
struct page_costs {
  std::uint64_t bytes = 0;  // of a page; 0: chunks, which nobody moves
  bool migrate = false;
  std::uint64_t scan_ps = 0, scan_most_ps = 0;  // from one look at a page to the next, at least and at most
  std::uint64_t fault_ps = 0;                   // of the look
  std::uint64_t move_ps = 0;                    // of a page that goes to another node, beside its copying
  double copy_bytes_per_ns = 0;                 // 0: copying takes no time
};

struct memory_costs {
  std::vector<cache> caches;                 // nearest first; empty: every byte comes from memory
  std::uint64_t chunk_bytes = 16 << 10;      // what caches keep or drop as a whole
  double controller_bytes_per_ns = 0;        // of one memory node, shared by all who use it; 0: no limit
  std::vector<double> link_bytes_per_ns;     // [class], class >= 1: of one path between two nodes; 0: no limit
  std::vector<std::uint64_t> read_line_ps;   // [class] latency of one line of 64 bytes, read
  std::vector<std::uint64_t> write_line_ps;  // [class] written
  double lines_in_flight = 10;               // of one core: how much of that latency overlaps
  enum class home : std::uint8_t { first_touch, interleave };
  home placement = home::first_touch;
  page_costs pages;
};

// Of one core, and of one byte that a body has from memory.
struct energy_costs {
  bool known = false;
  double running_w = 0, searching_w = 0, asleep_w = 0;
  double local_pj = 0, remote_pj = 0;
};

struct machine {
  std::string name;
  std::string summary;
  std::string topology;  // hwloc's notation, or the name of the XML file it came from
  double ghz = 1;        // of the reference type
  std::vector<core_type> types;
  std::vector<core> cores;                   // in the order in which workers take them
  std::vector<std::vector<unsigned>> apart;  // [node][node] class of node distance
  unsigned classes = 1;                      // number of those
  bool any_size = false;  // the file describes one core of many alike: as many cores as workers are asked for
  line_costs lines;
  runtime_costs runtime;
  memory_costs memory;
  energy_costs energy;
  network_costs network;
  // Of a body while all cores of its physical core compute; with fewer, their units are divided among these. And of
  // tasks with that name: what does not need the units that others compete for is slowed down less, or not.
  double speed_when_shared = 1;
  std::vector<task_speed> shared_speed_of;
  // Of a body while all cores of the machine compute: what they take from each other beyond the units of a physical
  // core, such as clock and power. With fewer, what n cores do together at that speed is divided among these.
  double speed_when_busy = 1;

  [[nodiscard]] bool computing_is_shared() const noexcept { return speed_when_shared != 1 || speed_when_busy != 1; }

  [[nodiscard]] unsigned distance(unsigned a, unsigned b) const noexcept {
    const core& x = cores[a];
    const core& y = cores[b];
    if (a == b) return 0;
    if (x.inner == y.inner) return 1;
    if (x.at.cache == y.at.cache) return 2;
    return 3 + apart[x.at.node][y.at.node];
  }
};

// [physical] how many cores share its units; and the largest of these.
[[nodiscard]] std::vector<unsigned> cores_of_physical(const machine& m);
[[nodiscard]] unsigned most_siblings(const machine& m);

// Equal cores on one memory node, as many as workers are asked for, with the defaults above and steps that cost
// nothing.
[[nodiscard]] machine flat();

}  // namespace weft::model

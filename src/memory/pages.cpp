#include "memory/pages.hpp"

#include <hwloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>

#include "base/assert.hpp"
#include "base/atomic.hpp"
#include "base/limits.hpp"
#include "place/topology.hpp"
#include "weft/error.hpp"

namespace weft::memory {

namespace {

using nodeset = std::unique_ptr<hwloc_bitmap_s, decltype(&hwloc_bitmap_free)>;

nodeset no_nodes() { return {hwloc_bitmap_alloc(), &hwloc_bitmap_free}; }

hwloc_topology_t load() noexcept {
  hwloc_topology_t raw = nullptr;
  if (place::affinity_is_refused() || hwloc_topology_init(&raw) != 0) return nullptr;
  if (hwloc_topology_load(raw) == 0) return raw;
  hwloc_topology_destroy(raw);
  return nullptr;
}

std::uint64_t huge_page() {
  std::uint64_t bytes = 0;
  std::ifstream("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size") >> bytes;
  return bytes != 0 && (bytes & (bytes - 1)) == 0 ? bytes : std::uint64_t{2} << 20;
}

bool in_turns(const memory_placement& how, std::uint64_t unit) noexcept {
  using kind = memory_placement::kind;
  return how.how() == kind::interleaved || (how.how() == kind::block_cyclic && how.block_bytes() == unit);
}

void say_once(const char* why) noexcept {
  static detail::cell<std::uint32_t> said;
  if (base::shared(said).exchange(1, base::relaxed) != 0) return;
  std::fprintf(stderr, "weft: pages do not lie on the memory nodes that they are meant for (%s); going on.\n", why);
}

}  // namespace

const host& host::here() {
  static const host computer(load());  // the topology stays until the process ends: arrays may be static
  return computer;
}

host::host(hwloc_topology* topology) noexcept
    : topology_(topology), page_bytes_(static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE))),
      huge_page_bytes_(huge_page()) {
  if (topology_ != nullptr)
    nodes_ = static_cast<unsigned>(std::max(1, hwloc_get_nbobjs_by_type(topology_, HWLOC_OBJ_NUMANODE)));
  WEFT_ASSERT(page_bytes_ != 0 && huge_page_bytes_ % page_bytes_ == 0);
}

unsigned host::current_node() const noexcept {
  if (nodes_ == 1) return 0;
  const hwloc_obj_t pu = hwloc_get_pu_obj_by_os_index(topology_, place::current_cpu());
  return pu == nullptr ? 0 : place::node_number(topology_, hwloc_bitmap_first(pu->nodeset));
}

std::optional<unsigned> host::node_of(const void* p) const {
  if (topology_ == nullptr || hwloc_topology_is_thissystem(topology_) == 0) return {};
  const nodeset there = no_nodes();
  if (there == nullptr || hwloc_get_area_memlocation(topology_, p, 1, there.get(), HWLOC_MEMBIND_BYNODESET) != 0)
    return {};
  const int os_index = hwloc_bitmap_first(there.get());
  if (os_index < 0) return {};
  return place::node_number(topology_, os_index);
}

void* host::take(std::uint64_t bytes, const memory_placement& how, bool huge) const {
  const std::uint64_t unit = units(huge).unit_bytes;
  // The system deals pages out in turns by their addresses, so the first page has one that is for node 0.
  const std::uint64_t step = huge ? unit : unit * nodes_;
  const std::uint64_t mapped = round_up(std::min(bytes, base::array_bytes_max), unit);
  auto* const begin =
      bytes > base::array_bytes_max ? nullptr : static_cast<std::byte*>(map(mapped, step, promise::memory));
  if (begin == nullptr)
    throw error("weft: no memory for an array of " + std::to_string(bytes) + " bytes: " + std::strerror(ENOMEM));
  // Only a wish: not every kernel has huge pages. Ranges on one node may have them anyway, where the system likes to.
  if (huge) static_cast<void>(::madvise(begin, mapped, MADV_HUGEPAGE));
  if (nodes_ == 1) return begin;
  if (!huge && in_turns(how, unit)) static_cast<void>(::madvise(begin, mapped, MADV_NOHUGEPAGE));
  if (const char* const refused = lay(begin, bytes, how, huge)) say_once(refused);
  return begin;
}

void host::give_back(void* begin, std::uint64_t bytes, bool huge) const noexcept {
  WEFT_ASSERT(begin != nullptr && reinterpret_cast<std::uintptr_t>(begin) % units(huge).unit_bytes == 0);
  static_cast<void>(::munmap(begin, round_up(bytes, units(huge).unit_bytes)));
}

void* host::take_on(std::uint64_t bytes, std::uint64_t alignment, unsigned node, bool huge) const noexcept {
  WEFT_ASSERT(node < nodes_);
  auto* const begin = static_cast<std::byte*>(map(bytes, alignment, promise::memory));
  if (begin == nullptr) return nullptr;
  if (huge && alignment % huge_page_bytes_ == 0) static_cast<void>(::madvise(begin, bytes, MADV_HUGEPAGE));
  if (nodes_ == 1) return begin;
  if (const char* const refused = lay(begin, bytes, memory_placement::on_node(node), false)) say_once(refused);
  return begin;
}

void* host::map(std::uint64_t bytes, std::uint64_t alignment, promise what) noexcept {
  if (bytes > base::array_bytes_max) return nullptr;
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | (what == promise::none ? MAP_NORESERVE : 0);
  void* const all = ::mmap(nullptr, bytes + alignment, PROT_READ | PROT_WRITE, flags, -1, 0);
  if (all == MAP_FAILED) return nullptr;
  const auto from = reinterpret_cast<std::uintptr_t>(all);
  const std::uint64_t before = round_up(from, alignment) - from;
  auto* const begin = static_cast<std::byte*>(all) + before;
  WEFT_ASSERT(before <= alignment && reinterpret_cast<std::uintptr_t>(begin) % alignment == 0);
  if (before != 0) unmap(all, before);
  if (before != alignment) unmap(begin + bytes, alignment - before);
  return begin;
}

void host::unmap(void* begin, std::uint64_t bytes) noexcept {
  if (::munmap(begin, bytes) != 0) forget(begin, bytes);  // one range would become two, and there are too many
}

void host::forget(void* begin, std::uint64_t bytes) noexcept {
  static_cast<void>(::madvise(begin, bytes, MADV_DONTNEED));
}

const char* host::lay(std::byte* begin, std::uint64_t bytes, const memory_placement& how, bool huge) const {
  using kind = memory_placement::kind;
  const shape machine = units(huge);
  if (how.how() == kind::first_touch) return nullptr;
  if (hwloc_topology_is_thissystem(topology_) == 0)  // hwloc itself would say that it is done
    return "this computer is not the one that is described";
  if (!huge && in_turns(how, machine.unit_bytes)) {
    const int refused = lay_in_turns(begin, bytes);
    return refused == 0 ? nullptr : std::strerror(refused);
  }
  std::uint64_t ranges = 0;
  for (std::uint64_t at = 0; at < bytes; ++ranges) {
    if (ranges == base::laid_ranges_max) return "in more than 16384 blocks";
    const run r = *home_of(how, bytes, at, machine);
    WEFT_ASSERT(r.end > at);  // or this would never end
    if (const int refused = lay_on(begin + at, r.end - at, r.node); refused != 0) return std::strerror(refused);
    at = r.end;
  }
  return nullptr;
}

// Not strictly: of a full node the system takes the next, where a strict one would kill the program.
int host::lay_on(std::byte* begin, std::uint64_t bytes, unsigned node) const {
  WEFT_ASSERT(node < nodes_);
  const nodeset one = no_nodes();
  int os_index = -1;
  for (unsigned i = 0; i <= node; ++i)
    os_index = hwloc_bitmap_next(hwloc_topology_get_topology_nodeset(topology_), os_index);
  WEFT_ASSERT(os_index >= 0);
  if (one == nullptr || hwloc_bitmap_only(one.get(), static_cast<unsigned>(os_index)) != 0) return ENOMEM;
  const int rc =
      hwloc_set_area_membind(topology_, begin, bytes, one.get(), HWLOC_MEMBIND_BIND, HWLOC_MEMBIND_BYNODESET);
  return rc == 0 ? 0 : errno;
}

int host::lay_in_turns(std::byte* begin, std::uint64_t bytes) const {
  const int rc = hwloc_set_area_membind(topology_, begin, bytes, hwloc_topology_get_topology_nodeset(topology_),
                                        HWLOC_MEMBIND_INTERLEAVE, HWLOC_MEMBIND_BYNODESET);
  return rc == 0 ? 0 : errno;
}

}  // namespace weft::memory

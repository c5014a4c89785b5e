// Where data lie, as programs say it: of the datum of a handle, or of a range of addresses that handles lie in. What
// was said of ranges stands in one table of the process, since it is said before a runtime is made, or for several.
#include "weft/memory_placement.hpp"

#include <limits>
#include <map>
#include <mutex>
#include <string>

#include "access/placed_range.hpp"
#include "weft/error.hpp"
#include "weft/handle.hpp"
#include "weft/near.hpp"

namespace weft {

namespace {

struct range {
  std::uintptr_t end;
  memory_placement how;
  std::uint64_t number;
};

// By begin; no two overlap.
struct table {
  std::mutex guard;
  std::map<std::uintptr_t, range> ranges;
  std::uint64_t numbers = 0;
};

table& placed() {
  static table all;
  return all;
}

void check(std::uint64_t bytes) {
  if (bytes > detail::bytes_max)
    throw error("weft: a handle is said to stand for " + std::to_string(bytes) + " bytes; at most 2^40 (1 TiB) can be");
}

// The smallest page of any machine: of less nobody asks on which node it is.
constexpr std::uint64_t page_bytes_min = 4096;

// On one node or with who touches them first, data need no layout: they have a home or none. Of the latter the address
// says, some day, where they came to lie.
void lay(detail::handle_state& h, std::uint64_t bytes, const detail::data_layout& layout, const void* begin = nullptr) {
  using kind = memory_placement::kind;
  const kind how = layout.how.how();
  const bool simple = how == kind::first_touch || how == kind::on_node;
  detail::set_layout(h, bytes, simple || bytes == 0 ? detail::data_layout{} : layout,
                     how == kind::first_touch && bytes >= page_bytes_min ? begin : nullptr);
  detail::set_home(h, how == kind::on_node ? static_cast<std::uint16_t>(layout.how.node()) : detail::no_home);
}

}  // namespace

void detail::check_placement(const memory_placement& how) {
  if (how.how() == memory_placement::kind::on_node && how.node() >= no_home)
    throw error("weft: data cannot lie on memory node " + std::to_string(how.node()) + "; nodes go to 65534");
  if (how.how() == memory_placement::kind::block_cyclic && how.block_bytes() == 0)
    throw error("weft: block_cyclic(0) places nothing; a block has at least one byte");
}

void handle_base::bytes(std::uint64_t n) { bytes(n, memory_placement::first_touch()); }

void handle_base::bytes(std::uint64_t n, const memory_placement& how) {
  check(n);
  detail::check_placement(how);
  lay(state_, n, {how, 0, n});
}

access::placed_range access::range_at(const void* begin, std::uint64_t n) {
  const auto at = reinterpret_cast<std::uintptr_t>(begin);
  table& all = placed();
  const std::scoped_lock lock(all.guard);
  const auto next = all.ranges.upper_bound(at);
  if (next == all.ranges.begin()) return {};
  const auto& [from, in] = *std::prev(next);
  if (at >= in.end || in.end - at < n) return {};
  return {in.number, {in.how, at - from, in.end - from}};
}

void access::forget_range(const void* begin) noexcept {
  table& all = placed();
  const std::scoped_lock lock(all.guard);
  all.ranges.erase(reinterpret_cast<std::uintptr_t>(begin));
}

detail::data_layout detail::layout_at(const void* begin, std::uint64_t n) {
  const data_layout found = access::range_at(begin, n).layout;
  return found.how.how() == memory_placement::kind::first_touch ? data_layout{} : found;
}

void handle_base::lies_at(const void* begin, std::uint64_t n) {
  check(n);
  const auto at = reinterpret_cast<std::uintptr_t>(begin);
  table& all = placed();
  const std::scoped_lock lock(all.guard);
  const auto next = all.ranges.lower_bound(at + 1);
  const auto in = next == all.ranges.begin() ? all.ranges.end() : std::prev(next);
  const auto says_something = [](const range& r) { return r.how.how() != memory_placement::kind::first_touch; };
  const bool begins_inside = in != all.ranges.end() && at < in->second.end && says_something(in->second);
  bool reaches_next = false;
  for (auto r = next; r != all.ranges.end() && r->first - at < n; ++r) reaches_next |= says_something(r->second);
  if (reaches_next || (begins_inside && in->second.end - at < n))
    throw error("weft: " + std::to_string(n) + " bytes of a handle lie only partly in a range that was placed");
  if (!begins_inside) return lay(state_, n, {}, begin);
  lay(state_, n, {in->second.how, at - in->first, in->second.end - in->first}, begin);
}

void place_memory(const void* begin, std::uint64_t bytes, const memory_placement& how) {
  const auto from = reinterpret_cast<std::uintptr_t>(begin);
  if (begin == nullptr || bytes == 0 || bytes > std::numeric_limits<std::uintptr_t>::max() - from)
    throw error("weft: place_memory: " + std::to_string(bytes) + " bytes from there are no range of memory");
  detail::check_placement(how);
  const std::uintptr_t end = from + bytes;
  table& all = placed();
  const std::scoped_lock lock(all.guard);
  auto first = all.ranges.lower_bound(from);
  if (first != all.ranges.begin() && std::prev(first)->second.end > from) --first;
  all.ranges.erase(first, all.ranges.lower_bound(end));
  all.ranges.emplace(from, range{end, how, ++all.numbers});
}

}  // namespace weft

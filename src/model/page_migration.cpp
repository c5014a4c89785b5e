#include "model/page_migration.hpp"

#include <algorithm>
#include <cmath>

#include "base/assert.hpp"

namespace weft::model {

page_migration::page_migration(const page_costs& costs, std::uint64_t chunk_bytes)
    : costs_(costs), unit_bytes_(std::max(costs.bytes, chunk_bytes)),
      pages_each_(costs.bytes == 0 ? 0 : (unit_bytes_ + costs.bytes - 1) / costs.bytes) {
  WEFT_ASSERT(!costs.migrate || (costs.bytes != 0 && costs.scan_ps != 0));
}

std::uint64_t page_migration::key(std::uint64_t range, std::uint64_t at) const noexcept {
  const std::uint64_t number = at / unit_bytes_;
  WEFT_ASSERT(range >> 31 == 0 && number >> 32 == 0);
  return range << 32 | number;
}

std::uint32_t page_migration::find(std::uint64_t range, std::uint64_t at) const {
  const auto found = numbers_.find(key(range, at));
  return found == numbers_.end() ? none : found->second;
}

std::uint32_t page_migration::make(std::uint64_t range, std::uint64_t at, std::size_t home) {
  const auto number = static_cast<std::uint32_t>(pages_.size());
  const bool is_new = numbers_.emplace(key(range, at), number).second;
  WEFT_ASSERT(is_new && number != none);
  pages_.push_back({static_cast<std::uint32_t>(home), none, 0, costs_.scan_ps});
  return number;
}

page_migration::cost page_migration::touch(std::uint32_t number, std::size_t node, std::uint64_t now_ps) {
  place& p = pages_[number];
  if (!costs_.migrate || now_ps < p.next_ps) return {};
  faults_ += pages_each_;
  cost c{pages_each_ * costs_.fault_ps, 0};
  const bool is_again = p.last == node;
  p.last = static_cast<std::uint32_t>(node);
  if (p.home == node) {
    p.period_ps = std::min(2 * p.period_ps, costs_.scan_most_ps);
  } else {
    p.period_ps = costs_.scan_ps;
    if (is_again) {
      p.home = static_cast<std::uint32_t>(node);
      moved_ += pages_each_;
      const double rate = costs_.copy_bytes_per_ns,
                   copy_ps = rate > 0 ? static_cast<double>(costs_.bytes) / rate * 1e3 : 0;
      c.locked_ps = pages_each_ * (costs_.move_ps + static_cast<std::uint64_t>(std::llround(copy_ps)));
      c.alone_ps += c.locked_ps;
    }
  }
  p.next_ps = now_ps + p.period_ps;
  return c;
}

}  // namespace weft::model

// The lines of modelled memory. Addresses of a process differ from run to run, and caches and Bloom filters would give
// other numbers for each. So pages get numbers by their first use, which the model makes in an order of its own; where
// data lie within a page stays.
// Of each line the directory remembers which tiles may have tasks that read or wrote it (Swarm §4.4, sticky bits): they
// outlive the line's stay in any cache.
#pragma once
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "base/assert.hpp"

namespace weft::swarm {

using line = std::uint32_t;
inline constexpr std::uint32_t line_bytes = 64, word_bytes = 8;

struct line_state {
  std::uint64_t readers = 0;  // tiles whose tasks may have read the line
  std::uint64_t writers = 0;
};

class lines {
 public:
  static constexpr unsigned line_bits = 6, page_bits = 12;
  static constexpr std::uint32_t lines_of_page = 1u << (page_bits - line_bits);

  static constexpr std::size_t lines_max = std::size_t{1} << 31;  // 128 GiB: an L1 keeps a bit beside a line's number

  lines() : table_(1024) {}

  [[nodiscard]] line of(const void* address) {
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    const std::uint64_t page = at >> page_bits;
    recent& r = recent_[page % recent_.size()];
    if (r.page != page) r = {page, number_of(page)};
    return r.number * lines_of_page + (static_cast<std::uint32_t>(at >> line_bits) & (lines_of_page - 1));
  }
  // So many lines that belong to the chip's own tables, and to no address.
  [[nodiscard]] line fresh(std::uint32_t count) {
    const line first = static_cast<line>(states_.size());
    WEFT_ASSERT(states_.size() + count + lines_of_page <= lines_max);
    states_.resize(states_.size() + (count + lines_of_page - 1) / lines_of_page * lines_of_page);
    return first;
  }
  [[nodiscard]] line_state& state(line l) noexcept {
    WEFT_ASSERT(l < states_.size());
    return states_[l];
  }
  [[nodiscard]] std::size_t size() const noexcept { return states_.size(); }

 private:
  struct recent {
    std::uint64_t page = UINT64_MAX;
    std::uint32_t number = 0;
  };

  [[nodiscard]] static std::size_t hash(std::uint64_t page) noexcept { return page * 0x9e3779b97f4a7c15u >> 32; }

  [[nodiscard]] std::uint32_t number_of(std::uint64_t page) {
    std::size_t i = hash(page) % table_.size();
    for (; table_[i].page != UINT64_MAX; i = (i + 1) % table_.size())
      if (table_[i].page == page) return table_[i].number;
    const std::uint32_t number = fresh(lines_of_page) / lines_of_page;
    table_[i] = {page, number};
    if (++pages_ * 2 > table_.size()) grow();
    return number;
  }
  void grow() {
    std::vector<recent> old(table_.size() * 2);
    old.swap(table_);
    for (const recent& r : old) {
      if (r.page == UINT64_MAX) continue;
      std::size_t i = hash(r.page) % table_.size();
      while (table_[i].page != UINT64_MAX) i = (i + 1) % table_.size();
      table_[i] = r;
    }
  }

  std::array<recent, 1024> recent_{};
  std::vector<recent> table_;  // open addressing; its size is a power of two
  std::size_t pages_ = 0;
  std::vector<line_state> states_;
};

}  // namespace weft::swarm

// Which lines a cache has, and when each was used: by sets, of `ways` places each. What is looked through lies side by
// side, a line of the host's for eight ways.
// Invariants: no line is in a set twice; a place that is empty was used before any that is not, so it is taken first.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/assert.hpp"
#include "lab/swarm/lines.hpp"

namespace weft::swarm {

class cache_sets {
 public:
  static constexpr unsigned absent = UINT32_MAX;

  cache_sets(std::size_t sets, unsigned ways)
      : ways_(ways), stride_((2 * ways + words_of_line - 1) / words_of_line * words_of_line),
        room_(sets * stride_ + words_of_line) {
    const std::size_t beyond = reinterpret_cast<std::uintptr_t>(room_.data()) / sizeof(std::uint32_t) % words_of_line;
    first_ = room_.data() + (words_of_line - beyond);
  }
  cache_sets(const cache_sets&) = delete;
  cache_sets& operator=(const cache_sets&) = delete;
  // The place of a line in its set, or absent.
  [[nodiscard]] unsigned find(std::size_t set, line l) const noexcept {
    const std::uint32_t* const tags = tags_of(set);
    switch (ways_) {
    case 8: return find_in<8>(tags, l);
    case 16: return find_in<16>(tags, l);
    default:
      for (unsigned w = 0; w < ways_; ++w)
        if (tags[w] == l + 1) return w;
      return absent;
    }
  }
  // A place that is empty, or else the one whose line was used least lately.
  [[nodiscard]] unsigned victim(std::size_t set) const noexcept {
    const std::uint32_t* const used = tags_of(set) + ways_;
    unsigned least = 0;
    for (unsigned w = 1; w < ways_; ++w) least = used[w] < used[least] ? w : least;
    return least;
  }
  [[nodiscard]] bool empty(std::size_t set, unsigned way) const noexcept { return tags_of(set)[way] == 0; }
  [[nodiscard]] line at(std::size_t set, unsigned way) const noexcept {
    WEFT_DEBUG_ASSERT(!empty(set, way));
    return tags_of(set)[way] - 1;
  }
  void put(std::size_t set, unsigned way, line l) noexcept {
    WEFT_DEBUG_ASSERT(find(set, l) == absent);
    tags_of(set)[way] = l + 1;
  }
  void use(std::size_t set, unsigned way, std::uint32_t tick) noexcept { tags_of(set)[ways_ + way] = tick; }
  void drop(std::size_t set, unsigned way) noexcept {
    tags_of(set)[way] = 0;
    use(set, way, 0);  // earlier than any, so that it is the first to be taken
  }

 private:
  static constexpr std::size_t words_of_line = 16;  // of the host's

  // Of a set: line + 1 of each way, 0 if it is empty; then when each was used.
  [[nodiscard]] std::uint32_t* tags_of(std::size_t set) const noexcept { return first_ + set * stride_; }
  template <unsigned Ways> [[nodiscard]] static unsigned find_in(const std::uint32_t* tags, line l) noexcept {
    std::uint32_t found = 0;  // no line is there twice
    for (unsigned w = 0; w < Ways; ++w) found |= tags[w] == l + 1 ? w + 1 : 0;
    return found - 1;
  }

  unsigned ways_;
  std::size_t stride_;
  std::vector<std::uint32_t> room_;
  std::uint32_t* first_;
};

}  // namespace weft::swarm

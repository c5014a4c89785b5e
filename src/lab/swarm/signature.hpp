// Read and write sets as Bloom filters (Swarm §4.4, Fig. 8): K ways of bits/K columns, H3 hash functions. All tasks of
// a tile keep their bits side by side, so that one word of each way, and their conjunction, says for 64 tasks at a time
// which of them may have a line. A set may claim a line that it has not, and never denies one that it has.
#pragma once
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "base/assert.hpp"
#include "base/random.hpp"
#include "lab/swarm/lines.hpp"

namespace weft::swarm {

// H3: the exclusive or of a random row for each bit of the line's number. One table for each byte of it, and the
// columns of all ways in one 128-bit row.
class h3 {
 public:
  static constexpr unsigned ways_max = 8;
  struct columns {
    std::array<std::uint64_t, 2> packed;
    [[nodiscard]] std::uint32_t of(unsigned way) const noexcept {
      return static_cast<std::uint16_t>(packed[way / 4] >> 16 * (way % 4));
    }
  };

  explicit h3(std::uint32_t column_count, std::uint64_t seed = 0x5eed) {
    WEFT_ASSERT(std::has_single_bit(column_count) && column_count <= 1u << 16);
    const std::uint64_t mask = (column_count - 1) * 0x0001'0001'0001'0001u;
    base::random draw(seed);
    for (auto& byte : table_) {
      std::array<columns, 8> row;
      for (columns& r : row) r = {{draw.next() & mask, draw.next() & mask}};
      for (unsigned value = 0; value < 256; ++value)
        for (unsigned bit = 0; bit < 8; ++bit)
          if ((value >> bit & 1) != 0)
            for (unsigned half = 0; half < 2; ++half) byte[value].packed[half] ^= row[bit].packed[half];
    }
  }
  [[nodiscard]] columns operator()(line l) const noexcept {
    columns all{{0, 0}};
    for (unsigned b = 0; b < 4; ++b)
      for (unsigned half = 0; half < 2; ++half) all.packed[half] ^= table_[b][l >> 8 * b & 255].packed[half];
    return all;
  }

 private:
  std::array<std::array<columns, 256>, 4> table_{};
};

// The sets of one kind (read, or written) of a tile's tasks. A task is a slot here.
class signatures {
 public:
  signatures(std::uint32_t ways, std::uint32_t column_count, std::uint32_t slots)
      : ways_(ways), columns_(column_count), words_((slots + 63) / 64) {
    bits_.resize(static_cast<std::size_t>(ways_) * columns_ * words_);
  }

  void insert(std::uint32_t slot, const h3::columns& c) noexcept {
    WEFT_ASSERT(slot / 64 < words_);  // behind are the tasks of the next column
    each_row(c, [slot](std::uint64_t* row) { row[slot / 64] |= 1ull << slot % 64; });
  }
  // Clears what insert() with the same columns has set. A slot is cleared by doing so for each of its lines.
  void erase(std::uint32_t slot, const h3::columns& c) noexcept {
    WEFT_ASSERT(slot / 64 < words_);
    each_row(c, [slot](std::uint64_t* row) { row[slot / 64] &= ~(1ull << slot % 64); });
  }
  // Of slots 64 * word ..., the ones that may have the line.
  [[nodiscard]] std::uint64_t matches(std::uint32_t word, const h3::columns& c) const noexcept {
    WEFT_DEBUG_ASSERT(word < words_);
    std::uint64_t all = ~0ull;
    for (unsigned w = 0; w < ways_ && all != 0; ++w)
      all &= bits_[(static_cast<std::size_t>(w) * columns_ + c.of(w)) * words_ + word];
    return all;
  }
  [[nodiscard]] std::uint32_t words() const noexcept { return words_; }

  void grow(std::uint32_t slots) {  // keeps what is in it
    const std::uint32_t words = (slots + 63) / 64;
    if (words <= words_) return;
    std::vector<std::uint64_t> wider(static_cast<std::size_t>(ways_) * columns_ * words);
    for (std::size_t r = 0; r < static_cast<std::size_t>(ways_) * columns_; ++r)
      for (std::uint32_t i = 0; i < words_; ++i) wider[r * words + i] = bits_[r * words_ + i];
    bits_ = std::move(wider);
    words_ = words;
  }

 private:
  template <class Each> void each_row(const h3::columns& c, const Each& each) noexcept {
    if (ways_ == h3::ways_max) {  // the paper's filters: no loop is left
      for (unsigned w = 0; w < h3::ways_max; ++w) each(row(w, c));
      return;
    }
    for (unsigned w = 0; w < ways_; ++w) each(row(w, c));
  }
  [[nodiscard]] std::uint64_t* row(unsigned way, const h3::columns& c) noexcept {
    return &bits_[(static_cast<std::size_t>(way) * columns_ + c.of(way)) * words_];
  }

  std::uint32_t ways_, columns_, words_;
  std::vector<std::uint64_t> bits_;
};

}  // namespace weft::swarm

// Chunks of memory, cut into blocks of one size class. What there is to know of the blocks stands here and not in them:
// so memory is touched by those alone who use it, a block is aligned as its size is, and one that is free costs a bit.
#pragma once
#include <array>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/assert.hpp"
#include "base/atomic.hpp"
#include "memory/page_source.hpp"

namespace weft::memory {

// Class c has blocks of 2^(6+c) bytes (OpenStream §3.1): a cache line, up to a whole chunk.
inline constexpr std::uint64_t block_bytes_min = 64;
inline constexpr unsigned size_classes = 16;
inline constexpr unsigned whole_chunk = size_classes - 1;
static_assert(block_bytes_min << whole_chunk == chunk_bytes);
// Blocks from this size on are asked where they lie: no page has two of them.
inline constexpr std::uint64_t asked_bytes_min = 4096;

[[nodiscard]] constexpr unsigned class_of(std::size_t bytes) noexcept {
  return bytes <= block_bytes_min ? 0 : static_cast<unsigned>(std::bit_width(bytes - 1)) - 6;
}
[[nodiscard]] constexpr std::uint64_t bytes_of(unsigned size_class) noexcept { return block_bytes_min << size_class; }

// What is known of one block.
struct whereabouts {
  // The node that it lies on, plus one; 0: nobody has asked yet. Who: while a block is taken, its users; else its pool.
  detail::cell<std::uint32_t> node_and_1;
  std::byte* next = nullptr;  // in a list of strays
};

// Its pool's lock guards what is not constant. The places of its blocks are theirs who have them.
class chunk {
 public:
  using time = std::chrono::steady_clock::time_point;
  static constexpr std::uint8_t direct = size_classes;  // one block of more than a chunk

  // With `places` it can be said where a block lies.
  chunk(std::byte* begin, std::uint64_t bytes, unsigned node, bool places) noexcept
      : begin_(begin), bytes_(bytes), node_(node), places_(places) {}

  [[nodiscard]] std::byte* begin() const noexcept { return begin_; }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
  // For which it was taken.
  [[nodiscard]] unsigned node() const noexcept { return node_; }
  [[nodiscard]] unsigned size_class() const noexcept { return size_class_; }
  [[nodiscard]] std::uint64_t block_bytes() const noexcept {
    return size_class_ == direct ? bytes_ : bytes_of(size_class_);
  }
  [[nodiscard]] bool has_free() const noexcept { return out_ < blocks(); }
  [[nodiscard]] bool is_whole() const noexcept { return out_ == 0; }

  // All its blocks are free and of this class from now on. Needs is_whole(). Errors: std::bad_alloc, nothing changed.
  void cut(unsigned size_class) {
    WEFT_ASSERT(out_ == 0 && size_class < size_classes && bytes_ == chunk_bytes);
    const std::uint64_t n = chunk_bytes / bytes_of(size_class);
    const bool has_places = places_ && bytes_of(size_class) >= asked_bytes_min;
    std::vector<whereabouts> where(has_places ? n : 0);
    free_.assign((n + 63) / 64, n < 64 ? (std::uint64_t{1} << n) - 1 : ~std::uint64_t{0});
    where_.swap(where);
    size_class_ = static_cast<std::uint8_t>(size_class);
    first_ = 0;
  }
  // It is one block, and taken. Errors: std::bad_alloc.
  void take_as_one() {
    if (places_) where_.resize(1);
    size_class_ = direct;
    out_ = 1;
  }

  // The free block with the lowest address. Needs has_free().
  [[nodiscard]] std::byte* take() noexcept {
    WEFT_ASSERT(has_free());
    while (free_[first_] == 0) ++first_;
    const auto bit = static_cast<std::uint64_t>(std::countr_zero(free_[first_]));
    free_[first_] &= free_[first_] - 1;
    ++out_;
    return begin_ + (first_ * 64 + bit) * bytes_of(size_class_);
  }
  void put(const std::byte* block) noexcept {
    const std::uint64_t i = number_of(block), bit = std::uint64_t{1} << i % 64;
    WEFT_ASSERT(out_ != 0 && (free_[i / 64] & bit) == 0);  // or it is given back twice
    free_[i / 64] |= bit;
    first_ = i / 64 < first_ ? i / 64 : first_;
    --out_;
  }

  // nullptr: nobody asks where the block lies.
  [[nodiscard, gnu::always_inline]] whereabouts* place_of(const std::byte* block) noexcept {
    return where_.empty() ? nullptr : &where_[size_class_ == direct ? 0 : number_of(block)];
  }

  chunk* next = nullptr;  // in the list that it is in
  chunk* previous = nullptr;
  time whole_since{};

 private:
  [[nodiscard]] std::uint64_t blocks() const noexcept {
    return size_class_ == direct ? 1 : chunk_bytes / bytes_of(size_class_);
  }
  [[nodiscard]] std::uint64_t number_of(const std::byte* block) const noexcept {
    const auto at = static_cast<std::uint64_t>(block - begin_);
    WEFT_ASSERT(at < bytes_ && (at & (bytes_of(size_class_) - 1)) == 0);
    return at >> std::countr_zero(bytes_of(size_class_));
  }

  std::byte* const begin_;
  const std::uint64_t bytes_;
  const unsigned node_;
  const bool places_;
  std::uint8_t size_class_ = whole_chunk;
  std::uint32_t out_ = 0;    // blocks that are not free here
  std::uint64_t first_ = 0;  // no word of free_ before it has a bit
  std::vector<std::uint64_t> free_;
  std::vector<whereabouts> where_;
};

// A list of chunks, each of which is in one at most.
class chunk_list {
 public:
  [[nodiscard]] chunk* first() const noexcept { return first_; }
  [[nodiscard]] chunk* last() const noexcept { return last_; }
  void push(chunk& c) noexcept {
    WEFT_ASSERT(c.next == nullptr && c.previous == nullptr);
    c.next = first_;
    (first_ != nullptr ? first_->previous : last_) = &c;
    first_ = &c;
  }
  void remove(chunk& c) noexcept {
    (c.previous != nullptr ? c.previous->next : first_) = c.next;
    (c.next != nullptr ? c.next->previous : last_) = c.previous;
    c.next = c.previous = nullptr;
  }

 private:
  chunk* first_ = nullptr;
  chunk* last_ = nullptr;
};

}  // namespace weft::memory

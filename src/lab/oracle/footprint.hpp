// The words that one body has touched, each once, in the order of the first touch.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace weft::ordered_run {

class footprint {
 public:
  struct entry {
    std::uint64_t word;
    std::uint8_t read;     // whether it was
    std::uint8_t written;  // which of its bytes, a bit each
  };

  footprint() : table_(64) {}
  // Good until the next call.
  [[nodiscard]] entry& of(std::uint64_t word);
  [[nodiscard]] std::span<const entry> entries() const noexcept { return entries_; }
  void clear() noexcept;

 private:
  struct slot {
    std::uint32_t round = 0;  // in which it was filled; another one than now: it is free
    std::uint32_t place = 0;  // in entries_
  };
  [[nodiscard]] slot& slot_of(std::uint64_t word) noexcept;
  void grow();

  std::vector<slot> table_;  // a power of two, at most half full
  std::vector<entry> entries_;
  std::uint32_t round_ = 1;
};

}  // namespace weft::ordered_run

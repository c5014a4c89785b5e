// For each word of memory that a body has stored: when its value is there. Words that nobody stores take no room but
// four bytes, and those only beside one that somebody did.
#pragma once
#include <cstdint>
#include <deque>
#include <memory>
#include <unordered_map>

#include "lab/oracle/moments.hpp"

namespace weft::ordered_run {

class writers {
 public:
  // nullptr: nobody has stored it.
  [[nodiscard]] const moments* find(std::uint64_t word) noexcept;
  // All of the word was stored, or some bytes: then the others are still there when they were.
  void stored(std::uint64_t word, const moments& when, bool whole);
  [[nodiscard]] std::size_t words() const noexcept { return moments_.size(); }

 private:
  static constexpr std::uint64_t page_words = 8192;  // 64 KiB: few enough pages that finding one stays in the cache
  using page = std::unique_ptr<std::uint32_t[]>;     // place in moments_ + 1; 0: none
  [[nodiscard]] std::uint32_t* page_of(std::uint64_t number) noexcept;

  std::unordered_map<std::uint64_t, page> pages_;
  std::uint64_t last_number_ = UINT64_MAX;
  std::uint32_t* last_ = nullptr;
  std::deque<moments> moments_;
};

}  // namespace weft::ordered_run

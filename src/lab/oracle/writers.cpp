#include "lab/oracle/writers.hpp"

#include "base/assert.hpp"

namespace weft::ordered_run {

std::uint32_t* writers::page_of(std::uint64_t number) noexcept {
  if (number == last_number_) return last_;
  const auto found = pages_.find(number);
  if (found == pages_.end()) return nullptr;
  last_number_ = number;
  return last_ = found->second.get();
}

const moments* writers::find(std::uint64_t word) noexcept {
  const std::uint32_t* const p = page_of(word / page_words);
  const std::uint32_t place = p == nullptr ? 0 : p[word % page_words];
  WEFT_ASSERT(place <= moments_.size());
  return place == 0 ? nullptr : &moments_[place - 1];
}

void writers::stored(std::uint64_t word, const moments& when, bool whole) {
  std::uint32_t* p = page_of(word / page_words);
  if (p == nullptr) p = (pages_[word / page_words] = std::make_unique<std::uint32_t[]>(page_words)).get();
  std::uint32_t& place = p[word % page_words];
  if (place == 0) {
    WEFT_ASSERT(moments_.size() < UINT32_MAX - 1);
    moments_.push_back(when);
    place = static_cast<std::uint32_t>(moments_.size());
  } else if (whole) {
    moments_[place - 1] = when;
  } else {
    moments_[place - 1].not_before(when);
  }
}

}  // namespace weft::ordered_run

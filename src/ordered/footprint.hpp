// What the run that goes on has accessed so far, by word: so that a word is looked up among the versions once, and a
// body reads what it has written itself.
// Who: the thread that runs the body.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "ordered/speculative_task.hpp"

namespace weft::speculative {

class footprint {
 public:
  footprint() = default;
  footprint(const footprint&) = delete;
  footprint& operator=(const footprint&) = delete;
  void begin(task& t) noexcept {
    of_ = &t;
    set_ = &t.this_run();
    ++run_;
    WEFT_ASSERT(set_->size() == 0);  // what is in it already would be there twice
  }
  // The access of that word, new if there was none.
  [[nodiscard, gnu::always_inline]] word_access& of(std::uintptr_t word) {
    WEFT_DEBUG_ASSERT(set_->size() * 2 <= slots_.size());  // a free slot ends the search
    slot* at = first_ + slot_of(word);
    for (; at->run == run_; at = first_ + (static_cast<std::size_t>(at - first_ + 1) & mask_))
      if (at->word == word) return *at->to;
    word_access& a = set_->add();
    a.word = word;
    a.by = of_;
    *at = {word, run_, &a};
    if (set_->size() > room_) [[unlikely]]
      grow();
    return a;
  }

 private:
  struct slot {
    std::uintptr_t word = 0;
    std::uint64_t run = 0;
    word_access* to = nullptr;
  };
  [[nodiscard]] std::size_t slot_of(std::uintptr_t word) const noexcept {
    return ((word >> 3) * 0x9e3779b97f4a7c15u >> 40) & mask_;
  }
  [[gnu::noinline]] void grow() {
    slots_.assign(slots_.size() * 2, {});
    first_ = slots_.data();
    mask_ = slots_.size() - 1;
    room_ = slots_.size() / 2;
    set_->for_each([this](word_access& a) {
      std::size_t at = slot_of(a.word);
      while (first_[at].run == run_) at = (at + 1) & mask_;
      first_[at] = {a.word, run_, &a};
    });
  }

  task* of_ = nullptr;
  access_set* set_ = nullptr;
  std::uint64_t run_ = 0;
  std::vector<slot> slots_ = std::vector<slot>(64);
  slot* first_ = slots_.data();  // and their number less one, and half of it, at hand
  std::size_t mask_ = slots_.size() - 1;
  std::size_t room_ = slots_.size() / 2;
};

}  // namespace weft::speculative

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
  [[nodiscard]] word_access& of(std::uintptr_t word) {
    WEFT_DEBUG_ASSERT(set_->size() * 2 <= slots_.size());  // a free slot ends the search
    std::size_t at = slot_of(word);
    for (; first_[at].run == run_; at = (at + 1) & mask_)
      if (first_[at].word == word) return *first_[at].to;
    return add(word, at);
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
  // Apart, so that finding one is a few instructions: many accesses are of a word that was met before.
  [[nodiscard, gnu::noinline]] word_access& add(std::uintptr_t word, std::size_t at) {
    word_access& a = set_->add();
    a.word = word;
    a.by = of_;
    first_[at] = {word, run_, &a};
    if (set_->size() * 2 > slots_.size()) grow();
    return a;
  }
  void grow() {
    slots_.assign(slots_.size() * 2, {});
    first_ = slots_.data();
    mask_ = slots_.size() - 1;
    for (std::size_t i = 0; i < set_->size(); ++i) {
      word_access& a = (*set_)[i];
      std::size_t at = slot_of(a.word);
      while (first_[at].run == run_) at = (at + 1) & mask_;
      first_[at] = {a.word, run_, &a};
    }
  }

  task* of_ = nullptr;
  access_set* set_ = nullptr;
  std::uint64_t run_ = 0;
  std::vector<slot> slots_ = std::vector<slot>(64);
  slot* first_ = slots_.data();  // and their number less one, at hand
  std::size_t mask_ = slots_.size() - 1;
};

}  // namespace weft::speculative

#include "lab/oracle/footprint.hpp"

#include <algorithm>

#include "base/assert.hpp"

namespace weft::ordered_run {

footprint::slot& footprint::slot_of(std::uint64_t word) noexcept {
  WEFT_DEBUG_ASSERT(2 * entries_.size() <= table_.size());  // a free slot ends the search
  const std::size_t mask = table_.size() - 1;
  std::size_t i = static_cast<std::size_t>((word * 0x9e3779b97f4a7c15u) >> 32) & mask;
  while (table_[i].round == round_ && entries_[table_[i].place].word != word) i = (i + 1) & mask;
  return table_[i];
}

footprint::entry& footprint::of(std::uint64_t word) {
  slot* s = &slot_of(word);
  if (s->round == round_) return entries_[s->place];
  if (2 * (entries_.size() + 1) > table_.size()) {
    grow();
    s = &slot_of(word);
  }
  *s = {round_, static_cast<std::uint32_t>(entries_.size())};
  return entries_.emplace_back(entry{word, 0, 0});
}

void footprint::grow() {
  table_.assign(2 * table_.size(), {});
  for (std::uint32_t i = 0; i < entries_.size(); ++i) slot_of(entries_[i].word) = {round_, i};
}

void footprint::clear() noexcept {
  entries_.clear();
  if (++round_ != 0) return;
  std::fill(table_.begin(), table_.end(), slot{});
  round_ = 1;
}

}  // namespace weft::ordered_run

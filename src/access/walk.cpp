#include "access/walk.hpp"

#include <algorithm>

namespace weft::access {

void exclusive_order::sort_many(record& r) noexcept {
  many_ = std::make_unique<std::uint32_t[]>(r.access_count);
  entries_ = many_.get();
  size_ = 0;
  for (std::uint32_t i = 0; i < r.access_count; ++i)
    if (is_held(condition_of(r.accesses()[i]))) entries_[size_++] = i;
  const auto before = [&r](std::uint32_t a, std::uint32_t b) {
    return comes_before(handle_of(r.accesses()[a]), handle_of(r.accesses()[b]));
  };
  if (!std::is_sorted(begin(), end(), before)) std::sort(entries_, entries_ + size_, before);
}

}  // namespace weft::access

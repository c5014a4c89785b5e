#include "lab/oracle/spread.hpp"

namespace weft::ordered_run {

oracle_spread spread::get() const {
  if (count_ == 0) return {};
  oracle_spread s{static_cast<double>(sum_) / static_cast<double>(count_), 0};
  const std::uint64_t wanted = count_ - count_ / 10;
  std::uint64_t seen = 0;
  for (std::uint64_t value = 0; value < small_.size(); ++value)
    if ((seen += small_[value]) >= wanted) return {s.mean, value};
  for (const auto& [value, times] : large_)
    if ((seen += times) >= wanted) return {s.mean, value};
  return s;
}

}  // namespace weft::ordered_run

// What the scheduler decides by measurement or by a number: its rules, each of which can be set and switched off
// (options::rules). `weft info --rules` lists them.
#pragma once
#include "weft/detail/language.hpp"  // before all others

#include <cstddef>
#include <cstdint>

namespace weft {

namespace detail {
inline constexpr std::size_t rule_count = 37;  // as many as scheduler_rules() has
}

struct rule {
  const char* name;
  const char* unit;     // of its numbers
  const char* what;     // it decides, with that number
  const char* counted;  // what run_counts::decided says the number of
  std::uint64_t value;
  std::uint64_t off;  // the number with which it decides nothing
  std::uint64_t least;
  std::uint64_t most;
};
struct rule_list {
  const rule* first;
  std::size_t count;
  [[nodiscard]] const rule* begin() const noexcept { return first; }
  [[nodiscard]] const rule* end() const noexcept { return first + count; }
};

// All of them, in an order that stays. The numbers are those of a runtime whose options say nothing else.
[[nodiscard]] rule_list scheduler_rules() noexcept;

}  // namespace weft

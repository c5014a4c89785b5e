// The table of README.md: which calls of each front are made to fail, on each machine, and where that is still open. A
// front of the program that has no row, or a row that says something else than the program does, is an error.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

#include "inject.hpp"

namespace faults {

class page {
 public:
  static constexpr std::string_view machines[] = {"host", "virtual"};
  using counts = long[static_cast<std::size_t>(call::count)];

  // Whether some k of this kind is known to fall, or has not been tried: left out unless asked for.
  [[nodiscard]] static bool is_open(std::string_view front, std::string_view machine, std::string_view kind) noexcept;
  // Whether the table in `path` has the fronts that there are; says what it has not.
  [[nodiscard]] static bool check(const std::string& path);

  void add(std::string_view front, std::string_view machine, const counts& points);
  // Puts the rows that were added in the place of those in `path`. Returns whether that could be done.
  [[nodiscard]] bool write(const std::string& path) const;

 private:
  std::string rows_;
};

}  // namespace faults

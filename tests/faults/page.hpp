// The table of README.md: how often each kind of call of each front was made to fail, on each machine, and how that
// ended. A front of the program that has no row, and a row in which a run fell, is an error.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

#include "inject.hpp"

namespace faults {

struct tally {
  long runs = 0, right = 0, told = 0, fell = 0;
  long points[static_cast<std::size_t>(call::count)] = {};  // the k's of each kind that there are
};

class page {
 public:
  static constexpr std::string_view machines[] = {"host", "virtual"};

  // Whether the table in `path` has the fronts that there are; says what it has not.
  [[nodiscard]] static bool check(const std::string& path);

  void add(std::string_view front, std::string_view machine, const tally& t);
  // Puts the rows that were added in the place of those in `path`. Returns whether that could be done.
  [[nodiscard]] bool write(const std::string& path) const;

 private:
  std::string rows_;
};

}  // namespace faults

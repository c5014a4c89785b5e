// The systems that `weft bench` knows, in the order of the table, and how to ask their programs.
#pragma once
#include <string>
#include <vector>

#include "problem.hpp"

namespace weft::bench {

struct listed_system {
  const char* name;
  const char* program;  // file name in the folder of the systems' programs
  const char* summary;
  const char* package;       // that must be there at build time; "" if nothing more than Weft needs
  bool parallel;             // false: one worker only, and no METG
  bool streams, recursions;  // what it can run

  [[nodiscard]] bool runs(const problem& p) const noexcept {
    if (!parallel && p.measures != metric::cost && p.measures != metric::node) return false;
    return family_of(p) == family::streams ? streams : recursions;
  }
};

[[nodiscard]] const std::vector<listed_system>& all_systems();

// Folders where the programs may be, to be tried in turn: the build tree's, the installed one.
[[nodiscard]] std::vector<std::string> program_folders();

}  // namespace weft::bench

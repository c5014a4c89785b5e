// The shape of a machine as hwloc knows it: which cores there are, and what they share. hwloc stays behind this file.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "model/machine.hpp"

namespace weft::model {

// A part of a machine and what is in it, for people: neighbours that look the same are one entry with a count.
struct outline {
  std::string what;  // "Package", "L3", "core"
  unsigned count = 1;
  std::vector<outline> inside;
  [[nodiscard]] bool operator==(const outline&) const = default;
};

struct shape {
  std::vector<core> cores;  // in hwloc's order, numbers from 0 without gaps; type 0
  unsigned nodes = 1;
  std::vector<std::vector<std::uint64_t>> latency;  // [node][node], relative; empty if not known
  outline drawing;
};

// From hwloc's synthetic notation, "Package:4 NUMANode:2 L3:1 L2:4 PU:2". Errors: weft::error with the bare reason.
[[nodiscard]] shape shape_of_notation(const std::string& notation);
// From the text of a file that hwloc exported. Errors: as above.
[[nodiscard]] shape shape_of_xml(const std::string& text);
// Of this machine, all of it. Errors: as above.
[[nodiscard]] shape shape_of_host();

}  // namespace weft::model

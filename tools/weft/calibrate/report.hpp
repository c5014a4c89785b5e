// A calibration as a table and as JSON.
#pragma once
#include <string>
#include <vector>

#include "../json.hpp"
#include "assemble.hpp"

namespace weft::tool::calibrate {

struct calibration {
  std::string file;
  std::string date;
  bool quick = false;
  double seconds = 0;
  unsigned tries = 1;
  json computer;
  json load;
  const figures* found = nullptr;
  const assembled* result = nullptr;
  std::vector<comparison> steps;   // the programs that the steps were solved from
  std::vector<comparison> checks;  // those that they were not
};

// Why a machine file of these checks should not be used, as part of a sentence; empty if it may. A program that the
// steps were not solved from comes out so far from what was measured that others would, too.
[[nodiscard]] std::string unusable(const std::vector<comparison>& checks);

// How far the worst of the checks comes out from what was measured.
[[nodiscard]] double worst_error(const std::vector<comparison>& checks);

[[nodiscard]] json report_json(const calibration& c);
[[nodiscard]] std::string report_text(const calibration& c, bool colour);

// What a reader should know before trusting the file, a sentence each; empty if all is well.
[[nodiscard]] std::vector<std::string> warnings(const calibration& c);

}  // namespace weft::tool::calibrate

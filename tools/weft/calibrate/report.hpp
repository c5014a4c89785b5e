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
  std::string moved;               // what differed between tries, from disagreements(); "" of one try
};

// What several tries do not agree on: figures, by key, and checks, by name, whose medians are further apart than a
// noisy one's quartiles, with how far; most first. What jumps from try to try may be steady within each.
class disagreements {
 public:
  void add(const figures& found, const std::vector<comparison>& checks);
  [[nodiscard]] std::string text() const;

 private:
  struct range {
    std::string what;
    double least, most;
    [[nodiscard]] double apart() const noexcept { return least > 0 ? most / least - 1 : 0; }
  };
  void add(const std::string& what, double median);
  std::vector<range> all_;
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

// The program under test: one run of it under one schedule, and what counts as its result.
#pragma once
#include <cstdint>
#include <memory>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "../scratch.hpp"
#include "history.hpp"

namespace weft::tool::check {

// A schedule: with it the run is the same each time.
struct settings {
  std::string schedule = "time";
  unsigned workers = 1;
  std::uint64_t seed = 1;
};
// As one would type it.
[[nodiscard]] std::string replay_line(const settings& s, const std::vector<std::string>& command);

// What is compared, by name: "exit", "stdout", "stderr", names of files.
using result = std::vector<std::pair<std::string, std::string>>;
// The first lines in which two results differ: name, line number, the two lines.
struct difference {
  std::string where;
  std::size_t line = 0;  // from 1
  std::string a, b;
};
[[nodiscard]] difference first_difference(const result& a, const result& b);

struct observation {
  result got;
  bool late = false;  // it did not end in time
  history seen;
};

class program {
 public:
  struct rules {
    std::vector<std::string> command;
    std::vector<std::string> compare;  // "exit", "stdout", "stderr", files
    std::vector<std::string> ignore;   // regular expressions: what matches is left out of what is compared
    double seconds_max = 10;
  };
  // Errors: weft::error for an expression that is none; no room for temporary files.
  explicit program(rules r);
  program(const program&) = delete;
  program& operator=(const program&) = delete;

  // Who: several threads at a time, unless it writes files. Errors: weft::error if it cannot be started.
  [[nodiscard]] observation run(const settings& s) const;
  // The same with one worker and the steps in that order.
  [[nodiscard]] observation run(const order& steps) const;
  [[nodiscard]] const rules& how() const noexcept { return rules_; }
  [[nodiscard]] bool writes_files() const;

 private:
  [[nodiscard]] std::string cleaned(std::string text) const;

  rules rules_;
  std::vector<std::regex> ignored_;
  scratch folder_{"check"};  // for logs and orders
};

}  // namespace weft::tool::check

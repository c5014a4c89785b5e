// What `weft bench` has measured, and its three forms: JSON, tables for a terminal, the same tables in Markdown.
#pragma once
#include <string>
#include <vector>

#include "bench/problem.hpp"
#include "bench/systems.hpp"
#include "json.hpp"
#include "output.hpp"

namespace weft::tool {

// One problem on one system with one number of workers, through all rounds.
struct series {
  const bench::problem* problem;
  const bench::listed_system* system;
  unsigned workers;
  std::vector<double> values{};  // sorted when the rounds are over
  bool above = false;            // METG: a round ended its search without finding it
  bool correct = true;
  bool comparable = true;      // false: shown, but not counted among those that may be the best
  std::string failed{};        // why there is no figure though there should be
  std::string not_possible{};  // why there cannot be one on this machine
  std::string remark{};        // what must be said beside the figure
  std::string version{};
  std::uint64_t tasks = 0;

  [[nodiscard]] bool usable() const { return correct && failed.empty() && not_possible.empty() && !values.empty(); }
  [[nodiscard]] double median() const;
};

struct report {
  std::string date;
  json machine;
  std::size_t rounds = 0;
  json environment;
  std::vector<std::string> warnings;  // why the figures are not to be trusted
  std::vector<std::string> missing;   // systems that were not built, and the packages they need
  json load;
  std::vector<series> all;  // by problem, in the order of the table
};

[[nodiscard]] bool all_correct(const report& r);
[[nodiscard]] json report_json(const report& r);
[[nodiscard]] std::string report_text(const report& r, bool colour);
[[nodiscard]] std::string report_markdown(const report& r);

}  // namespace weft::tool

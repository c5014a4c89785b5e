// From figures to a described machine. What could not be measured here is filled in, and says so: nothing in a machine
// file is without a source.
#pragma once
#include <map>
#include <string>

#include "figures.hpp"
#include "host.hpp"
#include "model/machine.hpp"
#include "steps.hpp"
#include "survey.hpp"

namespace weft::tool::calibrate {

struct assembled {
  model::machine machine;
  std::string xml;                            // what the topology is, where hwloc's short notation cannot say it
  std::map<std::string, std::string> source;  // of "lines.load_ps" and so on: how that number came about
};

inline constexpr const char* step_names[model::steps] = {"submit",  "submit_access", "run",    "run_access",
                                                         "advance", "steal",         "request"};

// All but the scheduler's steps. Adds what it had to assume to `found`.
[[nodiscard]] assembled assemble(const host_description& host, figures& found, const std::string& processor);

// The steps, which the model itself has to be asked for.
void add_steps(assembled& a, const std::vector<measured_part>& measured, const figures& found, const run_model& run);

}  // namespace weft::tool::calibrate

// Measures everything there is to measure on this computer, in an order, within a time.
#pragma once
#include <functional>
#include <vector>

#include "figures.hpp"
#include "host.hpp"
#include "steps.hpp"

namespace weft::tool::calibrate {

struct survey_setup {
  bool quick = false;
  std::function<void(double)> progress;  // gets the part that is done, 0 to 1
};

struct survey {
  figures found;
  std::vector<measured_part> steps;   // of step_programs()
  std::vector<measured_part> checks;  // of check_programs()
};

// Errors: weft::error if threads or memory cannot be had.
[[nodiscard]] survey measure_host(const host_description& host, const survey_setup& setup);

// "a shared outermost cache" and so on: what model::machine::distance counts.
[[nodiscard]] std::string name_of_distance(unsigned distance);

}  // namespace weft::tool::calibrate

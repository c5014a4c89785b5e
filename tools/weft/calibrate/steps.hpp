// What the scheduler's own instructions cost. A modelled machine charges shared words by itself, so a step is worth
// what is left of the measured time of a program when the time of the same program on a model without any steps is
// taken off. How often a program takes each step is asked of the model as well: by how much its time grows with the
// step's cost.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "model/machine.hpp"
#include "programs.hpp"
#include "statistics.hpp"

namespace weft::tool::calibrate {

// One part of one program, as it was on real cores.
struct measured_part {
  std::string name;
  summary ns;
};

// Programs in the order given, parts in theirs. `each`: called behind each program.
[[nodiscard]] std::vector<measured_part> measure(const effort& e, const std::vector<program_kind>& programs,
                                                 unsigned cpu, const std::function<void()>& each);

// The same on a modelled machine. Errors: weft::error if the file is none.
[[nodiscard]] std::vector<double> modelled_ns(const std::vector<program_kind>& programs,
                                              const std::string& machine_file);

struct step_costs {
  model::runtime_costs costs;    // those given, with the steps and the switch replaced
  std::vector<bool> determined;  // [step], and the switch last
};

// `run_model`: gives what modelled_ns() does for step_programs() on this machine.
using run_model = std::function<std::vector<double>(const model::machine&)>;
[[nodiscard]] step_costs solve_steps(const std::vector<measured_part>& measured, model::machine m,
                                     const run_model& run);

}  // namespace weft::tool::calibrate

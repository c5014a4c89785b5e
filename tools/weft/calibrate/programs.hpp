// Small programs on the public API whose times tell what the scheduler's steps cost. They run on real cores and on a
// modelled machine alike, by that machine's own clock, which is how the two are compared.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "weft/weft.hpp"

namespace weft::tool::calibrate {

class program {
 public:
  virtual ~program() = default;
  // Runs once. Nanoseconds of each of its parts, per task.
  virtual std::vector<double> pass(runtime& rt) = 0;
};

struct program_kind {
  std::string name;
  std::vector<std::string> parts;
  unsigned workers;
  std::function<std::unique_ptr<program>()> make;  // a handle belongs to one runtime: one program for each
};

// Of one worker, from which the steps are solved: independent tasks and chains with 0 to 3 accesses, and waits.
[[nodiscard]] std::vector<program_kind> step_programs();

// What the model must then say by itself: spawning, and on two workers dependences, steals and wake-ups.
[[nodiscard]] std::vector<program_kind> check_programs(unsigned workers);

}  // namespace weft::tool::calibrate

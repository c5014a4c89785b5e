// How much shorter a body is that forks, when all that may run at the same time does.
#pragma once
#include <vector>

#include "pieces.hpp"

namespace weft::tool::report {

// Of each task, and last of the main program: what must come one after the other, as a share of its pieces. Empty if
// nothing of the run forks. Cost: linear in the steps.
[[nodiscard]] std::vector<double> strand_shares(const trace::file& r, const pieces& p);

}  // namespace weft::tool::report

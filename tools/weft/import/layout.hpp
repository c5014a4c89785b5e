// When and where each task of a graph ran: as the file says, or, where it has no times, as so many workers would have
// done it that take whatever is ready, in the order of the file.
#pragma once
#include <vector>

#include "dependences.hpp"

namespace weft::tool::foreign {

struct layout {
  std::vector<ns> begin;      // of each task, from 0
  std::vector<index> worker;  // of each task
  unsigned workers = 0;
  ns end = 0;                // of the last task
  bool is_recorded = false;  // the times are the file's
};

// order: submission_order(). Errors: weft::error if only some tasks have times, if a worker was in two bodies at once,
// or if there are more workers than a runtime can have.
[[nodiscard]] layout lay_out(const graph& g, const dependences& d, const std::vector<index>& order);

}  // namespace weft::tool::foreign

// A graph as a trace of Weft: as if a main program had submitted its tasks, in the order of the file and in no time,
// and then waited for all. An edge becomes a handle that its first task writes, and all that come after it read.
#pragma once
#include <functional>
#include <string>

#include "layout.hpp"

namespace weft::tool::foreign {

struct made {
  std::uint64_t handles = 0, accesses = 0;
};

// Writes it under that name, whole or not at all. format: what the file was, for the trace's `program`. Errors:
// weft::error.
made make_trace(const std::string& path, const graph& g, const layout& l, const std::vector<index>& order,
                const std::string& format, const std::function<void(double)>& tell);

// Errors: weft::error if that may not be replaced: it is no file, or one that is no trace.
void demand_place_for_trace(const std::string& path);

}  // namespace weft::tool::foreign

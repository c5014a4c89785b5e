// A pipeline of a recorded run, once more: weft::pipeline itself, with as many stages of the same kinds and the same
// limit, so who carries which item, and whether several do at all, is decided as it is in a program.
#pragma once
#include <cstdint>
#include <functional>

#include "tools/weft/trace/reader.hpp"

namespace weft::tool::sim {

// Its passes, [first, last) in file::passes, times share. If that is not 1 it is one of several short ones that were
// recorded together, and these are the passes of the one that was told apart before them.
struct pipeline_item {
  std::uint32_t first, last;
  double share;
};

// Calls `does` for each item in each stage. Who: a body; returns when all items are through.
void run_pipeline(const trace::file& f, std::uint32_t which,
                  const std::function<void(const pipeline_item&, unsigned stage)>& does);

}  // namespace weft::tool::sim

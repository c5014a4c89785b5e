// Two runs side by side: the figures of each and what changed, in all and by the names of tasks.
#pragma once
#include <string>

#include "analysis.hpp"
#include "tools/weft/json.hpp"

namespace weft::tool::report {

struct run {
  const trace::file& file;
  const analysis& figures;
};

// Names are the same if their texts are. Those whose time in bodies changed most come first.
[[nodiscard]] std::string compared_text(const run& a, const run& b, bool colour);
[[nodiscard]] json compared_json(const run& a, const run& b);

}  // namespace weft::tool::report

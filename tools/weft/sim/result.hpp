// What came of a modelled run, as one JSON object and in words: the same for sim and for the rows of whatif.
#pragma once
#include <string>

#include "replay.hpp"
#include "tools/weft/json.hpp"
#include "verdict.hpp"

namespace weft::tool::sim {

[[nodiscard]] json to_json(const trace::file& f, const report::analysis& a, const verdict& v);
// What only a replay knows: exact times, a digest, what it took.
void add_replay(json& out, const replayed& r);

// Why that limit binds, in a sentence without a full stop.
[[nodiscard]] const char* reason(limit l) noexcept;
[[nodiscard]] std::string percent(double share);

}  // namespace weft::tool::sim

// "There is no X; did you mean Y?" for names that people type: options, machines, keys of files.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace weft::base {

// Letters to insert, remove, replace or swap with a neighbour to get from one to the other; capitals do not count.
[[nodiscard]] unsigned edits(std::string_view a, std::string_view b);

// Those of `known` that `typed` is likely meant to be, or to be the beginning of, best first, at most `count`: a third
// of its letters may be wrong. Equals in the order of `known`.
[[nodiscard]] std::vector<std::string> near_names(std::string_view typed, const std::vector<std::string>& known,
                                                  std::size_t count);

// "; did you mean a or b?", or "" if nothing is near.
[[nodiscard]] std::string did_you_mean(std::string_view typed, const std::vector<std::string>& known,
                                       std::size_t count = 1);

}  // namespace weft::base

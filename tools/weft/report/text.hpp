// A report for the terminal and as JSON. Both come from the same figures; JSON has whole nanoseconds.
#pragma once
#include <string>
#include <vector>

#include "analysis.hpp"
#include "tools/weft/json.hpp"
#include "tools/weft/output.hpp"

namespace weft::tool::report {

// A hint that the figures prove, in words; `kind` is stable for scripts.
struct advice {
  const char* kind;
  std::string text;
};
[[nodiscard]] std::vector<advice> advise(const trace::file& r, const figures& f);

[[nodiscard]] std::string text(const trace::file& r, const analysis& a, bool colour);
[[nodiscard]] json to_json(const trace::file& r, const analysis& a);

// "1.25 ms": three digits, the unit that fits.
[[nodiscard]] std::string duration(double nanoseconds);
using tool::printable;
// Of an entry of trace::file::names; tasks without a name are "(unnamed)".
[[nodiscard]] std::string name_text(const trace::file& r, std::uint32_t name);

}  // namespace weft::tool::report

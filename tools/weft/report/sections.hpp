// Ordered sections: what ran ahead of its order, what of that was in vain, and whether it paid. Runs of one executor
// are added up: a program may run thousands of them.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "graph.hpp"
#include "tools/weft/json.hpp"

namespace weft::tool::report {

struct section_figures {
  std::string executor;
  std::uint64_t runs = 0;
  std::int64_t committed = 0;
  std::int64_t started = 0;
  std::int64_t again = 0;
  std::int64_t in_order = 0;
  ns took = 0;    // all of them, in sum
  ns judged = 0;  // of these, those of which it is known what they would have taken in order
  ns serial = 0;  // what that is
  [[nodiscard]] std::int64_t in_vain() const noexcept { return started > committed ? started - committed : 0; }
  // How many times as fast as in order; 0: nobody knows.
  [[nodiscard]] double gain() const noexcept {
    return judged > 0 && serial > 0 ? static_cast<double>(serial) / static_cast<double>(judged) : 0;
  }
};

// Most time first.
[[nodiscard]] std::vector<section_figures> sections_of(const trace::file& r);
// Empty where there were none.
[[nodiscard]] std::string section_rows(const std::vector<section_figures>& all, bool colour);
// null: the trace does not say.
[[nodiscard]] json sections_json(const trace::file& r, const std::vector<section_figures>& all);

}  // namespace weft::tool::report

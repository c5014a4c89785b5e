// The tables of ordered sections: their runs, and then which tasks took part, which bodies happened, and what these
// touched.
#pragma once
#include <vector>

#include "reader_strands.hpp"

namespace weft::tool::trace {

[[nodiscard]] std::vector<section> read_sections(database& db, std::int64_t format);
// Who: behind read_strands(). Errors: weft::error if they contradict themselves. A section of which something is
// missing is not known, and its bodies are here as far as they were written.
void read_bodies(database& db, const strand_references& of, file& f);

}  // namespace weft::tool::trace

// The tables of pipelines: these themselves, which steps of strands name, and then what items did in them.
#pragma once
#include "reader_strands.hpp"

namespace weft::tool::trace {

// Who: before read_strands(), and behind it. Errors: weft::error if they contradict themselves and no record was lost:
// a stage that the pipeline does not have, a strand that is of two passes.
void read_pipelines(database& db, const strand_references& of, file& f);
void read_passes(database& db, const strand_references& of, file& f);

}  // namespace weft::tool::trace

#pragma once
#include <cstdint>

#include "database.hpp"
#include "id_map.hpp"
#include "reader.hpp"

namespace weft::tool::trace {

// Of a length in picoseconds: a few of them in sum are a number.
inline constexpr std::int64_t ps_max = INT64_MAX / 4;

// What the ids of other tables stand for.
struct strand_references {
  const id_map &task, &worker, &handle;
};

// Reads the tables of strands into f. Errors: weft::error if they contradict themselves and no record was lost: a step
// that does not fit those before it, a branch that two forks have.
void read_strands(database& db, const strand_references& of, file& f);

}  // namespace weft::tool::trace

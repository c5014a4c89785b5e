// What StarPU writes of its tasks, record by record: tasks.rec, in which a record is lines of "Key: value" and ends
// with an empty one, or the table that StarVZ makes of it.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "source.hpp"

namespace weft::tool::foreign {

struct starpu_record {
  std::uint32_t line = 0;
  std::string control, job, name, handles, modes, sizes, depends_on, rank, worker, node;
  std::string submit_order, start, end;
};

[[nodiscard]] bool is_starpu_table(std::string_view text);

// Calls `take` with each record. Errors: weft::error with the line.
void starpu_records(const source& from, const std::function<void(double)>& tell,
                    const std::function<void(const starpu_record&)>& take);

}  // namespace weft::tool::foreign

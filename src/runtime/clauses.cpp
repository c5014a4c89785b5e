// What is said of clauses that cannot be.
#include <string>

#include "weft/detail/submit.hpp"
#include "weft/error.hpp"
#include "weft/resource.hpp"

namespace weft {

namespace detail {

void throw_no_such_priority(int level) {
  throw error("weft: priority(" + std::to_string(level) +
              ") cannot be; there are two levels, 0 and 1, which goes first");
}

void throw_bad_units(std::uint32_t asked, std::uint32_t there) {
  throw error("weft: a task asks for " + std::to_string(asked) + " units of a resource that has " +
              std::to_string(there) + "; it would wait for ever");
}

void throw_too_wide(std::size_t accesses) {
  throw error("weft: a task names " + std::to_string(accesses) + " handles; a task takes at most 1 MiB, about " +
              std::to_string(task_bytes_max / sizeof(access)) +
              " handles; split it, or let one handle stand for many data");
}

}  // namespace detail

}  // namespace weft

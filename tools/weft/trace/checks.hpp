// What cannot have happened, in a file whose rows are each right: nobody above has to ask again whether a sum of its
// times overflows, or what a worker in two bodies at once would mean.
#pragma once
#include <string_view>

#include "reader.hpp"

namespace weft::tool::trace {

// Times up to 52 days: all of them together, of every worker that Weft can have, are a number of 63 bits.
inline constexpr std::int64_t time_max = std::int64_t{1} << 52;
inline constexpr std::size_t workers_max = 1025;  // 1024, and the reserve

// Errors: weft::error that names the file and the row: more workers than there can be; a body that ran on a worker
// which was in another, or that waited while it did not run; unless records were lost, which explains the latter two.
void check_times(const file& f);

// Whether an access can be of that kind.
[[nodiscard]] bool is_kind(std::string_view text);

}  // namespace weft::tool::trace

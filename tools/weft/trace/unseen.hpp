// What a trace knows to have happened and has no rows of: whoever draws conclusions from one says so first.
#pragma once
#include <string>

#include "reader.hpp"

namespace weft::tool::trace {

// A sentence without a full stop, with its figures; "" if there is nothing of the kind.
[[nodiscard]] std::string unseen(const file& f);

}  // namespace weft::tool::trace

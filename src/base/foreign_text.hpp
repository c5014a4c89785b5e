// A text that belongs to somebody else and may be gone: a name that a program gave to a task which has ended, read by a
// thread that nobody waits for. The system copies it, and says no where there is no memory any more. What was written
// over meanwhile is copied as it is.
#pragma once
#include <cstddef>

namespace weft::base {

// Copies up to `bytes` - 1 characters of the text at `from`, and ends them; "" if there are none, or the system does
// not copy. Who: anyone. Cost: two system calls.
void copy_foreign_text(char* to, std::size_t bytes, const char* from) noexcept;

}  // namespace weft::base

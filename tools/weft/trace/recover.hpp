// Traces that were never written: the program was killed, and what it recorded lies in its journal
// (src/trace/journal.hpp), beside where the trace would have been.
#pragma once
#include <string>

namespace weft::tool::trace {

[[nodiscard]] bool is_journal(const std::string& path);

// The newest journal of a program that was to write `trace` and is gone, or "".
[[nodiscard]] std::string journal_of(const std::string& trace);

// Makes `trace` of it, as the program itself would have with all that it had recorded when it ended. The journal stays.
// It may come from anywhere. Errors: weft::error that names the file.
void recover(const std::string& journal, const std::string& trace);

}  // namespace weft::tool::trace

// SQLite on a file that is open already. SQLite opens files by their names, and between the making of a file and its
// opening by name a stranger who may write to the folder can lay a link there; a descriptor stays what it is. Nobody
// else has the file open, so there are no locks; and there is no journal, because a file that is not finished is thrown
// away.
#pragma once

struct sqlite3;

namespace weft::trace {

// Opens the empty file `descriptor`, which stays open when the database is closed. Returns what sqlite3_open_v2 does.
// Errors of writing are SQLite's; SQLITE_FCNTL_LAST_ERRNO asks for the errno of the first.
[[nodiscard]] int open_database(int descriptor, sqlite3** opened);

}  // namespace weft::trace

// The few things the reader wants from SQLite, with every way to fail turned into one weft::error that names the file.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace weft::tool::trace {

// A database file, opened for reading only: no lock, no journal, nothing is written beside it, so a trace on read-only
// media or of another user can be read. The file may come from anywhere: what SQLite can be told not to trust in it
// (functions in its schema, sizes of its cells) is not trusted.
class database {
 public:
  // Errors: weft::error if it is not there, not readable, empty, no SQLite database, or still being written.
  explicit database(const std::string& path);
  ~database();
  database(const database&) = delete;
  database& operator=(const database&) = delete;

  [[nodiscard]] std::int64_t pragma(const char* name);
  // Errors: weft::error if pages do not fit each other, as far as SQLite looks.
  void check();
  [[nodiscard]] bool has_table(const char* name);
  // Of a column of numbers; 0 if there is none. To tell how far one is, not to rely on.
  [[nodiscard]] std::int64_t largest(const char* table, const char* column);
  // Throws weft::error("PATH: what"), with SQLite's own words about its last error appended if `code` is one.
  [[noreturn]] void fail(const std::string& what, int code = 0) const;

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] sqlite3* get() const noexcept { return db_; }

 private:
  std::string path_;
  sqlite3* db_ = nullptr;
};

// The rows of a table, one after the other. The columns are named once, and read by their number in that list.
class rows {
 public:
  // Errors: weft::error if the table or a column is missing.
  rows(database& db, const char* table, const char* columns);
  ~rows();
  rows(const rows&) = delete;
  rows& operator=(const rows&) = delete;

  [[nodiscard]] bool next();

  // The value of a column, which must have the type. Errors: weft::error with table, row and column.
  [[nodiscard]] std::int64_t integer(int column) const;
  [[nodiscard]] std::string_view text(int column) const;  // until next()
  [[nodiscard]] bool null(int column) const;
  [[nodiscard]] std::int64_t integer_or(int column, std::int64_t if_null) const;
  [[nodiscard]] std::int64_t count_or(int column, std::int64_t max, std::int64_t if_null) const;  // from 0 to max
  [[nodiscard]] bool flag(int column) const;                                                      // 0, 1 or NULL
  [[nodiscard]] std::string_view text_or_empty(int column) const;
  // A moment: not negative, and so early that sums of moments are numbers (checks.hpp).
  [[nodiscard]] std::int64_t time(int column) const;
  // A moment that is not before `start`. Random schedules of the virtual machine break this: each modelled worker then
  // has a time of its own, so what happened first may have the later time, and no duration means anything.
  [[nodiscard]] std::int64_t time_after(int column, std::int64_t start) const;

  // Throws weft::error("PATH: table TABLE, row N: what").
  [[noreturn]] void fail(const std::string& what) const;

 private:
  [[nodiscard]] std::string named(int column) const;

  database& db_;
  const char* table_;
  sqlite3_stmt* statement_ = nullptr;
  std::uint64_t row_ = 0;
};

}  // namespace weft::tool::trace

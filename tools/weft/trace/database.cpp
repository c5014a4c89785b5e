// See database.hpp.
#include "database.hpp"

#include <sqlite3.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "checks.hpp"
#include "weft/error.hpp"

namespace weft::tool::trace {

namespace {

// "file:" URI of a path: SQLite takes options, here `immutable`, in no other way. What means something in a URI is
// written as %xx; an absolute path of "//" at the start would name a host.
std::string uri_of(const std::string& path) {
  constexpr const char* digits = "0123456789abcdef";
  std::string uri = path.starts_with('/') ? "file://" : "file:";
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '%' || c == '?' || c == '#' || byte < 0x20) {
      uri += '%';
      uri += digits[byte >> 4];
      uri += digits[byte & 15];
    } else {
      uri += c;
    }
  }
  return uri + "?mode=ro&immutable=1";
}

bool has_content(const std::string& path) {
  struct stat found;
  return ::stat(path.c_str(), &found) == 0 && found.st_size > 0;
}

constexpr const char* damaged = "the file is damaged or was cut off; record the run again";

}  // namespace

database::database(const std::string& path) : path_(path) {
  struct stat found;
  if (::stat(path.c_str(), &found) != 0) fail(std::string("cannot open: ") + std::strerror(errno));
  if (S_ISDIR(found.st_mode)) fail("is a directory; name a trace file");
  if (!S_ISREG(found.st_mode)) fail("is no plain file; a trace is read in any order, so first store it in one");
  if (found.st_size == 0) fail("is empty; was the recording program killed? Record the run again");
  // What SQLite would have to put in order first, and with `immutable` would not look at.
  for (const char* rest : {"-journal", "-wal"})
    if (has_content(path + rest))
      fail("is still being written, or its writer was killed (there is a file " + path + rest +
           "); wait for the program to end, or record the run again");
  const int opened = sqlite3_open_v2(uri_of(path).c_str(), &db_, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, nullptr);
  try {
    if (opened != SQLITE_OK) fail("cannot open", opened);
    sqlite3_db_config(db_, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
    sqlite3_db_config(db_, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    sqlite3_exec(db_, "PRAGMA cell_size_check = ON", nullptr, nullptr, nullptr);
  } catch (...) {
    sqlite3_close(db_);
    throw;
  }
}

database::~database() { sqlite3_close(db_); }

void database::fail(const std::string& what, int code) const {
  std::string text = path_ + ": " + what;
  switch (code & 0xff) {
  case 0: break;
  case SQLITE_NOTADB: text = path_ + ": is no SQLite database, so no trace; weft run APP --trace FILE makes one"; break;
  case SQLITE_CORRUPT: text = path_ + ": " + damaged; break;
  case SQLITE_NOMEM: throw std::bad_alloc();
  default: text += std::string(": ") + (db_ != nullptr ? sqlite3_errmsg(db_) : sqlite3_errstr(code));
  }
  throw weft::error(text);
}

std::int64_t database::pragma(const char* name) {
  sqlite3_stmt* statement = nullptr;
  int code = sqlite3_prepare_v2(db_, (std::string("PRAGMA ") + name).c_str(), -1, &statement, nullptr);
  if (code == SQLITE_OK) code = sqlite3_step(statement);
  const std::int64_t value = code == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : 0;
  sqlite3_finalize(statement);
  if (code != SQLITE_ROW) fail("cannot be read", code == SQLITE_DONE ? SQLITE_CORRUPT : code);
  return value;
}

void database::check() {
  sqlite3_stmt* statement = nullptr;
  int code = sqlite3_prepare_v2(db_, "PRAGMA quick_check(1)", -1, &statement, nullptr);
  if (code == SQLITE_OK) code = sqlite3_step(statement);
  const auto* const text = code == SQLITE_ROW ? sqlite3_column_text(statement, 0) : nullptr;
  const bool right = text != nullptr && std::strcmp(reinterpret_cast<const char*>(text), "ok") == 0;
  sqlite3_finalize(statement);
  if (!right) fail("cannot be read", code == SQLITE_ROW ? SQLITE_CORRUPT : code);
}

std::int64_t database::largest(const char* table, const char* column) {
  if (!has_table(table)) return 0;
  sqlite3_stmt* statement = nullptr;
  const std::string query = std::string("SELECT max(") + column + ") FROM " + table;
  std::int64_t value = 0;
  if (sqlite3_prepare_v2(db_, query.c_str(), -1, &statement, nullptr) == SQLITE_OK &&
      sqlite3_step(statement) == SQLITE_ROW)
    value = sqlite3_column_int64(statement, 0);
  sqlite3_finalize(statement);
  return value;
}

bool database::has_table(const char* name) {
  sqlite3_stmt* statement = nullptr;
  const char* const query = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?";
  int code = sqlite3_prepare_v2(db_, query, -1, &statement, nullptr);
  if (code == SQLITE_OK) code = sqlite3_bind_text(statement, 1, name, -1, SQLITE_STATIC);
  if (code == SQLITE_OK) code = sqlite3_step(statement);
  sqlite3_finalize(statement);
  if (code != SQLITE_ROW && code != SQLITE_DONE) fail("cannot be read", code);
  return code == SQLITE_ROW;
}

rows::rows(database& db, const char* table, const char* columns) : db_(db), table_(table) {
  if (!db.has_table(table))
    db.fail(std::string("has no table ") + table + "; it is no complete trace, record the run again");
  const std::string query = std::string("SELECT ") + columns + " FROM " + table;
  const int code = sqlite3_prepare_v2(db.get(), query.c_str(), -1, &statement_, nullptr);
  if (code != SQLITE_OK) db.fail(std::string("table ") + table + " cannot be read", code);
}

rows::~rows() { sqlite3_finalize(statement_); }

bool rows::next() {
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) {
    ++row_;
    return true;
  }
  if (code != SQLITE_DONE) db_.fail(std::string("table ") + table_ + " cannot be read", code);
  return false;
}

std::string rows::named(int column) const { return sqlite3_column_name(statement_, column); }

void rows::fail(const std::string& what) const {
  db_.fail(std::string("table ") + table_ + ", row " + std::to_string(row_) + ": " + what);
}

bool rows::null(int column) const { return sqlite3_column_type(statement_, column) == SQLITE_NULL; }

std::int64_t rows::integer(int column) const {
  if (sqlite3_column_type(statement_, column) != SQLITE_INTEGER) fail(named(column) + " is no whole number");
  return sqlite3_column_int64(statement_, column);
}

std::int64_t rows::integer_or(int column, std::int64_t if_null) const {
  return null(column) ? if_null : integer(column);
}

std::int64_t rows::count_or(int column, std::int64_t max, std::int64_t if_null) const {
  if (null(column)) return if_null;
  const std::int64_t value = integer(column);
  if (value < 0 || value > max)
    fail(named(column) + " is " + std::to_string(value) + "; it must be a number from 0 to " + std::to_string(max));
  return value;
}

bool rows::flag(int column) const { return count_or(column, 1, 0) == 1; }

std::string_view rows::text(int column) const {
  if (sqlite3_column_type(statement_, column) != SQLITE_TEXT) fail(named(column) + " is no text");
  const unsigned char* const data = sqlite3_column_text(statement_, column);
  if (data == nullptr) throw std::bad_alloc();
  return {reinterpret_cast<const char*>(data), static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
}

std::string_view rows::text_or_empty(int column) const { return null(column) ? std::string_view() : text(column); }

std::int64_t rows::time(int column) const {
  const std::int64_t value = integer(column);
  if (value < 0) fail(named(column) + " is " + std::to_string(value) + ", before the start of the run");
  if (value > time_max)
    fail(named(column) + " is " + std::to_string(value) + ", more than 52 days after the start of the run");
  return value;
}

std::int64_t rows::time_after(int column, std::int64_t start) const {
  const std::int64_t value = time(column);
  if (value < start)
    fail(named(column) + " is " + std::to_string(value) + ", before what must precede it at " + std::to_string(start) +
         "; the file is damaged, or the run was one with WEFT_SCHEDULE=random, whose workers have clocks of their own: "
         "record it again, with schedule time");
  return value;
}

}  // namespace weft::tool::trace

// For tests of the reader: trace files made by hand with SQLite itself. One that is right, in each format, and whatever
// becomes of it by a change.
#pragma once
#include <doctest/doctest.h>
#include <sqlite3.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "reader.hpp"
#include "weft/error.hpp"

namespace weft::tool::trace::made_by_hand {

// Three tasks on two workers: 11 writes a, 12 and its child 13 read it; 12 waits for 13 and goes on on worker 1.
inline constexpr const char* schema = R"(
PRAGMA application_id = 0x57656674;
PRAGMA user_version = 1;
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT);
CREATE TABLE names(id INTEGER PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE places(id INTEGER PRIMARY KEY, parent INTEGER, kind TEXT, name TEXT);
CREATE TABLE workers(id INTEGER PRIMARY KEY, place INTEGER, cpu INTEGER);
CREATE TABLE handles(id INTEGER PRIMARY KEY, name TEXT);
CREATE TABLE tasks(id INTEGER PRIMARY KEY, parent INTEGER, name INTEGER, submitter INTEGER, submitted_ns INTEGER,
                   worker INTEGER, started_ns INTEGER, finished_ns INTEGER, outcome TEXT);
CREATE TABLE waits(task INTEGER, why TEXT, handle INTEGER, from_worker INTEGER, from_ns INTEGER, to_worker INTEGER,
                   to_ns INTEGER);
CREATE TABLE accesses(task INTEGER, position INTEGER, handle INTEGER, kind TEXT, version INTEGER,
                      next_version INTEGER);
CREATE TABLE steals(time_ns INTEGER, thief INTEGER, victim INTEGER, task INTEGER);
CREATE TABLE sleeps(worker INTEGER, from_ns INTEGER, to_ns INTEGER);
CREATE TABLE counters(task INTEGER, name TEXT, value INTEGER);
INSERT INTO meta VALUES ('weft', '0.1.0'), ('workers', '2'), ('duration_ns', '1000'), ('lost', '0'), ('complete', '1');
INSERT INTO names VALUES (1, 'make'), (2, 'use');
INSERT INTO places VALUES (5, NULL, 'machine', ''), (3, 5, 'core', 'core 0'), (4, 5, 'core', 'core 1');
INSERT INTO workers VALUES (0, 3, 0), (1, 4, NULL);
INSERT INTO handles VALUES (7, 'a'), (8, NULL);
INSERT INTO tasks VALUES (11, NULL, 1, 0, 10, 0, 100, 200, 'done'), (12, NULL, 2, 0, 20, 0, 200, 600, 'done'),
                         (13, 12, NULL, 0, 250, 0, 310, 400, 'failed'), (14, NULL, 2, NULL, 30, NULL, NULL, NULL,
                         'not run');
INSERT INTO waits VALUES (NULL, 'all', NULL, 0, 40, 0, 900), (12, 'children', NULL, 0, 300, 1, 450);
INSERT INTO accesses VALUES (12, 1, 8, 'resource', NULL, NULL), (11, 0, 7, 'write', 0, 1), (12, 0, 7, 'read', 1, 3),
                            (13, 0, 7, 'read', 1, 3), (14, 0, 7, 'write', 3, 4);
INSERT INTO steals VALUES (500, 1, 0, 12), (50, 0, 1, 11);
INSERT INTO sleeps VALUES (1, 0, 440), (1, 600, 1000);
INSERT INTO counters VALUES (11, 'cycles', 12345), (12, 'cycles', 6);
)";

// A file of its own, gone with the object.
struct scratch {
  std::string folder;
  std::string path;

  scratch() {
    folder = (std::filesystem::temp_directory_path() / "weft-reader-XXXXXX").string();
    REQUIRE(::mkdtemp(folder.data()) != nullptr);
    path = folder + "/a?b#c%41 trace.weft";  // names what a URI would read otherwise
  }
  ~scratch() { std::filesystem::remove_all(folder); }
  scratch(const scratch&) = delete;
  scratch& operator=(const scratch&) = delete;

  void sql(const std::string& text) const {
    sqlite3* db = nullptr;
    REQUIRE(sqlite3_open(path.c_str(), &db) == SQLITE_OK);
    char* message = nullptr;
    if (sqlite3_exec(db, text.c_str(), nullptr, nullptr, &message) != SQLITE_OK) FAIL(message);
    REQUIRE(sqlite3_close(db) == SQLITE_OK);
  }
  void bytes(const std::string& content) const { std::ofstream(path, std::ios::binary) << content; }
  [[nodiscard]] std::string bytes() const {
    std::ostringstream all;
    all << std::ifstream(path, std::ios::binary).rdbuf();
    return all.str();
  }
};

inline std::string refusal(const scratch& s) {
  try {
    const file f = load(s.path);
    (void)segments(f, false);
  } catch (const weft::error& e) {
    CHECK(std::string(e.what()).find(s.path) == 0);
    return e.what();
  }
  return "no error";
}

// What the reader says to the good file after `change`.
inline std::string refusal(const std::string& change) {
  const scratch s;
  s.sql(schema);
  s.sql(change);
  return refusal(s);
}

inline bool says(const std::string& text, const char* part) {
  CAPTURE(text);
  const bool found = text.find(part) != std::string::npos;
  CHECK(found);
  return found;
}

// What format 4 added, to a file of format 1 by way of 2 and 3.
inline std::string format_4(const std::string& change = "") {
  return std::string(schema) + R"(
    PRAGMA user_version = 4;
    ALTER TABLE tasks ADD COLUMN priority INTEGER DEFAULT 0; ALTER TABLE tasks ADD COLUMN pin INTEGER;
    ALTER TABLE tasks ADD COLUMN subtasks INTEGER DEFAULT 0; ALTER TABLE tasks ADD COLUMN own_ns INTEGER;
    ALTER TABLE tasks ADD COLUMN near INTEGER; ALTER TABLE tasks ADD COLUMN at_near INTEGER;
    ALTER TABLE tasks ADD COLUMN call INTEGER DEFAULT 0; ALTER TABLE waits ADD COLUMN own_ns INTEGER;
    ALTER TABLE handles ADD COLUMN bytes INTEGER; ALTER TABLE handles ADD COLUMN units INTEGER;
    ALTER TABLE steals ADD COLUMN what TEXT DEFAULT 'task';
    CREATE TABLE passed(task INTEGER, why TEXT, handle INTEGER, worker INTEGER, time_ns INTEGER, own_ns INTEGER);
    CREATE TABLE kinds(kind TEXT PRIMARY KEY, readonly INTEGER, commutative INTEGER, exclusive INTEGER);
    INSERT INTO kinds VALUES ('read', 1, 1, 0), ('write', 0, 0, 1), ('resource', 0, 0, 0);
    UPDATE tasks SET near = 3, at_near = 1 WHERE id = 11; UPDATE tasks SET near = -1, call = 1 WHERE id = 12;
    UPDATE waits SET why = 'spawn' WHERE task = 12; INSERT INTO steals VALUES (510, 1, 0, NULL, 'branch');)" +
         change;
}

// What format 5 added.
inline std::string format_5(const std::string& change = "") {
  return format_4(R"(
    PRAGMA user_version = 5;
    ALTER TABLE tasks ADD COLUMN rank INTEGER;
    CREATE TABLE teams(task INTEGER PRIMARY KEY, width INTEGER, aim TEXT, entered_ns INTEGER, left_ns INTEGER,
                       busy_ns INTEGER);
    INSERT INTO teams VALUES (11, 2, 'time', 110, 190, 150);
    UPDATE tasks SET rank = 1 WHERE id = 12;)" +
                  change);
}

inline std::string format_6(const std::string& change = "") {
  return format_5(R"(
    PRAGMA user_version = 6;
    CREATE TABLE located(task INTEGER PRIMARY KEY, local_bytes INTEGER, remote_bytes INTEGER);
    INSERT INTO located VALUES (12, 4096, 64), (11, 0, 8);)" +
                  change);
}

}  // namespace weft::tool::trace::made_by_hand

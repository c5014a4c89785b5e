// A trace as tests see it: by SQL, and by what must hold in every trace whatever the program was.
#pragma once
#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

// A name in a folder of its own, which is gone afterwards.
class trace_place {
 public:
  explicit trace_place(const std::string& name = "t.weft") : name_(name) {
    std::string pattern = (std::filesystem::temp_directory_path() / "weft-trace-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary folder");
    folder_ = pattern;
  }
  ~trace_place() { std::filesystem::remove_all(folder_); }
  trace_place(const trace_place&) = delete;
  trace_place& operator=(const trace_place&) = delete;

  [[nodiscard]] std::string path() const { return path(name_); }
  [[nodiscard]] std::string path(const std::string& name) const { return (folder_ / name).string(); }
  // Names in the folder, in order.
  [[nodiscard]] std::vector<std::string> files() const {
    std::vector<std::string> all;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) all.push_back(entry.path().filename());
    std::sort(all.begin(), all.end());
    return all;
  }

 private:
  std::string name_;
  std::filesystem::path folder_;
};

class trace_file {
 public:
  explicit trace_file(const std::string& path) {
    if (sqlite3_open_v2(path.c_str(), &db_, SQLITE_OPEN_READONLY, nullptr) != SQLITE_OK) throw wrong();
  }
  ~trace_file() { sqlite3_close(db_); }
  trace_file(const trace_file&) = delete;
  trace_file& operator=(const trace_file&) = delete;

  // Rows of columns, as text; NULL is "NULL".
  [[nodiscard]] std::vector<std::vector<std::string>> rows(const std::string& sql) const {
    sqlite3_stmt* query = nullptr;
    if (sqlite3_prepare_v2(db_, sql.c_str(), -1, &query, nullptr) != SQLITE_OK) throw wrong();
    std::vector<std::vector<std::string>> all;
    while (sqlite3_step(query) == SQLITE_ROW) {
      std::vector<std::string>& row = all.emplace_back();
      for (int i = 0; i < sqlite3_column_count(query); ++i) {
        const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(query, i));
        row.emplace_back(text == nullptr ? "NULL" : text);
      }
    }
    if (sqlite3_finalize(query) != SQLITE_OK) throw wrong();
    return all;
  }
  // The same on one line: columns by "|", rows by " ".
  [[nodiscard]] std::string text(const std::string& sql) const {
    std::string all;
    for (const auto& row : rows(sql)) {
      if (!all.empty()) all += " ";
      for (std::size_t i = 0; i < row.size(); ++i) all += (i == 0 ? "" : "|") + row[i];
    }
    return all;
  }
  [[nodiscard]] long number(const std::string& sql) const { return std::stol(text(sql)); }

  // The first thing that cannot be, or "". ordered: cores share one time, as on all but random schedules.
  [[nodiscard]] std::string verdict(bool ordered = true) const {
    static constexpr struct {
      const char* what;
      bool about_time;
      const char* bad_rows;
    } rules[] = {
        {"a trace is not complete", false, "SELECT 1 WHERE (SELECT value FROM meta WHERE key = 'complete') IS NOT '1'"},
        {"a parent, name, worker or handle is not there", false,
         "SELECT id FROM tasks WHERE parent IS NOT NULL AND parent NOT IN (SELECT id FROM tasks)"
         " UNION ALL SELECT id FROM tasks WHERE name IS NOT NULL AND name NOT IN (SELECT id FROM names)"
         " UNION ALL SELECT id FROM tasks WHERE worker IS NOT NULL AND worker NOT IN (SELECT id FROM workers)"
         " UNION ALL SELECT id FROM tasks WHERE submitter IS NOT NULL AND submitter NOT IN (SELECT id FROM workers)"
         " UNION ALL SELECT task FROM accesses WHERE handle NOT IN (SELECT id FROM handles)"
         " UNION ALL SELECT task FROM accesses WHERE task NOT IN (SELECT id FROM tasks)"
         " UNION ALL SELECT task FROM steals WHERE task IS NOT NULL AND task NOT IN (SELECT id FROM tasks)"
         " UNION ALL SELECT task FROM waits WHERE handle IS NOT NULL AND handle NOT IN (SELECT id FROM handles)"
         " UNION ALL SELECT id FROM workers WHERE place NOT IN (SELECT id FROM places WHERE kind = 'core')"
         "   AND id < (SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'workers')"},  // the reserve sits nowhere
        {"a task ran before it was submitted or ended before it began", true,
         "SELECT id FROM tasks WHERE started_ns < submitted_ns OR finished_ns < started_ns"},
        {"a task was submitted while its parent did not run", true,
         "SELECT c.id FROM tasks c JOIN tasks p ON p.id = c.parent"
         " WHERE c.submitted_ns NOT BETWEEN p.started_ns AND p.finished_ns"},
        {"a task began before one it depends on had ended", true,
         "SELECT a.id FROM dependencies d JOIN tasks b ON b.id = d.before JOIN tasks a ON a.id = d.after"
         " WHERE a.started_ns < b.finished_ns"},
        {"two adds to one handle, or two writes, overlap", true,
         "SELECT x.task FROM accesses x JOIN accesses y ON y.handle = x.handle AND y.version = x.version"
         " AND y.task > x.task JOIN tasks s ON s.id = x.task JOIN tasks t ON t.id = y.task"
         " WHERE x.kind IN ('add', 'write') AND s.started_ns < t.finished_ns AND t.started_ns < s.finished_ns"},
        {"a task is in two places at once", true,
         "SELECT task FROM (SELECT task, from_ns, lag(to_ns) OVER (PARTITION BY task ORDER BY from_ns, to_ns) AS last"
         " FROM segments) WHERE last > from_ns"},
        {"a task's pieces do not make up the whole", true,
         "SELECT t.id FROM tasks t JOIN (SELECT task, min(from_ns) AS first, max(to_ns) AS last, count(*) AS n"
         " FROM segments GROUP BY task) s ON s.task = t.id WHERE s.first <> t.started_ns OR s.last <> t.finished_ns"
         " OR s.n <> 1 + (SELECT count(*) FROM waits w WHERE w.task = t.id)"},
        {"a worker did two things at once", true,
         "SELECT worker FROM (SELECT worker, from_ns, lag(to_ns) OVER (PARTITION BY worker ORDER BY from_ns, to_ns)"
         " AS last FROM (SELECT worker, from_ns, to_ns FROM segments UNION ALL SELECT * FROM sleeps))"
         " WHERE last > from_ns"},
        {"a worker stole from itself", false, "SELECT thief FROM steals WHERE thief = victim"},
    };
    for (const auto& rule : rules)
      if (ordered || !rule.about_time)
        if (const auto bad = rows(rule.bad_rows); !bad.empty())
          return std::string(rule.what) + ": " + std::to_string(bad.size()) + ", the first is " + bad[0][0];
    return "";
  }

 private:
  [[nodiscard]] std::runtime_error wrong() const { return std::runtime_error(sqlite3_errmsg(db_)); }
  sqlite3* db_ = nullptr;
};

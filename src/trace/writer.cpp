#include "trace/writer.hpp"

#include <algorithm>
#include <cerrno>
#include <sqlite3.h>

#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <tuple>

#include "base/part_file.hpp"
#include "trace/database_file.hpp"
#include "trace/seal.hpp"
#include "weft/clause.hpp"
#include "weft/detail/pipeline_state.hpp"
#include "weft/error.hpp"
#include "weft/version.hpp"

namespace weft::trace {

namespace {

constexpr const char* tables = R"(
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;
CREATE TABLE names(id INTEGER PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE places(id INTEGER PRIMARY KEY, parent INTEGER, kind TEXT, name TEXT);
CREATE TABLE workers(id INTEGER PRIMARY KEY, place INTEGER, cpu INTEGER);
CREATE TABLE handles(id INTEGER PRIMARY KEY, name TEXT, bytes INTEGER, units INTEGER);
CREATE TABLE kinds(kind TEXT PRIMARY KEY, readonly INTEGER, commutative INTEGER, exclusive INTEGER) WITHOUT ROWID;
CREATE TABLE tasks(id INTEGER PRIMARY KEY, parent INTEGER, name INTEGER, submitter INTEGER, submitted_ns INTEGER,
                   worker INTEGER, started_ns INTEGER, finished_ns INTEGER, outcome TEXT, priority INTEGER,
                   pin INTEGER, subtasks INTEGER, own_ns INTEGER, near INTEGER, at_near INTEGER, call INTEGER,
                   rank INTEGER);
CREATE TABLE teams(task INTEGER PRIMARY KEY, width INTEGER, aim TEXT, entered_ns INTEGER, left_ns INTEGER,
                   busy_ns INTEGER);
CREATE TABLE located(task INTEGER PRIMARY KEY, local_bytes INTEGER, remote_bytes INTEGER);
CREATE TABLE sections(id INTEGER PRIMARY KEY, executor TEXT, began_ns INTEGER, ended_ns INTEGER, committed INTEGER,
                      started INTEGER, again INTEGER, in_order INTEGER, serial_ns INTEGER, section INTEGER,
                      window INTEGER, always_ahead INTEGER);
CREATE TABLE crews(task INTEGER PRIMARY KEY, section INTEGER, first INTEGER);
CREATE TABLE bodies(section INTEGER, number INTEGER, timestamp INTEGER, calls INTEGER, task INTEGER, worker INTEGER,
                    from_ns INTEGER, to_ns INTEGER, own_ps INTEGER, runs INTEGER, serializes INTEGER);
CREATE TABLE touches(section INTEGER, number INTEGER, word INTEGER, before_ps INTEGER, reads INTEGER, writes INTEGER);
CREATE TABLE strands(id INTEGER PRIMARY KEY, task INTEGER, of TEXT, began_ns INTEGER, own_ns INTEGER);
CREATE TABLE steps(strand INTEGER, position INTEGER, step TEXT, own_ps INTEGER, which INTEGER,
                   PRIMARY KEY(strand, position)) WITHOUT ROWID;
CREATE TABLE stays(strand INTEGER, worker INTEGER, from_ns INTEGER, to_ns INTEGER);
CREATE TABLE pipelines(id INTEGER PRIMARY KEY, task INTEGER, stages TEXT, in_flight INTEGER, began_ns INTEGER);
CREATE TABLE helpers(task INTEGER PRIMARY KEY, pipeline INTEGER);
CREATE TABLE passes(pipeline INTEGER, item INTEGER, stage INTEGER, items INTEGER, task INTEGER, worker INTEGER,
                    from_ns INTEGER, to_ns INTEGER, ps INTEGER, strand INTEGER);
CREATE TABLE waits(task INTEGER, why TEXT, handle INTEGER, from_worker INTEGER, from_ns INTEGER, to_worker INTEGER,
                   to_ns INTEGER, own_ns INTEGER);
CREATE TABLE passed(task INTEGER, why TEXT, handle INTEGER, worker INTEGER, time_ns INTEGER, own_ns INTEGER);
CREATE TABLE accesses(task INTEGER, position INTEGER, handle INTEGER, kind TEXT, version INTEGER,
                      next_version INTEGER, PRIMARY KEY(task, position)) WITHOUT ROWID;
CREATE TABLE steals(time_ns INTEGER, thief INTEGER, victim INTEGER, task INTEGER, what TEXT);
CREATE TABLE sleeps(worker INTEGER, from_ns INTEGER, to_ns INTEGER);
CREATE TABLE counters(task INTEGER, name TEXT, value INTEGER);
CREATE TABLE rules(name TEXT PRIMARY KEY, value INTEGER, off INTEGER, decided INTEGER) WITHOUT ROWID;
)";

// A task that names a handle twice has two rows that say the same, hence DISTINCT. The waits of a task stand in the
// table in order of time, one behind the other.
constexpr const char* views = R"(
CREATE INDEX accesses_by_version ON accesses(handle, version);
CREATE INDEX accesses_by_next_version ON accesses(handle, next_version);
CREATE INDEX waits_by_task ON waits(task, from_ns);
CREATE INDEX counters_by_task ON counters(task);
CREATE VIEW dependencies AS
  SELECT DISTINCT b.task AS before, a.task AS after, b.handle AS handle
  FROM accesses b JOIN accesses a ON a.handle = b.handle AND a.version = b.next_version;
CREATE VIEW segments AS
  SELECT t.id AS task, t.worker AS worker, t.started_ns AS from_ns,
         coalesce((SELECT min(w.from_ns) FROM waits w WHERE w.task = t.id), t.finished_ns) AS to_ns
  FROM tasks t WHERE t.started_ns IS NOT NULL
  UNION ALL
  SELECT w.task, w.to_worker, w.to_ns, coalesce(n.from_ns, t.finished_ns)
  FROM waits w JOIN tasks t ON t.id = w.task LEFT JOIN waits n ON n.rowid = w.rowid + 1 AND n.task = w.task
  WHERE t.started_ns IS NOT NULL;
)";

constexpr const char* why_text[] = {"children", "all", "handle", "window", "event", "join", "barrier", "spawn"};
constexpr const char* booty_text[] = {"task", "stack", "branch"};
constexpr const char* aim_text[] = {"fixed", "time", "cost"};
constexpr const char* strand_of_text[] = {"body", "branch", "program", "pass"};
constexpr const char* step_text[] = {"fork",      "join",         "taken",   "over",    "loop",
                                     "look",      "looped",       "end",     "submits", "waits children",
                                     "waits all", "waits handle", "pipeline"};
constexpr const char* outcome_text[] = {"done", "failed", "skipped"};

struct close_database {
  void operator()(sqlite3* db) const noexcept { sqlite3_close(db); }
};
using database = std::unique_ptr<sqlite3, close_database>;

[[noreturn]] void fail(sqlite3* db) {
  int system = 0;
  if (db != nullptr) sqlite3_file_control(db, nullptr, SQLITE_FCNTL_LAST_ERRNO, &system);
  std::string why = sqlite3_errmsg(db);
  if (system != 0) why += std::string(" (") + std::strerror(system) + ")";
  throw error(why);
}

void execute(sqlite3* db, const char* sql) {
  if (sqlite3_exec(db, sql, nullptr, nullptr, nullptr) != SQLITE_OK) fail(db);
}

// How many of all rows are in. Those that are few do not count.
class rows_told {
 public:
  rows_told(const contents& rows, const std::function<void(double)>& tell)
      : all_(rows.tasks.size() + rows.accesses.size() + rows.waits.size() + rows.passed.size() + rows.steals.size() +
             rows.sleeps.size() + rows.counts.size() + rows.located.size()),
        tell_(tell) {}
  void row() {
    constexpr double without_indexes = 0.7;  // of the time; making the indexes takes the rest
    if (tell_ && ++done_ % 16384 == 0) tell_(without_indexes * static_cast<double>(done_) / static_cast<double>(all_));
  }

 private:
  const std::size_t all_;
  const std::function<void(double)>& tell_;
  std::size_t done_ = 0;
};

struct null {};

// An INSERT with as many values as the table has columns. Text must live until the row is in.
class inserter {
 public:
  // A number that is NULL when it is `none`.
  struct unless {
    std::int64_t number;
    std::int64_t none;
  };
  inserter(sqlite3* db, const char* table, int columns) : db_(db) {
    std::string sql = "INSERT INTO " + std::string(table) + " VALUES(?";
    for (int i = 1; i < columns; ++i) sql += ",?";
    sql += ")";
    sqlite3_stmt* made = nullptr;
    if (sqlite3_prepare_v3(db, sql.c_str(), -1, SQLITE_PREPARE_PERSISTENT, &made, nullptr) != SQLITE_OK) fail(db);
    statement_.reset(made);
  }
  template <class... Values> void operator()(const Values&... values) {
    int column = 0;
    (bind(++column, values), ...);
    if (sqlite3_step(statement_.get()) != SQLITE_DONE) fail(db_);
    sqlite3_reset(statement_.get());
  }

 private:
  struct finalize {
    void operator()(sqlite3_stmt* s) const noexcept { sqlite3_finalize(s); }
  };
  void check(int result) {
    if (result != SQLITE_OK) fail(db_);
  }
  void bind(int column, null) { check(sqlite3_bind_null(statement_.get(), column)); }
  void bind(int column, std::int64_t number) { check(sqlite3_bind_int64(statement_.get(), column, number)); }
  void bind(int column, std::uint64_t number) { bind(column, static_cast<std::int64_t>(number)); }
  void bind(int column, std::uint32_t number) { bind(column, static_cast<std::int64_t>(number)); }
  void bind(int column, int number) { bind(column, static_cast<std::int64_t>(number)); }
  void bind(int column, const char* text) {
    check(sqlite3_bind_text(statement_.get(), column, text, -1, SQLITE_STATIC));
  }
  void bind(int column, const std::string& text) {
    check(sqlite3_bind_text(statement_.get(), column, text.c_str(), static_cast<int>(text.size()), SQLITE_STATIC));
  }
  void bind(int column, unless u) { u.number == u.none ? bind(column, null{}) : bind(column, u.number); }

  sqlite3* db_;
  std::unique_ptr<sqlite3_stmt, finalize> statement_;

 public:
  [[nodiscard]] static unless not_0(std::uint64_t number) { return {static_cast<std::int64_t>(number), 0}; }
  [[nodiscard]] static unless not_negative(std::int64_t number) { return {number, -1}; }
  [[nodiscard]] static unless pinned(std::uint16_t worker) { return {worker, detail::record::unpinned}; }
};

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ",") + name;
  return text;
}

void write_meta(sqlite3* db, const facts& about, const contents& rows) {
  inserter add(db, "meta", 2);
  const auto number = [&](const char* key, std::uint64_t value) { add(key, std::to_string(value)); };
  add(seal::key, seal::open());  // first, so that it lies near the beginning of the file
  add("weft", version());
  add("program", about.program);
  add("machine", about.machine);
  add("policy", about.policy);
  add("creation", about.creation);
  if (about.recovered) add("recovered", "1");
  add("schedule", about.schedule);
  number("seed", about.seed);
  number("workers", about.places->workers());
  number("window", about.window);
  number("duration_ns", about.duration_ns);
  number("lost", rows.lost);
  number("forks", about.forks);
  number("forks_elsewhere", about.forks_elsewhere);
  number("pipelines", about.pipelines);
  add("counters", joined(about.counters));
  if (!about.energy.modelled) return;
  const auto joules = [&](const char* key, double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.17g", value);
    add(key, std::string(text));
  };
  joules("joules_running", about.energy.running);
  joules("joules_searching", about.energy.searching);
  joules("joules_asleep", about.energy.asleep);
  joules("joules_local", about.energy.local);
  joules("joules_remote", about.energy.remote);
}

void write_rules(sqlite3* db, const facts& about) {
  inserter add(db, "rules", 4);
  for (const rule_row& r : about.rules)
    if (r.name != nullptr) add(r.name, r.value, r.off, r.decided);
}

[[nodiscard]] bool names_worker(const contents& rows, unsigned id) {
  return std::ranges::any_of(
             rows.tasks,
             [id](const task_row& t) { return (t.ran && t.worker == id) || t.submitter == static_cast<int>(id); }) ||
         std::ranges::any_of(rows.waits,
                             [id](const wait_row& x) { return x.from_worker == id || x.to_worker == id; }) ||
         std::ranges::any_of(rows.steals, [id](const steal_row& x) { return x.thief == id || x.victim == id; }) ||
         std::ranges::any_of(rows.stays, [id](const stay_row& x) { return x.worker == id; }) ||
         std::ranges::any_of(rows.passes, [id](const pass_row& x) { return x.worker == id; }) ||
         std::ranges::any_of(rows.bodies, [id](const body_row& x) { return x.worker == id; }) ||
         std::ranges::any_of(rows.sleeps, [id](const sleep_row& x) { return x.worker == id; });
}

// The place tree as far as workers sit in it: each place once, numbered as it is met.
void write_places(sqlite3* db, const facts& about, const contents& rows) {
  inserter add_place(db, "places", 4);
  inserter add_worker(db, "workers", 3);
  std::map<std::tuple<std::string, unsigned, unsigned>, int> known;  // kind, number, parent
  const auto place = [&](const char* kind, unsigned number, int parent) {
    const int next = static_cast<int>(known.size()) + 2;
    const auto [at, added] = known.try_emplace({kind, number, static_cast<unsigned>(parent)}, next);
    if (added) add_place(next, parent, kind, std::string(kind) + " " + std::to_string(number));
    return at->second;
  };
  add_place(1, null{}, "machine", about.machine);
  for (unsigned w = 0; w < about.places->workers(); ++w) {
    const place::core& c = about.places->of(w);
    const int core = place("core", c.cpu, place("cache", c.cache, place("node", c.node, 1)));
    add_worker(w, core, inserter::not_negative(about.bound && w != 0 ? static_cast<int>(c.cpu) : -1));
  }
  if (names_worker(rows, about.places->workers())) add_worker(about.places->workers(), 1, null{});  // the reserve
}

// What the hints of a task want: a memory node, `spans`, or `unhinted`; and whether it began at a worker of that node,
// or of the one that serves it where it has none.
constexpr std::int64_t unhinted = -2, spans = -1;
std::int64_t near_of(const task_row& t) noexcept {
  return t.near == 0 ? unhinted : t.near == detail::record::near_spans ? spans : std::int64_t{t.near} - 1;
}
std::int64_t at_near(const task_row& t, const place::tree& places) noexcept {
  const std::int64_t node = near_of(t);
  if (node < 0 || !t.ran || t.worker >= places.workers()) return -1;
  return places.node_of(t.worker) == places.served_by(static_cast<unsigned>(node)) ? 1 : 0;
}

void write_tasks(sqlite3* db, const facts& about, const contents& rows, rows_told& told) {
  inserter add_name(db, "names", 2);
  for (std::uint32_t i = 1; i < rows.names.size(); ++i) add_name(i, rows.names[i]);
  inserter add_handle(db, "handles", 4);
  for (const auto& [id, h] : rows.handles) {
    const auto bytes = inserter::not_0(h.bytes), units = inserter::not_0(h.units);
    h.name.empty() ? add_handle(id, null{}, bytes, units) : add_handle(id, h.name, bytes, units);
  }
  inserter add(db, "tasks", 17);
  for (std::uint32_t i = 1; i < rows.tasks.size(); ++i) {
    told.row();
    const task_row& t = rows.tasks[i];
    const auto begun = [&](auto... end) {
      add(i, inserter::not_0(t.parent), inserter::not_0(t.name), inserter::not_negative(t.submitter), t.submitted_ns,
          end..., int{t.priority}, inserter::pinned(t.pin), int{t.subtasks}, inserter::not_negative(t.own_ns),
          inserter::unless{near_of(t), unhinted}, inserter::not_negative(at_near(t, *about.places)), int{t.is_call},
          inserter::not_negative(t.rank));
    };
    if (t.ran)
      begun(t.worker, t.started_ns, t.finished_ns, outcome_text[static_cast<unsigned>(t.outcome)]);
    else
      begun(null{}, null{}, null{}, "not run");
  }
}

void write_accesses(sqlite3* db, const contents& rows, rows_told& told) {
  inserter add_kind(db, "kinds", 4);
  for (const auto& [code, flags] : rows.kinds)
    add_kind(kind_text(code), flags & detail::kind_readonly, (flags & detail::kind_commutative) != 0 ? 1 : 0,
             (flags & detail::kind_exclusive) != 0 ? 1 : 0);
  std::string kinds[256];
  inserter add(db, "accesses", 6);
  for (const access_row& a : rows.accesses) {
    told.row();
    std::string& kind = kinds[a.kind];
    if (kind.empty()) kind = kind_text(a.kind);
    if (a.kind == detail::kind_resource)
      add(a.task, a.position, a.handle, kind, a.version, null{});
    else
      add(a.task, a.position, a.handle, kind, a.version, a.next_version);
  }
}

void write_events(sqlite3* db, const facts& about, const contents& rows) {
  inserter add_wait(db, "waits", 8);
  for (const wait_row& w : rows.waits)
    add_wait(inserter::not_0(w.task), why_text[static_cast<unsigned>(w.why)], inserter::not_0(w.handle), w.from_worker,
             w.from_ns, w.to_worker, w.to_ns, inserter::not_negative(w.own_ns));
  inserter add_passed(db, "passed", 6);
  for (const passed_row& w : rows.passed)
    add_passed(inserter::not_0(w.task), why_text[static_cast<unsigned>(w.why)], inserter::not_0(w.handle), w.worker,
               w.time_ns, inserter::not_negative(w.own_ns));
  inserter add_steal(db, "steals", 5);
  for (const steal_row& s : rows.steals)
    add_steal(s.time_ns, s.thief, s.victim, inserter::not_0(s.task), booty_text[static_cast<unsigned>(s.what)]);
  inserter add_sleep(db, "sleeps", 3);
  for (const sleep_row& s : rows.sleeps) add_sleep(s.worker, s.from_ns, s.to_ns);
  inserter add_team(db, "teams", 6);
  for (const team_row& t : rows.teams)
    add_team(t.task, t.width, aim_text[static_cast<unsigned>(t.aim)], t.entered_ns, t.left_ns, t.busy_ns);
  inserter add_located(db, "located", 3);
  for (const located_row& l : rows.located) add_located(l.task, l.local_bytes, l.remote_bytes);
  inserter add_count(db, "counters", 3);
  for (const count_row& c : rows.counts) add_count(c.task, about.counters[c.counter], c.value);
}

void write_strands(sqlite3* db, const contents& rows) {
  inserter add_strand(db, "strands", 5);
  for (std::uint32_t i = 1; i < rows.strands.size(); ++i) {
    const strand_row& s = rows.strands[i];
    add_strand(i, inserter::not_0(s.task), strand_of_text[static_cast<unsigned>(s.of)], s.began_ns,
               inserter::not_negative(s.own_ns));
  }
  inserter add_step(db, "steps", 5);
  for (const step_row& s : rows.steps)
    add_step(s.strand, s.position, step_text[static_cast<unsigned>(s.kind)], s.own_ps, inserter::not_0(s.which));
  inserter add_stay(db, "stays", 4);
  for (const stay_row& s : rows.stays) add_stay(s.strand, s.worker, s.from_ns, s.to_ns);
}

void write_pipelines(sqlite3* db, const contents& rows) {
  inserter add_pipeline(db, "pipelines", 5);
  for (std::uint32_t i = 1; i < rows.pipelines.size(); ++i) {
    const pipeline_row& p = rows.pipelines[i];
    std::string stages;
    for (unsigned s = 0; s < p.stages; ++s) stages += (p.serial >> s & 1) != 0 ? 's' : 'p';
    add_pipeline(i, inserter::not_0(p.task), stages, inserter::not_0(p.in_flight), p.began_ns);
  }
  inserter add_helper(db, "helpers", 2);
  for (const helper_row& h : rows.helpers) add_helper(h.task, h.pipeline);
  inserter add_pass(db, "passes", 10);
  for (const pass_row& p : rows.passes)
    add_pass(p.pipeline, p.item, inserter::unless{p.stage, detail::pipeline_pass::all_stages}, p.items, p.task,
             std::uint32_t{p.worker}, p.from_ns, p.to_ns, p.took_ps, inserter::not_0(p.strand));
}

void write_sections(sqlite3* db, const contents& rows) {
  inserter add_section(db, "sections", 12);
  for (std::uint32_t i = 0; i < rows.sections.size(); ++i) {
    const section_row& s = rows.sections[i];
    add_section(i + 1, s.executor, s.began_ns, s.ended_ns, s.committed, s.started, s.again, s.in_order,
                inserter::not_negative(s.serial_ns), inserter::not_0(s.section), inserter::not_0(s.window),
                s.always_ahead ? 1u : 0u);
  }
  inserter add_crew(db, "crews", 3);
  for (const crew_row& c : rows.crews) add_crew(c.task, c.section, c.is_first ? 1u : 0u);
  inserter add_body(db, "bodies", 11), add_touch(db, "touches", 6);
  for (const body_row& b : rows.bodies) {
    add_body(b.section, b.number, b.timestamp, b.calls, inserter::not_0(b.task), std::uint32_t{b.worker}, b.from_ns,
             b.to_ns, b.own_ps, std::uint32_t{b.runs}, b.serializes ? 1u : 0u);
    for (std::uint32_t i = b.first; i < b.last; ++i) {
      const touch_row& t = rows.touches[i];
      add_touch(b.section, b.number, t.word, static_cast<std::uint64_t>(t.before_ps), inserter::not_0(t.reads),
                inserter::not_0(t.writes));
    }
  }
}

void write_tables(int file, const facts& about, const contents& rows, const std::function<void(double)>& tell) {
  sqlite3* opened = nullptr;
  const int result = open_database(file, &opened);
  const database db(opened);
  if (result != SQLITE_OK) fail(db.get());
  execute(db.get(), "PRAGMA journal_mode = OFF; PRAGMA locking_mode = EXCLUSIVE;");
  char identity[96];
  std::snprintf(identity, sizeof identity, "PRAGMA application_id = %u; PRAGMA user_version = %d; BEGIN;",
                application_id, format_version);
  execute(db.get(), identity);
  execute(db.get(), tables);
  write_meta(db.get(), about, rows);
  write_rules(db.get(), about);
  write_places(db.get(), about, rows);
  rows_told told(rows, tell);
  write_tasks(db.get(), about, rows, told);
  write_accesses(db.get(), rows, told);
  write_events(db.get(), about, rows);
  write_strands(db.get(), rows);
  write_pipelines(db.get(), rows);
  write_sections(db.get(), rows);
  execute(db.get(), views);
  execute(db.get(), "INSERT INTO meta VALUES('complete', '1'); COMMIT;");
}

}  // namespace

void write_file(const std::string& path, const facts& about, const contents& rows,
                const std::function<void(double)>& tell) {
  const base::quiet_writing quiet;
  base::part_file file(path);
  if (!file.is_open()) throw error(std::strerror(errno));
  write_tables(file.descriptor(), about, rows, tell);
  int failed = seal::close(file.descriptor());
  if (failed == 0) failed = file.finish();
  if (failed != 0) throw error(std::strerror(failed));
  if (tell) tell(1);
}

bool is_trace_header(const unsigned char* bytes) noexcept {
  const unsigned char* id = bytes + 68;  // where the SQLite format keeps application_id, big-endian
  return std::memcmp(bytes, "SQLite format 3", 16) == 0 && (std::uint32_t{id[0]} << 24 | std::uint32_t{id[1]} << 16 |
                                                            std::uint32_t{id[2]} << 8 | id[3]) == application_id;
}

}  // namespace weft::trace

// See reader.hpp. One function per table, each with the checks of that table; the order of the calls is that of the
// references.
#include "reader.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <unordered_map>

#include "../output.hpp"
#include "checks.hpp"
#include "database.hpp"
#include "id_map.hpp"
#include "reader_pipelines.hpp"
#include "reader_rules.hpp"
#include "reader_sections.hpp"
#include "reader_strands.hpp"
#include "trace/seal.hpp"
#include "weft/clause.hpp"
#include "weft/error.hpp"

namespace weft::tool::trace {

namespace {

constexpr std::int64_t application_id = 0x57656674;  // "Weft"
constexpr std::int64_t version_max = 11;
constexpr std::int64_t units_max = UINT32_MAX;  // of a resource
constexpr std::size_t rows_max = none;          // an index must be able to name each, and `none` none

class loader {
 public:
  loader(const std::string& path, const std::function<void(double)>& tell) : db_(path), tell_(tell) {
    out_.path = path;
  }

  file load() {
    check_header();
    read_meta();
    read_names();
    read_places();
    read_workers();
    read_handles();
    read_tasks();
    read_waits();
    read_passed();
    read_accesses();
    read_kinds();
    read_steals();
    read_sleeps();
    read_counters();
    read_teams();
    read_located();
    if (out_.format >= 7) out_.sections = read_sections(db_, out_.format);
    if (out_.format >= 9) read_pipelines(db_, {tasks_, workers_, handles_}, out_);
    if (out_.format >= 8) read_strands(db_, {tasks_, workers_, handles_}, out_);
    if (out_.format >= 9) read_passes(db_, {tasks_, workers_, handles_}, out_);
    if (out_.format >= 11) out_.rules = read_rules(db_);
    if (out_.format >= 10) read_bodies(db_, {tasks_, workers_, handles_}, out_);
    check_times(out_);
    return std::move(out_);
  }

 private:
  void check_header() {
    const std::int64_t application = db_.pragma("application_id");
    if (application != application_id)
      db_.fail("is an SQLite database, but no trace of Weft (its application_id is " + std::to_string(application) +
               "); weft run APP --trace FILE makes one");
    const std::int64_t version = db_.pragma("user_version");
    if (version > version_max)
      db_.fail("is a trace of format " + std::to_string(version) + ", newer than " + std::to_string(version_max) +
               ", the newest this program knows; use the weft that recorded it");
    out_.format = version;
    if (version < 1) db_.fail("has the format number " + std::to_string(version) + ", which no Weft writes");
  }

  void read_meta() {
    for (rows r(db_, "meta", "key, value"); r.next();) out_.meta[std::string(r.text(0))] = r.text_or_empty(1);
    if (out_.about("complete") != "1")
      db_.fail("is incomplete: the program ended before the trace was written to the end; record the run again, and "
               "let the runtime be destroyed");
    check_whole();
    out_.duration_ns = meta_number("duration_ns");
    if (out_.duration_ns > time_max) db_.fail("meta has a duration of more than 52 days; the file is damaged");
    out_.lost = meta_number("lost");
    joules& e = out_.energy;
    e.modelled = out_.meta.contains("joules_running");
    if (!e.modelled) return;
    e.running = meta_joules("joules_running");
    e.searching = meta_joules("joules_searching");
    e.asleep = meta_joules("joules_asleep");
    e.local = meta_joules("joules_local");
    e.remote = meta_joules("joules_remote");
  }

  // The seal says it of each byte. Where there is none, SQLite is asked whether its pages fit each other.
  void check_whole() {
    const auto whole = weft::trace::seal::of(out_.path, out_.about(weft::trace::seal::key));
    if (whole == weft::trace::seal::state::unknown) return db_.check();
    if (whole == weft::trace::seal::state::broken)
      db_.fail("is not what was recorded: its seal is broken, so a part of it was damaged or replaced; record the run "
               "again");
  }

  double meta_joules(const char* key) {
    const std::string text = out_.about(key);
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    if (text.empty() || end != text.c_str() + text.size() || !std::isfinite(value) || value < 0)
      db_.fail(std::string("meta has \"") + printable(text, name_width_max) + "\" as " + key +
               ", which is no energy; record the run again");
    return value;
  }

  std::int64_t meta_number(const char* key) {
    const std::string text = out_.about(key);
    std::int64_t value = -1;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value < 0)
      db_.fail(std::string("meta has \"") + printable(text, name_width_max) + "\" as " + key +
               ", which is no count; record the run again");
    return value;
  }

  void read_names() {
    struct row {
      std::int64_t id;
      std::string name;
    };
    std::vector<row> found;
    for (rows r(db_, "names", "id, name"); r.next();) found.push_back({r.integer(0), std::string(r.text(1))});
    names_.fill(found, db_, "names");
    for (row& f : found) out_.names.push_back(std::move(f.name));
  }

  void read_places() {
    std::vector<std::int64_t> parents;
    for (rows r(db_, "places", "id, parent, kind, name"); r.next();) {
      // The parent is looked up when all are there; until then the row remembers in which order it came.
      out_.places.push_back({r.integer(0), static_cast<index>(parents.size()), std::string(r.text_or_empty(2)),
                             std::string(r.text_or_empty(3))});
      parents.push_back(r.integer_or(1, no_id));
    }
    places_.fill(out_.places, db_, "places");
    link_parents(out_.places, places_, parents, "places");
  }

  void read_workers() {
    for (rows r(db_, "workers", "id, place, cpu"); r.next();)
      out_.workers.push_back({r.integer(0), reference(r, 1, places_, "place"), r.integer_or(2, -1)});
    workers_.fill(out_.workers, db_, "workers");
  }

  void read_handles() {
    for (rows r(db_, "handles", newer("id, name", ", bytes, units")); r.next();) {
      handle& h = out_.handles.emplace_back(handle{r.integer(0), std::string(r.text_or_empty(1))});
      if (out_.format < 2) continue;
      h.bytes = r.count_or(2, detail::bytes_max, -1);
      h.units = r.count_or(3, units_max, 0);
    }
    handles_.fill(out_.handles, db_, "handles");
  }

  void read_tasks() {
    const char* const columns =
        newer("id, parent, name, submitter, submitted_ns, worker, started_ns, finished_ns, outcome",
              ", priority, pin, subtasks", ", own_ns", ", near, at_near, call", ", rank");
    std::vector<std::int64_t> parents;
    const std::int64_t last = db_.largest("tasks", "id");
    for (rows r(db_, "tasks", columns); r.next();) {
      told(0, tasks_part, r.integer(0), last);
      if (parents.size() == rows_max) r.fail("more tasks than " + std::to_string(rows_max));
      task t{};
      t.id = r.integer(0);
      t.parent = static_cast<index>(parents.size());
      parents.push_back(r.integer_or(1, no_id));
      t.name = reference(r, 2, names_, "name");
      t.submitter = reference(r, 3, workers_, "worker");
      t.submitted_ns = r.time(4);
      t.worker = reference(r, 5, workers_, "worker");
      t.result = outcome_of(r);
      t.started_ns = r.null(6) ? no_time : r.time_after(6, t.submitted_ns);
      t.finished_ns = r.null(7) ? no_time : r.time_after(7, t.started_ns == no_time ? 0 : t.started_ns);
      const bool ran = t.worker != none && t.started_ns != no_time && t.finished_ns != no_time;
      const bool absent = t.worker == none && t.started_ns == no_time && t.finished_ns == no_time;
      const bool must_run = t.result == outcome::done || t.result == outcome::failed;
      const bool must_not = t.result == outcome::not_run;
      if (!(ran && !must_not) && !(absent && !must_run))
        r.fail(std::string("outcome '") + text(t.result) + "' does not fit its worker and times");
      if (out_.format >= 2) read_clauses(r, t);
      if (out_.format >= 3) t.own_ns = r.count_or(12, time_max, -1);
      if (out_.format >= 4) read_place(r, t);
      if (out_.format >= 5) t.rank = static_cast<std::int32_t>(r.count_or(16, workers_max, -1));
      out_.tasks.push_back(t);
    }
    tasks_.fill(out_.tasks, db_, "tasks");
    link_parents(out_.tasks, tasks_, parents, "tasks");
  }

  static void read_clauses(const rows& r, task& t) {
    t.priority = r.count_or(9, 1, 0) > 0;
    const std::int64_t pin = r.integer_or(10, -1);
    if (pin < -1 || pin > static_cast<std::int64_t>(workers_max))
      r.fail("pin " + std::to_string(pin) + " is no worker");
    t.pin = static_cast<std::int32_t>(pin);
    t.subtasks = r.count_or(11, 1, 0) != 0;
  }

  static void read_place(const rows& r, task& t) {
    const std::int64_t near = r.integer_or(13, unhinted);
    if (near < unhinted || near > detail::record::near_spans - 2)
      r.fail("near " + std::to_string(near) + " is no memory node");
    t.near = static_cast<std::int32_t>(near);
    t.is_call = r.count_or(15, 1, 0) != 0;
    t.at_near = static_cast<std::int8_t>(r.count_or(14, 1, -1));
    if (t.at_near >= 0 && (t.near < 0 || !t.ran()))
      r.fail("at_near is told of a task that wants no memory node, or did not run");
  }

  // The columns of a table, with those that formats 2 to 5 added if the file has them.
  const char* newer(const char* old, const char* added_in_2, const char* added_in_3 = "", const char* added_in_4 = "",
                    const char* added_in_5 = "") {
    columns_ = old;
    if (out_.format >= 2) columns_ += added_in_2;
    if (out_.format >= 3) columns_ += added_in_3;
    if (out_.format >= 4) columns_ += added_in_4;
    if (out_.format >= 5) columns_ += added_in_5;
    return columns_.c_str();
  }

  outcome outcome_of(const rows& r) {
    const std::string_view found = r.text(8);
    for (const outcome o : {outcome::done, outcome::failed, outcome::skipped, outcome::not_run})
      if (found == text(o)) return o;
    r.fail("outcome '" + printable(found, name_width_max) + "' is unknown");
  }

  // Turns the numbers of the rows, which `parent` holds since they were read, into indices of the parents.
  template <class Row> void link_parents(std::vector<Row>& all, const id_map& map,
                                         const std::vector<std::int64_t>& parents, const char* table) {
    for (Row& row : all) {
      const std::int64_t parent = parents[row.parent];
      row.parent = parent == no_id ? none : map.find(parent);
      if (row.parent == none && parent != no_id && out_.lost == 0)
        db_.fail(std::string("table ") + table + ": the parent of " + std::to_string(row.id) + ", " +
                 std::to_string(parent) + ", does not exist; the file is damaged, record the run again");
    }
    require_no_cycle(all, table);
  }

  // Each walk to the root marks its way with its own number: meeting its own mark is a cycle, meeting another's means
  // that the rest was walked before. Linear.
  template <class Row> void require_no_cycle(const std::vector<Row>& all, const char* table) {
    std::vector<index> mark(all.size(), none);
    for (index start = 0; start < all.size(); ++start) {
      index at = start;
      while (at != none && mark[at] == none) {
        mark[at] = start;
        at = all[at].parent;
      }
      if (at != none && mark[at] == start)
        db_.fail(std::string("table ") + table + ": " + std::to_string(all[at].id) +
                 " is its own ancestor; the file is damaged, record the run again");
    }
  }

  void read_waits() {
    std::vector<wait>& all = out_.waits;
    const char* const columns = newer("task, why, handle, from_worker, from_ns, to_worker, to_ns", "", ", own_ns");
    for (rows r(db_, "waits", columns); r.next();) {
      wait w{};
      w.task = reference(r, 0, tasks_, "task");
      w.why = reason_of(r);
      w.handle = reference(r, 2, handles_, "handle");
      w.from_worker = reference(r, 3, workers_, "worker");
      w.from_ns = r.time(4);
      w.to_worker = reference(r, 5, workers_, "worker");
      w.to_ns = r.time_after(6, w.from_ns);
      if (out_.format >= 3) w.own_ns = r.count_or(7, time_max, -1);
      if (w.from_worker == none || w.to_worker == none) r.fail("a wait begins and ends on a worker");
      if (w.task == none && !r.null(0))
        ++out_.dropped;
      else
        all.push_back(w);
    }
    const auto less = [](const wait& a, const wait& b) {
      return a.task != b.task ? a.task < b.task : a.from_ns != b.from_ns ? a.from_ns < b.from_ns : a.to_ns < b.to_ns;
    };
    if (!std::is_sorted(all.begin(), all.end(), less)) std::stable_sort(all.begin(), all.end(), less);
  }

  wait_reason reason_of(const rows& r) {
    const std::string_view found = r.text(1);
    for (std::size_t i = 0; i < wait_reasons; ++i)
      if (const auto w = static_cast<wait_reason>(i); found == text(w)) return w;
    r.fail("why '" + printable(found, name_width_max) + "' is unknown");
  }

  void read_accesses() {
    std::vector<access>& all = out_.accesses;
    const std::int64_t last = out_.tasks.empty() ? 0 : out_.tasks.back().id;
    for (rows r(db_, "accesses", "task, position, handle, kind, version, next_version"); r.next();) {
      if (!r.null(0)) told(tasks_part, 1, r.integer(0), last);
      access a{};
      if (!required(r, 0, tasks_, "task", a.task) || !required(r, 2, handles_, "handle", a.handle)) continue;
      if (all.size() == rows_max) r.fail("more accesses than " + std::to_string(rows_max));
      a.position = r.integer(1);
      a.kind = kind_of(r);
      a.next_version = r.integer_or(5, no_version);
      if (a.next_version == no_version) a.units = r.count_or(4, units_max, 1);
      a.version = a.next_version == no_version ? no_version : r.integer_or(4, no_version);
      // A later version that is not larger would be a task that waits for itself.
      if (a.next_version != no_version && (a.version < 0 || a.next_version <= a.version))
        r.fail("next_version " + std::to_string(a.next_version) + " does not follow version " +
               std::to_string(a.version));
      all.push_back(a);
    }
    const auto less = [](const access& a, const access& b) {
      return a.task != b.task ? a.task < b.task : a.position < b.position;
    };
    if (!std::is_sorted(all.begin(), all.end(), less)) std::stable_sort(all.begin(), all.end(), less);
  }

  // Rows come in the order of their tasks, nearly always; the last task is as good a measure as the number of rows.
  void told(double from, double to, std::int64_t at, std::int64_t last) {
    if (!tell_ || ++rows_ % 16384 != 0 || last <= 0) return;
    tell_(from + (to - from) * std::clamp(static_cast<double>(at) / static_cast<double>(last), 0.0, 1.0));
  }

  index kind_of(const rows& r) {
    const std::size_t known = out_.kinds.size();
    const index kind = intern(r.text(3), out_.kinds, kinds_);
    if (out_.kinds.size() > known && !is_kind(out_.kinds[kind]))
      r.fail("kind '" + printable(out_.kinds[kind], name_width_max) +
             "' is unknown; the file is damaged, or a newer Weft wrote it");
    if ((out_.kinds[kind] == "resource") != r.null(5))
      r.fail("of kind '" + out_.kinds[kind] + "' it has " + (r.null(5) ? "no " : "a ") + "next_version");
    return kind;
  }

  void read_passed() {
    if (out_.format < 2) return;
    std::vector<passed_wait>& all = out_.passed;
    for (rows r(db_, "passed", newer("task, why, handle, time_ns", "", ", own_ns")); r.next();) {
      passed_wait w{};
      w.task = reference(r, 0, tasks_, "task");
      w.why = reason_of(r);
      w.handle = reference(r, 2, handles_, "handle");
      w.time_ns = r.time(3);
      if (out_.format >= 3) w.own_ns = r.count_or(4, time_max, -1);
      if (!r.null(0) && w.task == none)
        ++out_.dropped;
      else
        all.push_back(w);
    }
    std::stable_sort(all.begin(), all.end(), [](const passed_wait& a, const passed_wait& b) {
      return a.task != b.task ? a.task < b.task : a.time_ns < b.time_ns;
    });
  }

  void read_kinds() {
    for (const std::string& kind : out_.kinds) out_.flags.push_back(standard_flags(kind));
    if (out_.format < 2) return;
    for (rows r(db_, "kinds", "kind, readonly, commutative, exclusive"); r.next();)
      if (const auto at = kinds_.find(std::string(r.text(0))); at != kinds_.end())
        out_.flags[at->second] = {r.flag(1), r.flag(2), r.flag(3), true};
  }

  void read_steals() {
    std::vector<steal>& all = out_.steals;
    for (rows r(db_, "steals", newer("time_ns, thief, victim, task", "", "", ", what")); r.next();) {
      steal s{};
      s.time_ns = r.time(0);
      s.what = out_.format >= 4 ? booty_of(r) : r.null(3) ? booty::stack : booty::task;
      if (!required(r, 1, workers_, "worker", s.thief) || !required(r, 2, workers_, "worker", s.victim)) continue;
      s.task = reference(r, 3, tasks_, "task");
      all.push_back(s);
    }
    std::stable_sort(all.begin(), all.end(), [](const steal& a, const steal& b) { return a.time_ns < b.time_ns; });
  }

  static booty booty_of(const rows& r) {
    for (const booty b : {booty::task, booty::stack, booty::branch})
      if (r.text(4) == text(b)) return b;
    r.fail("what '" + printable(r.text(4), name_width_max) + "' is unknown");
  }

  void read_teams() {
    if (out_.format < 5) return;
    for (rows r(db_, "teams", "task, width, aim, entered_ns, left_ns, busy_ns"); r.next();) {
      team t{};
      t.width = r.count_or(1, workers_max, 0);
      if (t.width == 0) r.fail("a team of no worker");
      t.aim = aim_of(r);
      t.entered_ns = r.time(3);
      t.left_ns = r.time_after(4, t.entered_ns);
      t.busy_ns = r.count_or(5, time_max, 0);
      if (required(r, 0, tasks_, "task", t.task)) out_.teams.push_back(t);
    }
    std::ranges::sort(out_.teams, {}, &team::task);
  }

  void read_located() {
    if (out_.format < 6) return;
    for (rows r(db_, "located", "task, local_bytes, remote_bytes"); r.next();) {
      data_of_task l{};
      l.local_bytes = r.count_or(1, INT64_MAX, 0);
      l.remote_bytes = r.count_or(2, INT64_MAX, 0);
      if (required(r, 0, tasks_, "task", l.task)) out_.located.push_back(l);
    }
    std::ranges::sort(out_.located, {}, &data_of_task::task);
  }

  static aim aim_of(const rows& r) {
    for (const aim a : {aim::fixed, aim::time, aim::cost})
      if (r.text(2) == text(a)) return a;
    r.fail("aim '" + printable(r.text(2), name_width_max) + "' is unknown");
  }

  void read_sleeps() {
    std::vector<sleep>& all = out_.sleeps;
    for (rows r(db_, "sleeps", "worker, from_ns, to_ns"); r.next();) {
      sleep s{};
      s.from_ns = r.time(1);
      s.to_ns = r.time_after(2, s.from_ns);
      if (required(r, 0, workers_, "worker", s.worker)) all.push_back(s);
    }
    std::stable_sort(all.begin(), all.end(), [](const sleep& a, const sleep& b) {
      return a.worker != b.worker ? a.worker < b.worker : a.from_ns < b.from_ns;
    });
  }

  void read_counters() {
    std::unordered_map<std::string, index> known;
    for (rows r(db_, "counters", "task, name, value"); r.next();) {
      counter c{};
      if (!required(r, 0, tasks_, "task", c.task)) continue;
      c.name = intern(r.text(1), out_.counter_names, known);
      c.value = r.integer(2);
      out_.counters.push_back(c);
    }
    std::stable_sort(out_.counters.begin(), out_.counters.end(),
                     [](const counter& a, const counter& b) { return a.task < b.task; });
  }

  // The row that column `column` refers to; none if it is NULL, or if that row may have been lost.
  index reference(const rows& r, int column, const id_map& map, const char* what) {
    if (r.null(column)) return none;
    const std::int64_t id = r.integer(column);
    const index found = map.find(id);
    if (found == none && out_.lost == 0)
      r.fail(std::string(what) + " " + std::to_string(id) +
             " does not exist; the file is damaged, record the run again");
    return found;
  }

  // The same for a column that may not be NULL. False if the row is to be dropped.
  bool required(const rows& r, int column, const id_map& map, const char* what, index& out) {
    if (r.null(column)) r.fail(std::string("names no ") + what);
    out = reference(r, column, map, what);
    if (out == none) ++out_.dropped;
    return out != none;
  }

  // There are few different texts; they mostly come in long runs of the same.
  index intern(std::string_view text, std::vector<std::string>& all, std::unordered_map<std::string, index>& known) {
    const auto [at, fresh] = known.try_emplace(std::string(text), static_cast<index>(all.size()));
    if (fresh) all.emplace_back(text);
    return at->second;
  }

  static constexpr std::int64_t no_id = INT64_MIN;  // a parent that is NULL

  static constexpr double tasks_part = 0.4;  // of the time that reading takes; the accesses take the rest

  database db_;
  const std::function<void(double)>& tell_;
  std::uint64_t rows_ = 0;
  std::string columns_;
  file out_;
  id_map names_, places_, workers_, handles_, tasks_;
  std::unordered_map<std::string, index> kinds_;
};

}  // namespace

file load_database(const std::string& path, const std::function<void(double)>& tell) {
  return loader(path, tell).load();
}

}  // namespace weft::tool::trace

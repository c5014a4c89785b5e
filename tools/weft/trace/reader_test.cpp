// One file that is right, and for each way to be wrong one that is not.
#include "reader.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "reader_made.hpp"

namespace weft::tool::trace {

using namespace made_by_hand;

TEST_CASE("reader: every table, with references as indices") {
  const scratch s;
  s.sql(schema);
  const file f = load(s.path);
  CHECK(f.about("weft") == "0.1.0");
  CHECK(f.about("nothing").empty());
  CHECK(f.duration_ns == 1000);
  REQUIRE(f.tasks.size() == 4);
  CHECK(f.tasks[0].id == 11);
  CHECK(f.task_name(0) == "make");
  CHECK(f.task_name(2) == "task 13");
  CHECK(f.tasks[2].parent == 1);
  CHECK(f.tasks[2].result == outcome::failed);
  CHECK(f.tasks[3].submitter == none);
  CHECK(!f.tasks[3].ran());
  CHECK(f.places[f.places[0].parent].kind == "machine");
  CHECK(f.places[f.workers[1].place].name == "core 1");
  CHECK(f.workers[1].cpu == -1);
  CHECK(f.handle_name(0) == "a");
  CHECK(f.handle_name(1) == "handle 8");
  REQUIRE(f.accesses.size() == 5);
  CHECK(f.accesses[1].task == 1);  // by task and position, not as they came
  CHECK(f.kinds[f.accesses[1].kind] == "read");
  CHECK(f.kinds[f.accesses[2].kind] == "resource");
  CHECK(f.accesses[2].version == no_version);
  REQUIRE(f.waits.size() == 2);
  CHECK(f.waits[0].task == 1);
  CHECK(f.waits[1].task == none);
  CHECK(f.steals[0].time_ns == 50);
  CHECK(f.sleeps.size() == 2);
  CHECK(f.counter_names[f.counters[0].name] == "cycles");
  CHECK(f.counters[0].value == 12345);
}

TEST_CASE("reader: pieces of tasks by worker and time") {
  const scratch s;
  s.sql(schema);
  const file f = load(s.path);
  const auto text = [&](bool with_main) {
    std::ostringstream out;
    for (const segment& g : segments(f, with_main))
      out << (g.task == none ? 0 : f.tasks[g.task].id) << "@" << g.worker << ":" << g.from_ns << "-" << g.to_ns << " ";
    return out.str();
  };
  CHECK(text(false) == "11@0:100-200 12@0:200-300 13@0:310-400 12@1:450-600 ");
  CHECK(text(true) == "0@0:0-40 11@0:100-200 12@0:200-300 13@0:310-400 0@0:900-1000 12@1:450-600 ");
}

TEST_CASE("reader: versions, and who precedes whom") {
  const scratch s;
  s.sql(schema);
  const file f = load(s.path);
  const version_steps v(f);
  std::ostringstream out;
  for (const version_step& step : v.steps) {
    out << "v" << step.version << ":";
    for (std::uint32_t i = step.before_first; i < step.before_last; ++i)
      out << " " << f.tasks[f.accesses[v.before[i]].task].id;
    out << " <";
    for (std::uint32_t i = step.after_first; i < step.after_last; ++i)
      out << " " << f.tasks[f.accesses[v.after[i]].task].id;
    out << "; ";
  }
  CHECK(out.str() == "v0: < 11; v1: 11 < 12 13; v3: 12 13 < 14; v4: 14 <; ");
}

TEST_CASE("reader: what is no trace is refused, and said to be so") {
  scratch s;
  says(refusal(s), "cannot open: No such file");
  s.bytes("");
  says(refusal(s), "is empty");
  s.bytes("Not a database, but long enough to be mistaken for one by its first bytes: SQLite format 3" +
          std::string(5000, '\0'));
  says(refusal(s), "is no SQLite database");
  scratch folder;
  folder.path = folder.folder;
  says(refusal(folder), "is a directory");
  folder.path = "/dev/null";
  says(refusal(folder), "is no plain file");
  says(refusal("PRAGMA application_id = 7"), "no trace of Weft (its application_id is 7)");
  says(refusal("PRAGMA user_version = 12"), "format 12, newer than 11");
  says(refusal("PRAGMA user_version = 0"), "format number 0");
  says(refusal("DELETE FROM meta WHERE key = 'complete'"), "is incomplete");
  says(refusal("UPDATE meta SET value = 'soon' WHERE key = 'duration_ns'"), "\"soon\" as duration_ns");
  says(refusal("UPDATE meta SET value = '-5' WHERE key = 'lost'"), "\"-5\" as lost");
  for (const std::string wrong : {"", "-1", "nan", "inf", "1 J"})
    says(refusal("INSERT INTO meta VALUES ('joules_running', '" + wrong + "')"),
         ("\"" + wrong + "\" as joules_running, which is no energy").c_str());
  says(refusal("INSERT INTO meta VALUES ('joules_running', '1')"), "\"\" as joules_searching");
}

TEST_CASE("reader: joules, where the machine has them") {
  const scratch s;
  s.sql(schema);
  CHECK(!load(s.path).energy.modelled);
  s.sql("INSERT INTO meta VALUES ('joules_running', '1.5'), ('joules_searching', '0.25'), ('joules_asleep', '0'), "
        "('joules_local', '3e-6'), ('joules_remote', '2')");
  const joules e = load(s.path).energy;
  CHECK(e.modelled);
  CHECK(e.running == 1.5);
  CHECK(e.searching == 0.25);
  CHECK(e.asleep == 0);
  CHECK(e.local == 3e-6);
  CHECK(e.remote == 2);
}

TEST_CASE("reader: how far it is") {
  const scratch s;
  s.sql(schema);
  s.sql("WITH RECURSIVE n(i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM n WHERE i < 60000) "
        "INSERT INTO tasks SELECT i, NULL, 1, 0, 10, NULL, NULL, NULL, 'not run' FROM n");
  s.sql("INSERT INTO accesses SELECT id, 0, 7, 'read', 4, 60000 FROM tasks WHERE id >= 100 ORDER BY id");
  std::vector<double> told;
  CHECK(load(s.path, [&told](double done) { told.push_back(done); }).tasks.size() == 4 + 59'901);
  CHECK(told.size() >= 6);
  CHECK(std::is_sorted(told.begin(), told.end()));
  CHECK((told.front() > 0 && told.front() < 0.4 && told.back() > 0.6 && told.back() <= 1));
}

TEST_CASE("reader: a file whose writer did not finish") {
  const scratch s;
  s.sql(schema);
  std::ofstream(s.path + "-journal") << "x";
  says(refusal(s), "is still being written");
}

TEST_CASE("reader: each missing table or column is named") {
  for (const char* table : {"meta", "names", "places", "workers", "handles", "tasks", "waits", "accesses", "steals",
                            "sleeps", "counters"}) {
    const std::string name = table;
    says(refusal("DROP TABLE " + name), ("has no table " + name).c_str());
    says(refusal("DROP TABLE " + name + "; CREATE TABLE " + name + "(other)"), ("table " + name + " cannot").c_str());
    // A view is somebody's program: never run.
    says(refusal("DROP TABLE " + name + "; CREATE VIEW " + name + " AS SELECT 1"), ("no table " + name).c_str());
  }
}

TEST_CASE("reader: references that lead nowhere") {
  says(refusal("UPDATE tasks SET parent = 99 WHERE id = 13"), "the parent of 13, 99, does not exist");
  says(refusal("UPDATE tasks SET name = 3 WHERE id = 13"), "name 3 does not exist");
  says(refusal("UPDATE tasks SET worker = 2 WHERE id = 13"), "worker 2 does not exist");
  says(refusal("UPDATE tasks SET submitter = -1 WHERE id = 13"), "worker -1 does not exist");
  says(refusal("UPDATE waits SET task = 1"), "table waits, row 1: task 1 does not exist");
  says(refusal("UPDATE waits SET handle = 1"), "handle 1 does not exist");
  says(refusal("UPDATE waits SET to_worker = NULL"), "begins and ends on a worker");
  says(refusal("UPDATE accesses SET handle = 9"), "handle 9 does not exist");
  says(refusal("UPDATE accesses SET task = NULL"), "names no task");
  says(refusal("UPDATE steals SET victim = 9"), "worker 9 does not exist");
  says(refusal("UPDATE sleeps SET worker = 9"), "worker 9 does not exist");
  says(refusal("UPDATE counters SET task = 9"), "task 9 does not exist");
  says(refusal("UPDATE workers SET place = 9"), "place 9 does not exist");
  says(refusal("UPDATE places SET parent = 9 WHERE id = 3"), "the parent of 3, 9, does not exist");
  says(refusal("UPDATE places SET parent = 4 WHERE id = 5"), "is its own ancestor");
  says(refusal("UPDATE tasks SET parent = 13 WHERE id = 12"), "is its own ancestor");
  says(refusal("UPDATE tasks SET parent = 13 WHERE id = 13"), "is its own ancestor");
}

TEST_CASE("reader: times and values that cannot be") {
  says(refusal("UPDATE tasks SET finished_ns = 99 WHERE id = 11"), "finished_ns is 99, before");
  says(refusal("UPDATE tasks SET started_ns = 5 WHERE id = 11"), "started_ns is 5, before");
  says(refusal("UPDATE tasks SET submitted_ns = -1 WHERE id = 11"), "before the start of the run");
  says(refusal("UPDATE tasks SET submitted_ns = 'x' WHERE id = 11"), "submitted_ns is no whole number");
  says(refusal("UPDATE tasks SET submitted_ns = NULL WHERE id = 11"), "submitted_ns is no whole number");
  says(refusal("UPDATE tasks SET finished_ns = NULL WHERE id = 11"), "outcome 'done' does not fit");
  says(refusal("UPDATE tasks SET outcome = 'done' WHERE id = 14"), "outcome 'done' does not fit");
  says(refusal("UPDATE tasks SET outcome = 'not run' WHERE id = 11"), "outcome 'not run' does not fit");
  says(refusal("UPDATE tasks SET outcome = 'odd' WHERE id = 11"), "outcome 'odd' is unknown");
  says(refusal("UPDATE waits SET why = 'tea'"), "why 'tea' is unknown");
  says(refusal("UPDATE waits SET to_ns = 1"), "to_ns is 1, before");
  says(refusal("UPDATE sleeps SET to_ns = 1 WHERE from_ns = 600"), "to_ns is 1, before");
  says(refusal("UPDATE accesses SET next_version = 1 WHERE version = 1"), "does not follow version 1");
  says(refusal("UPDATE names SET name = 5"), "no error");  // TEXT affinity makes it '5'
  says(refusal("UPDATE names SET name = x'00'"), "name is no text");
}

TEST_CASE("reader: a worker runs one task at a time") {
  says(refusal("UPDATE tasks SET finished_ns = 201 WHERE id = 11"),
       "worker 0 runs task 11 and task 12 at the same time");
  says(refusal("UPDATE tasks SET finished_ns = 440 WHERE id = 12"), "task 12 waits while it is not running");
}

TEST_CASE("reader: where records were lost, what refers to them is left out and counted") {
  const scratch s;
  s.sql(schema);
  s.sql("UPDATE meta SET value = '3' WHERE key = 'lost'; DELETE FROM tasks WHERE id = 12");
  const file f = load(s.path);
  CHECK(f.lost == 3);
  CHECK(f.dropped == 4);  // two accesses, a wait, a counter
  CHECK(f.tasks.size() == 3);
  CHECK(f.tasks[1].id == 13);
  CHECK(f.tasks[1].parent == none);
  CHECK(f.accesses.size() == 3);
  CHECK(f.steals[1].task == none);
}

TEST_CASE("reader: ids need be neither dense nor small, and doubles are noticed") {
  const scratch s;
  s.sql(schema);
  s.sql("UPDATE tasks SET id = 9223372036854775807 WHERE id = 12; UPDATE tasks SET id = -9223372036854775808 WHERE id "
        "= 11;"
        "UPDATE tasks SET parent = 9223372036854775807 WHERE id = 13;"
        "UPDATE waits SET task = 9223372036854775807 WHERE task = 12; UPDATE steals SET task = NULL;"
        "UPDATE accesses SET task = 14; UPDATE counters SET task = -9223372036854775808");
  const file f = load(s.path);
  CHECK(f.tasks[0].id == INT64_MIN);
  CHECK(f.tasks[1].parent == 3);
  CHECK(f.waits[0].task == 3);
  says(
      refusal("DROP TABLE tasks; CREATE TABLE tasks AS SELECT 1 AS id, NULL AS parent, 1 AS name, 0 AS submitter, 0 AS "
              "submitted_ns, 0 AS worker, 0 AS started_ns, 0 AS finished_ns, 'done' AS outcome FROM names"),
      "the id 1 twice");
}

TEST_CASE("reader: damage anywhere ends in an error or in a file, never worse") {
  const scratch good;
  good.sql(schema);
  const std::string whole = good.bytes();
  int refused = 0, tried = 0;
  const scratch s;
  for (std::size_t at = 0; at < whole.size(); at += 97) {
    for (const std::string& broken : {whole.substr(0, at), whole.substr(0, at) + '\xff' + whole.substr(at + 1),
                                      whole.substr(0, at) + std::string(200, 'Z')}) {
      s.bytes(broken);
      ++tried;
      refused += refusal(s) != "no error" ? 1 : 0;
    }
  }
  CAPTURE(tried);
  CHECK(refused > tried / 2);  // a flipped byte in the unused part of a page harms nobody
}

}  // namespace weft::tool::trace

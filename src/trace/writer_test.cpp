// The file: its tables and columns to the letter, for those who read it, and how what was recorded stands in it.
#include "trace/writer.hpp"

#include <doctest/doctest.h>

#include "trace_file.hpp"
#include "weft/error.hpp"

namespace weft::trace {
namespace {

// Two workers on one cache and two of a second node; four tasks.
contents rows() {
  contents c;
  c.names = {"", "load", "sum"};
  c.handles = {{7, {.name = "a", .bytes = 4096}}, {9, {.name = "", .units = 4}}};
  c.kinds = {{detail::kind_read, 3}, {detail::kind_write, 4}, {128 + 2, 6}, {detail::kind_resource, 0}};
  c.tasks.resize(5);
  c.tasks[1] = {.submitted_ns = 5,
                .started_ns = 10,
                .finished_ns = 90,
                .name = 1,
                .submitter = 0,
                .worker = 0,
                .pin = 0,
                .near = 2,  // node 1, where worker 2 is
                .priority = true,
                .ran = true};
  c.tasks[2] = {.submitted_ns = 20,
                .started_ns = 25,
                .finished_ns = 40,
                .parent = 1,
                .rank = 0,
                .worker = 1,
                .near = detail::record::near_spans,
                .subtasks = true,
                .is_call = true,
                .ran = true,
                .outcome = outcome::failed};
  c.tasks[3] = {.submitted_ns = 30,
                .started_ns = 95,
                .finished_ns = 95,
                .name = 2,
                .submitter = 3,
                .worker = 2,
                .near = 2,
                .ran = true,
                .outcome = outcome::skipped};
  c.tasks[4] = {.submitted_ns = 31, .own_ns = 12, .submitter = 0, .near = 1};
  c.accesses = {{1, 0, 7, detail::kind_write, 0, 1},
                {3, 0, 7, detail::kind_read, 1, 2},
                {3, 1, 7, detail::kind_read, 1, 2},
                {3, 2, 9, detail::kind_resource, 4, 0}};
  c.waits = {
      {0, why::all, 0, 0, 50, 0, 100, 6}, {1, why::children, 0, 0, 21, 3, 45}, {1, why::handle, 7, 3, 50, 2, 60}};
  c.passed = {{0, why::handle, 9, 0, 101}, {2, why::children, 0, 1, 39}};
  c.steals = {{24, 1, 0, 2, booty::task}, {44, 3, 0, 0, booty::stack}, {46, 3, 0, 0, booty::branch}};
  c.sleeps = {{2, 0, 94}};
  c.counts = {{1, 1, 500}};
  c.teams = {{1, 2, aim::cost, 11, 89, 140}};
  c.located = {{1, 4096, 0}, {3, 0, 64}};
  c.lost = 3;
  return c;
}

std::string written(const trace_place& place) {
  const place::tree tree({{0, 0, 0}, {1, 0, 0}, {4, 2, 1}}, 4);
  facts f;
  f.program = "p";
  f.machine = "host";
  f.policy = "local";
  f.creation = "decoupled";
  f.schedule = "time";
  f.seed = ~std::uint64_t{0};
  f.window = 64;
  f.duration_ns = 100;
  f.counters = {"cycles", "page-faults"};
  f.places = &tree;
  f.bound = true;
  write_file(place.path(), f, rows());
  return place.path();
}

}  // namespace

TEST_CASE("trace file: who it is") {
  const trace_place place;
  const trace_file file(written(place));
  CHECK(file.text("PRAGMA application_id") == "1466263156");
  CHECK(file.text("PRAGMA user_version") == "11");
  CHECK(file.text("PRAGMA integrity_check") == "ok");
  CHECK(file.text("SELECT key || '=' || value FROM meta WHERE key NOT IN ('weft', 'seal') ORDER BY key") ==
        "complete=1 counters=cycles,page-faults creation=decoupled duration_ns=100 forks=0 forks_elsewhere=0 lost=3 "
        "machine=host "
        "pipelines=0 policy=local program=p schedule=time seed=18446744073709551615 window=64 workers=4");
}

TEST_CASE("trace file: joules, where the machine has them") {
  const trace_place place;
  const place::tree tree({{0, 0, 0}}, 1);
  facts f;
  f.places = &tree;
  f.energy = {.modelled = true, .running = 1.5, .searching = 0.1, .asleep = 0, .local = 3e-6, .remote = 2};
  write_file(place.path(), f, {});
  CHECK(trace_file(place.path()).text("SELECT key || '=' || value FROM meta WHERE key LIKE 'joules%' ORDER BY key") ==
        "joules_asleep=0 joules_local=3.0000000000000001e-06 joules_remote=2 joules_running=1.5 "
        "joules_searching=0.10000000000000001");
}

TEST_CASE("trace file: tables and columns are what the guide says") {
  const trace_place place;
  const trace_file file(written(place));
  CHECK(
      file.text(
          "SELECT group_concat(m.name || '(' || (SELECT group_concat(name, ',') FROM pragma_table_info(m.name))"
          " || ')', ' ') FROM (SELECT name FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY name) m") ==
      "accesses(task,position,handle,kind,version,next_version) "
      "bodies(section,number,timestamp,calls,task,worker,from_ns,to_ns,own_ps,runs,serializes) "
      "counters(task,name,value) crews(task,section,first) "
      "dependencies(before,after,handle) handles(id,name,bytes,units) helpers(task,pipeline) "
      "kinds(kind,readonly,commutative,exclusive) "
      "located(task,local_bytes,remote_bytes) "
      "meta(key,value) names(id,name) passed(task,why,handle,worker,time_ns,own_ns) "
      "passes(pipeline,item,stage,items,task,worker,from_ns,to_ns,ps,strand) "
      "pipelines(id,task,stages,in_flight,began_ns) "
      "places(id,parent,kind,name) rules(name,value,off,decided) "
      "sections(id,executor,began_ns,ended_ns,committed,started,again,in_order,serial_ns,section,window,always_ahead) "
      "segments(task,worker,from_ns,to_ns) sleeps(worker,from_ns,to_ns) stays(strand,worker,from_ns,to_ns) "
      "steals(time_ns,thief,victim,task,what) steps(strand,position,step,own_ps,which) "
      "strands(id,task,of,began_ns,own_ns) "
      "tasks(id,parent,name,submitter,submitted_ns,worker,started_ns,finished_ns,outcome,priority,pin,"
      "subtasks,own_ns,near,at_near,call,rank) teams(task,width,aim,entered_ns,left_ns,busy_ns) "
      "touches(section,number,word,before_ps,reads,writes) "
      "waits(task,why,handle,from_worker,from_ns,to_worker,to_ns,own_ns) workers(id,place,cpu)");
}

TEST_CASE("trace file: what was recorded") {
  const trace_place place;
  const trace_file file(written(place));
  CHECK(file.text("SELECT * FROM names") == "1|load 2|sum");
  CHECK(file.text("SELECT * FROM handles") == "7|a|4096|NULL 9|NULL|NULL|4");
  CHECK(file.text("SELECT * FROM tasks") ==
        "1|NULL|1|0|5|0|10|90|done|1|0|0|NULL|1|0|0|NULL 2|1|NULL|NULL|20|1|25|40|failed|0|NULL|1|NULL|-1|NULL|1|0 "
        "3|NULL|2|3|30|2|95|95|skipped|0|NULL|0|NULL|1|1|0|NULL "
        "4|NULL|NULL|0|31|NULL|NULL|NULL|not run|0|NULL|0|12|0|NULL|0|NULL");
  CHECK(file.text("SELECT * FROM accesses") == "1|0|7|write|0|1 3|0|7|read|1|2 3|1|7|read|1|2 3|2|9|resource|4|NULL");
  CHECK(file.text("SELECT * FROM waits") ==
        "NULL|all|NULL|0|50|0|100|6 1|children|NULL|0|21|3|45|NULL 1|handle|7|3|50|2|60|NULL");
  CHECK(file.text("SELECT * FROM passed") == "NULL|handle|9|0|101|NULL 2|children|NULL|1|39|NULL");
  CHECK(file.text("SELECT * FROM kinds ORDER BY kind") == "read|1|1|0 resource|0|0|0 user 2|0|1|1 write|0|0|1");
  CHECK(file.text("SELECT * FROM steals") == "24|1|0|2|task 44|3|0|NULL|stack 46|3|0|NULL|branch");
  CHECK(file.text("SELECT * FROM sleeps") == "2|0|94");
  CHECK(file.text("SELECT * FROM located") == "1|4096|0 3|0|64");
  CHECK(file.text("SELECT * FROM teams") == "1|2|cost|11|89|140");
  CHECK(file.text("SELECT * FROM counters") == "1|page-faults|500");
}

TEST_CASE("trace file: how far the writing is") {
  const trace_place place;
  contents many = rows();
  many.tasks.resize(200'001);
  const place::tree tree({{0, 0, 0}, {1, 0, 0}, {4, 2, 1}}, 4);
  facts f;
  f.counters = {"cycles", "page-faults"};
  f.places = &tree;
  std::vector<double> told;
  write_file(place.path(), f, many, [&told](double done) { told.push_back(done); });
  CHECK(told.size() >= 12);
  CHECK(std::is_sorted(told.begin(), told.end()));
  CHECK((told.front() > 0 && told.front() < 0.1));
  CHECK(told.back() == 1);
}

TEST_CASE("trace file: places form a tree, and the first worker is never bound") {
  const trace_place place;
  const trace_file file(written(place));
  CHECK(file.text("SELECT id, parent, kind, name FROM places ORDER BY id") ==
        "1|NULL|machine|host 2|1|node|node 0 3|2|cache|cache 0 4|3|core|core 0 5|3|core|core 1 6|1|node|node 1 "
        "7|6|cache|cache 2 8|7|core|core 4");
  CHECK(file.text("SELECT * FROM workers") == "0|4|NULL 1|5|1 2|8|4 3|4|0");
}

TEST_CASE("trace file: views") {
  const trace_place place;
  const trace_file file(written(place));
  CHECK(file.text("SELECT * FROM dependencies") == "1|3|7");
  CHECK(file.text("SELECT * FROM segments WHERE task = 1 ORDER BY from_ns") == "1|0|10|21 1|3|45|50 1|2|60|90");
  CHECK(file.number("SELECT count(*) FROM segments") == 5);
  const std::string plan = file.text("EXPLAIN QUERY PLAN SELECT before FROM dependencies WHERE after = 3");
  CHECK(plan.find("SCAN b") == std::string::npos);  // a lookup, not a walk over all accesses
  CHECK(plan.find("SCAN a") == std::string::npos);
}

TEST_CASE("trace file: its first bytes say what it is") {
  const trace_place place;
  std::FILE* f = std::fopen(written(place).c_str(), "rb");
  unsigned char header[header_bytes] = {};
  REQUIRE(std::fread(header, 1, sizeof header, f) == sizeof header);
  std::fclose(f);
  CHECK(is_trace_header(header));
  header[70] ^= 1;
  CHECK(!is_trace_header(header));
}

TEST_CASE("trace file: a name that cannot be opened") {
  const trace_place place;
  CHECK_THROWS_AS(write_file(place.path("no/folder"), {}, {}), error);
}

}  // namespace weft::trace

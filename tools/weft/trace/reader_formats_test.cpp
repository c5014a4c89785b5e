// What each format of trace files has added: it is read where it is, is nothing in older files, and is refused where it
// cannot be.
#include "reader.hpp"

#include <doctest/doctest.h>

#include "reader_made.hpp"

namespace weft::tool::trace {

using namespace made_by_hand;

static std::string refusal_of_4(const std::string& change) {
  const scratch s;
  s.sql(format_4(change));
  return refusal(s);
}

TEST_CASE("reader: hints, calls and what was stolen, from format 4 on; older files have none") {
  const scratch s;
  s.sql(format_4());
  const file f = load(s.path);
  CHECK((f.tasks[0].near == 3 && f.tasks[0].at_near == 1 && !f.tasks[0].is_call));
  CHECK((f.tasks[1].near == spans_nodes && f.tasks[1].at_near == -1 && f.tasks[1].is_call));
  CHECK((f.tasks[2].near == unhinted && f.tasks[2].at_near == -1));
  CHECK(f.waits[0].why == wait_reason::spawn);
  REQUIRE(f.steals.size() == 3);
  CHECK((f.steals[0].what == booty::task && f.steals[2].what == booty::branch));
  says(refusal_of_4("UPDATE tasks SET near = 62 WHERE id = 11"), "near 62 is no memory node");
  says(refusal_of_4("UPDATE tasks SET at_near = 1 WHERE id = 12"), "at_near is told of a task");
  says(refusal_of_4("UPDATE steals SET what = 'tea'"), "what 'tea' is unknown");

  const scratch old;
  old.sql(schema);
  const file g = load(old.path);
  CHECK((g.format == 1 && g.tasks[0].near == unhinted && g.tasks[0].at_near == -1 && !g.tasks[0].is_call));
  CHECK(g.steals[0].what == booty::task);
}

TEST_CASE("reader: teams and their members, from format 5 on; older files have none") {
  const scratch s;
  s.sql(format_5());
  const file f = load(s.path);
  CHECK((f.tasks[0].rank == -1 && f.tasks[1].rank == 1));
  REQUIRE(f.teams.size() == 1);
  const team& t = f.teams[0];
  CHECK((t.task == 0 && t.width == 2 && t.aim == aim::time));
  CHECK((t.entered_ns == 110 && t.left_ns == 190 && t.busy_ns == 150));
  const auto refusal_of_5 = [](const std::string& change) {
    const scratch wrong;
    wrong.sql(format_5(change));
    return refusal(wrong);
  };
  says(refusal_of_5("UPDATE teams SET width = 0"), "a team of no worker");
  says(refusal_of_5("UPDATE teams SET aim = 'gold'"), "aim 'gold' is unknown");
  says(refusal_of_5("UPDATE teams SET left_ns = 1"), "left_ns is 1, before");
  says(refusal_of_5("UPDATE teams SET task = 99"), "99");
  const scratch old;
  old.sql(format_4());
  CHECK((load(old.path).teams.empty() && load(old.path).tasks[1].rank == -1));
}

TEST_CASE("reader: where data lay, from format 6 on; older files say nothing") {
  const scratch s, old, wrong, unknown;
  s.sql(format_6());
  const file f = load(s.path);
  REQUIRE(f.located.size() == 2);
  CHECK((f.located[0].task == 0 && f.located[0].local_bytes == 0 && f.located[0].remote_bytes == 8));
  CHECK((f.located[1].task == 1 && f.located[1].local_bytes == 4096 && f.located[1].remote_bytes == 64));
  old.sql(format_5());
  CHECK(load(old.path).located.empty());
  wrong.sql(format_6("UPDATE located SET local_bytes = -1"));
  says(refusal(wrong), "local_bytes");
  unknown.sql(format_6("UPDATE located SET task = 99 WHERE task = 11"));
  says(refusal(unknown), "99");
}

TEST_CASE("reader: ordered sections, from format 7 on; older files have none") {
  const auto format_7 = [](const std::string& change = "") {
    return format_6(R"(
      PRAGMA user_version = 7;
      CREATE TABLE sections(executor TEXT, began_ns INTEGER, ended_ns INTEGER, committed INTEGER,
                            started INTEGER, again INTEGER, in_order INTEGER, serial_ns INTEGER);
      INSERT INTO sections VALUES ('speculative', 300, 400, 10, 14, 3, 2, 180),
                                  ('serial', 100, 150, 7, 7, 0, 0, NULL);)" +
                    change);
  };
  const scratch s, old;
  s.sql(format_7());
  const file f = load(s.path);
  REQUIRE(f.sections.size() == 2);
  const section &first = f.sections[0], &second = f.sections[1];
  CHECK((first.executor == "serial" && first.began_ns == 100 && first.ended_ns == 150));
  CHECK((first.committed == 7 && first.serial_ns == -1));
  CHECK((second.executor == "speculative" && second.committed == 10 && second.started == 14));
  CHECK((second.again == 3 && second.in_order == 2 && second.serial_ns == 180));
  old.sql(format_6());
  CHECK(load(old.path).sections.empty());
  const auto refusal_of_7 = [&](const std::string& change) {
    const scratch wrong;
    wrong.sql(format_7(change));
    return refusal(wrong);
  };
  says(refusal_of_7("UPDATE sections SET ended_ns = 1"), "ended_ns is 1, before");
  says(refusal_of_7("UPDATE sections SET again = 15 WHERE began_ns = 300"), "again");
  says(refusal_of_7("UPDATE sections SET in_order = 11 WHERE began_ns = 300"), "in_order");
}

std::string format_8(const std::string& change = "") {
  return format_6(R"(
    PRAGMA user_version = 8;
    CREATE TABLE sections(executor TEXT, began_ns INTEGER, ended_ns INTEGER, committed INTEGER,
                          started INTEGER, again INTEGER, in_order INTEGER, serial_ns INTEGER);
    CREATE TABLE strands(id INTEGER PRIMARY KEY, task INTEGER, of TEXT, began_ns INTEGER, own_ns INTEGER);
    CREATE TABLE steps(strand INTEGER, position INTEGER, step TEXT, own_ps INTEGER, which INTEGER,
                       PRIMARY KEY(strand, position)) WITHOUT ROWID;
    CREATE TABLE stays(strand INTEGER, worker INTEGER, from_ns INTEGER, to_ns INTEGER);
    INSERT INTO strands VALUES (1, 11, 'body', 110, NULL), (2, 11, 'branch', 120, NULL), (3, NULL, 'program', 20, 5);
    INSERT INTO steps VALUES (1, 0, 'fork', 1500, 2), (1, 1, 'submits', 10, 13), (1, 2, 'taken', 2000, 2),
                             (1, 3, 'over', 0, 9), (1, 4, 'end', 7, NULL),
                             (2, 0, 'loop', 0, 40), (2, 1, 'look', 5, 20), (2, 2, 'looped', 6, NULL),
                             (2, 3, 'end', 0, NULL), (3, 0, 'end', 0, NULL);
    INSERT INTO stays VALUES (2, 1, 600, 700), (3, 0, 20, 30);)" +
                  change);
}

TEST_CASE("reader: strands, from format 8 on; forks and loops lie in each other, and a branch is of one fork") {
  const scratch s, old;
  s.sql(format_8());
  const file f = load(s.path);
  REQUIRE(f.strands.size() == 3);
  CHECK((f.strands[0].task == 0 && f.strands[0].of == strand_of::body && f.strands[0].began_ns == 110));
  CHECK((f.strands[0].first == 0 && f.strands[0].last == 5 && f.strands[1].last == 9));
  CHECK((f.strands[1].is_taken && f.strands[2].task == none && f.strands[2].own_ns == 5));
  CHECK((f.steps[0].kind == step_kind::fork && f.steps[0].own_ps == 1500));
  CHECK((f.steps[1].kind == step_kind::submits && f.steps[1].which == 2));
  CHECK((f.steps[2].kind == step_kind::taken && f.steps[2].which == 1));
  CHECK((f.steps[5].kind == step_kind::loop && f.steps[5].which == 40 && f.steps[6].which == 20));
  REQUIRE(f.stays.size() == 2);
  CHECK((f.stays[0].task == 0 && f.stays[0].worker == 1 && f.stays[0].to_ns == 700 && f.stays[1].is_program));
  old.sql(format_6());
  CHECK(load(old.path).strands.empty());
  const auto refusal_of_8 = [&](const std::string& change) {
    const scratch wrong;
    wrong.sql(format_8(change));
    return refusal(wrong);
  };
  says(refusal_of_8("DELETE FROM steps WHERE step = 'taken'"), "does not fit those before it");
  says(refusal_of_8("DELETE FROM steps WHERE strand = 2 AND position = 3"), "does not fit those before it");
  says(refusal_of_8("UPDATE steps SET step = 'join' WHERE step = 'look'"), "does not fit those before it");
  says(refusal_of_8("UPDATE steps SET step = 'jump' WHERE step = 'look'"), "'jump' is no kind");
  says(refusal_of_8("UPDATE steps SET which = 1 WHERE step = 'taken'"), "strand 1 is no branch of this fork");
  says(refusal_of_8("UPDATE steps SET which = 4 WHERE step = 'taken'"), "strand 4 does not exist");
  says(refusal_of_8("UPDATE strands SET task = 99 WHERE id = 1"), "its task does not exist");
  says(refusal_of_8("UPDATE stays SET worker = 9 WHERE strand = 2"), "its worker does not exist");
  says(refusal_of_8("UPDATE stays SET to_ns = 1 WHERE strand = 2"), "to_ns is 1, before");
}

TEST_CASE("reader: pipelines, from format 9 on; a step of a body calls each, and their passes are in order") {
  const auto format_9 = [](const std::string& change = "") {
    return format_8(R"(
      PRAGMA user_version = 9;
      CREATE TABLE pipelines(id INTEGER PRIMARY KEY, task INTEGER, stages TEXT, in_flight INTEGER, began_ns INTEGER);
      CREATE TABLE helpers(task INTEGER PRIMARY KEY, pipeline INTEGER);
      CREATE TABLE passes(pipeline INTEGER, item INTEGER, stage INTEGER, items INTEGER, task INTEGER, worker INTEGER,
                          from_ns INTEGER, to_ns INTEGER, ps INTEGER, strand INTEGER);
      INSERT INTO strands VALUES (4, 11, 'pass', 210, NULL);
      INSERT INTO steps VALUES (4, 0, 'end', 3000, NULL);
      UPDATE steps SET position = 5 WHERE strand = 1 AND step = 'end';
      INSERT INTO steps VALUES (1, 4, 'pipeline', 30, 1);
      INSERT INTO pipelines VALUES (1, 11, 'sp', 6, 200);
      INSERT INTO helpers VALUES (13, 1);
      INSERT INTO passes VALUES (1, 7, 1, 1, 13, 1, 300, 310, 10000, NULL), (1, 7, 0, 1, 11, 0, 210, 214, 4000, 4),
                                (1, 2, NULL, 5, 11, 0, 200, 209, 9000, NULL);)" +
                    change);
  };
  const scratch s, old;
  s.sql(format_9());
  const file f = load(s.path);
  REQUIRE((f.pipelines.size() == 1 && f.passes.size() == 3));
  const pipeline& p = f.pipelines[0];
  CHECK((p.task == 0 && p.stages == "sp" && p.in_flight == 6 && p.began_ns == 200 && p.is_known));
  CHECK((p.first == 0 && p.last == 3));
  CHECK((f.passes[0].item == 2 && f.passes[0].items == 5 && f.passes[0].stage == pass::all_stages));
  CHECK((f.passes[1].item == 7 && f.passes[1].stage == 0 && f.passes[1].strand == 3 && f.passes[1].ps == 4000));
  CHECK((f.passes[2].stage == 1 && f.passes[2].task == 2 && f.passes[2].worker == 1 && f.passes[2].strand == none));
  REQUIRE(f.helps.size() == f.tasks.size());
  CHECK((f.helps[0] == none && f.helps[1] == none && f.helps[2] == 0));
  CHECK((f.steps[4].kind == step_kind::pipeline && f.steps[4].which == 0));
  old.sql(format_8());
  CHECK(load(old.path).pipelines.empty());
  const auto refusal_of_9 = [&](const std::string& change) {
    const scratch wrong;
    wrong.sql(format_9(change));
    return refusal(wrong);
  };
  says(refusal_of_9("UPDATE pipelines SET stages = 'ps'"), "'ps' are no stages");
  says(refusal_of_9("UPDATE pipelines SET stages = 'sx'"), "'sx' are no stages");
  says(refusal_of_9("UPDATE pipelines SET task = 99"), "its task does not exist");
  says(refusal_of_9("UPDATE steps SET which = 2 WHERE step = 'pipeline'"), "pipeline 2 is not called here");
  says(refusal_of_9("UPDATE steps SET step = 'pipeline', which = 1 WHERE step = 'submits'"), "is not called here");
  says(refusal_of_9("UPDATE passes SET stage = 2 WHERE stage = 1"), "stage");
  says(refusal_of_9("UPDATE passes SET pipeline = 2 WHERE stage = 1"), "pipeline 2 does not exist");
  says(refusal_of_9("UPDATE passes SET strand = 4"), "strand 4 is not of this pass");
  says(refusal_of_9("UPDATE passes SET strand = 1 WHERE stage = 1"), "strand 1 is not of this pass");
  says(refusal_of_9("UPDATE passes SET worker = 9 WHERE stage = 1"), "its worker does not exist");
  says(refusal_of_9("UPDATE helpers SET pipeline = 0"), "pipeline 0 does not exist");
}

}  // namespace weft::tool::trace

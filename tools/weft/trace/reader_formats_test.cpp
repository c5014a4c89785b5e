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

std::string format_9(const std::string& change = "") {
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
}

TEST_CASE("reader: pipelines, from format 9 on; a step of a body calls each, and their passes are in order") {
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

// Format 11 has rules, most often first.
template <class Format10> void check_rules(Format10 format_10) {
  const scratch s;
  s.sql(format_10(R"(
      PRAGMA user_version = 11;
      CREATE TABLE rules(name TEXT PRIMARY KEY, value INTEGER, off INTEGER, decided INTEGER) WITHOUT ROWID;
      INSERT INTO rules VALUES ('coarse', 2000, 1000000000000, 7), ('sweep', 8, 8, 0), ('tiny', 60, 0, 12);)"));
  const std::vector<rule> rules = load(s.path).rules;
  REQUIRE(rules.size() == 3);
  CHECK((rules[0].name == "tiny" && rules[0].value == 60 && rules[0].decided == 12 && !rules[0].is_off));
  CHECK((rules[1].name == "coarse" && rules[1].decided == 7 && rules[2].is_off));
}

TEST_CASE("reader: bodies of sections, from format 10 on; one of which nothing is missing can be run once more") {
  const auto format_10 = [](const std::string& change = "") {
    return format_9(R"(
      PRAGMA user_version = 10;
      DROP TABLE sections;
      CREATE TABLE sections(id INTEGER PRIMARY KEY, executor TEXT, began_ns INTEGER, ended_ns INTEGER,
                            committed INTEGER, started INTEGER, again INTEGER, in_order INTEGER, serial_ns INTEGER,
                            section INTEGER, window INTEGER, always_ahead INTEGER);
      CREATE TABLE crews(task INTEGER PRIMARY KEY, section INTEGER, first INTEGER);
      CREATE TABLE bodies(section INTEGER, number INTEGER, timestamp INTEGER, calls INTEGER, task INTEGER,
                          worker INTEGER, from_ns INTEGER, to_ns INTEGER, own_ps INTEGER, runs INTEGER,
                          serializes INTEGER);
      CREATE TABLE touches(section INTEGER, number INTEGER, word INTEGER, before_ps INTEGER, reads INTEGER,
                           writes INTEGER);
      INSERT INTO sections VALUES (1, 'serial', 0, 10, 1, 1, 0, 0, NULL, NULL, NULL, 0),
                                  (2, 'speculative', 20, 90, 4, 6, 2, 1, 80, 1, 32, 1);
      INSERT INTO crews VALUES (12, 2, 1);
      INSERT INTO bodies VALUES (2, 9, 3, 1, 12, 0, 30, 40, 9000, 0, 0), (2, 8, 5, 1, 12, 0, 41, 50, 8000, 2, 1),
                                (2, 11, 5, 0, 12, 1, 43, 55, 700, 1, 0), (2, 10, -2, 0, 12, 1, 60, 66, 600, 1, 0);
      INSERT INTO touches VALUES (2, 9, 1, 0, NULL, 1), (2, 9, 2, 40, 1, 2), (2, 11, 2, 10, 2, NULL);)" +
                    change);
  };
  const scratch s, old;
  s.sql(format_10());
  const file f = load(s.path);
  REQUIRE((f.sections.size() == 2 && f.bodies.size() == 4 && f.touches.size() == 3));
  CHECK((!f.sections[0].is_known && f.sections[0].begins == none));
  const section& x = f.sections[1];
  CHECK((x.is_known && x.section == 1 && x.window == 32 && x.always_ahead && x.begins == 1 && x.words == 2));
  CHECK((x.first == 0 && x.last == 4 && x.roots == 2));
  CHECK((f.bodies[0].number == 1 && f.bodies[0].child == 2 && f.bodies[1].number == 0 && f.bodies[1].child == 3));
  CHECK((f.bodies[1].runs == 2 && f.bodies[1].serializes && f.bodies[3].timestamp == ~std::uint64_t{1}));
  CHECK((f.numbered[0] == 1 && f.numbered[1] == 0 && f.numbered[2] == 3 && f.numbered[3] == 2));
  CHECK((f.bodies[0].first == 0 && f.bodies[0].last == 2 && f.bodies[2].first == 2 && f.bodies[2].last == 3));
  CHECK(
      (f.touches[1].word == 2 && f.touches[1].before_ps == 40 && f.touches[1].reads == 1 && f.touches[1].writes == 2));
  CHECK((f.crews[0] == none && f.crews[1] == 1));
  old.sql(format_9());
  CHECK(load(old.path).bodies.empty());
  check_rules(format_10);
  CHECK(f.rules.empty());
  for (const char* missing :
       {"UPDATE sections SET committed = 5 WHERE id = 2", "DELETE FROM crews",
        "UPDATE bodies SET calls = 2 WHERE number = 9",
        "UPDATE bodies SET number = 12 WHERE number = 11; UPDATE touches SET number = 12 WHERE number = 11",
        "UPDATE sections SET executor = 'relaxed' WHERE id = 2", "UPDATE strands SET task = 12 WHERE id = 4"}) {
    CAPTURE(missing);
    const scratch other;
    other.sql(format_10(missing));
    CHECK(!load(other.path).sections[1].is_known);
  }
  const auto refusal_of_10 = [&](const std::string& change) {
    const scratch wrong;
    wrong.sql(format_10(change));
    return refusal(wrong);
  };
  says(refusal_of_10("UPDATE sections SET id = 3 WHERE id = 2"), "section 3 is not the next one");
  says(refusal_of_10("UPDATE crews SET section = 3"), "section 3 does not exist");
  says(refusal_of_10("INSERT INTO crews VALUES (13, 2, 1)"), "section 2 begins twice");
  says(refusal_of_10("UPDATE crews SET task = 99"), "its task does not exist");
  says(refusal_of_10("UPDATE bodies SET timestamp = 4 WHERE number = 10"), "not in the order");
  says(refusal_of_10("UPDATE bodies SET worker = 9 WHERE number = 10"), "its worker does not exist");
  says(refusal_of_10("UPDATE bodies SET to_ns = 1 WHERE number = 10"), "to_ns is 1, before");
  says(refusal_of_10("UPDATE touches SET number = 7 WHERE number = 11"), "body 7 is not there");
  says(refusal_of_10("UPDATE touches SET word = 4 WHERE number = 11"), "word 4 is not the next one");
}

}  // namespace weft::tool::trace

// What a trace has of a section, read as anybody may read it.
#include <doctest/doctest.h>

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "trace_file.hpp"
#include "weft/weft.hpp"

namespace weft::speculative {
namespace {

// One after the other on a modelled machine: 2,500 instructions take a microsecond there.
void grow(ordered_context& x, std::uint64_t now, std::uint64_t* at, std::uint32_t children) {
  x.work(2500);
  const std::uint64_t before = x.load(at[0]);
  x.work(5000);
  x.store(at[0], before + now);
  x.store(at[1], std::uint64_t{7});
  for (std::uint32_t i = 0; i < children; ++i) x.at(now + 10 - i, grow, at, 0u);
  if (children == 0) x.serialize();
}

// Whoever comes too early reads another value, and does something else.
void mix(ordered_context& x, std::uint64_t now, std::uint32_t* cells, std::uint32_t at, std::uint32_t left) {
  const std::uint32_t seen = x.load(cells[at]);
  x.work(2000);
  x.store(cells[at], seen * 5 + static_cast<std::uint32_t>(now));
  if (seen % 2 == 0) x.store(cells[(at + 1) % 16], x.load(cells[(at + 1) % 16]) ^ seen);
  const std::uint32_t calls = left == 0 ? 0 : 1 + seen % 2;
  for (std::uint32_t i = 0; i < calls; ++i) x.at(now + 1 + (seen + i) % 9, mix, cells, (at * 5 + i) % 16, left - 1);
}

// The rows say what a serial run does: each body reads what the last before it has written there.
void check_order(const trace_file& t, std::uint64_t committed) {
  CHECK(t.text("SELECT count(*) FROM bodies") == std::to_string(committed));
  CHECK(t.text("SELECT committed FROM sections") == std::to_string(committed));
  CHECK(t.text("SELECT count(*) FROM bodies a, bodies b ON b.rowid = a.rowid + 1 WHERE "
               "b.timestamp < a.timestamp OR (b.timestamp = a.timestamp AND b.number <= a.number)") == "0");
  CHECK(t.text("SELECT count(DISTINCT number) - count(*) FROM bodies") == "0");
  std::map<std::string, std::string> now;
  std::uint64_t wrong = 0, checked = 0;
  for (const auto& row : t.rows("SELECT word, reads, writes FROM touches ORDER BY rowid")) {
    if (row[1] != "NULL" && now.contains(row[0])) {
      ++checked;
      wrong += now[row[0]] != row[1];
    }
    now[row[0]] = row[2] != "NULL" ? row[2] : row[1];
  }
  CHECK(wrong == 0);
  CHECK(checked > committed / 2);
  CHECK(t.text("SELECT count(*) FROM bodies WHERE task NOT IN (SELECT task FROM crews)") == "0");
  CHECK(t.text("SELECT count(*) FROM crews WHERE first") == "1");
}

}  // namespace

TEST_CASE("section book: what each body took, touched and called") {
  const trace_place place;
  std::uint64_t cells[2] = {100, 0};
  {
    const std::string path = place.path();
    runtime rt({.workers = 1, .machine = "virtual", .trace = path.c_str()});
    ordered q(rt, {.window = 40});
    q.at(5, grow, cells, 2u);
    q.run();
    q.at(3, grow, cells, 0u);
    q.run();
  }
  const trace_file t(place.path());
  CHECK(t.text("SELECT id, executor, section, window, always_ahead FROM sections") ==
        "1|speculative|1|40|0 2|speculative|1|40|0");
  CHECK(t.text("SELECT section, number, timestamp, calls, own_ps, to_ns - from_ns, runs, serializes FROM bodies") ==
        "1|0|5|2|3000000|3000|0|0 1|2|14|0|3000000|3000|0|1 1|1|15|0|3000000|3000|0|1 2|3|3|0|3000000|3000|0|1");
  CHECK(t.text("SELECT * FROM touches") ==
        "1|0|1|1000000|1|2 1|0|2|0|NULL|1 1|2|1|1000000|2|3 1|2|2|0|NULL|1 1|1|1|1000000|3|4 1|1|2|0|NULL|1 "
        "2|3|1|1000000|1|2 2|3|2|0|NULL|1");
}

TEST_CASE("section book: bodies that ran ahead are there once, as they happened") {
  for (const char* machine : {"virtual", "host"})
    for (const bool always_ahead : {false, true}) {
      CAPTURE(machine);
      CAPTURE(always_ahead);
      const trace_place place;
      std::vector<std::uint32_t> cells(16), alone(16);
      ordered_counts counts;
      const auto fill = [](ordered& q, std::vector<std::uint32_t>& at) {
        for (std::uint32_t i = 0; i < 12; ++i) q.at(i, mix, at.data(), i, 7u);
      };
      {
        const std::string path = place.path();
        runtime rt({.workers = 3, .machine = machine, .trace = path.c_str()});
        ordered q(rt, {.always_ahead = always_ahead}), serial(rt, {.executor = "serial"});
        fill(q, cells);
        q.run();
        counts = q.counts();
        fill(serial, alone);
        serial.run();
      }
      CHECK(cells == alone);
      REQUIRE(counts.committed > 100);
      trace_file t(place.path());
      CHECK(t.text("SELECT count(*) FROM sections") == "2");
      CHECK(t.text("SELECT sum(calls) FROM bodies") == std::to_string(counts.committed - 12));
      if (std::string(machine) == "virtual" && always_ahead) CHECK(t.text("SELECT max(runs) > 1 FROM bodies") == "1");
    }
}

TEST_CASE("section book: a section says what a serial run does; what throws has not happened") {
  for (const bool throws : {false, true}) {
    const trace_place place;
    std::vector<std::uint32_t> cells(16);
    std::uint64_t committed = 0;
    {
      const std::string path = place.path();
      runtime rt({.workers = 4, .machine = "virtual", .trace = path.c_str()});
      ordered q(rt, {.always_ahead = true});
      for (std::uint32_t i = 0; i < 12; ++i) q.at(i, mix, cells.data(), i, 9u);
      if (throws) q.at(30, [](ordered_context&, std::uint64_t) { throw std::runtime_error("no"); });
      if (throws)
        CHECK_THROWS_AS(q.run(), std::runtime_error);
      else
        q.run();
      committed = q.counts().committed;
    }
    check_order(trace_file(place.path()), committed);
  }
}

}  // namespace weft::speculative

// Counters: names, and the software events that almost every kernel gives. A machine that refuses even those skips what
// needs them, and says so.
#include "trace/counters.hpp"

#include <doctest/doctest.h>
#include <sys/mman.h>

#include <atomic>
#include <thread>

#include "capture.hpp"
#include "replay.hpp"
#include "trace_file.hpp"
#include "weft/weft.hpp"

namespace weft::trace {
namespace {

std::string refusal(const char* list) {
  try {
    static_cast<void>(parse_counters(list));
  } catch (const error& e) {
    return e.what();
  }
  return "accepted";
}

bool faults_can_be_counted() {
  bool can = false;
  const std::string said = stderr_of([&can] { can = !usable_counters({"page-faults"}).empty(); });
  if (!can) MESSAGE("skipped: " << said);
  return can;
}

// Touches `pages` pages of memory that nobody has touched: a page fault each.
void touch_pages(std::size_t pages) {
  const std::size_t bytes = pages * 4096;
  void* fresh = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ::madvise(fresh, bytes, MADV_NOHUGEPAGE);
  for (std::size_t i = 0; i < bytes; i += 4096) static_cast<volatile char*>(fresh)[i] = 1;
  ::munmap(fresh, bytes);
}

}  // namespace

TEST_CASE("counters: names") {
  CHECK(parse_counters("cycles,page-faults") == std::vector<std::string>{"cycles", "page-faults"});
  CHECK(parse_counters("task-clock") == std::vector<std::string>{"task-clock"});
  CHECK(refusal("cycles,flops").starts_with("weft: there is no counter 'flops'; choose from: cycles, instructions, "));
  CHECK(refusal(",cycles").starts_with("weft: there is no counter ''"));
  CHECK(refusal("cycles,cycles") == "weft: counter 'cycles' is named twice");
  CHECK(refusal("cycles,instructions,cache-references,cache-misses,branches,branch-misses,task-clock,page-faults,"
                "minor-faults") == "weft: 9 counters are too many; at most 8 can be read together");
}

TEST_CASE("counters: a modelled machine has none, and they go nowhere without a trace") {
  const trace_place place;
  const std::string path = place.path();
  CHECK_THROWS_WITH_AS(runtime({.machine = "virtual", .trace = path.c_str(), .counters = "page-faults"}),
                       "weft: option counters = 'page-faults' cannot be; it must be unset on a modelled machine, which "
                       "has none",
                       error);
  CHECK_THROWS_WITH_AS(runtime({.machine = "host", .counters = "page-faults"}),
                       "weft: option counters = 'page-faults' cannot be; it must be given together with a trace, which "
                       "is where they go",
                       error);
  CHECK_THROWS_AS(runtime({.machine = "host", .trace = path.c_str(), .counters = "flops"}), error);
}

TEST_CASE("counters: a group counts what happens between two looks") {
  if (!faults_can_be_counted()) return;
  counter_group group;
  REQUIRE(group.open({"page-faults", "minor-faults"}) == 0);
  CHECK(group.size() == 2);
  group.begin();
  const counter_group::values nothing = group.since();
  touch_pages(200);
  const counter_group::values some = group.since();
  CHECK((sanitized || nothing.of[0] < 20));
  CHECK(some.of[0] >= 200);
  CHECK((sanitized || some.of[0] < 300));  // a sanitizer's shadow has page faults of its own
  CHECK(some.of[1] >= 200);
}

namespace {

// Tasks that have so many page faults, one of them before and after a wait. Returns whether each count reaches what
// must be in it, and checks that none has what happened elsewhere.
bool all_faults_counted() {
  const trace_place place;
  const std::string path = place.path();
  {
    runtime rt({.workers = 3, .machine = "host", .trace = path.c_str(), .counters = "task-clock,page-faults"});
    touch_pages(5000);  // in no task
    for (std::size_t i = 0; i < 30; ++i) rt.submit(named("touch"), [i] { touch_pages(100 * i); });
    rt.submit(named("parent"), [&rt] {
      touch_pages(300);
      for (int i = 0; i < 20; ++i) rt.submit(named("child"), [] { touch_pages(1000); });
      rt.wait();
      touch_pages(400);
    });
    rt.wait();
  }
  const trace_file file(path);
  CHECK(file.verdict().empty());
  CHECK(file.text("SELECT value FROM meta WHERE key = 'counters'") == "task-clock,page-faults");
  CHECK(file.number("SELECT count(*) FROM counters") == 2 * 51);
  CHECK(file.number("SELECT count(*) FROM counters c JOIN tasks t ON t.id = c.task WHERE c.name = 'task-clock' AND "
                    "c.value > 0 AND c.value < 2 * (t.finished_ns - t.started_ns) + 1000000") == 51);
  const auto faults = file.rows("SELECT value FROM counters c JOIN tasks t ON t.id = c.task JOIN names n ON n.id = "
                                "t.name WHERE c.name = 'page-faults' AND n.name = 'touch' ORDER BY t.id");
  REQUIRE(faults.size() == 30);
  bool all = true;
  for (std::size_t i = 0; i < 30; ++i) {
    all = all && std::stoul(faults[i][0]) >= 100 * i;
    CHECK((sanitized || std::stoul(faults[i][0]) < 100 * i + 90));
  }
  const long parent = file.number("SELECT value FROM counters c JOIN tasks t ON t.id = c.task JOIN names n ON n.id = "
                                  "t.name WHERE c.name = 'page-faults' AND n.name = 'parent'");
  CHECK((sanitized || parent < 1000));  // the children's are not in it
  return all && parent >= 700;
}

// Whether Linux itself loses faults of a thread that has just begun to count, as 6.18 does now and then, on some cores
// for long.
bool faults_get_lost() {
  std::atomic<int> lost{0};
  const auto touch = [&lost] {
    counter_group group;
    if (group.open({"task-clock", "page-faults"}) != 0) return;
    group.begin();
    touch_pages(2000);
    if (group.since().of[1] < 2000) ++lost;
  };
  for (int i = 0; i < 50; ++i) {
    std::thread first(touch), second(touch);
    first.join();
    second.join();
  }
  return lost != 0;
}

}  // namespace

TEST_CASE("counters: each task gets what happened in it, on whichever workers it was") {
  if (!faults_can_be_counted()) return;
  bool all = false;
  for (int tries = 0; tries < 10 && !all; ++tries) all = all_faults_counted();
  CHECK((all || faults_get_lost()));
}

TEST_CASE("counters: what the machine refuses is said once, and the rest is counted") {
  std::vector<std::string> usable;
  const std::vector<std::string> wanted{"cycles", "page-faults"};
  const std::string first = stderr_of([&] { usable = usable_counters(wanted); });
  const std::string second = stderr_of([&] { CHECK(usable_counters(wanted) == usable); });
  CHECK(second.empty());
  for (const std::string& name : wanted) {
    if (std::find(usable.begin(), usable.end(), name) != usable.end()) continue;
    MESSAGE("not here: " << name << " " << first);
  }
}

}  // namespace weft::trace

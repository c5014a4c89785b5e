// Traces of real runs, on both machines: every task is there once, where and when it ran fits together, and the
// dependencies that the view gives are those that the reference says the program has.
#include <doctest/doctest.h>

#include <map>
#include <set>
#include <stdexcept>
#include <thread>

#include "capture.hpp"
#include "programs.hpp"
#include "replay.hpp"
#include "trace_file.hpp"

namespace {

using reference::order;

// Runs work(runtime) recorded, and gives the place of the file.
template <class Work> void recorded(const trace_place& place, weft::options opt, Work work) {
  const std::string path = place.path();
  opt.trace = path.c_str();
  weft::runtime rt(opt);
  work(rt);
}

bool ordered(const weft::options& opt) { return std::string(opt.model.schedule) == "time"; }

// All pairs (before, after) that follow from the view, each handle by itself: what is ordered by two handles in turn is
// a matter of the tasks in between.
std::set<std::pair<long, long>> implied(const trace_file& file) {
  std::map<std::string, std::map<long, std::set<long>>> edges;
  for (const auto& row : file.rows("SELECT handle, before, after FROM dependencies"))
    edges[row[0]][std::stol(row[1])].insert(std::stol(row[2]));
  std::set<std::pair<long, long>> all;
  for (auto& [handle, from] : edges)
    for (auto at = from.rbegin(); at != from.rend(); ++at) {  // after > before: submitted later
      std::set<long> beyond;
      for (const long next : at->second)
        if (const auto more = from.find(next); more != from.end())
          beyond.insert(more->second.begin(), more->second.end());
      at->second.merge(beyond);
      for (const long after : at->second) all.emplace(at->first, after);
    }
  return all;
}

// What is wrong with the trace of program p, or "".
std::string compare(const trace_file& file, const reference::program& p, bool in_order) {
  if (std::string wrong = file.verdict(in_order); !wrong.empty()) return wrong;
  const long n = static_cast<long>(p.tasks.size());
  if (file.number("SELECT count(*) FROM tasks WHERE outcome = 'done'") != n) return "not every task is there";
  long uses = 0;
  for (const reference::task& t : p.tasks) uses += t.count;
  if (file.number("SELECT count(*) FROM accesses") != uses) return "not every access is there";
  const reference::rules rules(p);
  const std::set<std::pair<long, long>> found = implied(file);
  for (long b = 0; b < n; ++b)
    for (long a = 0; a < b; ++a)
      if ((rules.between(static_cast<std::size_t>(a), static_cast<std::size_t>(b)) == order::before) !=
          found.contains({a + 1, b + 1}))
        return rules.name(static_cast<std::size_t>(b)) +
               (found.contains({a + 1, b + 1}) ? " waits" : " does not wait") + " for " +
               rules.name(static_cast<std::size_t>(a)) + " by the trace" + reference::describe(p);
  return "";
}

std::string trace_of(const weft::options& opt, const reference::program& p) {
  const trace_place place;
  std::string wrong;
  {
    reference::execution e(p);
    recorded(place, opt, [&](weft::runtime& rt) {
      e.submit_all(rt);
      rt.wait();
      wrong = e.verdict();
    });
  }
  return wrong.empty() ? compare(trace_file(place.path()), p, ordered(opt)) : wrong;
}

}  // namespace

TEST_CASE("trace: the shapes of real programs") {
  on_both_machines([](const weft::options& opt) {
    CHECK(trace_of(opt, reference::chain(100)).empty());
    CHECK(trace_of(opt, reference::diamond(10)).empty());
    CHECK(trace_of(opt, reference::stencil(8, 10)).empty());
    CHECK(trace_of(opt, reference::cholesky(6)).empty());
    CHECK(trace_of(opt, reference::many_adds(100)).empty());
  });
}

TEST_CASE("trace: random programs depend in it as the reference says") {
  for_each_seed("trace: random programs*", 1, sanitized ? 20 : 100, [](std::uint64_t seed) {
    weft::base::random rng(seed);
    const reference::program p = reference::draw(rng, 2 + rng.below(5), 5 + rng.below(60));
    const bool host = seed % 3 == 0;
    const unsigned workers = 1 + rng.below(16);
    return trace_of({.workers = workers,
                     .machine = host ? "host" : "virtual",
                     .seed = seed,
                     .model = {.schedule = seed % 3 == 1 ? "random" : "time"},
                     .creation = workers > 1 && seed % 4 == 0 ? "decoupled" : "inline"},
                    p);
  });
}

TEST_CASE("trace: tasks in tasks, and waits") {
  on_both_machines([](const weft::options& opt) {
    const trace_place place;
    std::string wrong;
    recorded(place, opt, [&](weft::runtime& rt) { wrong = reference::waits_for_children(rt, 12); });
    CHECK(wrong.empty());
    const trace_file file(place.path());
    CHECK(file.verdict(ordered(opt)) == "");
    CHECK(file.number("SELECT count(*) FROM tasks") == 465);
    CHECK(file.number("SELECT count(*) FROM tasks WHERE parent IS NULL") == 1);
    CHECK(file.number("SELECT max(n) FROM (SELECT count(*) AS n FROM tasks GROUP BY parent)") == 2);
    CHECK(file.number("SELECT count(*) FROM waits WHERE why NOT IN ('children', 'all')") == 0);
    if (opt.workers == 1)  // with more, all may be done before the main thread waits
      CHECK(file.number("SELECT count(*) FROM waits WHERE why = 'all' AND task IS NULL") >= 1);
    if (ordered(opt))  // a wait for the children ends when the last child has
      CHECK(file.number("SELECT count(*) FROM waits w JOIN tasks c ON c.parent = w.task WHERE w.why = 'children' AND "
                        "c.finished_ns > w.to_ns") == 0);
  });
  on_both_machines([](const weft::options& opt) {
    const trace_place place;
    std::string wrong;
    recorded(place, opt, [&](weft::runtime& rt) { wrong = reference::waits_for_handles(rt, 50); });
    CHECK(wrong.empty());
    const trace_file file(place.path());
    CHECK(file.verdict(ordered(opt)) == "");
    CHECK(file.number("SELECT count(*) FROM tasks") == 200);
    CHECK(file.number("SELECT count(*) FROM waits WHERE why = 'handle' AND handle IS NULL") == 0);
    CHECK(file.number("SELECT count(DISTINCT handle) FROM accesses") == 50);
  });
}

TEST_CASE("trace: members of a team are tasks of the team's task, with its name and their ranks") {
  on_both_machines([](const weft::options& opt) {
    const trace_place place;
    recorded(place, opt, [](weft::runtime& rt) {
      for (int i = 0; i < 5; ++i)
        rt.submit(weft::team(2), weft::named("twins"), [](weft::team_context& t) { t.barrier(); });
      rt.wait();
    });
    const trace_file file(place.path());
    CHECK(file.verdict(ordered(opt)) == "");
    CHECK(file.number("SELECT count(*) FROM teams") == 5);
    const long members = file.number("SELECT count(*) FROM tasks WHERE rank IS NOT NULL");
    CHECK(members == (opt.workers == 1 ? 0 : 10));  // of one there is no member, it is a call
    const std::string right = "m.rank IS NOT NULL AND m.name = t.name AND m.submitted_ns IS NOT NULL";
    const std::string in_time = ordered(opt) ? " AND m.submitted_ns BETWEEN t.submitted_ns AND m.started_ns" : "";
    CHECK(file.number("SELECT count(*) FROM tasks m JOIN tasks t ON m.parent = t.id WHERE " + right + in_time) ==
          members);
  });
}

TEST_CASE("trace: reductions, resources, priorities, pinned and repeated") {
  on_both_machines([](const weft::options& opt) {
    const trace_place place;
    {
      weft::reduction<long> sum;
      weft::resource two(2);
      weft::handle<int> x(0);
      x.name("x");
      using scale = weft::access_type<3, weft::commutative | weft::exclusive>;
      recorded(place, opt, [&](weft::runtime& rt) {
        for (int i = 0; i < 20; ++i) {
          rt.submit(weft::reduce(sum), [](long& s) { ++s; });
          rt.submit(weft::use(two, 2), weft::priority(1), [] {});
          rt.submit(weft::read(x), weft::read(x), weft::pin(rt.workers() - 1), weft::named("twice"),
                    [](const int&, const int&) {});
          rt.submit(weft::with_access<scale>(x), [](int& v) { v *= 2; });
        }
        CHECK(rt.get(sum) == 20);
      });
    }
    const trace_file file(place.path());
    CHECK(file.verdict(ordered(opt)) == "");
    CHECK(file.text("SELECT count(*) FROM tasks t JOIN names n ON n.id = t.name WHERE n.name = 'apply reduction'") ==
          "1");
    CHECK(file.text("SELECT kind, count(*), count(next_version), max(version) FROM accesses GROUP BY kind") ==
          "read|40|40|38 reduce|20|20|0 resource|20|0|2 user 3|20|20|39 write|1|1|20");
    CHECK(file.number("SELECT count(*) FROM (SELECT DISTINCT task, version FROM accesses WHERE kind = 'read')") == 20);
    CHECK(file.number("SELECT count(*) FROM dependencies WHERE before = after") == 0);
    CHECK(file.number("SELECT count(DISTINCT worker) FROM tasks t JOIN names n ON n.id = t.name WHERE n.name = 'twice' "
                      "AND worker = (SELECT max(id) FROM workers)") == 1);
    CHECK(file.text("SELECT name FROM handles WHERE name IS NOT NULL") == "x");
    CHECK(file.number("SELECT count(*) FROM dependencies d JOIN accesses a ON a.task = d.after AND a.handle = d.handle "
                      "WHERE a.kind = 'write'") == 20);
  });
}

TEST_CASE("trace: failed and skipped tasks say so") {
  on_both_machines([](const weft::options& opt) {
    const trace_place place;
    recorded(place, opt, [](weft::runtime& rt) {
      weft::handle<int> x(0);
      rt.submit(weft::write(x), weft::named("good"), [](int& v) { v = 1; });
      rt.submit(weft::write(x), weft::named("bad"), [](int&) { throw std::runtime_error("no"); });
      rt.submit(weft::read(x), weft::named("after"), [](const int&) {});
      CHECK_THROWS(rt.wait());
      const auto refused = [&] {  // by submit(), or where others create by the wait
        rt.submit(weft::read(x), weft::write(x), weft::named("refused"), [](const int&, int&) {});
        rt.wait();
      };
      CHECK_THROWS_AS(refused(), weft::error);
      rt.submit(weft::read(x), weft::named("healed"), [](const int&) {});
      rt.wait();
    });
    const trace_file file(place.path());
    CHECK(file.verdict(ordered(opt)) == "");
    CHECK(file.text("SELECT n.name, t.outcome FROM tasks t JOIN names n ON n.id = t.name ORDER BY t.id") ==
          (opt.creation[0] == 'd' ? "good|done bad|failed after|skipped refused|skipped healed|done"
                                  : "good|done bad|failed after|skipped healed|done"));
  });
}

TEST_CASE("trace: a program that cannot go on leaves a trace that says what did not run") {
  const trace_place place;
  const std::string said = stderr_of([&] {
    weft::handle<int> x(0);
    recorded(place, {.workers = 2, .machine = "virtual"}, [&](weft::runtime& rt) {
      rt.submit(weft::write(x), weft::named("parent"), [&](int&) {
        rt.submit(weft::write(x), weft::named("child"), [](int&) {});
        rt.wait();
      });
      CHECK_THROWS_AS(rt.wait(), weft::error);
    });
  });
  const trace_file file(place.path());
  CHECK(file.text("SELECT n.name, t.outcome FROM tasks t JOIN names n ON n.id = t.name ORDER BY t.id") ==
        "parent|not run child|not run");
  CHECK(file.text("SELECT before, after FROM dependencies") == "1|2");
}

TEST_CASE("trace: a full window sets submitters aside") {
  on_both_machines([](weft::options opt) {
    const trace_place place;
    opt.window = 64;
    recorded(place, opt, [](weft::runtime& rt) {
      rt.submit([&rt] {
        for (int i = 0; i < 3000; ++i) rt.submit([] {});
      });
      for (int i = 0; i < 3000; ++i) rt.submit([] {});
      rt.wait();
    });
    const trace_file file(place.path());
    CHECK(file.verdict(ordered(opt)) == "");
    CHECK(file.number("SELECT count(*) FROM tasks WHERE outcome = 'done'") == 6001);
    CHECK(file.number("SELECT count(*) FROM waits WHERE why = 'window'") > 0);
  });
}

TEST_CASE("trace: threads outside the runtime submit") {
  for (unsigned workers : {1u, 2u, 5u}) {
    const trace_place place;
    weft::handle<long> x(0);
    recorded(place, {.workers = workers, .machine = "host"}, [&](weft::runtime& rt) {
      std::vector<std::thread> strangers;
      for (int t = 0; t < 3; ++t)
        strangers.emplace_back([&] {
          for (int i = 0; i < 300; ++i) {
            rt.submit(weft::named("free"), [] {});
            rt.submit(weft::write(x), weft::named("outside"), [](long& v) { ++v; });
          }
        });
      for (int i = 0; i < 300; ++i) rt.submit(weft::add(x), weft::named("inside"), [](long& v) { ++v; });
      for (auto& t : strangers) t.join();
      CHECK(rt.get(x) == 1200);
    });
    const trace_file file(place.path());
    CHECK(file.verdict() == "");
    CHECK(file.text("SELECT n.name, t.submitter, count(*) FROM tasks t JOIN names n ON n.id = t.name GROUP BY 1, 2 "
                    "ORDER BY 1") == "free|NULL|900 inside|0|300 outside|NULL|900");
  }
}

TEST_CASE("trace: whether workers are bound, and to which cores") {
  for (const bool pin : {false, true}) {
    const trace_place place;
    const std::string path = place.path();
    const unsigned workers = std::max(1u, weft::usable_cpus());
    {
      weft::runtime rt({.workers = workers, .machine = "host", .pin = pin, .trace = path.c_str()});
      rt.submit([] {});
      rt.wait();
    }
    const trace_file file(path);
    CHECK(file.number("SELECT count(cpu) FROM workers") == (pin ? workers - 1 : 0));  // never the first
  }
}

TEST_CASE("trace: nothing is different with it on a virtual machine") {
  for (const char* schedule : {"time", "random"})
    for (unsigned workers : {1u, 3u, 16u})
      for (std::uint64_t seed : {1u, 2u, 3u}) {
        const auto time_of = [&](const char* path) {
          weft::base::random rng(seed);
          reference::execution e(reference::draw(rng, 5, 200));
          weft::runtime rt(
              {.workers = workers, .machine = "virtual", .seed = seed, .model = {.schedule = schedule}, .trace = path});
          e.submit_all(rt);
          rt.wait();
          CHECK(reference::waits_for_children(rt, 8).empty());
          return std::pair(rt.now_ns(), rt.statistics().steals);
        };
        const trace_place place;
        const auto without = time_of(nullptr), with = time_of(place.path().c_str());
        INFO(std::string(schedule) << ", " << workers << " workers, seed " << seed);
        CHECK(without.first == with.first);
        CHECK(without.second == with.second);
      }
}

TEST_CASE("trace: when its memory is spent the newest tasks stay, and what stays is right") {
  for (const char* machine : both_machines) {
    const trace_place place;
    weft::handle<long> x(0);
    constexpr int tasks = 60'000;
    std::string said;
    recorded(place, {.workers = 3, .machine = machine, .trace_mib = 1}, [&](weft::runtime& rt) {
      for (int i = 1; i <= tasks; ++i) {
        rt.submit(weft::write(x), [](long& v) { ++v; });
        if (i % 500 == 0) rt.wait();  // submissions and runs in turns, so that both halves of the newest tasks stay
      }
      said = stderr_of([&rt] { rt.write_trace(); });
    });
    CHECK(said.starts_with("weft: the trace '" + place.path() + "' is not whole: "));
    const trace_file file(place.path());
    CHECK(file.verdict() == "");
    CHECK(file.number("SELECT value FROM meta WHERE key = 'lost'") > 0);
    const long kept = file.number("SELECT count(*) FROM tasks");
    CHECK(kept > 1000);
    CHECK(kept < tasks);
    CHECK(file.number("SELECT count(*) FROM tasks WHERE outcome <> 'done'") == 0);
    CHECK(file.number("SELECT max(version) FROM accesses") == tasks - 1);
    CHECK(std::filesystem::file_size(place.path()) < (4u << 20));
  }
}

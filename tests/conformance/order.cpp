// Orders of tasks: what a run wrote down can be run again, step by step, also on one worker; orders that are drawn
// differ and are all allowed; and the order is the program's whole schedule, so equal orders give equal results.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "programs.hpp"
#include "quick.hpp"
#include "replay.hpp"

using namespace reference;

namespace {

// The steps that a run wrote, and what its tasks saw.
struct run_seen {
  std::string steps;
  std::string wrong;
  int result = 0;
  unsigned runtime = 1;  // which one of the process it was
};

std::string log_file() {
  return (std::filesystem::temp_directory_path() / ("weft-order-" + std::to_string(::getpid()))).string();
}

// Adds that do not commute, nested tasks and a race between submissions, so that each order has a result of its own.
int racy_program(weft::runtime& rt) {
  weft::handle<int> sum{1}, other{0};
  for (int i = 1; i <= 4; ++i)
    rt.submit([&rt, &sum, &other, i] {
      rt.submit(weft::add(sum), [i](int& s) { s = (s * 7 + i) % 10007; });
      weft::charge(300);
      rt.submit(weft::write(other), weft::read(sum), [i](int& o, const int& s) { o = (o * 5 + i + s) % 10007; });
    });
  const int early = other.unguarded();
  rt.wait();
  return early + 10 * other.unguarded() + 200'000 * sum.unguarded();
}

template <class Program> run_seen seen(const weft::options& o, Program program) {
  run_seen s;
  std::filesystem::remove(log_file());
  ::setenv("WEFT_ORDER_LOG", log_file().c_str(), 1);
  {
    weft::runtime rt(o);
    program(rt, s);
  }
  ::unsetenv("WEFT_ORDER_LOG");
  std::ifstream file(log_file());
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("run\t")) continue;
    // Every runtime of a process has a number, which is part of its names: leave it out.
    const std::size_t slash = line.find('/');
    if (slash != std::string::npos) s.runtime = static_cast<unsigned>(std::stoul(line.substr(4)));
    s.steps += slash == std::string::npos ? line + "\n" : "run\t" + line.substr(slash + 1) + "\n";
  }
  std::filesystem::remove(log_file());
  return s;
}

}  // namespace

TEST_CASE("order: drawn orders are many, allowed, and the same with the same seed") {
  std::set<std::string> orders;
  for_each_seed("order: drawn*", 1, sanitized ? 30 : 400, [&](std::uint64_t seed) {
    const std::string schedule = "tasks:" + std::to_string(seed % 4) + ":200";
    const weft::options o{.workers = 1 + static_cast<unsigned>(seed % 3),
                          .machine = "virtual",
                          .seed = seed,
                          .model = {.schedule = schedule.c_str()}};
    const auto program = [seed](weft::runtime& rt, run_seen& s) {
      weft::base::random rng(seed / 4);
      s.wrong = run_and_judge(rt, draw(rng, 4, 30));
    };
    const run_seen first = seen(o, program);
    if (first.wrong.empty() && first.steps != seen(o, program).steps)
      return std::string("another order the second time");
    orders.insert(first.steps);
    return first.wrong;
  });
  if (std::getenv("WEFT_TEST_SEED") == nullptr) CHECK(orders.size() > few(sanitized ? 20 : 300));
}

TEST_CASE("order: the kinds of waits, throttled submitters and pauses go on under drawn orders") {
  for_each_seed("order: the kinds*", 1, sanitized ? 6 : 40, [](std::uint64_t seed) {
    const weft::options o{.workers = 1 + static_cast<unsigned>(seed % 3),
                          .machine = "virtual",
                          .seed = seed,
                          .model = {.schedule = "tasks:3:300"},
                          .window = 64};
    weft::runtime rt(o);
    std::string wrong = waits_for_children(rt, 8);
    if (wrong.empty()) wrong = waits_for_handles(rt, 20);
    if (wrong.empty()) wrong = nested(rt, 3, 3);
    rt.pause();
    if (wrong.empty()) wrong = independent(rt, 300);
    return wrong;
  });
}

TEST_CASE("order: a run on one worker can be run again from its own list, with the same result") {
  const std::string list = log_file() + "-list";
  std::set<int> results;
  for_each_seed("order: a run on one*", 1, sanitized ? 20 : 200, [&](std::uint64_t seed) {
    const auto program = [](weft::runtime& rt, run_seen& s) { s.result = racy_program(rt); };
    const run_seen drawn =
        seen({.workers = 1, .machine = "virtual", .seed = seed, .model = {.schedule = "tasks:3:40"}}, program);
    {
      std::ofstream file(list);
      std::istringstream steps(drawn.steps);
      for (std::string line; std::getline(steps, line);)
        file << "run\t" << drawn.runtime + 1 << "/" << line.substr(4) << "\n";  // as the next runtime will be called
    }
    results.insert(drawn.result);
    const std::string schedule = "order:" + list;
    const run_seen again = seen({.workers = 1, .machine = "virtual", .model = {.schedule = schedule.c_str()}}, program);
    if (again.steps != drawn.steps) return "drawn\n" + drawn.steps + "and again\n" + again.steps;
    return again.result == drawn.result ? std::string() : std::string("the same order, another result");
  });
  std::filesystem::remove(list);
  if (std::getenv("WEFT_TEST_SEED") == nullptr) CHECK(results.size() > 10);
}

TEST_CASE("order: a list that is none is refused") {
  CHECK_THROWS_WITH_AS(weft::runtime({.machine = "virtual", .model = {.schedule = "order:no/such/file"}}),
                       "weft: schedule: cannot read the order of tasks in no/such/file: No such file or directory",
                       weft::error);
  const std::string list = log_file() + "-bad";
  for (const char* bad : {"run\tmain\n", "run\tmain\tx\n", "run\tmain\t99\n"}) {
    std::ofstream(list) << bad;
    CHECK_THROWS_AS(weft::runtime({.machine = "virtual", .model = {.schedule = ("order:" + list).c_str()}}),
                    weft::error);
  }
  std::filesystem::remove(list);
}

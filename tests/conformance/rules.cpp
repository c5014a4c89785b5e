// A rule decides how fast a program is, never whether it is right: random programs of everything at once (composed.hpp)
// with each rule off, one at a time and all together, and at its bounds, on real cores and in virtual time.
#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "composed_text.hpp"
#include "perform.hpp"
#include "quick.hpp"
#include "replay.hpp"
#include "weft/weft.hpp"

namespace {

using namespace composed;

std::vector<std::string> settings() {
  std::vector<std::string> all;
  std::string everything;
  for (const weft::rule& r : weft::scheduler_rules()) {
    const std::string name = r.name;
    all.push_back(name + "=off");
    everything += (everything.empty() ? "" : ",") + all.back();
    for (const std::uint64_t number : {r.least, r.most})
      if (number != r.value && number != r.off && number <= 1'000'000)
        all.push_back(name + "=" + std::to_string(number));
  }
  all.push_back(everything);
  return all;
}

// schedule: of a modelled machine; "" on real cores.
std::string run_program(number seed, const std::string& rules, const std::string& schedule) {
  weft::base::random rng(seed);
  const bool modelled = !schedule.empty();
  static constexpr unsigned few[] = {1, 2, 3, 6}, many[] = {2, 4, 6, 12, 33};
  weft::options o{.workers = modelled ? many[rng.below(5)] : few[rng.below(4)],
                  .machine = modelled ? "virtual" : "host",
                  .seed = seed,
                  .rules = rules.c_str()};
  o.window = rng.below(3) == 0 ? 64 : o.window;
  o.creation = o.workers > 1 && rng.below(4) == 0 ? "decoupled" : "inline";
  if (modelled) o.model.schedule = schedule.c_str();
  const std::string line = std::string(o.machine) + " " + schedule + ", " + std::to_string(o.workers) + " workers, " +
                           o.creation + ", window " + std::to_string(o.window) + ", " + rules;
  generator make(seed, {o.workers, modelled});
  const std::unique_ptr<block> here = make.segment();
  const unsigned right = expectation::expect(*here, true);
  weft::runtime rt(o);
  performer run(rt, modelled);
  run.perform(*here, false);
  const unsigned got = performer::caught([&] { rt.wait(); });
  if (got != right) return line + ": the wait threw " + std::to_string(got) + ", not " + std::to_string(right);
  const std::string wrong = verdict(*here);
  for (std::size_t i = 0; i < weft::scheduler_rules().count; ++i) {
    const weft::rule& r = weft::scheduler_rules().first[i];
    const bool is_off = ("," + rules + ",").find("," + std::string(r.name) + "=off,") != std::string::npos;
    if (is_off && rt.statistics().decided[i] != 0) return line + ": " + r.name + " is off, and decided something";
  }
  return wrong.empty() ? wrong : line + ": " + wrong;
}

void run_programs(const char* test_case, const std::string& schedule) {
  const std::vector<std::string> all = settings();
  const std::size_t all_over = all.size() % 37 == 0 ? 41 : 37;  // of few seeds, too
  for_each_seed(test_case, 1, (sanitized ? 1 : 4) * all.size(),
                [&](std::uint64_t seed) { return run_program(seed, all[all_over * seed % all.size()], schedule); });
}

// Many short tasks of the main thread and of tasks, forks, and sums that are right in one way only.
std::uint64_t sum_of_short_ones(const weft::options& o) {
  weft::runtime rt(o);
  weft::handle<std::uint64_t> sum(0);
  for (std::uint64_t i = 0; i < 3000; ++i) rt.submit(weft::add(sum), [i](std::uint64_t& s) { s += i; });
  rt.submit(weft::subtasks(), [&rt, &sum] {
    for (std::uint64_t i = 0; i < 500; ++i) rt.submit(weft::add(sum), [i](std::uint64_t& s) { s += i; });
  });
  rt.wait();
  return rt.get(sum);
}

}  // namespace

TEST_CASE("rules: random programs on real cores with each of them off") {
  run_programs("rules: random programs on real cores with each of them off", "");
}

TEST_CASE("rules: random programs in order of time with each of them off") {
  if (!real_threads_only) run_programs("rules: random programs in order of time with each of them off", "time");
}

TEST_CASE("rules: random programs in random order with each of them off") {
  if (!real_threads_only) run_programs("rules: random programs in random order with each of them off", "random");
}

TEST_CASE("rules: streams of short tasks with each of them off") {
  const std::vector<std::string> all = settings();
  for (std::size_t i = 0; i < all.size(); i += brief ? 7 : 1) {
    const std::string& rules = all[i];
    CAPTURE(rules);
    const std::uint64_t right = 3000 * 2999 / 2 + 500 * 499 / 2;
    CHECK(sum_of_short_ones({.workers = 2, .rules = rules.c_str()}) == right);
    if (!real_threads_only)
      CHECK(sum_of_short_ones({.workers = 8, .machine = "virtual", .rules = rules.c_str()}) == right);
  }
}

TEST_CASE("rules: one at its usual number changes nothing, and one that is off changes the time") {
  if (real_threads_only) return;
  const auto ends_at = [](const char* rules) {
    weft::runtime rt({.workers = 16, .machine = "virtual", .rules = rules});
    for (int i = 0; i < 4000; ++i) rt.submit(weft::cost(3000), [] {});
    rt.wait();
    return rt.now_ns();
  };
  CHECK(ends_at("sweep=8,together=64") == ends_at(""));
  CHECK(ends_at("supplier=off") != ends_at(""));
  CHECK(ends_at("coarse=off") != ends_at(""));
}

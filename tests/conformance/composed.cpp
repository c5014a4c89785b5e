// Random programs of everything at once (composed.hpp): all clauses, waits, finishes, graphs, streams, teams, events,
// reductions, cancellation, exceptions, forks, loops, threads outside, nested as deep as they like; on real cores and
// in virtual time, in order and not, with both creations and under every policy. Each value, each exception, and
// whether a body runs at all must be as in the serial program.
#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "composed_text.hpp"
#include "perform.hpp"
#include "replay.hpp"
#include "weft/weft.hpp"

namespace {

using namespace composed;

// Everything that is the same for a seed: how the runtime is made, and what the program is.
struct options_of_seed {
  weft::options options;
  std::string line;
};

// schedule: of a modelled machine; "" on real cores.
options_of_seed draw_options(weft::base::random& rng, number seed, const std::string& schedule) {
  static const std::vector<std::string> policies = [] {
    std::vector<std::string> names;
    for (const weft::choice& p : weft::policies()) names.emplace_back(p.name);
    return names;
  }();
  const bool modelled = !schedule.empty();
  static constexpr unsigned few[] = {1, 2, 2, 3, 4, 7, 8, 16}, many[] = {1, 2, 3, 4, 6, 8, 16, 33, 64};
  static constexpr const char* machines[] = {"virtual", "virtual", "epyc-7551-32", "opteron-6282-64"};
  options_of_seed s;
  weft::options& o = s.options;
  o.workers = modelled ? many[rng.below(9)] : few[rng.below(8)];
  o.policy = policies[rng.below(2) == 0 ? 0 : rng.below(static_cast<std::uint32_t>(policies.size()))].c_str();
  o.creation = o.workers > 1 && rng.below(2) == 0 ? "decoupled" : "inline";
  o.seed = seed;
  o.window = rng.below(4) == 0 ? 64 : o.window;
  o.search_us = rng.below(3) == 0 ? 0 : o.search_us;
  o.machine = modelled ? machines[o.workers > 32 ? 0 : rng.below(4)] : "host";
  if (modelled) o.model.schedule = schedule.c_str();
  s.line = std::string(o.machine) + (modelled ? " in order of " + schedule : "") + ", " + std::to_string(o.workers) +
           " workers, " + o.policy + ", " + o.creation + ", window " + std::to_string(o.window) + ", search_us " +
           std::to_string(o.search_us);
  return s;
}

// Some segments on one runtime, each ended by a wait for all; on real cores some have threads beside the main program.
std::string run_program(number seed, const std::string& schedule) {
  weft::base::random rng(seed);
  const options_of_seed drawn = draw_options(rng, seed, schedule);
  const bool shows = std::getenv("WEFT_TEST_SHOW") != nullptr;
  if (shows) std::fprintf(stderr, "%s\n", drawn.line.c_str());
  const bool modelled = !schedule.empty();
  generator make(seed, {drawn.options.workers, modelled});
  std::vector<std::unique_ptr<block>> blocks;  // outlive the runtime: what is left in them is waited for there
  std::string wrong;
  {
    weft::runtime rt(drawn.options);
    performer run(rt, modelled);
    for (unsigned i = 1 + rng.below(3); i > 0 && wrong.empty(); --i) {
      block& here = *blocks.emplace_back(make.segment());
      const unsigned right = expectation::expect(here, true);
      std::vector<std::thread> threads;
      for (unsigned t = !modelled && make.chance(20) ? 1 + rng.below(2) : 0; t > 0; --t) {
        block& theirs = *blocks.emplace_back(make.for_thread());
        static_cast<void>(expectation::expect(theirs, false));
        threads.emplace_back([&run, &theirs] { run.perform(theirs, false); });
      }
      run.perform(here, false);
      for (std::thread& t : threads) t.join();
      const unsigned got = performer::caught([&] { rt.wait(); });
      if (got != right) wrong = "the wait threw " + std::to_string(got) + ", not " + std::to_string(right);
      for (const auto& b : blocks)
        if (wrong.empty()) wrong = verdict(*b);
    }
  }
  if (shows)
    for (const auto& b : blocks) std::printf("--- segment\n%s", in_words(*b).c_str());
  return wrong.empty() ? wrong : drawn.line + ": " + wrong;
}

void run_programs(const char* test_case, const std::string& schedule) {
  const char* many = std::getenv("WEFT_TEST_SEEDS");
  const std::uint64_t count = many != nullptr ? std::strtoull(many, nullptr, 10) : sanitized ? 30 : 200;
  for_each_seed(test_case, 1, count, [&schedule](std::uint64_t seed) { return run_program(seed, schedule); });
}

}  // namespace

TEST_CASE("composed: random programs on real cores") { run_programs("composed: random programs on real cores", ""); }

TEST_CASE("composed: random programs in order of time") {
  if (!real_threads_only) run_programs("composed: random programs in order of time", "time");
}

TEST_CASE("composed: random programs in random order") {
  if (!real_threads_only) run_programs("composed: random programs in random order", "random");
}

TEST_CASE("composed: random programs in order of drawn priorities") {
  if (!real_threads_only) run_programs("composed: random programs in order of drawn priorities", "pct");
}

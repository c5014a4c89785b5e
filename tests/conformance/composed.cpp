// Random programs of everything at once (composed.hpp): all clauses, waits, finishes, graphs, streams, teams, events,
// reductions, cancellation, exceptions, forks, loops, threads outside, nested as deep as they like; on real cores and in
// virtual time, in order and not, with both creations and under every policy. Each value, each exception, and whether a
// body runs at all must be as in the serial program.
#include <doctest/doctest.h>

#include <string>
#include <thread>
#include <vector>

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

options_of_seed draw_options(weft::base::random& rng, number seed, const char* machine) {
  static const std::vector<std::string> policies = [] {
    std::vector<std::string> names;
    for (const weft::choice& p : weft::policies()) names.emplace_back(p.name);
    return names;
  }();
  const bool modelled = machine[0] != 'h';
  static constexpr unsigned few[] = {1, 2, 2, 3, 4, 7, 8, 16}, many[] = {1, 2, 3, 4, 6, 8, 16, 33, 64};
  options_of_seed s;
  weft::options& o = s.options;
  o.workers = modelled ? many[rng.below(9)] : few[rng.below(8)];
  o.machine = modelled ? "virtual" : "host";
  if (modelled) o.model.schedule = machine[0] == 'r' ? "random" : "time";
  o.policy = policies[rng.below(2) == 0 ? 0 : rng.below(static_cast<std::uint32_t>(policies.size()))].c_str();
  o.creation = o.workers > 1 && rng.below(2) == 0 ? "decoupled" : "inline";
  o.seed = seed;
  o.window = rng.below(4) == 0 ? 64 : o.window;
  o.search_us = rng.below(3) == 0 ? 0 : o.search_us;
  s.line = std::string(machine) + ", " + std::to_string(o.workers) + " workers, " + o.policy + ", " + o.creation +
           ", window " + std::to_string(o.window) + ", search_us " + std::to_string(o.search_us);
  return s;
}

// Some segments on one runtime, each ended by a wait for all; on real cores some have threads beside the main program.
std::string run_program(number seed, const char* machine) {
  weft::base::random rng(seed);
  const options_of_seed drawn = draw_options(rng, seed, machine);
  const bool modelled = machine[0] != 'h';
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
  return wrong.empty() ? wrong : drawn.line + ": " + wrong;
}

std::uint64_t count_of(std::uint64_t few_of_them) {
  const char* many = std::getenv("WEFT_TEST_SEEDS");
  return many != nullptr ? std::strtoull(many, nullptr, 10) : few_of_them;
}

}  // namespace

TEST_CASE("composed: random programs on real cores") {
  for_each_seed("composed: random programs on real cores", 1, count_of(sanitized ? 40 : 400),
                [](std::uint64_t seed) { return run_program(seed, "host"); });
}

TEST_CASE("composed: random programs in order of virtual time") {
  if (real_threads_only) return;
  for_each_seed("composed: random programs in order of virtual time", 1, count_of(sanitized ? 40 : 400),
                [](std::uint64_t seed) { return run_program(seed, "virtual"); });
}

TEST_CASE("composed: random programs in random order") {
  if (real_threads_only) return;
  for_each_seed("composed: random programs in random order", 1, count_of(sanitized ? 40 : 400),
                [](std::uint64_t seed) { return run_program(seed, "random"); });
}

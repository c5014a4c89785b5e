// One program of the ablation, with the rules that WEFT_RULES or --rules names:
//   ablation --list                 programs and rules
//   ablation stencil32 --workers 16 --machine virtual --rules tiny=off [--seed 3] [--passes 1]
// A first pass warms up, and is not counted. Prints a line of JSON: time_ns, the least of a pass. Exit status: 0; 1 if
// a pass has come to a wrong result; 2 for wrong arguments.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <limits>
#include <string>
#include <string_view>

#include "bench/ablation/program.hpp"

namespace weft::bench::ablation {

namespace {

// Nanoseconds of a round of spin(): the least of several tries, since whatever disturbs makes it longer.
double measured_round_ns() {
  using clock = std::chrono::steady_clock;
  constexpr std::uint64_t rounds = 50'000;
  double least = std::numeric_limits<double>::infinity();
  for (int i = 0; i < 20; ++i) {
    const auto begin = clock::now();
    spin(rounds);
    least = std::min(least, std::chrono::duration<double, std::nano>(clock::now() - begin).count());
  }
  return least / static_cast<double>(rounds);
}

struct call {
  std::string name, machine = "virtual", rules;
  unsigned workers = 4;
  std::uint64_t seed = 1;
  int passes = 1;
  bool is_list = false;
};

bool read(int argc, char** argv, call& c) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--list") {
      c.is_list = true;
      continue;
    }
    if (word.substr(0, 2) != "--") {
      c.name = word;
      continue;
    }
    if (++i == argc) return false;
    const long number = std::strtol(argv[i], nullptr, 10);
    if (word == "--machine")
      c.machine = argv[i];
    else if (word == "--rules")
      c.rules = argv[i];
    else if (number < 1)
      return false;
    else if (word == "--workers")
      c.workers = static_cast<unsigned>(number);
    else if (word == "--seed")
      c.seed = static_cast<std::uint64_t>(number);
    else if (word == "--passes")
      c.passes = static_cast<int>(number);
    else
      return false;
  }
  return c.is_list || !c.name.empty();
}

std::vector<program> all_programs() {
  std::vector<program> all = submitters();
  for (auto&& more : {forks(), fronts()}) all.insert(all.end(), more.begin(), more.end());
  return all;
}

int run(const call& c, const program& p) {
  // Speculation looks words up by address, so where things lie decides some times in a section. It differs by seed.
  const std::vector<char> elsewhere(64 * c.seed);
  runtime rt({.workers = c.workers,
              .machine = c.machine.c_str(),
              .seed = c.seed,
              .rules = c.rules.empty() ? nullptr : c.rules.c_str()});
  scene here(rt, c.seed - 1);
  const pass one = p.make(here);
  double least = std::numeric_limits<double>::infinity();
  for (int i = 0; i <= c.passes; ++i) {
    const double begin = rt.now_ns();
    const outcome found = one();
    if (!found.is_right) return std::fprintf(stderr, "ablation: %s has come to a wrong result\n", p.name), 1;
    if (i > 0) least = std::min(least, found.time_ns > 0 ? found.time_ns : rt.now_ns() - begin);
  }
  std::printf("{\"program\": \"%s\", \"workers\": %u, \"machine\": \"%s\", \"rules\": \"%s\", \"seed\": %llu, "
              "\"time_ns\": %.3f}\n",
              p.name, c.workers, c.machine.c_str(), c.rules.c_str(), static_cast<unsigned long long>(c.seed), least);
  return 0;
}

int list(const std::vector<program>& all) {
  std::printf("{\"programs\": [");
  for (const program& p : all)
    std::printf("%s\n  {\"name\": \"%s\", \"summary\": \"%s\"}", &p == all.data() ? "" : ",", p.name, p.summary);
  std::printf("],\n \"rules\": [");
  const rule_list rules = scheduler_rules();
  for (const rule& r : rules)
    std::printf("%s\n  {\"name\": \"%s\", \"what\": \"%s\"}", &r == &*rules.begin() ? "" : ",", r.name, r.what);
  std::printf("]}\n");
  return 0;
}

}  // namespace

scene::scene(runtime& rt, std::uint64_t shift)
    : rt_(rt), is_modelled_(std::string_view(rt.machine()) != "host"), shift_(shift) {
  if (!is_modelled_) ns_per_round_ = measured_round_ns();
}

}  // namespace weft::bench::ablation

int main(int argc, char** argv) {
  using namespace weft::bench::ablation;
  call c;
  if (!read(argc, argv, c)) {
    std::fprintf(stderr, "usage: ablation --list | NAME [--workers N] [--machine NAME] [--rules name=off,...] "
                         "[--seed N] [--passes N]\n");
    return 2;
  }
  const std::vector<program> all = all_programs();
  if (c.is_list) return list(all);
  const auto at = std::find_if(all.begin(), all.end(), [&](const program& p) { return c.name == p.name; });
  if (at == all.end()) return std::fprintf(stderr, "ablation: no program '%s'; see --list\n", c.name.c_str()), 2;
  try {
    return run(c, *at);
  } catch (const std::exception& e) {
    return std::fprintf(stderr, "ablation: %s\n", e.what()), 2;
  }
}

// Small programs, all of them. Bugs of ordering protocols show in programs of three or four tasks on two or three
// handles; what it takes is the right pattern of accesses and an unlucky schedule. So the patterns are not drawn but
// enumerated, and each runs on the virtual machine under time order and random order with 1 to 4 workers:
//
//   1-4 tasks, 2 handles: each task does {nothing, read, write, add, concurrent} to each handle   all 406,900
//   3 tasks, 3 handles: {nothing, read, write, add} to each                                       all 262,144
//   5 tasks, 2 handles: {read, write, add} to both                                                all 59,049
//   5 tasks, 2 handles: each task one of {read, write, add, concurrent} on one of them            all 32,768
//   6 tasks, 2 handles, and 4 tasks, 3 handles: adds to any of them, named in any order           all 4,096 and 50,625
//
// Programs that differ only in the numbering of handles are run once. Some dozens share one wait: their tasks
// interleave on the workers, which is more schedule for less time.
#include <memory>
#include <optional>

#include "execute.hpp"
#include "replay.hpp"

using namespace reference;

namespace {

// All programs of `tasks` tasks over `handles` handles in which each task is one of `patterns`.
struct family {
  const char* test_case;
  unsigned handles;
  unsigned tasks;
  std::vector<task> patterns;

  [[nodiscard]] std::uint64_t size() const {
    std::uint64_t n = 1;
    for (unsigned i = 0; i < tasks; ++i) n *= patterns.size();
    return n;
  }

  // Program number n, or nothing if renaming its handles in order of first use gives another program: that one has its
  // own number. Within one task the order of use is by handle number, so only first uses by an earlier task count.
  [[nodiscard]] std::optional<program> at(std::uint64_t n) const {
    program p{handles, {}};
    unsigned named = 0;
    for (unsigned i = 0; i < tasks; ++i, n /= patterns.size()) {
      const task& t = patterns[n % patterns.size()];
      for (const use& u : t) {
        if (u.handle > named) return std::nullopt;
        if (u.handle == named) ++named;
      }
      p.tasks.push_back(t);
    }
    return p;
  }
};

// Every combination of one of `kinds`, or nothing if `none`, for each handle.
std::vector<task> combinations(unsigned handles, std::initializer_list<kind> kinds, bool none) {
  std::vector<task> all{task{}};
  for (unsigned h = 0; h < handles; ++h) {
    std::vector<task> longer;
    for (const task& t : all) {
      if (none) longer.push_back(t);
      for (kind k : kinds) {
        longer.push_back(t);
        longer.back().uses[longer.back().count++] = {h, k};
      }
    }
    all = std::move(longer);
  }
  return all;
}

struct setting {
  unsigned workers;
  const char* schedule;
  const char* policy;
  const char* creation = "inline";
};
constexpr setting settings[] = {{2, "random", "local"},
                                {3, "random", "central"},
                                {4, "random", "random"},
                                {3, "random", "local"},
                                {2, "time", "local"},
                                {4, "random", "central"},
                                {2, "random", "random"},
                                {4, "random", "local"},
                                {1, "time", "local"},
                                {3, "random", "local", "decoupled"},
                                {4, "random", "central", "decoupled"},
                                {2, "random", "local", "decoupled"}};

constexpr std::uint64_t rounds = sanitized ? 1 : 4;  // settings that see each program
constexpr std::uint64_t chunk = 4096;                // programs per runtime, and per seed of the replay line
constexpr std::size_t batch = 24;                    // programs per wait

std::string run_batch(weft::runtime& rt, std::vector<std::unique_ptr<execution>>& programs) {
  std::size_t longest = 0;
  for (auto& e : programs) longest = std::max(longest, e->source().tasks.size());
  for (std::size_t i = 0; i < longest; ++i)  // by turns, so that they overlap in time
    for (auto& e : programs)
      if (i < e->source().tasks.size()) e->submit(rt, i);
  rt.wait();
  for (auto& e : programs)
    if (std::string wrong = e->verdict(); !wrong.empty()) return wrong;
  programs.clear();
  return "";
}

void enumerate(const family& f) {
  const std::uint64_t chunks = (f.size() + chunk - 1) / chunk;
  std::uint64_t ran = 0, steals = 0;
  for_each_seed(f.test_case, 0, chunks * rounds, [&](std::uint64_t seed) {
    // Neighbours in a round differ, and so do the rounds of one program.
    const setting& s = settings[(seed + seed / chunks) % std::size(settings)];
    weft::runtime rt({.workers = s.workers,
                      .machine = "virtual",
                      .policy = s.policy,
                      .seed = seed + 1,
                      .model = {.schedule = s.schedule},
                      .creation = s.creation});
    std::vector<std::unique_ptr<execution>> programs;
    std::string wrong;
    // Strided, so that each setting sees programs from the whole family.
    for (std::uint64_t n = seed % chunks; n < f.size() && wrong.empty(); n += chunks) {
      std::optional<program> p = f.at(n);
      if (!p) continue;
      programs.push_back(std::make_unique<execution>(std::move(*p)));
      ++ran;
      if (programs.size() == batch) wrong = run_batch(rt, programs);
    }
    if (wrong.empty()) wrong = run_batch(rt, programs);
    steals += rt.statistics().steals;
    return wrong;
  });
  MESSAGE(std::string(f.test_case) << ": " << ran << " runs, " << steals << " steals");
}

constexpr kind R = kind::read, W = kind::write, A = kind::add, C = kind::concurrent;

}  // namespace

TEST_CASE("enumeration: up to 4 tasks, 2 handles, every kind") {
  for (unsigned tasks : {1u, 2u, 3u, 4u})
    enumerate({"enumeration: up to 4 tasks*", 2, tasks, combinations(2, {R, W, A, C}, true)});
}

TEST_CASE("enumeration: 3 tasks, 3 handles") {
  enumerate({"enumeration: 3 tasks*", 3, 3, combinations(3, {R, W, A}, true)});
}

TEST_CASE("enumeration: 5 tasks that use both of 2 handles") {
  enumerate({"enumeration: 5 tasks that use both*", 2, 5, combinations(2, {R, W, A}, false)});
}

TEST_CASE("enumeration: 5 tasks that use one of 2 handles") {
  std::vector<task> patterns;
  for (unsigned h : {0u, 1u})
    for (kind k : {R, W, A, C}) patterns.push_back({{h, k}});
  enumerate({"enumeration: 5 tasks that use one*", 2, 5, std::move(patterns)});
}

// Exclusive access to several handles is taken one by one, in the order of naming: what the families above leave out.
TEST_CASE("enumeration: adds in any order of naming") {
  std::vector<task> two{{{0, A}}, {{1, A}}, {{0, A}, {1, A}}, {{1, A}, {0, A}}};
  std::vector<task> three{{{0, A}}, {{1, A}}, {{2, A}}};
  for (unsigned a = 0; a < 3; ++a) {
    three.push_back({{a, A}, {(a + 1) % 3, A}});
    three.push_back({{a, A}, {(a + 2) % 3, A}});
    three.push_back({{a, A}, {(a + 1) % 3, A}, {(a + 2) % 3, A}});
    three.push_back({{a, A}, {(a + 2) % 3, A}, {(a + 1) % 3, A}});
  }
  enumerate({"enumeration: adds in any order*", 2, 6, std::move(two)});
  enumerate({"enumeration: adds in any order*", 3, 4, std::move(three)});
}

// A handle named twice counts once, wherever the second name stands.
TEST_CASE("enumeration: handles named twice") {
  std::vector<task> patterns{{{0, A}, {1, A}}};
  for (kind k : {R, W, A, C}) {
    patterns.push_back({{0, k}});
    patterns.push_back({{0, k}, {0, k}});
    patterns.push_back({{0, k}, {1, A}, {0, k}});
    patterns.push_back({{0, k}, {0, k}, {1, A}});
  }
  for (unsigned tasks : {1u, 2u, 3u}) enumerate({"enumeration: handles named twice", 2, tasks, patterns});
}

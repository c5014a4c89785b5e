// Reductions that repeat (weft/repeatable.hpp): the same bits as a fold along the tree by hand, for each policy, number
// of workers and machine; operations that do not commute; failures; several in one task.
#include "weft/repeatable.hpp"

#include <doctest/doctest.h>

#include <array>
#include <bit>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "quick.hpp"
#include "sanitized.hpp"
#include "weft/weft.hpp"

namespace {

// Of very different sizes, so that each order of additions has bits of its own.
double value(unsigned i) { return (i % 3 == 0 ? 1e12 : 1.0) / (i * 7919 % 1013 + 1); }

// What numbers [first, first + n) give, first a multiple of every power of two that counts: full trees, then applied.
double tree(unsigned first, unsigned n) {
  return n == 1 ? 0.0 + value(first) : tree(first, n / 2) + tree(first + n / 2, n / 2);
}
double by_hand(unsigned n) {
  double sum = 0;
  for (unsigned first = 0, left = n; left != 0;) {
    const unsigned full = std::bit_floor(left);
    sum += tree(first, full);
    first += full;
    left -= full;
  }
  return sum;
}

double by_tasks(const weft::options& o, unsigned n) {
  weft::runtime rt(o);
  weft::repeatable_reduction<double> sum;
  for (unsigned i = 0; i < n; ++i)
    rt.submit(weft::reduce(sum), weft::cost(100.0 * (i % 5)), [i](double& part) { part += value(i); });
  return rt.get(sum);
}

// Keeps the order of what it joins.
struct concatenation {
  using buffer = std::string;
  static std::string create(const std::string&) { return ""; }
  static void merge(std::string& into, const std::string& from) { into += from; }
  static void apply(std::string& target, const std::string& from) { target += from; }
};

}  // namespace

TEST_CASE("repeatable: the bits of a fixed tree, for each policy, number of workers and machine") {
  const std::vector<unsigned> crews = hurried ? std::vector{1u, 3u, 16u} : std::vector{1u, 2u, 3u, 4u, 7u, 16u};
  for (const unsigned n : {0u, 1u, 2u, 3u, 7u, 64u, brief ? 200u : 1000u}) {
    const double expected = by_hand(n);
    for (const weft::choice& policy : weft::policies())
      for (const unsigned workers : crews)
        for (const char* machine : both_machines) {
          INFO(n << " tasks, " << policy.name << ", " << workers << " workers, " << machine);
          const double found = by_tasks({.workers = workers, .machine = machine, .policy = policy.name}, n);
          CHECK(std::bit_cast<std::uint64_t>(found) == std::bit_cast<std::uint64_t>(expected));
        }
  }
  for (std::uint64_t seed = 1; seed <= (real_threads_only ? 0 : 20); ++seed)
    CHECK(by_tasks({.workers = 5, .machine = "virtual", .seed = seed, .model = {.schedule = "random"}}, 100) ==
          by_hand(100));
}

TEST_CASE("repeatable: merges keep the order of submission, over several groups and decoupled creation") {
  for (const bool decoupled : {false, true})
    for (const unsigned workers : {1u, 3u, 8u}) {
      weft::runtime rt({.workers = workers, .creation = decoupled && workers > 1 ? "decoupled" : nullptr});
      weft::repeatable_reduction<std::string, concatenation> text;
      std::string expected, seen;
      for (int i = 0; i < 500; ++i) {
        const char c = static_cast<char>('a' + i % 26);
        rt.submit(weft::reduce(text), [c](std::string& part) { part += c; });
        expected += c;
        if (i % 133 == 0) rt.submit(weft::write(text), [](std::string& all) { all += '-'; }), expected += '-';
      }
      rt.submit(weft::read(text), [&seen](const std::string& all) { seen = all; });
      rt.wait();
      CHECK(seen == expected);
    }
}

TEST_CASE("repeatable: several in one task, beside a range and a plain reduction") {
  weft::runtime rt({.workers = 4});
  weft::repeatable_reduction<std::string, concatenation> a, b;
  weft::reduction<long> plain;
  std::array<weft::handle<int>, 3> range;
  for (int i = 0; i < 40; ++i)
    rt.submit(weft::reduce(b), weft::read(range), weft::reduce(plain), weft::reduce(a),
              [i](std::string& to_b, weft::view<const int> r, long& sum, std::string& to_a) {
                sum += static_cast<long>(r.size());
                to_a += std::to_string(i) + ",";
                to_b += std::to_string(-i) + ",";
              });
  std::string up, down;
  for (int i = 0; i < 40; ++i) up += std::to_string(i) + ",", down += std::to_string(-i) + ",";
  CHECK(rt.get(a) == up);
  CHECK(rt.get(b) == down);
  CHECK(rt.get(plain) == 120);
}

TEST_CASE("repeatable: what a merge throws is told, as if the task had thrown it") {
  struct broken : concatenation {
    static void merge(std::string&, const std::string&) { throw std::runtime_error("merge"); }
  };
  for (const unsigned workers : {1u, 3u}) {
    weft::runtime rt({.workers = workers});
    weft::repeatable_reduction<std::string, broken> text;
    for (int i = 0; i < 2; ++i) rt.submit(weft::reduce(text), [](std::string& part) { part += 'x'; });
    bool looked = false;
    rt.submit(weft::read(text), [&looked](const std::string&) { looked = true; });
    CHECK_THROWS_WITH_AS(rt.wait(), "merge", std::runtime_error);
    CHECK(!looked);
  }
}

TEST_CASE("repeatable: a task that fails is told to who looks, and nothing is lost of what is left") {
  weft::runtime rt({.workers = 3});
  weft::repeatable_reduction<double> sum;
  for (int i = 0; i < 50; ++i)
    rt.submit(weft::reduce(sum), [i](double& part) {
      part += 1;
      if (i == 20) throw std::runtime_error("twenty");
    });
  bool looked = false;
  rt.submit(weft::read(sum), [&looked](const double&) { looked = true; });
  CHECK_THROWS_WITH_AS(rt.wait(), "twenty", std::runtime_error);
  CHECK(!looked);
  weft::repeatable_reduction<double> never_looked_at;
  rt.submit(weft::reduce(never_looked_at), [](double& part) { part += 1; });
}

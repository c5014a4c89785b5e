// The benchmark's own checks. A system that loses a task, runs one twice or ignores a dependence must not get a number;
// each program of a system checks itself with --check.
#include "system.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>

#include "systems.hpp"

namespace weft::bench {
namespace {

constexpr effort two_passes{.passes = 2};

bool right(const sample& s) { return s.counts_right && s.order_right; }

// Runs everything at once and right, but for the task with number At, which it runs so many Times.
template <int At, int Times> class faulty_system {
 public:
  faulty_system(std::size_t cells, const settings&) : cells_(cells) {}
  template <class Body> void independent_task(cell_index c, Body body) {
    task(std::array<cell_index, 0>{}, std::array<cell_index, 1>{c}, body);
  }
  template <std::size_t R, std::size_t W, class Body>
  void task(const std::array<cell_index, R>& reads, const std::array<cell_index, W>& writes, Body body) {
    const int times = ++tasks_ == At ? Times : 1;
    for (int i = 0; i < times; ++i) job(cells_.data(), reads, writes[0], body)();
  }
  void wait() {}
  [[nodiscard]] value cell(cell_index c) const { return cells_[c]; }

 private:
  std::vector<value> cells_;
  int tasks_ = 0;
};

constexpr int in_proof = 777;  // the proving pass has 1,540 tasks at least
constexpr int late = 4'000;    // in a timed pass, except of the largest factorization

// Forks right, but for the second branch of fork number At, which it runs so many Times.
template <int At, int Times> struct faulty_place {
  int* forks;
  template <class First, class Second> auto fork(const First& first, const Second& second) const {
    const auto x = first(*this);
    std::invoke_result_t<Second, faulty_place> y{};
    const int times = ++*forks == At ? Times : 1;
    for (int i = 0; i < times; ++i) y = second(*this);
    return std::pair(x, y);
  }
};
template <int At, int Times> class faulty_forks {
 public:
  explicit faulty_forks(const settings&) {}
  template <class F> value start(F f) { return f(faulty_place<At, Times>{&forks_}); }

 private:
  int forks_ = 0;
};

constexpr int fork_in_proof = 7;   // the proving pass of matmul has 63
constexpr int fork_late = 20'000;  // in a timed pass

// Keeps the tasks until wait() and then runs them in an order of its own.
template <class Order> class reordering_system {
 public:
  reordering_system(std::size_t cells, const settings&) : cells_(cells) {}
  template <class Body> void independent_task(cell_index c, Body body) {
    task(std::array<cell_index, 0>{}, std::array<cell_index, 1>{c}, body);
  }
  template <std::size_t R, std::size_t W, class Body>
  void task(const std::array<cell_index, R>& reads, const std::array<cell_index, W>& writes, Body body) {
    tasks_.push_back({writes[0], job(cells_.data(), reads, writes[0], body)});
  }
  void wait() {
    Order::arrange(tasks_);
    for (const auto& [written, run] : tasks_) run();
    tasks_.clear();
  }
  [[nodiscard]] value cell(cell_index c) const { return cells_[c]; }

  using tasks = std::vector<std::pair<cell_index, std::function<void()>>>;

 private:
  std::vector<value> cells_;
  tasks tasks_;
};

struct last_first {
  static void arrange(auto& tasks) { std::reverse(tasks.begin(), tasks.end()); }
};
// The writers of a cell stay in order, cells in decreasing order; who reads what they wrote is not asked.
struct by_written_cell {
  static void arrange(auto& tasks) {
    std::stable_sort(tasks.begin(), tasks.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  }
};
struct as_submitted {
  static void arrange(auto&) {}
};

std::vector<problem> cost_problems() {
  std::vector<problem> found;
  for (const problem& p : all_problems())
    if (p.measures == metric::cost) found.push_back(shortened(p, 5'000));
  return found;
}

}  // namespace

TEST_CASE("bench: a lost task and a repeated task are noticed in every problem") {
  for (const problem& p : cost_problems()) {
    CAPTURE(std::string(p.name));
    CHECK(right(measure<faulty_system<in_proof, 1>>(p, {}, two_passes)));
    CHECK(!measure<faulty_system<in_proof, 0>>(p, {}, two_passes).order_right);
    CHECK(!measure<faulty_system<in_proof, 2>>(p, {}, two_passes).order_right);
    const sample lost = measure<faulty_system<late, 0>>(p, {}, two_passes);
    const sample repeated = measure<faulty_system<late, 2>>(p, {}, two_passes);
    CHECK(!right(lost));
    CHECK(!right(repeated));
    if (tasks_per_pass(shortened(p, proof_tasks_max)) < late)
      CHECK((lost.order_right && repeated.order_right));  // so it was the counts
  }
}

TEST_CASE("bench: a system that ignores dependences is noticed in every problem that has any") {
  for (const problem& p : cost_problems()) {
    CAPTURE(std::string(p.name));
    CHECK(right(measure<reordering_system<as_submitted>>(p, {}, two_passes)));
    CHECK(measure<reordering_system<last_first>>(p, {}, two_passes).order_right == (p.form == shape::independent));
    const bool reads = p.form == shape::stencil || p.form == shape::cholesky;
    CHECK(measure<reordering_system<by_written_cell>>(p, {}, two_passes).order_right == !reads);
  }
}

TEST_CASE("bench: a lost branch and a repeated branch are noticed in every recursion") {
  for (const problem& whole : all_problems()) {
    if (family_of(whole) != family::recursions) continue;
    const problem p = shortened(whole, 40'000);
    CAPTURE(std::string(p.name));
    constexpr effort passes{.passes = 100};
    CHECK(right(measure_recursion<faulty_forks<fork_in_proof, 1>>(p, {}, passes)));
    CHECK(!measure_recursion<faulty_forks<fork_in_proof, 0>>(p, {}, passes).order_right);
    CHECK(!measure_recursion<faulty_forks<fork_in_proof, 2>>(p, {}, passes).order_right);
    const sample lost = measure_recursion<faulty_forks<fork_late, 0>>(p, {}, passes);
    CHECK(lost.order_right);
    CHECK(!lost.counts_right);
    // A pass that is timed keeps no books: only what changes data tells that a branch ran twice.
    const sample repeated = measure_recursion<faulty_forks<fork_late, 2>>(p, {}, passes);
    CHECK(right(repeated) == (p.form != shape::matmul));
  }
}

TEST_CASE("bench: what recursions must answer") {
  const auto sized = [](shape form, std::uint32_t size) { return problem{"", "", form, 2, size, metric::node}; };
  CHECK(recursion(sized(shape::fib, 10)).expected() == 55);
  CHECK(recursion(sized(shape::queens, 8)).expected() / one_solution == 92);
  CHECK(recursion(sized(shape::skynet, 1'000'000)).expected() == 499'999'500'000);
  CHECK(recursion(sized(shape::tree, 3)).expected() == 21);
  CHECK(tasks_per_pass(sized(shape::fib, 3)) == 2);
  CHECK(tasks_per_pass(sized(shape::queens, 4)) == 17);
  CHECK(tasks_per_pass(sized(shape::uts, 800)) == 953'633);
  CHECK(tasks_per_pass(sized(shape::matmul, 256)) == 4'096);
  CHECK(tasks_per_pass(sized(shape::tree, 10)) == 1'023);
}

TEST_CASE("bench: the other metrics are checked as well") {
  for (const problem& p : all_problems()) {
    if (p.measures != metric::access && p.measures != metric::grain) continue;
    CAPTURE(std::string(p.name));
    const effort little{.milliseconds = 1};
    CHECK(right(measure<faulty_system<in_proof, 1>>(p, {}, little)));
    CHECK(!right(measure<faulty_system<in_proof, 0>>(p, {}, little)));
    CHECK(!right(measure<faulty_system<late, 0>>(p, {}, little)));
  }
}

TEST_CASE("bench: the length of half efficiency is found") {
  for (const double price : {5.0, 70.0, 300.0, 12'345.0}) {
    const sample found = find_grain([&](double ns) { return ns / (ns + price); });
    CHECK(found.ns == doctest::Approx(price).epsilon(0.03));
    CHECK(!found.above);
  }
  const sample never = find_grain([](double) { return 0.49; });
  CHECK(never.above);
  CHECK(never.ns == grain_ns_max);
  CHECK(find_grain([](double) { return 1.0; }).ns < 5);
}

TEST_CASE("bench: median") {
  CHECK(median({3, 1, 2}) == 2);
  CHECK(median({4, 1, 2, 3}) == 2.5);
}

TEST_CASE("bench: the sizes that the tables of others use") {
  for (const problem& p : all_problems()) {
    if (std::string_view(p.name) == "cholesky20") CHECK(tasks_per_pass(p) == 1540);
    if (std::string_view(p.name) == "cholesky50") CHECK(tasks_per_pass(p) == 22100);
    const problem small = shortened(p, 500);
    if (p.form == shape::cholesky)
      CHECK(tasks_per_pass(small) == tasks_per_pass(p));
    else
      CHECK(tasks_per_pass(small) <= 500);
    CHECK(tasks_per_pass(shortened(p, 1)) >= 1);
    CHECK(tasks_per_pass(shortened(p, UINT64_MAX)) == tasks_per_pass(p));
  }
}

}  // namespace weft::bench

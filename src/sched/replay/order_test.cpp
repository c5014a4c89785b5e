// The order of a program's steps: what is drawn depends on names and seed alone, what is given is followed, and what is
// written down can be given again. With whole programs: tests/conformance/order.cpp.
#include "sched/replay/order.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "weft/error.hpp"

namespace weft::sched {
namespace {

using detail::record;

// n tasks of the main thread, all of which are ready.
struct ready_tasks {
  std::vector<record> all;
  task_order order;
  ready_tasks(const task_order::setup& how, std::size_t n) : all(n), order(how) {
    for (std::size_t i = 0; i < n; ++i) {
      all[i].order = i + 1;
      all[i].pin = record::unpinned;
      order.submitted(all[i]);
      order.add(&all[i]);
    }
  }
  [[nodiscard]] std::vector<std::uint64_t> taken() {
    std::vector<std::uint64_t> in_order;
    while (record* r = order.take(0)) in_order.push_back(r->order);
    return in_order;
  }
};

struct file {
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("weft_order_test_" + std::to_string(::getpid()));
  explicit file(const std::string& text = "") { std::ofstream(path) << text; }
  ~file() { std::filesystem::remove(path); }
  [[nodiscard]] std::string content() const {
    std::ifstream in(path);
    return {std::istreambuf_iterator<char>(in), {}};
  }
};

}  // namespace

TEST_CASE("order: drawn, the same seed gives the same order, other seeds others, and nothing is lost") {
  std::set<std::vector<std::uint64_t>> orders;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    const task_order::setup how{.how = task_order::rule::drawn, .seed = seed, .depth = 2, .length = 8};
    const auto first = ready_tasks(how, 8).taken();
    CHECK(first == ready_tasks(how, 8).taken());
    CHECK(std::set<std::uint64_t>(first.begin(), first.end()).size() == 8);
    orders.insert(first);
  }
  CHECK(orders.size() > 4);
}

TEST_CASE("order: the number of a runtime changes names, not what is drawn") {
  const auto order_of = [](unsigned runtime) {
    return ready_tasks({.how = task_order::rule::drawn, .seed = 5, .depth = 0, .runtime = runtime}, 6).taken();
  };
  CHECK(order_of(1) == order_of(2));
}

TEST_CASE("order: given, the list is followed, and what is not in it comes after it") {
  const file list("# a comment\nrun 3 0\nsubmit 9\nrun 1 0\n");
  ready_tasks t({.how = task_order::rule::given, .given = list.path.string()}, 4);
  CHECK(t.taken() == std::vector<std::uint64_t>{3, 1, 2, 4});
}

TEST_CASE("order: a list that is none is refused with the line") {
  for (const char* text : {"run\n", "run main\n", "run main 7\n"}) {
    const file list(text);
    CHECK_THROWS_AS(task_order({.how = task_order::rule::given, .given = list.path.string()}), error);
  }
  CHECK_THROWS_AS(task_order({.how = task_order::rule::given, .given = "/nonexistent/list"}), error);
  CHECK_THROWS_AS(task_order({.log = "/nonexistent/log"}), error);
}

TEST_CASE("order: a list without an end is refused, and no folder is a list") {
  for (const char* what : {"/dev/zero", "/dev/urandom", "/tmp"})
    CHECK_THROWS_AS(task_order({.how = task_order::rule::given, .given = what}), error);
  std::string text((std::size_t{1} << 24) + 1, 'x');
  const file list(text.append("\nrun main 0\n"));
  CHECK_THROWS_AS(task_order({.how = task_order::rule::given, .given = list.path.string()}), error);
}

TEST_CASE("order: a log that cannot be written ends, and the run goes on") {
  task_order order({.how = task_order::rule::free, .log = "/dev/full"});
  order.step(nullptr);
  order.step(nullptr);
}

TEST_CASE("order: a log behind a link, or with a second name, may be a stranger's doing, and is refused") {
  const file victim("precious\n");
  const std::string link = victim.path.string() + "_link";
  const auto refused = [&link] {
    try {
      task_order order({.how = task_order::rule::free, .log = link});
      order.step(nullptr);
    } catch (const error& e) {
      return std::string(e.what()).starts_with("weft: WEFT_ORDER_LOG: cannot write " + link + ": ");
    }
    return false;
  };
  std::filesystem::create_symlink(victim.path, link);
  CHECK(refused());
  std::filesystem::remove(link);
  std::filesystem::create_hard_link(victim.path, link);
  CHECK(refused());
  std::filesystem::remove(link);
  CHECK(victim.content() == "precious\n");
}

TEST_CASE("order: a worker gets what it may run") {
  ready_tasks t({.how = task_order::rule::drawn, .depth = 0}, 2);
  t.all[0].pin = 1;
  CHECK(t.taken() == std::vector<std::uint64_t>{2});
  CHECK((!t.order.has_for(0) && t.order.has_for(1) && !t.order.empty()));
  CHECK(t.order.take(1) == &t.all[0]);
  CHECK(t.order.empty());
}

TEST_CASE("order: steps are written with names that are the path from the main thread down") {
  const file log;
  {
    task_order order({.how = task_order::rule::free, .log = log.path.string()});
    record top{}, inner{};
    top.order = 2;
    inner.parent = &top;
    inner.order = 0;
    order.step(nullptr);
    order.submitted(top);
    order.step(&top);
    order.submitted(inner);
    order.step(&inner);
    order.step(&inner);
    order.ended(inner);
    order.ended(top);
  }
  CHECK(log.content() == "run\tmain\t0\nsubmit\t2\t\nrun\t2\t0\nsubmit\t2.1\t\nrun\t2.1\t0\nrun\t2.1\t1\n");
}

}  // namespace weft::sched

// Orders of steps: reading them, putting them together, and saying what a step is.
#include "history.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "explore.hpp"
#include "localise.hpp"

namespace weft::tool::check {
namespace {

history read(const std::string& text) {
  const std::string path =
      (std::filesystem::temp_directory_path() / ("weft-history-" + std::to_string(::getpid()))).string();
  std::ofstream(path) << text;
  history h = read_history(path);
  std::filesystem::remove(path);
  return h;
}

order steps(const std::string& letters) {
  order all;
  for (const char c : letters) all.push_back({std::string(1, c), 0});
  return all;
}

std::string letters(const order& all) {
  std::string text;
  for (const step& s : all) text += s.actor;
  return text;
}

const char* const log =
    "run\tmain\t0\nsubmit\t1\tsum up\twrite\t7\ttotal\tread\t8\t\nrun\tmain\t1\n"
    "run\t1\t0\nrun\t1\t1\nrun\tmain\t2\nsubmit\t1.1\t\nrun\t1\t2\nrun\tmain\t3\nrun\t1.1\t0\nrun\tma";

}  // namespace

TEST_CASE("history: steps, tasks and who submitted them, up to where a crash cut it off") {
  const history h = read(log);
  CHECK(h.steps.size() == 8);
  CHECK(h.steps.back() == step{"1.1", 0});
  REQUIRE(h.find("1") != nullptr);
  CHECK(h.find("1")->name == "sum up");
  REQUIRE(h.find("1")->uses.size() == 2);
  CHECK(use_text(h, h.find("1")->uses[0]) == "write(total)");
  CHECK(use_text(h, h.find("1")->uses[1]) == "read(handle 8)");
  CHECK(h.submits.at({"main", 0}) == "1");
  CHECK(h.submits.at({"1", 1}) == "1.1");  // the main thread had a step in between
  CHECK(read("").steps.empty());
}

TEST_CASE("history: handles of one name are told apart, and names are short and plain") {
  const std::string name(200, 'n');
  const history h = read("run\tmain\t0\nsubmit\t1\t" + name + "\twrite\t7\ttile\tread\t8\ttile\tread\t9\tsum\n" +
                         "run\tmain\t1\nsubmit\t2\tx\twrite\t5\t" + name + "a\tread\t6\t" + name + "b\tread\t9\tsum\n" +
                         "run\tmain\t2\n");
  const std::vector<use>& first = h.find("1")->uses;
  CHECK(use_text(h, first[0]) == "write(tile, handle 7)");
  CHECK(use_text(h, first[1]) == "read(tile, handle 8)");
  CHECK(use_text(h, first[2]) == "read(sum)");
  const std::vector<use>& second = h.find("2")->uses;  // alike when shortened
  CHECK(use_text(h, second[0]) == "write(" + name.substr(0, 40) + "..., handle 5)");
  CHECK(use_text(h, second[1]) == "read(" + name.substr(0, 40) + "..., handle 6)");
  CHECK(actor_text(h, "1") == "task 1 '" + name.substr(0, 40) + "...'");
}

TEST_CASE("history: what a step is") {
  const history h = read(log);
  CHECK(step_text(h, {"main", 0}) == "the main thread, submitting task 1 'sum up'");
  CHECK(step_text(h, {"main", 1}) == "the main thread, after its submission of task 1 'sum up'");
  CHECK(step_text(h, {"main", 3}) == "the main thread, after a wait that follows its submission of task 1 'sum up'");
  CHECK(step_text(h, {"1", 0}) == "task 1 'sum up'");
  CHECK(step_text(h, {"1", 1}) == "task 1 'sum up', submitting task 1.1");
  CHECK(step_text(h, {"1.1", 0}) == "task 1.1");
}

TEST_CASE("history: the first steps of one order, the rest of another") {
  const order a = steps("abcdef"), b = steps("fbacde");
  CHECK(letters(first_of_then(b, 0, a)) == "abcdef");
  CHECK(letters(first_of_then(b, 1, a)) == "fabcde");
  CHECK(letters(first_of_then(b, 3, a)) == "fbacde");
  CHECK(letters(first_of_then(b, 6, a)) == "fbacde");
}

TEST_CASE("history: distance counts pairs in the other order, and steps that only one has") {
  CHECK(distance(steps("abcd"), steps("abcd")) == 0);
  CHECK(distance(steps("abcd"), steps("abdc")) == 1);
  CHECK(distance(steps("abcd"), steps("dcba")) == 6);
  CHECK(distance(steps("abcd"), steps("axbdc")) == 2);
}

TEST_CASE("history: equal orders have equal hashes, others do not") {
  CHECK(hash(steps("abc")) == hash(steps("abc")));
  CHECK(hash(steps("abc")) != hash(steps("acb")));
  CHECK(hash({{"a", 1}}) != hash({{"a", 2}}));
  CHECK(hash({{"1", 12}}) != hash({{"11", 2}}));
}

TEST_CASE("localise: what to look at") {
  const history h = read("submit\t1\tw\twrite\t1\tx\nsubmit\t2\tr\tread\t1\tx\tadd\t2\ts\nsubmit\t3\ta\tadd\t2\ts\n");
  const auto told = [&h](const char* a, const char* b) { return suspicions(h, {a, 0}, {b, 0}); };
  REQUIRE(told("1", "2").size() == 1);
  CHECK(told("1", "2")[0] ==
        "task 2 'r' declares add(s); task 1 'w' does not declare this handle: does it use its data?");
  REQUIRE(told("2", "3").size() == 2);
  CHECK(told("2", "3")[1] == "both declare add(s), which may come in any order: do their bodies commute?");
  CHECK(told("main", "1").back().find("ordered by waits only") != std::string::npos);
}

TEST_CASE("explore: the kinds of schedules take turns, seeds do not repeat, and one worker is for tasks") {
  const wanted w{.seed = 5, .workers = {1, 2, 8}};
  unsigned tasks = 0, wide = 0;
  for (std::size_t k = 0; k < 100; ++k) {
    const settings s = schedule_of(w, k, 50);
    CHECK(s.seed == 5 + k);
    const bool is_tasks = s.schedule == "tasks:3:50";
    tasks += is_tasks ? 1 : 0;
    wide += s.workers == 8 ? 1 : 0;
    CHECK((s.workers == 1) == is_tasks);
  }
  CHECK(tasks == 60);
  CHECK(wide >= 10);
  CHECK(schedule_of({.workers = {1}}, 1, 50).workers == 1);
}

}  // namespace weft::tool::check

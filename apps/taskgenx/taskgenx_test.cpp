// The workloads have the paper's numbers, the systems are what they say, and the app notices a graph that is not kept.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "../app.hpp"
#include "systems.hpp"

namespace weft::apps::taskgenx {
namespace {

// Counts tasks and adds up their lengths.
class counter final : public receiver {
 public:
  std::size_t tasks = 0;
  double cycles = 0;
  std::map<std::string, std::size_t> of;

  void task(const char* name, double length, numbers, numbers) override { add(name, length, 1); }
  void parent(const char* name, double length, numbers, numbers, unsigned children, double child) override {
    add(name, length, 1);
    add("child", child, children);
  }
  void wait() override {}

 private:
  void add(const char* name, double length, std::size_t n) {
    tasks += n;
    cycles += length * static_cast<double>(n);
    of[name] += n;
  }
};

app taskgenx_with(const std::map<std::string, std::string>& texts, const std::map<std::string, std::size_t>& numbers) {
  app a = taskgenx_app();
  for (option& o : a.options) {
    if (const auto t = texts.find(o.name); t != texts.end()) *std::get<std::string*>(o.target) = t->second;
    if (const auto n = numbers.find(o.name); n != numbers.end()) *std::get<std::size_t*>(o.target) = n->second;
  }
  return a;
}

double seconds(const std::string& workload, const std::string& system, std::size_t part, std::size_t cores,
               std::size_t r = 16) {
  progress quiet("", nullptr);
  const app a =
      taskgenx_with({{"workload", workload}, {"system", system}}, {{"part", part}, {"cores", cores}, {"r", r}});
  const result got = a.run({}, quiet);
  CHECK(got.ok());
  return got.seconds;
}

std::string refusal(const std::map<std::string, std::string>& texts, const std::map<std::string, std::size_t>& numbers,
                    const weft::options& opt = {}) {
  progress quiet("", nullptr);
  try {
    static_cast<void>(taskgenx_with(texts, numbers).run(opt, quiet));
  } catch (const weft::error& e) {
    return e.what();
  }
  return "accepted";
}

}  // namespace

TEST_CASE("taskgenx: every workload has the number of tasks, the mean length and the r of Table 1") {
  CHECK(workloads().size() == 11);
  for (const workload& w : workloads()) {
    INFO(w.name);
    counter all;
    w.submit(all, w, w.steps);
    CHECK(all.tasks == w.tasks);
    CHECK(std::abs(all.cycles / static_cast<double>(all.tasks) / w.task_cycles() - 1) < 1e-3);
    CHECK(std::floor(w.needed_r() * 100) / 100 == doctest::Approx(w.r).epsilon(1e-9));
  }
}

TEST_CASE("taskgenx: the kernels of a tiled factorisation are those of the textbook") {
  counter all;
  const workload& cholesky = find_workload("cholesky256");
  cholesky.submit(all, cholesky, 10);
  CHECK(all.of["potrf"] == 10);
  CHECK(all.of["trsm"] == 45);
  CHECK(all.of["syrk"] == 45);
  CHECK(all.of["gemm"] == 120);
  counter qr;
  const workload& w = find_workload("qr512");
  w.submit(qr, w, 10);
  CHECK(qr.of["geqrt"] == 10);
  CHECK(qr.of["tsqrt"] == 45);
  CHECK(qr.of["ormqr"] == 45);
  CHECK(qr.of["tsmqr"] == 285);
}

TEST_CASE("taskgenx: every workload runs on every system, checks itself, and the same again") {
  const std::map<std::string, std::size_t> parts{{"cholesky256", 8},    {"cholesky128", 16},    {"qr512", 2},
                                                 {"qr128", 8},          {"blackscholes", 100},  {"bodytrack", 130},
                                                 {"canneal", 2000},     {"dedup", 20},          {"ferret", 100},
                                                 {"fluidanimate", 100}, {"streamcluster", 4000}};
  for (const auto& [workload, part] : parts)
    for (const char* system : {"baseline", "rtopt", "taskgenx", "runtime", "dependences"}) {
      INFO(workload << " on " << system);
      CHECK(seconds(workload, system, part, 16) == seconds(workload, system, part, 16));
    }
}

// By hand: the first of n tasks of `canneal` begins when it is created, and so on.
TEST_CASE("taskgenx: creation binds as the paper's arithmetic says") {
  const workload& w = find_workload("canneal");
  constexpr double tasks = 512 * 3 + 2;
  const double base = seconds("canneal", "baseline", 2000, 512) * ghz * 1e9 / tasks;
  CHECK(base > w.create_cycles);
  CHECK(base < w.create_cycles * 1.02);
  const double fast = seconds("canneal", "taskgenx", 2000, 512) * ghz * 1e9 / tasks;
  CHECK(fast > w.create_cycles / 16);
  CHECK(fast < w.create_cycles / 16 + (w.task_cycles() + w.all_cycles()) / 512 * 1.2);
  const double served = seconds("canneal", "runtime", 2000, 512) * ghz * 1e9 / tasks;
  CHECK(served > w.all_cycles() / 16);
  CHECK(served < w.all_cycles() / 16 * 1.1);
  CHECK(seconds("canneal", "baseline", 2000, 1) * ghz * 1e9 / tasks ==
        doctest::Approx(w.task_cycles() + w.all_cycles()).epsilon(1e-3));
}

TEST_CASE("taskgenx: a system is a machine, a change of it, and who creates") {
  const workload& w = find_workload("canneal");
  std::string keep[2];
  const options deps = on_system({.name = "dependences", .cores = 64}, w, {}, keep);
  CHECK(std::string(deps.machine) == "tasksim-64-rtopt");
  CHECK(deps.workers == 64);
  CHECK(std::string(deps.creation) == "inline");
  CHECK(keep[1].find("types.rtopt.serves = \"run\"") != std::string::npos);
  CHECK(keep[1].find("runtime.submit.cycles = 25781\n") != std::string::npos);
  static_cast<void>(on_system({.name = "dependences", .cores = 64, .inserts = 50}, w, {}, keep));
  CHECK(keep[1].find("runtime.submit.cycles = 12890.5\nruntime.run.cycles = 37203.5\n") != std::string::npos);
  const options ours = on_system({.name = "taskgenx", .cores = 64, .big = 16, .master = "little", .r = 9}, w, {}, keep);
  CHECK(ours.workers == 65);
  CHECK(ours.model.core == 16);
  CHECK(std::string(ours.creation) == "decoupled");
  CHECK(keep[1].find("16 big, 48 little, 1 rtopt") != std::string::npos);
  CHECK(keep[1].find("types.rtopt.runtime_speed.x = 9\n") != std::string::npos);
  const options extra = on_system({.name = "rtopt", .cores = 64, .big = 16, .master = "little"}, w, {}, keep);
  CHECK(extra.model.core == 16);
  CHECK(std::string(extra.policy) == "taskgenx");
  CHECK(runtime(extra).workers() == 65);
}

TEST_CASE("taskgenx: what cannot be is refused") {
  CHECK(refusal({{"workload", "canel"}}, {}).find("there is no workload 'canel'; there are cholesky256") !=
        std::string::npos);
  CHECK(refusal({{"system", "carbon"}}, {}).find("there is no system 'carbon'") != std::string::npos);
  CHECK(refusal({{"system", "rtopt"}}, {{"cores", 12}}).find("--cores must be 1, 8") != std::string::npos);
  CHECK(refusal({{"system", "rtopt"}}, {{"cores", 8}, {"big", 9}}).find("--big must be") != std::string::npos);
  CHECK(refusal({{"system", "rtopt"}, {"master", "huge"}}, {}).find("--master must be") != std::string::npos);
  CHECK(refusal({{"system", "rtopt"}}, {}, {.machine = "virtual"}).find("neither --machine") != std::string::npos);
  CHECK(refusal({{"system", "runtime"}}, {{"inserts", 50}}).find("--inserts is for") != std::string::npos);
  CHECK(refusal({{"workload", "qr512"}}, {{"part", 33}}).find("has 32 steps") != std::string::npos);
}

}  // namespace weft::apps::taskgenx

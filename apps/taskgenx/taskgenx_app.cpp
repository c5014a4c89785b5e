// TaskGenX's workloads (workloads.hpp) on its systems, or on any machine. A task computes nothing but a trace of the
// order it ran in: it mixes its number and the cells that it reads into each that it writes. Checks: all cells end as
// in a plain loop over the same graph, so no dependence was broken; every task ran once; and where the program waits,
// as the loops of canneal, fluidanimate and streamcluster do, whose tasks have no cells, all tasks before have run.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "../app.hpp"
#include "systems.hpp"

namespace weft::apps {
namespace {

using namespace taskgenx;

struct parameters {
  std::string workload = "cholesky256";
  system_choice system;
  std::size_t part = 1;
};

std::uint64_t mixed(std::uint64_t a, std::uint64_t b) { return std::rotl(a ^ (b * 0x9e3779b97f4a7c15u), 29) * 5 + 1; }

// The plain loop.
class in_order final : public receiver {
 public:
  std::vector<std::uint64_t> cells;
  std::size_t tasks = 0;

  void task(const char*, double, numbers reads, numbers writes) override {
    std::uint64_t value = tasks++;
    for (const unsigned c : reads) value = mixed(value, cell(c));
    for (const unsigned c : writes) cell(c) = mixed(cell(c), value);
  }
  void parent(const char* name, double cycles, numbers reads, numbers writes, unsigned children, double) override {
    task(name, cycles, reads, writes);
    tasks += children;
  }
  void wait() override {}

 private:
  std::uint64_t& cell(unsigned c) {
    if (c >= cells.size()) cells.resize(c + 1);
    return cells[c];
  }
};

// The runtime.
class submitter final : public receiver {
 public:
  std::vector<handle<std::uint64_t>> cells;
  std::vector<std::uint8_t> ran;
  std::size_t late = 0;  // tasks that had not run when a wait for them was over

  submitter(runtime& rt, std::size_t n, std::size_t tasks, progress& bar)
      : cells(n), ran(tasks), rt_(rt), bar_(bar), step_(tasks / 100 + 1) {}

  void task(const char* name, double cycles, numbers reads, numbers writes) override {
    const std::size_t number = next_++;
    dispatch(reads, writes, [&](auto&&... accesses) {
      rt_.submit(accesses..., named(name), cost(cycles / ghz),
                 [this, number](auto&... data) { this->run(number, data...); });
    });
  }
  void parent(const char* name, double cycles, numbers reads, numbers writes, unsigned children,
              double child_cycles) override {
    const std::size_t number = next_;
    next_ += 1 + children;
    const nested inside{this, number, children, cycles, child_cycles};
    dispatch(reads, writes, [&](auto&&... accesses) {
      rt_.submit(accesses..., named(name), subtasks(), cost(0), [inside](auto&... data) {
        inside.to->run(inside.number, data...);
        inside.submit();
      });
    });
  }
  void wait() override {
    rt_.wait();
    for (; waited_ < next_; ++waited_) late += ran[waited_] == 0 ? 1 : 0;
  }

 private:
  struct nested {
    submitter* to;
    std::size_t number;
    unsigned children;
    double cycles, child_cycles;

    void submit() const {
      charge(cycles / ghz);
      for (unsigned i = 1; i <= children; ++i)
        to->rt_.submit(cost(child_cycles / ghz), [to = to, n = number + i] { to->run(n); });
    }
  };

  // Calls `then` with as many read and write clauses as there are cells.
  template <class Then> void dispatch(numbers r, numbers w, Then then) {
    const auto at = [this](numbers c, std::size_t i) -> handle<std::uint64_t>& { return cells[c[i]]; };
    switch (r.size() * 4 + w.size()) {
    case 0: return then();
    case 1: return then(write(at(w, 0)));
    case 2: return then(write(at(w, 0)), write(at(w, 1)));
    case 5: return then(read(at(r, 0)), write(at(w, 0)));
    case 6: return then(read(at(r, 0)), write(at(w, 0)), write(at(w, 1)));
    case 9: return then(read(at(r, 0)), read(at(r, 1)), write(at(w, 0)));
    case 17: return then(read(at(r, 0)), read(at(r, 1)), read(at(r, 2)), read(at(r, 3)), write(at(w, 0)));
    default: throw weft::error("taskgenx: a task of " + std::to_string(r.size()) + " reads");
    }
  }

  static void take(std::uint64_t& value, const std::uint64_t& c) { value = mixed(value, c); }
  static void take(std::uint64_t&, std::uint64_t&) {}
  static void give(std::uint64_t, const std::uint64_t&) {}
  static void give(std::uint64_t value, std::uint64_t& c) { c = mixed(c, value); }
  template <class... Data> void run(std::size_t number, Data&... data) {
    ++ran[number];
    [[maybe_unused]] std::uint64_t value = number;  // of no use to a task without cells
    (take(value, data), ...);
    (give(value, data), ...);
    if (number % step_ == 0) bar_.report(static_cast<double>(number) / static_cast<double>(ran.size()));
  }

  runtime& rt_;
  progress& bar_;
  std::size_t step_;
  std::size_t next_ = 0;
  std::size_t waited_ = 0;  // tasks before this one were waited for
};

void add_checks(result& r, const in_order& plain, submitter& all, std::size_t tasks_wanted) {
  const auto once = static_cast<std::size_t>(std::count(all.ran.begin(), all.ran.end(), std::uint8_t{1}));
  r.checks.push_back({"every_task_once", once == plain.tasks && plain.tasks == tasks_wanted,
                      std::to_string(once) + " of " + std::to_string(plain.tasks) + " tasks ran once; there must be " +
                          std::to_string(tasks_wanted)});
  std::size_t different = 0;
  for (std::size_t c = 0; c < plain.cells.size(); ++c) different += all.cells[c].unguarded() != plain.cells[c] ? 1 : 0;
  r.checks.push_back(
      {"order_kept", different == 0,
       std::to_string(different) + " of " + std::to_string(plain.cells.size()) + " cells are not as in a plain loop"});
  r.checks.push_back({"waits_kept", all.late == 0, std::to_string(all.late) + " tasks ran after a wait for them"});
}

result run(const parameters& p, const weft::options& given, progress& bar) {
  const workload& w = find_workload(p.workload);
  if (p.part > w.steps)
    throw weft::error("taskgenx: " + p.workload + " has " + std::to_string(w.steps) +
                      " steps; --part must be at most that");
  const std::size_t steps = w.steps / p.part;
  std::string keep[2];
  const bool any_machine = p.system.name.empty();
  const weft::options opt = any_machine ? given : on_system(p.system, w, given, keep);

  in_order plain;
  w.submit(plain, w, steps);
  constexpr double bytes_per_task = 400;
  require_memory("taskgenx: " + p.workload, bytes_per_task * static_cast<double>(plain.tasks));
  runtime rt(opt);
  submitter all(rt, plain.cells.size(), plain.tasks, bar);
  const double start = rt.now_ns();
  w.submit(all, w, steps);
  all.wait();
  result r;
  r.seconds = (rt.now_ns() - start) * 1e-9;
  r.describe(rt);
  r.add("workload", p.workload);
  r.add("system", any_machine ? std::string("none") : p.system.name);
  r.add("part", std::uint64_t{p.part});
  r.add("needed_r", w.needed_r());
  if (!any_machine) {
    const double alone = static_cast<double>(plain.tasks) * (w.task_cycles() + w.all_cycles()) / ghz * 1e-9;
    r.add("speedup", alone / r.seconds, "against one core, a little one where there are some");
  }
  add_checks(r, plain, all, p.part == 1 ? w.tasks : plain.tasks);
  return r;
}

}  // namespace

app taskgenx_app() {
  auto p = std::make_shared<parameters>();
  system_choice& s = p->system;
  return {
      .name = "taskgenx",
      .summary = "the workloads of TaskGenX, on its systems or on any machine",
      .example = "taskgenx --workload canneal --system taskgenx --cores 64 --r 256",
      .options = {{"workload", "one of its Table 1: cholesky256, canneal, ...; a wrong name lists them", &p->workload},
                  {"part",
                   "a part of it: one frame, query, ... in so many, or a matrix of so many times fewer tiles "
                   "a side",
                   &p->part, 1, 1'000'000},
                  {"system", "baseline, rtopt, taskgenx, runtime or dependences; without it, any machine", &s.name},
                  {"cores", "with --system: general cores, 1 or 8, 16, ... 512", &s.cores, 1, 512},
                  {"big", "with --system: how many of them are big, the others little; 0: all alike", &s.big, 0, 512},
                  {"master", "with --big: on which kind of core the program runs, big or little", &s.master},
                  {"r", "with --system: how much faster the extra core does the runtime's work", &s.r, 1, 1'000'000},
                  {"inserts", "with --system dependences: how many per cent of creation the extra core does, too",
                   &s.inserts, 0, 99},
                  {"fine", "with --system: every cache line is an event, and not only every step of a task", &s.fine}},
      .run = [p](const weft::options& opt, progress& bar) { return run(*p, opt, bar); }};
}

}  // namespace weft::apps

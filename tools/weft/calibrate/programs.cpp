// See programs.hpp. A pass submits while the runtime is paused, so that submitting and running do not mix; its records
// and handles stay in the second-level cache, as those of a program with a small window do.
#include "programs.hpp"

#include <string_view>
#include <utility>

#include "probe.hpp"

namespace weft::tool::calibrate {

namespace {

constexpr std::size_t tasks = 256;
constexpr std::size_t handles_per_access = 32;  // of independent tasks: neighbours in time share none

using datum = handle<int>;

bool modelled(const runtime& rt) { return std::string_view(rt.machine()) != "host"; }

// Who: a body. Takes that long on any machine.
void work_for(const runtime& rt, double ns) {
  charge(ns);
  if (modelled(rt)) return;
  const double until = now_ns() + ns;
  while (now_ns() < until) {
  }
}

// `submit(i)` submits task i.
template <class Submit> std::vector<double> paused_pass(runtime& rt, Submit submit) {
  rt.pause();
  const double start = rt.now_ns();
  for (std::size_t i = 0; i < tasks; ++i) submit(i);
  const double submitted = rt.now_ns();
  rt.wait();
  const double end = rt.now_ns();
  return {(submitted - start) / tasks, (end - submitted) / tasks};
}

template <std::size_t Accesses> class independent final : public program {
 public:
  std::vector<double> pass(runtime& rt) override {
    return paused_pass(rt, [&](std::size_t i) { submit(rt, i, std::make_index_sequence<Accesses>()); });
  }

 private:
  template <std::size_t... A> void submit(runtime& rt, [[maybe_unused]] std::size_t i, std::index_sequence<A...>) {
    rt.submit(read(data_[A * handles_per_access + i % handles_per_access])..., [](const auto&...) {});
  }
  std::vector<datum> data_ = std::vector<datum>(Accesses * handles_per_access);
};

template <std::size_t Accesses> class chain final : public program {
 public:
  std::vector<double> pass(runtime& rt) override {
    return paused_pass(rt, [&](std::size_t) { submit(rt, std::make_index_sequence<Accesses>()); });
  }

 private:
  template <std::size_t... A> void submit(runtime& rt, std::index_sequence<A...>) {
    rt.submit(write(data_[A])..., [](auto&...) {});
  }
  std::vector<datum> data_ = std::vector<datum>(Accesses);
};

// One task that takes `steps` steps: `step(rt)` is one, and what is between them counts nothing.
template <class Step> std::vector<double> inside_a_task(runtime& rt, std::size_t steps, Step step) {
  double per_step = 0;
  rt.submit(pin(0), [&] {
    const double start = rt.now_ns();
    for (std::size_t i = 0; i < steps; ++i) step(i);
    per_step = (rt.now_ns() - start) / static_cast<double>(steps);
    rt.wait();
  });
  rt.wait();
  return {per_step};
}

class waits final : public program {
 public:
  std::vector<double> pass(runtime& rt) override {
    return inside_a_task(rt, tasks, [&](std::size_t) {
      rt.submit([] {});
      rt.wait();
    });
  }
};

class spawns final : public program {
 public:
  std::vector<double> pass(runtime& rt) override {
    return inside_a_task(rt, tasks, [&](std::size_t) { rt.submit([] {}); });
  }
};

// Tasks in a chain, each on the other worker than the one before.
class alternation final : public program {
 public:
  std::vector<double> pass(runtime& rt) override {
    constexpr unsigned steps = 8 * tasks;  // the other worker may sleep when it begins, and that wake-up is not meant
    const double start = rt.now_ns();
    for (unsigned i = 0; i < steps; ++i) rt.submit(write(ball_), pin(i % 2), [](int& n) { ++n; });
    rt.wait();
    return {(rt.now_ns() - start) / steps};
  }

 private:
  datum ball_;
};

// Every second task is stolen: the main thread submits, and each worker must get half of them.
class stealing final : public program {
 public:
  std::vector<double> pass(runtime& rt) override {
    constexpr double grain_ns = 5'000;
    const double start = rt.now_ns();
    for (std::size_t i = 0; i < tasks; ++i) rt.submit([&rt] { work_for(rt, grain_ns); });
    rt.wait();
    return {(rt.now_ns() - start) / tasks};
  }
};

// The other worker has fallen asleep each time: from making a task for it to its being done and known here.
class waking final : public program {
 public:
  std::vector<double> pass(runtime& rt) override {
    constexpr double pause_ns = 150'000;  // it searches for 25 us, then it has time to fall asleep
    constexpr std::size_t steps = 8;
    const std::vector<double> all = inside_a_task(rt, steps, [&](std::size_t) {
      work_for(rt, pause_ns);
      rt.submit(pin(1), [] {});
      rt.wait();
    });
    return {all[0] - pause_ns};
  }
};

template <class Program> program_kind kind(std::string name, std::vector<std::string> parts, unsigned workers = 1) {
  return {std::move(name), std::move(parts), workers, [] { return std::make_unique<Program>(); }};
}

}  // namespace

std::vector<program_kind> step_programs() {
  const std::vector<std::string> parts = {"submit", "run"};
  return {kind<independent<0>>("independent", parts),
          kind<independent<1>>("independent, 1 read", parts),
          kind<independent<2>>("independent, 2 reads", parts),
          kind<independent<3>>("independent, 3 reads", parts),
          kind<chain<1>>("chain, 1 write", parts),
          kind<chain<2>>("chain, 2 writes", parts),
          kind<chain<3>>("chain, 3 writes", parts),
          kind<waits>("spawn and wait", {"both"})};
}

std::vector<program_kind> check_programs(unsigned workers) {
  std::vector<program_kind> all = {kind<spawns>("spawn in a task", {"ns"})};
  if (workers < 2) return all;
  all.push_back(kind<alternation>("dependence across cores", {"ns"}, 2));
  all.push_back(kind<stealing>("tasks of 5 us on 2 workers", {"ns"}, 2));
  all.push_back(kind<waking>("task for a sleeping worker, and back", {"ns"}, 2));
  return all;
}

}  // namespace weft::tool::calibrate

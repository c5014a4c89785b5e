// Random programs on random schedules. A program is drawn from a seed: tasks with up to three accesses to a few handles
// (sometimes the same handle twice), some of which have a family of their own inside - children on handles that the
// parent owns, waited for by wait(), by wait(handle), or only by the destruction of the handles - and all leaves add to
// one sum that belongs to nobody. Between submissions the main thread sometimes waits, and looks at what it waited for.
// The machine, too, is drawn: workers, policy, a window that may be tiny, and the order of events.
// This catches what no list of cases does: a wait that returns early under one schedule of a thousand, a submitter that
// is throttled while it holds what others need, a resumed stack on the wrong worker.
#include <memory>

#include "machine/virtual/turns.hpp"
#include "programs.hpp"
#include "replay.hpp"
#include "runtime/engines.hpp"

using namespace reference;
using dice = weft::base::random;

namespace {

struct shape {
  unsigned handles;
  unsigned tasks;
  unsigned nested_percent;
  unsigned depth;
};

// One family: its tasks, and who waits how. Lives on the stack of the parent, or of main.
class family {
 public:
  family(weft::runtime& rt, weft::handle<std::uint64_t>& sum, std::uint64_t seed, const shape& s)
      : rt_(rt), sum_(sum), rng_(seed), shape_(s), work_(draw(rng_, s.handles, s.tasks)) {}

  void submit(bool main) {
    for (std::size_t i = 0; i < shape_.tasks; ++i) {
      work_.submit(rt_, i);
      submitted_ = i + 1;
      if (rng_.below(4) == 0) leaf();
      if (shape_.depth > 0 && rng_.below(100) < shape_.nested_percent) child();
      if (rng_.below(main ? 12 : 8) == 0) look(rng_.below(shape_.handles));
    }
  }

  // What is wrong in this family or in one of its children; call when all is done.
  [[nodiscard]] std::string verdict() {
    std::string wrong = wrong_look_;
    if (wrong.empty()) wrong = work_.verdict();
    for (auto& child_verdict : children_)
      if (wrong.empty()) wrong = *child_verdict;
    return wrong;
  }
  // How often this family and those below added 1 to the sum.
  [[nodiscard]] std::uint64_t leaves() const { return leaves_ + leaves_below_.load(); }

 private:
  void leaf() {
    ++leaves_;
    rt_.submit(weft::add(sum_), [](std::uint64_t& s) {
      const std::uint64_t before = s;
      weft::charge(100);
      s = before + 1;
    });
  }

  void child() {
    const std::uint64_t seed = rng_.next();
    children_.push_back(std::make_unique<std::string>("a nested family was never run"));
    rt_.submit([this, seed, verdict = children_.back().get()] {
      const shape smaller{2 + static_cast<unsigned>(seed % 2), 1 + static_cast<unsigned>(seed % 13), 30,
                          shape_.depth - 1};
      family f(rt_, sum_, seed, smaller);
      f.submit(false);
      switch (seed / 16 % 3) {
      case 0: rt_.wait(); break;
      case 1: rt_.wait(), rt_.wait(); break;
      default:
        // Handles first, so that this wait is for tasks that are done or nearly so; then for the children's children.
        for (unsigned h = 0; h < smaller.handles; ++h) rt_.wait(f.work_.handle(h));
        rt_.wait();
      }
      *verdict = f.verdict();
      leaves_below_ += f.leaves();
    });
  }

  // Waits for one handle and compares it with what the tasks so far make of it one after the other. Only the prefix
  // counts: the reference is run for it anew.
  void look(unsigned h) {
    program prefix = work_.source();
    prefix.tasks.resize(submitted_);
    const std::uint64_t expected = sequential(prefix).data[h];
    const std::uint64_t got = rt_.get(work_.handle(h));
    if (got != expected && wrong_look_.empty())
      wrong_look_ = "after " + std::to_string(submitted_) + " tasks, wait(h" + std::to_string(h) +
                    ") returned before they were done" + describe(prefix);
  }

  weft::runtime& rt_;
  weft::handle<std::uint64_t>& sum_;
  dice rng_;
  const shape shape_;
  execution work_;
  std::size_t submitted_ = 0;
  std::uint64_t leaves_ = 0;
  std::atomic<std::uint64_t> leaves_below_{0};
  std::string wrong_look_;
  std::vector<std::unique_ptr<std::string>> children_;
};

std::string run_drawn(weft::runtime& rt, std::uint64_t seed, const shape& s) {
  weft::handle<std::uint64_t> sum{std::uint64_t{0}};
  family f(rt, sum, seed, s);
  f.submit(true);
  rt.wait();
  const std::string wrong = f.verdict();
  if (!wrong.empty()) return wrong;
  return sum.unguarded() == f.leaves()
             ? ""
             : "adds were lost: " + std::to_string(sum.unguarded()) + " of " + std::to_string(f.leaves());
}

weft::options draw_machine(dice& rng, std::uint64_t seed, const char* machine) {
  static constexpr unsigned workers[] = {1, 2, 3, 4, 7};
  static constexpr std::size_t windows[] = {64, 64, 200, std::size_t{1} << 20};
  const weft::choices policies = weft::policies();
  weft::options o{.workers = workers[rng.below(std::size(workers))],
                  .machine = machine,
                  .policy = policies.first[rng.below(static_cast<std::uint32_t>(policies.count))].name,
                  .seed = seed + 1};
  o.window = windows[rng.below(std::size(windows))];
  o.stack_kib = 128;
  if (o.workers > 1 && seed % 3 == 1) o.creation = "decoupled";
  return o;
}

}  // namespace

TEST_CASE("schedules: random programs in random order" * doctest::skip(real_threads_only)) {
  for_each_seed("schedules: random programs in*", 0, sanitized ? 150 : 4000, [](std::uint64_t seed) {
    dice rng(seed);
    weft::options o = draw_machine(rng, seed, "virtual");
    o.model.schedule = seed % 8 == 0 ? "time" : "random";
    weft::runtime rt(o);
    return run_drawn(rt, seed, {2 + rng.below(4), 20 + rng.below(60), 25, 2});
  });
}

// Cores that stand still, wake late and lose what they have nearly stolen, in random order, by priorities, and with the
// tasks themselves in a drawn order; often through the smallest window, and with deques that grow from two slots.
TEST_CASE("schedules: random programs on disturbed machines" * doctest::skip(real_threads_only)) {
  weft::machine::disturbance& disturbed = weft::disturb_modelled_machines();
  for_each_seed("schedules: random programs on disturbed*", 0, sanitized ? 100 : 3000, [&](std::uint64_t seed) {
    static constexpr const char* kinds[] = {"random", "pct:3:8000", "pct:10:8000", "tasks:3:300", "time"};
    dice rng(seed);
    weft::options o = draw_machine(rng, seed, "virtual");
    o.model.schedule = kinds[seed % std::size(kinds)];
    if (std::string_view(o.model.schedule).starts_with("tasks"))
      o.creation = "inline";  // it wants to see all tasks at once
    disturbed = {.stall = 24,
                 .late_wake = 3,
                 .lost_steal = 5,
                 .deque_slots = seed % 2 == 0 ? 2u : 0u,
                 .deque_slots_max = seed % 4 == 0 ? 8u : 0u};
    const struct undisturbed {
      weft::machine::disturbance& d;
      ~undisturbed() { d = {}; }
    } afterwards{disturbed};
    weft::runtime rt(o);
    return run_drawn(rt, seed, {2 + rng.below(4), 20 + rng.below(60), 25, 2});
  });
}

// The window of 64 is met all the time: by main, by nested submitters, by several at once.
TEST_CASE("schedules: wide random programs through a small window" * doctest::skip(real_threads_only)) {
  for_each_seed("schedules: wide random*", 0, sanitized ? 10 : 250, [](std::uint64_t seed) {
    dice rng(seed);
    weft::options o = draw_machine(rng, seed, "virtual");
    o.window = 64;
    o.model.schedule = "random";
    weft::runtime rt(o);
    return run_drawn(rt, seed, {3, 600, 10, 1});
  });
}

// The same programs on real threads. The schedule is the kernel's, so the seed replays the program and not the run.
TEST_CASE("schedules: random programs on real threads") {
  for_each_seed("schedules: random programs on real*", 0, sanitized ? 60 : 600, [](std::uint64_t seed) {
    dice rng(seed);
    weft::runtime rt(draw_machine(rng, seed, "host"));
    return run_drawn(rt, seed, {2 + rng.below(4), 20 + rng.below(60), 25, 2});
  });
}

// Reading one program of each kind must be possible when it fails, and drawing must not depend on the run.
TEST_CASE("schedules: a seed is one program") {
  dice a(7), b(7);
  CHECK(describe(draw(a, 3, 20)) == describe(draw(b, 3, 20)));
  dice c(8);
  CHECK(describe(draw(b, 3, 20)) != describe(draw(c, 3, 20)));
}

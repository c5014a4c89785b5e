// The executor: an ordered section on a modelled chip.
#include "weft/lab/swarm.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "lab/makers.hpp"
#include "lab/swarm/chip.hpp"
#include "lab/swarm/cores.hpp"
#include "lab/swarm/enqueues.hpp"
#include "lab/swarm/one_core.hpp"
#include "lab/swarm/options.hpp"
#include "runtime/variables.hpp"
#include "weft/error.hpp"

namespace weft {

namespace {

constexpr double clock_hz = 2e9;

class swarm_executor final : public ordered_run::executor {
 public:
  explicit swarm_executor(const swarm_options& options) : chip_(options) {}

  void create(const detail::ordered_call& call) override { roots_.push_back(call); }

  void run() override {
    if (roots_.empty()) return;
    chip_.error = nullptr;
    if (chip_.options.task_units != 0) {
      enqueue_roots();
      swarm::run_cores(chip_);
    } else {
      swarm::run_one_core(chip_, std::exchange(roots_, {}));
    }
    if (chip_.error != nullptr) std::rethrow_exception(chip_.error);
  }
  [[nodiscard]] ordered_counts counts() const override {
    const swarm_statistics& s = chip_.statistics;
    return {
        .committed = s.tasks.committed, .started = s.tasks.bodies, .seconds = static_cast<double>(s.cycles) / clock_hz};
  }
  [[nodiscard]] std::uint64_t again() const noexcept override { return chip_.statistics.tasks.again; }
  // What those that counted took of all cores.
  [[nodiscard]] double serial_seconds() const noexcept override {
    return static_cast<double>(chip_.statistics.core_cycles.committed) / clock_hz;
  }
  [[nodiscard]] swarm::chip& chip() noexcept { return chip_; }

 private:
  // A few go to task queues. More are in memory, and a helper creates them, in parts.
  void enqueue_roots() {
    const swarm::cycle now = chip_.events.now();
    if (roots_.size() <= chip_.options.children) {
      for (const detail::ordered_call& call : roots_) swarm::send(chip_, nullptr, 0, call, now);
      roots_.clear();
      return;
    }
    auto list = std::make_shared<swarm::call_list>();
    list->calls.swap(roots_);
    list->first = chip_.all_lines.fresh(static_cast<std::uint32_t>(list->calls.size() / 2 + 1));
    const auto many = static_cast<std::uint32_t>(list->calls.size());
    swarm::send_helper(chip_, nullptr, 0, 0, {std::move(list), 0, many}, now);
  }

  std::vector<detail::ordered_call> roots_;
  swarm::chip chip_;
};

}  // namespace

namespace ordered_run {

std::unique_ptr<executor> make_swarm(runtime&, const ordered_options& options) {
  const swarm_options chip = options.swarm != nullptr ? *options.swarm : swarm::options_of_environment();
  return std::make_unique<swarm_executor>(swarm::as_run(chip));
}

}  // namespace ordered_run

namespace {

[[nodiscard]] swarm::chip& required_chip(ordered& section) {
  auto* const found = dynamic_cast<swarm_executor*>(&section.executor());
  if (found == nullptr)
    throw error("weft: this ordered section has no modelled chip, so no statistics of one. Ask for it: "
                "weft::ordered(rt, {.executor = \"swarm\"})");
  return found->chip();
}

}  // namespace

const swarm_statistics& statistics_of(ordered& section) { return required_chip(section).statistics; }
std::span<const swarm_sample> samples_of(ordered& section) { return required_chip(section).over_time.all(); }

namespace swarm {

chip& chip_of(ordered& section) { return static_cast<swarm_executor&>(section.executor()).chip(); }

}  // namespace swarm

}  // namespace weft

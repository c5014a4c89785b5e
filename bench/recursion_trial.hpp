// One sample of one system on one recursion: a pass whose branches are watched, a pass to warm up, passes that are
// timed, each with its answer checked, and a look at the data.
#pragma once
#include "branch_watch.hpp"
#include "measure.hpp"
#include "recursion.hpp"

namespace weft::bench {

template <class Forks> class recursion_trial {
 public:
  recursion_trial(const problem& p, const settings& how, const effort& e)
      : effort_(e), proof_problem_(shortened(p, proof_tasks_max)), tasks_(tasks_per_pass(p)), proof_(proof_problem_),
        whole_(p), forks_(how) {}

  sample run() {
    if constexpr (requires { forks_.inside([] {}); })
      forks_.inside([this] { run_inside(); });
    else
      run_inside();
    return result_;
  }

 private:
  void run_inside() {
    branch_watch watch(4 * tasks_per_pass(proof_problem_));
    const value found = forks_.start([&](auto at) { return proof_.run(watched(at, watch)); });
    result_.order_right = watch.all_right() && found == proof_.expected() && proof_.left_right(1);
    const double ns =
        ns_per_pass(effort_, effort_.milliseconds, [this](std::uint64_t passes) { return timed(passes); });
    result_.ns = ns / static_cast<double>(tasks_);
    result_.counts_right = !result_.order_right || (answers_right_ && whole_.left_right(passes_));
  }

  double timed(std::uint64_t passes) {
    const auto start = steady::now();
    for (std::uint64_t i = 0; i < passes; ++i) {
      const value found = forks_.start([this](auto at) { return whole_.run(at); });
      answers_right_ = answers_right_ && found == whole_.expected();
    }
    passes_ += passes;
    return nanoseconds(steady::now() - start).count();
  }

  const effort effort_;
  const problem proof_problem_;
  const std::uint64_t tasks_;
  recursion proof_, whole_;
  bool answers_right_ = true;
  std::uint64_t passes_ = 0;
  sample result_;
  Forks forks_;
};

template <class Forks> sample measure_recursion(const problem& p, const settings& how, const effort& e) {
  return recursion_trial<Forks>(p, how, e).run();
}

}  // namespace weft::bench

#include "explore.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <mutex>
#include <thread>

namespace weft::tool::check {

namespace {

constexpr std::size_t events_per_step = 60;  // operations on shared words that a task costs, about
constexpr unsigned late_max = 8;             // runs that do not end: more of them would only take long

// Of ten schedules six choose among tasks on one worker: what users can see depends on those orders, and each of them
// can be replayed step by step. The rest moves whole cores, which also brings worker numbers and stolen tasks.
enum class kind { tasks, random, pct };
constexpr kind kinds[] = {kind::tasks, kind::random, kind::tasks, kind::tasks, kind::pct,
                          kind::tasks, kind::random, kind::tasks, kind::tasks, kind::pct};

class runner {
 public:
  runner(const program& p, const observation& plain, const wanted& w) : program_(p), plain_(plain), wanted_(w) {
    found_.runs.resize(w.schedules);
    found_.results.push_back(plain.got);
  }

  void work(const std::function<void(double)>& report) {
    for (std::size_t k = next_++; k < wanted_.schedules && !over_; k = next_++) {
      try {
        one(k);
      } catch (...) {
        const std::lock_guard hold(mutex_);
        if (error_ == nullptr) error_ = std::current_exception();
        over_ = true;
      }
      report(static_cast<double>(++done_) / static_cast<double>(wanted_.schedules));
    }
  }
  [[nodiscard]] exploration finish() {
    if (error_ != nullptr) std::rethrow_exception(error_);
    std::erase_if(found_.runs, [](const explored& e) { return !e.ran; });
    number_results();
    return std::move(found_);
  }

 private:
  void one(std::size_t k) {
    explored& e = found_.runs[k];
    e.how = schedule_of(wanted_, k, plain_.seen.steps.size());
    observation seen = program_.run(e.how);
    e.order = hash(seen.seen.steps);
    if (seen.late && ++late_ == late_max) over_ = true;
    e.differs = seen.got != plain_.got;
    if (e.differs) {
      e.distance = distance(plain_.seen.steps, seen.seen.steps);
      const std::lock_guard hold(mutex_);
      const auto same = std::find(found_.results.begin(), found_.results.end(), seen.got);
      e.result = static_cast<std::size_t>(same - found_.results.begin());
      if (same == found_.results.end()) found_.results.push_back(std::move(seen.got));
      if (wanted_.first_only) over_ = true;
    }
    e.ran = true;
  }
  // In the order of the schedules, whoever was quicker.
  void number_results() {
    std::vector<result> sorted{found_.results[0]};
    std::vector<std::size_t> number(found_.results.size(), 0);
    for (explored& e : found_.runs) {
      if (e.result == 0) continue;
      if (number[e.result] == 0) {
        number[e.result] = sorted.size();
        sorted.push_back(found_.results[e.result]);
      }
      e.result = number[e.result];
    }
    found_.results = std::move(sorted);
  }

  const program& program_;
  const observation& plain_;
  const wanted& wanted_;
  std::atomic<std::size_t> next_{0}, done_{0};
  std::atomic<unsigned> late_{0};
  std::atomic<bool> over_{false};
  std::mutex mutex_;  // guards error_ and the results
  std::exception_ptr error_;
  exploration found_;
};

}  // namespace

settings schedule_of(const wanted& w, std::size_t k, std::size_t steps) {
  settings s{.seed = w.seed + k};
  const kind how = kinds[k % std::size(kinds)];
  const std::size_t length = std::max<std::size_t>(steps, 4);
  const auto with = [&w](const char* name, std::size_t n) {
    return std::string(name) + ":" + std::to_string(w.depth) + ":" + std::to_string(n);
  };
  s.schedule = how == kind::tasks ? with("tasks", length)
               : how == kind::pct ? with("pct", length * events_per_step)
                                  : "random";
  if (how == kind::tasks) return s;
  // Cores can be moved where there are several.
  const std::size_t several = w.workers.size() > 1 && w.workers.front() == 1 ? 1 : 0;
  s.workers = w.workers[several + k / 4 % (w.workers.size() - several)];
  return s;
}

exploration explore(const program& p, const observation& plain, const wanted& w,
                    const std::function<void(double)>& report) {
  const auto start = std::chrono::steady_clock::now();
  runner all(p, plain, w);
  {
    std::vector<std::jthread> helpers;
    for (unsigned i = 1; i < w.jobs; ++i) helpers.emplace_back([&] { all.work(report); });
    all.work(report);
  }
  exploration found = all.finish();
  found.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return found;
}

}  // namespace weft::tool::check

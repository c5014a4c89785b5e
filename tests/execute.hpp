// Runs a reference::program on a real runtime and has the reference judge what happened. The clauses of a task are
// types in the public API and data here, so submission walks through all combinations of up to three access kinds.
#pragma once
#include <deque>
#include <string>
#include <vector>

#include "reference.hpp"
#include "weft/weft.hpp"

namespace reference {

// Source of the stamps. One counter for the process: only the order of two stamps means anything.
inline std::atomic<std::uint64_t> stamps{1};

// One program's data, and its log while it runs.
class execution {
 public:
  explicit execution(program p) : program_(std::move(p)), handles_(program_.handles), log_(program_.tasks.size()) {}

  void submit(weft::runtime& rt, std::size_t i) { add_clauses(rt, i); }
  void submit_all(weft::runtime& rt) {
    for (std::size_t i = 0; i < program_.tasks.size(); ++i) submit(rt, i);
  }

  // The first violation, or "". Who: after the wait for all tasks.
  [[nodiscard]] std::string verdict() {
    std::vector<std::uint64_t> data;
    for (auto& h : handles_) data.push_back(h.unguarded());
    std::string wrong = wrong_datum_.load() != 0 ? "a body was handed the wrong datum" : "";
    if (wrong.empty()) wrong = rules(program_).judge(log_, data);
    return wrong.empty() ? wrong : wrong + "\nin the program" + describe(program_);
  }

  [[nodiscard]] weft::handle<std::uint64_t>& handle(unsigned h) { return handles_[h]; }
  [[nodiscard]] const program& source() const { return program_; }

 private:
  template <class... Clauses> void add_clauses(weft::runtime& rt, std::size_t i, Clauses... clauses) {
    constexpr unsigned done = sizeof...(Clauses);
    const task& t = program_.tasks[i];
    if (t.count == done) {
      rt.submit(clauses..., [this, i](auto&... data) { this->run(i, data...); });
      return;
    }
    if constexpr (done < task::uses_max) {
      auto& h = handles_[t.uses[done].handle];
      switch (t.uses[done].how) {
      case kind::read: return add_clauses(rt, i, clauses..., weft::read(h));
      case kind::write: return add_clauses(rt, i, clauses..., weft::write(h));
      case kind::add: return add_clauses(rt, i, clauses..., weft::add(h));
      case kind::concurrent: return add_clauses(rt, i, clauses..., weft::concurrent(h));
      }
    }
  }

  template <class... Data> void run(std::size_t i, Data&... data) {
    log_[i].begin = stamps.fetch_add(1);
    ++log_[i].runs;
    const std::array<const std::uint64_t*, sizeof...(Data)> handed{&data...};
    std::array<std::uint64_t*, task::uses_max> own{};
    for (unsigned u = 0; u < sizeof...(Data); ++u) {
      own[u] = &handles_[program_.tasks[i].uses[u].handle].unguarded();
      if (own[u] != handed[u]) wrong_datum_.store(1);
    }
    // On a modelled machine the charge lets every other core go first.
    log_[i].seen = step(program_.tasks[i], i, own, [] { weft::charge(200); });
    log_[i].end = stamps.fetch_add(1);
  }

  const program program_;
  std::deque<weft::handle<std::uint64_t>> handles_;
  std::vector<interval> log_;
  std::atomic<int> wrong_datum_{0};
};

// Submits, waits, judges.
[[nodiscard]] inline std::string run_and_judge(weft::runtime& rt, program p) {
  execution e(std::move(p));
  e.submit_all(rt);
  rt.wait();
  return e.verdict();
}

}  // namespace reference

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
  // The same task, its accesses given as ranges of one kind each; every other task keeps one as a clause of its own.
  void submit_as_ranges(weft::runtime& rt, std::size_t i) {
    const task& t = program_.tasks[i];
    const unsigned alone = i % 2 == 1 && t.count > 0 && t.uses[0].how == kind::add ? 1 : 0;
    std::array<std::vector<weft::handle<std::uint64_t>*>, 4> by_kind;
    std::array<unsigned, task::uses_max> place{};  // of each use within its range
    for (unsigned u = alone; u < t.count; ++u) {
      auto& range = by_kind[static_cast<unsigned>(t.uses[u].how)];
      place[u] = static_cast<unsigned>(range.size());
      range.push_back(&handles_[t.uses[u].handle]);
    }
    const auto run_with = [this, i, place](auto* first, auto reads, auto writes, auto adds, auto concurrents) {
      const task& uses = this->program_.tasks[i];
      std::array<const std::uint64_t*, task::uses_max> handed{};
      for (unsigned u = 0; u < uses.count; ++u) {
        switch (u == 0 && first != nullptr ? kind::read : uses.uses[u].how) {
        case kind::read: handed[u] = u == 0 && first != nullptr ? first : &reads[place[u]]; break;
        case kind::write: handed[u] = &writes[place[u]]; break;
        case kind::add: handed[u] = &adds[place[u]]; break;
        case kind::concurrent: handed[u] = &concurrents[place[u]]; break;
        }
      }
      this->run(i, handed);
    };
    auto& [r, w, a, c] = by_kind;
    if (alone == 0) {
      rt.submit(weft::read(r), weft::write(w), weft::add(a), weft::concurrent(c),
                [run_with](auto... views) { run_with(static_cast<std::uint64_t*>(nullptr), views...); });
    } else {
      rt.submit(weft::read(r), weft::write(w), weft::add(handles_[t.uses[0].handle]), weft::add(a), weft::concurrent(c),
                [run_with](auto reads, auto writes, std::uint64_t& first, auto adds, auto concurrents) {
                  run_with(&first, reads, writes, adds, concurrents);
                });
    }
  }
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
      rt.submit(clauses..., [this, i](auto&... data) {
        std::array<const std::uint64_t*, task::uses_max> handed{};
        unsigned at = 0;
        ((handed[at++] = &data), ...);
        this->run(i, handed);
      });
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

  void run(std::size_t i, const std::array<const std::uint64_t*, task::uses_max>& handed) {
    log_[i].begin = stamps.fetch_add(1);
    ++log_[i].runs;
    std::array<std::uint64_t*, task::uses_max> own{};
    for (unsigned u = 0; u < program_.tasks[i].count; ++u) {
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

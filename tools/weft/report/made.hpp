// Runs made by hand or at random, for the tests of the report. Versions come about as in Weft: an access joins the
// group that is open if both are of the same kind and that kind commutes, else it starts the next one.
#pragma once
#include <algorithm>
#include <map>
#include <random>

#include "pieces.hpp"

namespace weft::tool::report {

class made {
 public:
  struct use {
    const char* kind;
    std::uint32_t handle;
  };

  explicit made(unsigned workers) {
    for (unsigned w = 0; w < workers; ++w) file_.workers.push_back({w, none, -1});
    file_.names = {"even", "odd"};
  }

  std::uint32_t handle() {
    file_.handles.push_back({static_cast<std::int64_t>(file_.handles.size()), ""});
    return static_cast<std::uint32_t>(file_.handles.size() - 1);
  }

  std::uint32_t task(ns submitted, ns started, ns finished, const std::vector<use>& uses, std::uint32_t parent = none) {
    const auto t = static_cast<std::uint32_t>(file_.tasks.size());
    const auto worker = static_cast<std::uint32_t>(t % file_.workers.size());
    file_.tasks.push_back({t, parent, t % 2, 0, worker, submitted, started, finished, trace::outcome::done});
    for (const use& u : uses) access(t, u);
    return t;
  }
  std::uint32_t child(std::uint32_t parent, ns submitted, ns started, ns finished) {
    return task(submitted, started, finished, {}, parent);
  }

  void wait(std::uint32_t task, trace::wait_reason why, ns from, ns to, std::uint32_t handle = none) {
    const std::uint32_t worker = task == none ? 0 : file_.tasks[task].worker;
    file_.waits.push_back({task, why, handle, worker, worker, from, to});
  }
  void wait_all(ns from, ns to) { wait(none, trace::wait_reason::all, from, to); }
  void wait_handle(ns from, ns to, std::uint32_t h) { wait(none, trace::wait_reason::handle, from, to, h); }
  void sleep(std::uint32_t worker, ns from, ns to) { file_.sleeps.push_back({worker, from, to}); }

  [[nodiscard]] ns end_of(std::uint32_t t) const { return file_.tasks[t].finished_ns; }

  trace::file take() {
    for (auto& [h, g] : groups_) close(g);
    std::stable_sort(file_.waits.begin(), file_.waits.end(), [](const trace::wait& a, const trace::wait& b) {
      return std::pair(a.task, a.from_ns) < std::pair(b.task, b.from_ns);
    });
    std::stable_sort(file_.accesses.begin(), file_.accesses.end(),
                     [](const trace::access& a, const trace::access& b) { return a.task < b.task; });
    return std::move(file_);
  }

  // Some tasks, some of them with children, that run as soon as they may or a little later; waits in between.
  static trace::file random(unsigned seed);

 private:
  struct group {
    const char* kind = "";
    std::int64_t start = 0, count = 0;
    std::vector<std::size_t> members;  // of accesses
  };

  void close(group& g) {
    for (const std::size_t k : g.members) file_.accesses[k].next_version = g.count;
    g.members.clear();
  }

  void access(std::uint32_t t, const use& u) {
    group& g = groups_[u.handle];
    const std::string kind = u.kind;
    if (kind == "write" || kind != g.kind) {
      close(g);
      g.kind = u.kind;
      g.start = g.count;
    }
    const auto known = std::find(file_.kinds.begin(), file_.kinds.end(), kind) - file_.kinds.begin();
    if (known == static_cast<std::ptrdiff_t>(file_.kinds.size())) {
      file_.kinds.push_back(kind);
      file_.flags.push_back(trace::standard_flags(kind));
    }
    g.members.push_back(file_.accesses.size());
    file_.accesses.push_back({t, u.handle, static_cast<std::uint32_t>(known), 0, g.start, trace::no_version});
    ++g.count;
  }

  trace::file file_;
  std::map<std::uint32_t, group> groups_;

  friend class random_run;
};

}  // namespace weft::tool::report

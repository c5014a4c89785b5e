// See reader.hpp: pieces of execution, and versions instead of edges.
#include <algorithm>
#include <numeric>

#include "reader.hpp"
#include "weft/error.hpp"

namespace weft::tool::trace {

namespace {

// A stack goes on where its last wait ended, so a piece begins at the end of one wait and ends at the start of the
// next.
class pieces {
 public:
  explicit pieces(const file& f) : f_(f) {}

  void add_task(index t, const wait* first, const wait* last) {
    const task& of = f_.tasks[t];
    if (!of.ran()) return;
    add(t, of.worker, of.started_ns, of.finished_ns, first, last);
  }

  void add(index t, index worker, std::int64_t from, std::int64_t end, const wait* first, const wait* last) {
    for (const wait* w = first; w != last; ++w) {
      push({t, w->from_worker, from, w->from_ns, w == first, false});
      worker = w->to_worker;
      from = w->to_ns;
    }
    push({t, worker, from, end, first == last, true});
  }

  void add_stay(const stay& s) { push({s.task, s.worker, s.from_ns, s.to_ns, false, false}); }

  std::vector<segment> take() {
    std::sort(out_.begin(), out_.end(), [](const segment& a, const segment& b) {
      if (a.worker != b.worker) return a.worker < b.worker;
      if (a.from_ns != b.from_ns) return a.from_ns < b.from_ns;
      return a.to_ns != b.to_ns ? a.to_ns < b.to_ns : a.task < b.task;
    });
    for (std::size_t i = 1; i < out_.size(); ++i) {
      segment& before = out_[i - 1];
      if (before.worker != out_[i].worker || before.to_ns <= out_[i].from_ns) continue;
      if (f_.lost == 0) fail_overlap(before, out_[i]);
      before.to_ns = out_[i].from_ns;
    }
    return std::move(out_);
  }

 private:
  void push(const segment& s) {
    if (s.to_ns >= s.from_ns) {
      out_.push_back(s);
      return;
    }
    if (f_.lost == 0)
      throw weft::error(f_.path + ": " + who(s.task) + " waits while it is not running, at " + std::to_string(s.to_ns) +
                        " ns; the file is damaged, record the run again");
  }

  [[noreturn]] void fail_overlap(const segment& a, const segment& b) const {
    throw weft::error(f_.path + ": worker " + std::to_string(f_.workers[a.worker].id) + " runs " + who(a.task) +
                      " and " + who(b.task) + " at the same time, " + std::to_string(b.from_ns) +
                      " ns; the file is damaged, record the run again");
  }

  std::string who(index t) const { return t == none ? "the main thread" : "task " + std::to_string(f_.tasks[t].id); }

  const file& f_;
  std::vector<segment> out_;
};

}  // namespace

std::vector<segment> segments(const file& f, bool with_main) {
  pieces out(f);
  const wait* w = f.waits.data();
  const wait* const end = w + f.waits.size();
  for (index t = 0; t < f.tasks.size(); ++t) {
    const wait* const first = w;
    while (w != end && w->task == t) ++w;
    out.add_task(t, first, w);
  }
  for (const stay& s : f.stays)
    if (!s.is_program && (with_main || s.task != none)) out.add_stay(s);
  if (with_main && !f.workers.empty()) out.add(none, 0, 0, f.duration_ns, w, end);
  return out.take();
}

version_steps::version_steps(const file& f, std::size_t tasks) {
  for (index a = 0; a < f.accesses.size() && f.accesses[a].task < tasks; ++a) {
    if (f.accesses[a].next_version != no_version) before.push_back(a);
    if (f.accesses[a].version != no_version) after.push_back(a);
  }
  const auto order = [&f](std::vector<index>& all, std::int64_t access::*version) {
    std::sort(all.begin(), all.end(), [&](index a, index b) {
      const access &x = f.accesses[a], &y = f.accesses[b];
      if (x.handle != y.handle) return x.handle < y.handle;
      return x.*version != y.*version ? x.*version < y.*version : a < b;
    });
  };
  order(before, &access::next_version);
  order(after, &access::version);
  std::uint32_t b = 0, a = 0;
  while (b < before.size() || a < after.size()) {
    const auto key_before = [&](std::uint32_t i) {
      return std::pair(f.accesses[before[i]].handle, f.accesses[before[i]].next_version);
    };
    const auto key_after = [&](std::uint32_t i) {
      return std::pair(f.accesses[after[i]].handle, f.accesses[after[i]].version);
    };
    const bool from_before = a == after.size() || (b < before.size() && key_before(b) <= key_after(a));
    const auto key = from_before ? key_before(b) : key_after(a);
    version_step step{key.first, key.second, b, b, a, a};
    while (step.before_last < before.size() && key_before(step.before_last) == key) ++step.before_last;
    while (step.after_last < after.size() && key_after(step.after_last) == key) ++step.after_last;
    b = step.before_last;
    a = step.after_last;
    steps.push_back(step);
  }
}

}  // namespace weft::tool::trace

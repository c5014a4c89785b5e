// The reference executor: what a program of tasks with accesses means, written so slowly and plainly that it can be
// checked by reading. It knows nothing of versions, queues or workers, only the sentence of include/weft/clause.hpp:
// tasks on one handle are ordered by submission, except within a group of the same commuting kind.
//
//   sequential(program)   the data and observations that every legal execution must end with
//   rules(program)        for two tasks: must the earlier one end first, may they overlap, or only not overlap
//   rules.judge(log)      the first violation in an observed execution, by the names of the tasks, or ""
//
// Every task does the same work (step): it folds what it reads and writes into a hash that does not commute, and adds
// that to what it adds to. So a task that ran too early, twice, on the wrong datum or beside another one that it must
// not run beside leaves different data, also when the log looks right.
#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

namespace reference {

enum class kind : std::uint8_t { read, write, add, concurrent };

struct use {
  unsigned handle;
  kind how;
};

// Up to three accesses: enough for every pattern of conflict, and the submission of a fourth would quadruple what the
// compiler has to instantiate (execute.hpp).
struct task {
  static constexpr unsigned uses_max = 3;
  std::array<use, uses_max> uses{};
  unsigned count = 0;

  task() = default;
  task(std::initializer_list<use> list) {
    for (const use& u : list) uses.at(count++) = u;
  }
  [[nodiscard]] const use* begin() const { return uses.data(); }
  [[nodiscard]] const use* end() const { return uses.data() + count; }
};

struct program {
  unsigned handles = 0;
  std::vector<task> tasks;  // in the order of submission
};

[[nodiscard]] inline std::string describe(const task& t) {
  static constexpr const char* names[] = {"read", "write", "add", "concurrent"};
  std::string text;
  for (const use& u : t)
    text +=
        std::string(text.empty() ? "" : ", ") + names[static_cast<unsigned>(u.how)] + " h" + std::to_string(u.handle);
  return text.empty() ? "nothing" : text;
}

[[nodiscard]] inline std::string describe(const program& p) {
  std::string text;
  for (std::size_t i = 0; i < p.tasks.size() && i < 40; ++i)
    text += "\n  t" + std::to_string(i) + ": " + describe(p.tasks[i]);
  if (p.tasks.size() > 40) text += "\n  and " + std::to_string(p.tasks.size() - 40) + " more";
  return text;
}

[[nodiscard]] inline std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

// The work of task number `id`, and what it saw. `pause` is where a task that may not be here has its chance: what is
// read before it must still be there after it, and adds and writes are torn into their two halves.
template <class Pause> std::uint64_t step(const task& t, std::uint64_t id,
                                          const std::array<std::uint64_t*, task::uses_max>& data, Pause pause) {
  std::array<std::uint64_t, task::uses_max> before{};
  std::uint64_t seen = mix(id + 1);
  for (unsigned i = 0; i < t.count; ++i) {
    if (t.uses[i].how == kind::concurrent) continue;
    before[i] = *data[i];
    if (t.uses[i].how != kind::add) seen = seen * 31 + before[i];
  }
  pause();
  for (unsigned i = 0; i < t.count; ++i)
    if (t.uses[i].how == kind::read) seen = seen * 31 + *data[i];
  for (unsigned i = 0; i < t.count; ++i) {
    switch (t.uses[i].how) {
    case kind::read: break;
    case kind::write: *data[i] = before[i] * 31 + seen; break;
    case kind::add: *data[i] = before[i] + seen; break;
    case kind::concurrent: std::atomic_ref(*data[i]).fetch_add(seen, std::memory_order_relaxed); break;
    }
  }
  return seen;
}

struct outcome {
  std::vector<std::uint64_t> data;  // by handle
  std::vector<std::uint64_t> seen;  // by task
};

// One task after the other, in the order of submission.
[[nodiscard]] inline outcome sequential(const program& p) {
  outcome o{std::vector<std::uint64_t>(p.handles), {}};
  for (std::size_t i = 0; i < p.tasks.size(); ++i) {
    std::array<std::uint64_t*, task::uses_max> data{};
    for (unsigned u = 0; u < p.tasks[i].count; ++u) data[u] = &o.data[p.tasks[i].uses[u].handle];
    o.seen.push_back(step(p.tasks[i], i, data, [] {}));
  }
  return o;
}

// What a run tells about one task. Stamps come from one counter, so that end < begin means "happened before".
struct interval {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t seen = 0;
  unsigned runs = 0;
};

enum class order : std::uint8_t { free, apart, before };

class rules {
 public:
  explicit rules(const program& p) : program_(p), groups_(p.tasks.size()) {
    std::vector<unsigned> group(p.handles, 0);
    std::vector<int> last(p.handles, -1);
    for (std::size_t i = 0; i < p.tasks.size(); ++i) {
      for (unsigned u = 0; u < p.tasks[i].count; ++u) {
        const auto [h, how] = p.tasks[i].uses[u];
        const bool repeated = u > 0 && names(p.tasks[i], h, u);
        if (!repeated && (last[h] != static_cast<int>(how) || how == kind::write)) ++group[h];
        last[h] = static_cast<int>(how);
        groups_[i][u] = group[h];
      }
    }
  }

  // What must hold between task a and the later task b.
  [[nodiscard]] order between(std::size_t a, std::size_t b) const {
    order strictest = order::free;
    const task& first = program_.tasks[a];
    const task& second = program_.tasks[b];
    for (unsigned i = 0; i < first.count; ++i)
      for (unsigned j = 0; j < second.count; ++j) {
        if (first.uses[i].handle != second.uses[j].handle) continue;
        if (groups_[a][i] != groups_[b][j]) return order::before;
        if (first.uses[i].how == kind::add) strictest = order::apart;
      }
    return strictest;
  }

  [[nodiscard]] std::string judge(const std::vector<interval>& log) const {
    const std::size_t n = program_.tasks.size();
    if (log.size() != n) return "the log has " + std::to_string(log.size()) + " tasks of " + std::to_string(n);
    for (std::size_t i = 0; i < n; ++i) {
      if (log[i].runs != 1) return name(i) + " ran " + std::to_string(log[i].runs) + " times";
      if (log[i].begin >= log[i].end) return name(i) + " ended before it began";
    }
    for (std::size_t b = 0; b < n; ++b)
      for (std::size_t a = 0; a < b; ++a) {
        const order o = between(a, b);
        const bool in_order = log[a].end < log[b].begin;
        if (o == order::before && !in_order) return name(b) + " began before " + name(a) + " had ended";
        if (o == order::apart && !in_order && log[b].end > log[a].begin)
          return name(a) + " and " + name(b) + " add at the same time";
      }
    return "";
  }

  // The same for what the run left behind.
  [[nodiscard]] std::string judge(const std::vector<interval>& log, const std::vector<std::uint64_t>& data) const {
    if (std::string wrong = judge(log); !wrong.empty()) return wrong;
    const outcome right = sequential(program_);
    for (std::size_t i = 0; i < log.size(); ++i)
      if (log[i].seen != right.seen[i]) return name(i) + " saw other data than in a sequential run";
    for (std::size_t h = 0; h < data.size(); ++h)
      if (data[h] != right.data[h])
        return std::string(1, 'h').append(std::to_string(h)).append(" ends with other data than in a sequential run");
    return "";
  }

  [[nodiscard]] std::string name(std::size_t i) const {
    std::string text(1, 't');  // and not "t" + ..., for which g++ 12 warns of an overflow that is none
    return text.append(std::to_string(i)).append(" (").append(describe(program_.tasks[i])).append(")");
  }

 private:
  [[nodiscard]] static bool names(const task& t, unsigned handle, unsigned before_use) {
    for (unsigned u = 0; u < before_use; ++u)
      if (t.uses[u].handle == handle) return true;
    return false;
  }

  const program& program_;
  std::vector<std::array<unsigned, task::uses_max>> groups_;  // by task and use: number of its group on that handle
};

}  // namespace reference

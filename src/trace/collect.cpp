#include "trace/collect.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <unordered_map>

#include "weft/clause.hpp"

namespace weft::trace {

namespace {

class collector {
 public:
  collector(const std::vector<recorder*>& recorders, std::uint64_t start_ps)
      : recorders_(recorders), start_ps_(start_ps) {}

  contents run(std::vector<section_row> sections) {
    gather_names();
    gather_tasks();
    out_.sections = std::move(sections);
    for (std::size_t i = 0; i < recorders_.size(); ++i)
      recorders_[i]->read([&](const event& e) { add(e, static_cast<unsigned>(i)); });
    if (out_.lost != 0) leave_out_halves();
    sort_rows();
    number_strands();
    complete_versions(out_.tasks, out_.accesses);
    return std::move(out_);
  }

 private:
  struct submission {
    std::uint64_t time;
    std::uint32_t id;
    std::uint32_t parent;
    std::uint32_t name;
    int submitter;
    std::uint16_t pin;
    std::uint8_t near;
    std::uint8_t clauses;
    std::int64_t own_ns;
  };

  [[nodiscard]] std::uint64_t ns(std::uint64_t ps) const noexcept {
    return ps <= start_ps_ ? 0 : (ps - start_ps_) / 1000;
  }
  // 0 for 0 and for what was lost.
  [[nodiscard]] std::uint32_t number_of(std::uint32_t id) const {
    const auto found = numbers_.find(id);
    return found == numbers_.end() ? 0 : found->second;
  }

  void gather_names() {
    std::unordered_map<std::string, std::uint32_t> known{{"", 0}};
    for (recorder* r : recorders_)
      r->read_names([&](const std::vector<std::string>& names, const auto& handle_names) {
        std::vector<std::uint32_t>& global = names_.emplace_back();
        for (const std::string& name : names) {
          const auto [at, added] = known.try_emplace(name, static_cast<std::uint32_t>(out_.names.size()));
          if (added) out_.names.push_back(name);
          global.push_back(at->second);
        }
        for (const auto& [id, name] : handle_names) handle_names_.try_emplace(id, name);
      });
  }

  [[nodiscard]] std::uint32_t task_of_id(std::uint64_t id) const {
    const std::uint32_t task = number_of(static_cast<std::uint32_t>(id));
    return kept_.empty() ? task : kept_[task];
  }

  // A name that is newer than gather_names() is none.
  [[nodiscard]] std::uint32_t global_name(std::size_t recorder, std::uint32_t local) const noexcept {
    return local < names_[recorder].size() ? names_[recorder][local] : 0;
  }

  void gather_tasks() {
    std::vector<submission> all;
    for (std::size_t i = 0; i < recorders_.size(); ++i) {
      const int submitter = i + 1 == recorders_.size() ? -1 : static_cast<int>(i);
      out_.lost += recorders_[i]->read([&](const event& e) {
        if (e.kind == event_kind::submitted)
          all.push_back({e.time, e.task, e.other, global_name(i, e.position),
                         e.worker == by_recorder  ? submitter
                         : e.worker == by_outside ? -1
                                                  : e.worker - 1,
                         static_cast<std::uint16_t>(e.value), static_cast<std::uint8_t>(e.value >> 16), e.detail,
                         unpacked_ns(static_cast<std::uint32_t>(e.value >> 32))});
      });
    }
    std::sort(all.begin(), all.end(),
              [](const submission& a, const submission& b) { return std::tie(a.time, a.id) < std::tie(b.time, b.id); });
    numbers_.reserve(all.size());
    out_.tasks.reserve(all.size() + 1);
    for (const submission& s : all) numbers_.emplace(s.id, static_cast<std::uint32_t>(numbers_.size() + 1));
    for (const submission& s : all)
      out_.tasks.push_back({.parent = number_of(s.parent),
                            .name = s.name,
                            .submitter = s.submitter,
                            .submitted_ns = ns(s.time),
                            .priority = (s.clauses & clause_priority) != 0,
                            .subtasks = (s.clauses & clause_subtasks) != 0,
                            .is_call = (s.clauses & is_call) != 0,
                            .near = s.near,
                            .pin = s.pin,
                            .own_ns = s.own_ns});
  }

  void add(const event& e, unsigned worker) {
    const std::uint32_t task = number_of(e.task);
    if (e.kind == event_kind::slept) {
      out_.sleeps.push_back({worker, ns(e.time), ns(e.value)});
      return;
    }
    if (task == 0 && e.task != 0) return;  // its submission was overwritten
    switch (e.kind) {
    case event_kind::access:
      out_.accesses.push_back({task, e.position, e.other, e.detail, e.value, 0});
      out_.kinds.emplace(e.detail, static_cast<std::uint8_t>(e.worker));
      meet(e.other);
      if (handle_row& h = out_.handles.at(e.other); e.detail == detail::kind_resource)
        h.units = std::max(h.units, e.time);  // the first to come saw all of them
      else
        h.bytes = std::max(h.bytes, e.time);
      break;
    case event_kind::ran: {
      task_row& t = out_.tasks[task];
      t.ran = true;
      t.follows = e.position != 0;
      t.outcome = static_cast<outcome>(e.detail);
      t.worker = e.worker;
      t.started_ns = ns(e.time);
      t.finished_ns = ns(e.value);
      break;
    }
    case event_kind::waited:
      out_.waits.push_back({task, static_cast<why>(e.detail), e.other, e.worker, ns(e.time), worker, ns(e.value),
                            unpacked_ns(e.position)});
      if (e.other != 0) meet(e.other);
      break;
    case event_kind::passed:
      out_.passed.push_back({task, static_cast<why>(e.detail), e.other, worker, ns(e.time), unpacked_ns(e.position)});
      if (e.other != 0) meet(e.other);
      break;
    case event_kind::stolen:
      out_.steals.push_back({ns(e.time), worker, e.worker, task, static_cast<booty>(e.detail)});
      break;
    case event_kind::team:
      out_.teams.push_back({task, e.position, static_cast<aim>(e.detail), ns(e.time), ns(e.value),
                            static_cast<std::uint64_t>(unpacked_ns(e.other))});
      break;
    case event_kind::strand:
      out_.strands.push_back({e.other, task, static_cast<strand_of>(e.detail), ns(e.time), unpacked_ns(e.position)});
      break;
    case event_kind::step:
      out_.steps.push_back({e.other, e.position, static_cast<step_kind>(e.detail), e.time, e.value});
      break;
    case event_kind::stay: out_.stays.push_back({e.other, worker, ns(e.time), ns(e.value)}); break;
    case event_kind::located: out_.located.push_back({task, e.time, e.value}); break;
    case event_kind::member: out_.tasks[task].rank = static_cast<std::int32_t>(e.position); break;
    case event_kind::counted: out_.counts.push_back({task, e.detail, e.value}); break;
    case event_kind::submitted:
    case event_kind::slept: break;
    }
  }

  void meet(std::uint32_t handle) {
    const auto [at, added] = out_.handles.try_emplace(handle);
    if (!added) return;
    if (const auto named = handle_names_.find(handle); named != handle_names_.end()) at->second.name = named->second;
  }

  // Whether a task did not run or its end was overwritten cannot be told: better no row than a wrong one.
  void leave_out_halves() {
    std::vector<std::uint32_t> now(out_.tasks.size(), 0);
    std::vector<task_row> kept{task_row{}};
    for (std::uint32_t i = 1; i < now.size(); ++i) {
      if (!out_.tasks[i].ran) continue;
      now[i] = static_cast<std::uint32_t>(kept.size());
      kept.push_back(out_.tasks[i]);
    }
    for (task_row& t : kept) t.parent = now[t.parent];
    out_.tasks = std::move(kept);
    for (strand_row& s : out_.strands) s.task = now[s.task];
    kept_.assign(now.begin(), now.end());
    const auto renumber = [&now](auto& rows, bool none_allowed) {
      std::erase_if(rows, [&](auto& row) {
        const bool none = row.task == 0;
        row.task = now[row.task];
        return row.task == 0 && !(none && none_allowed);
      });
    };
    renumber(out_.accesses, false);
    renumber(out_.waits, true);
    renumber(out_.passed, true);
    renumber(out_.steals, true);
    renumber(out_.counts, false);
    renumber(out_.teams, false);
    renumber(out_.located, false);
  }

  void sort_rows() {
    std::sort(out_.accesses.begin(), out_.accesses.end(), [](const access_row& a, const access_row& b) {
      return std::tie(a.task, a.position) < std::tie(b.task, b.position);
    });
    std::sort(out_.waits.begin(), out_.waits.end(), [](const wait_row& a, const wait_row& b) {
      return std::tie(a.task, a.from_ns, a.to_ns) < std::tie(b.task, b.from_ns, b.to_ns);
    });
    std::stable_sort(out_.passed.begin(), out_.passed.end(), [](const passed_row& a, const passed_row& b) {
      return std::tie(a.task, a.time_ns) < std::tie(b.task, b.time_ns);
    });
    std::sort(out_.steals.begin(), out_.steals.end(), [](const steal_row& a, const steal_row& b) {
      return std::tie(a.time_ns, a.thief, a.task) < std::tie(b.time_ns, b.thief, b.task);
    });
    std::sort(out_.teams.begin(), out_.teams.end(),
              [](const team_row& a, const team_row& b) { return a.task < b.task; });
    std::sort(out_.located.begin(), out_.located.end(),
              [](const located_row& a, const located_row& b) { return a.task < b.task; });
    std::stable_sort(out_.sections.begin(), out_.sections.end(), [](const section_row& a, const section_row& b) {
      return std::tie(a.began_ns, a.executor, a.ended_ns) < std::tie(b.began_ns, b.executor, b.ended_ns);
    });
    std::sort(out_.counts.begin(), out_.counts.end(), [](const count_row& a, const count_row& b) {
      return std::tie(a.task, a.counter) < std::tie(b.task, b.counter);
    });
    add_up_counts();
  }

  // Until here they are called by the recorders' numbers, and so is what their steps name.
  void number_strands() {
    std::sort(out_.strands.begin() + 1, out_.strands.end(), [](const strand_row& a, const strand_row& b) {
      return std::tie(a.began_ns, a.id) < std::tie(b.began_ns, b.id);
    });
    std::unordered_map<std::uint32_t, std::uint32_t> strands;
    for (std::uint32_t i = 1; i < out_.strands.size(); ++i) strands.emplace(out_.strands[i].id, i);
    const auto known = [&strands](std::uint64_t id) {
      const auto found = strands.find(static_cast<std::uint32_t>(id));
      return found == strands.end() ? 0 : found->second;
    };
    const auto renumber = [&known](auto& rows) {
      std::erase_if(rows, [&known](auto& row) { return (row.strand = known(row.strand)) == 0; });
    };
    renumber(out_.steps);
    renumber(out_.stays);
    for (step_row& s : out_.steps) {
      if (s.kind == step_kind::fork || s.kind == step_kind::taken) s.which = known(s.which);
      if (s.kind == step_kind::submits) s.which = task_of_id(s.which);
      if (s.kind == step_kind::waits_handle) meet(static_cast<std::uint32_t>(s.which));
    }
    std::sort(out_.steps.begin(), out_.steps.end(), [](const step_row& a, const step_row& b) {
      return std::tie(a.strand, a.position) < std::tie(b.strand, b.position);
    });
    std::sort(out_.stays.begin(), out_.stays.end(), [](const stay_row& a, const stay_row& b) {
      return std::tie(a.strand, a.from_ns, a.to_ns) < std::tie(b.strand, b.from_ns, b.to_ns);
    });
  }

  // A task that waited was counted piece by piece.
  void add_up_counts() {
    std::vector<count_row>& rows = out_.counts;
    std::size_t kept = 0;
    for (const count_row& row : rows) {
      if (kept != 0 && rows[kept - 1].task == row.task && rows[kept - 1].counter == row.counter)
        rows[kept - 1].value += row.value;
      else
        rows[kept++] = row;
    }
    rows.resize(kept);
  }

  const std::vector<recorder*>& recorders_;
  std::uint64_t start_ps_;
  contents out_;
  std::unordered_map<std::uint32_t, std::uint32_t> numbers_;  // from the recorders' ids
  std::vector<std::vector<std::uint32_t>> names_;             // by recorder, from its numbers
  std::vector<std::uint32_t> kept_;                           // where halves were left out: from the numbers before
  std::map<std::uint32_t, std::string> handle_names_;
};

}  // namespace

contents collect(const std::vector<recorder*>& recorders, std::uint64_t start_ps, std::vector<section_row> sections) {
  return collector(recorders, start_ps).run(std::move(sections));
}

// Every group of accesses to a handle requires another version, and what follows it requires all of it: so the version
// after a group is the one that the next group requires. After the last it is its own plus one for each access that
// counts; a repetition, which counts for nothing, is the same task again. This also holds when groups were lost: what
// comes later still comes later.
void complete_versions(std::vector<task_row>& tasks, std::vector<access_row>& accesses) {
  std::vector<std::uint32_t> order;
  for (std::uint32_t i = 0; i < accesses.size(); ++i)
    if (accesses[i].kind != detail::kind_resource) order.push_back(i);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    const access_row& x = accesses[a];
    const access_row& y = accesses[b];
    return std::tie(x.handle, x.version, a) < std::tie(y.handle, y.version, b);
  });
  for (task_row& t : tasks)
    if (t.follows) t.started_ns = std::min(std::max(t.started_ns, t.submitted_ns), t.finished_ns);
  std::uint64_t ended = 0;  // when all earlier groups on this handle were done
  for (std::size_t first = 0; first < order.size();) {
    const access_row& group = accesses[order[first]];
    if (first == 0 || accesses[order[first - 1]].handle != group.handle) ended = 0;
    std::size_t last = first;
    std::uint64_t counting = 0;
    for (; last < order.size(); ++last) {
      const access_row& a = accesses[order[last]];
      if (a.handle != group.handle || a.version != group.version) break;
      if (last == first || accesses[order[last - 1]].task != a.task) ++counting;
    }
    const bool another = last < order.size() && accesses[order[last]].handle == group.handle;
    const std::uint64_t next = another ? accesses[order[last]].version : group.version + counting;
    std::uint64_t group_ended = ended;
    for (std::size_t i = first; i < last; ++i) {
      accesses[order[i]].next_version = next;
      task_row& t = tasks[accesses[order[i]].task];
      if (t.follows) t.started_ns = std::min(std::max(t.started_ns, ended), t.finished_ns);
      if (t.ran) group_ended = std::max(group_ended, t.finished_ns);
    }
    ended = group_ended;
    first = last;
  }
}

}  // namespace weft::trace

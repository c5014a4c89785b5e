#include "trace/collect.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "trace/bodies.hpp"
#include "trace/id_numbers.hpp"

#include "weft/clause.hpp"

namespace weft::trace {

namespace {

class collector {
 public:
  collector(const std::vector<recorder*>& recorders, std::uint64_t start_ps)
      : recorders_(recorders), start_ps_(start_ps) {}

  contents run(std::vector<section_row> sections) {
    gather_names();
    count_events();
    number_tasks();
    out_.sections = std::move(sections);
    for (std::size_t i = 0; i < recorders_.size(); ++i) {
      recorders_[i]->read([&](const event& e) { add(e, static_cast<unsigned>(i)); });
      body_ = nullptr;
    }
    if (out_.lost != 0) leave_out_halves();
    sort_rows();
    number_strands();
    number_pipelines();
    number_bodies(out_, touched_);
    numbers_ = {};
    complete_versions(out_.accesses);
    return std::move(out_);
  }

 private:
  // A task is numbered by when it was submitted, of equals by its id.
  struct moment {
    std::uint64_t time;
    std::uint32_t id;
    bool operator<(const moment& b) const noexcept { return std::tie(time, id) < std::tie(b.time, b.id); }
  };

  [[nodiscard]] std::uint64_t ns(std::uint64_t ps) const noexcept {
    return ps <= start_ps_ ? 0 : (ps - start_ps_) / 1000;
  }
  // 0 for 0 and for what was lost.
  [[nodiscard]] std::uint32_t number_of(std::uint32_t id) const { return numbers_.find(id); }

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

  // A name that is newer than gather_names() is none.
  [[nodiscard]] std::uint32_t global_name(std::size_t recorder, std::uint32_t local) const noexcept {
    return local < names_[recorder].size() ? names_[recorder][local] : 0;
  }

  // Vectors that grow by doubling would need three times their memory.
  void count_events() {
    for (recorder* r : recorders_) r->read([this](const event& e) { ++events_[static_cast<std::size_t>(e.kind)]; });
    const auto count = [this](event_kind k) { return events_[static_cast<std::size_t>(k)]; };
    out_.accesses.reserve(count(event_kind::access));
    out_.waits.reserve(count(event_kind::waited));
    out_.passed.reserve(count(event_kind::passed));
    out_.steals.reserve(count(event_kind::stolen));
    out_.sleeps.reserve(count(event_kind::slept));
    out_.counts.reserve(count(event_kind::counted));
    out_.teams.reserve(count(event_kind::team));
    out_.located.reserve(count(event_kind::located));
    out_.strands.reserve(count(event_kind::strand) + 1);
    out_.steps.reserve(count(event_kind::step));
    out_.stays.reserve(count(event_kind::stay));
    out_.pipelines.reserve(count(event_kind::pipeline) + 1);
    out_.helpers.reserve(count(event_kind::helper));
    out_.passes.reserve(count(event_kind::pass));
    out_.crews.reserve(count(event_kind::crew));
    out_.bodies.reserve(count(event_kind::called));
    touched_.reserve(count(event_kind::loaded) + count(event_kind::stored));
  }

  // What was submitted since the events were counted has no number, and no rows.
  void number_tasks() {
    std::vector<moment> all;
    const std::size_t most = events_[static_cast<std::size_t>(event_kind::submitted)];
    all.reserve(most);
    for (recorder* r : recorders_)
      out_.lost += r->read([&](const event& e) {
        if (e.kind == event_kind::submitted && all.size() < most) all.push_back({e.time, e.task});
      });
    if (!std::is_sorted(all.begin(), all.end())) std::sort(all.begin(), all.end());
    std::uint32_t number = 0;
    for (const moment& m : all) numbers_.of(m.id) = ++number;
    all = {};
    out_.tasks.resize(std::size_t{number} + 1);
  }

  void submitted(const event& e, std::size_t recorder, std::uint32_t number) {
    const int by_whom = recorder + 1 == recorders_.size() ? -1 : static_cast<int>(recorder);
    const int submitter = e.worker == by_recorder ? by_whom : e.worker == by_outside ? -1 : e.worker - 1;
    task_row& t = out_.tasks[number];
    t.parent = number_of(e.other);
    t.name = global_name(recorder, e.position);
    t.submitter = static_cast<std::int16_t>(submitter);
    t.submitted_ns = ns(e.time);
    t.priority = (e.detail & clause_priority) != 0;
    t.subtasks = (e.detail & clause_subtasks) != 0;
    t.is_call = (e.detail & is_call) != 0;
    t.near = static_cast<std::uint8_t>(e.value >> 16);
    t.pin = static_cast<std::uint16_t>(e.value);
    t.own_ns = unpacked_ns(static_cast<std::uint32_t>(e.value >> 32));
  }

  void add(const event& e, unsigned worker) {
    const std::uint32_t task = number_of(e.task);
    if (e.kind == event_kind::slept) {
      out_.sleeps.push_back({worker, ns(e.time), ns(e.value)});
      return;
    }
    if (task == 0 && e.task != 0) return;  // its submission was overwritten
    switch (e.kind) {
    case event_kind::submitted: submitted(e, worker, task); break;
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
    case event_kind::pipeline:
    case event_kind::helper:
    case event_kind::pass:
    case event_kind::more: add_pipeline(e, task, worker); break;
    case event_kind::crew: out_.crews.push_back({task, e.other, e.detail != 0}); break;
    case event_kind::call:
    case event_kind::called:
    case event_kind::loaded:
    case event_kind::stored: add_body(e, task); break;
    case event_kind::located: out_.located.push_back({task, e.time, e.value}); break;
    case event_kind::member: out_.tasks[task].rank = static_cast<std::int32_t>(e.position); break;
    case event_kind::counted: out_.counts.push_back({task, e.detail, e.value}); break;
    case event_kind::nothing:
    case event_kind::slept: break;
    }
  }

  void add_pipeline(const event& e, std::uint32_t task, unsigned worker) {
    if (e.kind == event_kind::pipeline)
      out_.pipelines.push_back({e.other, task, ns(e.time), e.value, e.detail, e.position});
    if (e.kind == event_kind::helper) out_.helpers.push_back({task, e.other});
    if (e.kind == event_kind::pass)
      out_.passes.push_back({.pipeline = e.other,
                             .task = task,
                             .item = std::uint64_t{e.worker} << 32 | e.position,
                             .from_ns = ns(e.time),
                             .to_ns = ns(e.value),
                             .took_ps = e.value - e.time,
                             .worker = static_cast<std::uint16_t>(worker),
                             .stage = e.detail});
    if (e.kind != event_kind::more || out_.passes.empty() || out_.passes.back().task != task) return;
    out_.passes.back().items = static_cast<std::uint32_t>(e.value);
    out_.passes.back().strand = e.other;
  }

  // Events of a body follow each other: the first makes it, and others are of it as long as they name it.
  void add_body(const event& e, std::uint32_t task) {
    if (e.kind == event_kind::call) {
      const auto next = static_cast<std::uint32_t>(touched_.size());
      out_.bodies.push_back({.timestamp = 0,
                             .from_ns = e.time / 1000,
                             .to_ns = e.value / 1000,
                             .own_ps = 0,
                             .section = e.other,
                             .number = e.position,
                             .calls = 0,
                             .task = task,
                             .first = next,
                             .last = next,
                             .worker = e.worker,
                             .runs = e.detail,
                             .serializes = false});
      body_ = &out_.bodies.back();
      return;
    }
    if (body_ == nullptr) return;
    if (e.kind == event_kind::called && e.position == body_->number) {
      body_->timestamp = e.time;
      body_->own_ps = e.value;
      body_->calls = e.other;
      body_->serializes = e.detail != 0;
    } else if (e.kind != event_kind::called && e.other == body_->number) {
      touched_.push_back({e.time, e.value, std::bit_cast<float>(e.position), static_cast<std::uint8_t>(e.worker),
                          e.kind == event_kind::stored});
      body_->last = static_cast<std::uint32_t>(touched_.size());
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
    std::uint32_t kept = 1;
    for (std::uint32_t i = 1; i < now.size(); ++i) {
      if (!out_.tasks[i].ran) continue;
      now[i] = kept;
      out_.tasks[kept++] = out_.tasks[i];
    }
    out_.tasks.resize(kept);
    for (task_row& t : out_.tasks) t.parent = now[t.parent];
    for (strand_row& s : out_.strands) s.task = now[s.task];
    for (pipeline_row& p : out_.pipelines) p.task = now[p.task];
    numbers_.change([&now](std::uint32_t number) { return now[number]; });
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
    renumber(out_.helpers, false);
    renumber(out_.passes, false);
    renumber(out_.crews, false);
    renumber(out_.bodies, false);
  }

  void sort_rows() {
    const auto by_task = [](const access_row& a, const access_row& b) {
      return std::tie(a.task, a.position) < std::tie(b.task, b.position);
    };
    if (!std::is_sorted(out_.accesses.begin(), out_.accesses.end(), by_task))  // one submitter's are
      std::sort(out_.accesses.begin(), out_.accesses.end(), by_task);
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

  // Until here they are called by the recorders' numbers.
  void number_pipelines() {
    std::sort(out_.pipelines.begin() + 1, out_.pipelines.end(), [](const pipeline_row& a, const pipeline_row& b) {
      return std::tie(a.began_ns, a.id) < std::tie(b.began_ns, b.id);
    });
    std::unordered_map<std::uint32_t, std::uint32_t> known;
    for (std::uint32_t i = 1; i < out_.pipelines.size(); ++i) known.emplace(out_.pipelines[i].id, i);
    const auto renumber = [&known](auto& rows) {
      std::erase_if(rows, [&known](auto& row) {
        const auto found = known.find(row.pipeline);
        row.pipeline = found == known.end() ? 0 : found->second;
        return row.pipeline == 0;
      });
    };
    renumber(out_.helpers);
    renumber(out_.passes);
    for (step_row& s : out_.steps)
      if (s.kind == step_kind::pipeline) {
        const auto found = known.find(static_cast<std::uint32_t>(s.which));
        s.which = found == known.end() ? 0 : found->second;
      }
    std::sort(out_.helpers.begin(), out_.helpers.end(),
              [](const helper_row& a, const helper_row& b) { return a.task < b.task; });
    std::sort(out_.passes.begin(), out_.passes.end(), [](const pass_row& a, const pass_row& b) {
      return std::tie(a.pipeline, a.item, a.stage, a.from_ns) < std::tie(b.pipeline, b.item, b.stage, b.from_ns);
    });
  }

  // The same, and so is what their steps name.
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
    for (pass_row& x : out_.passes) x.strand = known(x.strand);
    for (step_row& s : out_.steps) {
      if (s.kind == step_kind::fork || s.kind == step_kind::taken) s.which = known(s.which);
      if (s.kind == step_kind::submits) s.which = number_of(static_cast<std::uint32_t>(s.which));
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
  std::array<std::size_t, 32> events_{};           // by kind
  id_numbers numbers_;                             // from the recorders' ids
  std::vector<std::vector<std::uint32_t>> names_;  // by recorder, from its numbers
  std::map<std::uint32_t, std::string> handle_names_;
  std::vector<touched> touched_;
  body_row* body_ = nullptr;  // whose events come now
};

}  // namespace

contents collect(const std::vector<recorder*>& recorders, std::uint64_t start_ps, std::vector<section_row> sections) {
  return collector(recorders, start_ps).run(std::move(sections));
}

namespace {

// Those of a handle one behind the other, by version. Counted and not compared: mostly they come in order of their
// versions, and then a pass is enough.
std::vector<std::uint32_t> by_handle_and_version(const std::vector<access_row>& accesses) {
  std::unordered_map<std::uint32_t, std::uint32_t> places;  // of handles: how many, then where the next goes
  std::uint32_t all = 0;
  for (const access_row& a : accesses)
    if (a.kind != detail::kind_resource) ++places[a.handle], ++all;
  for (std::uint32_t at = 0; auto& [handle, place] : places) at += std::exchange(place, at);
  std::vector<std::uint32_t> order(all);
  for (std::uint32_t i = 0; i < accesses.size(); ++i)
    if (accesses[i].kind != detail::kind_resource) order[places.at(accesses[i].handle)++] = i;
  const auto earlier = [&](std::uint32_t a, std::uint32_t b) {
    return std::tie(accesses[a].version, a) < std::tie(accesses[b].version, b);
  };
  for (std::uint32_t first = 0; first < all;) {
    std::uint32_t last = first + 1;
    while (last < all && accesses[order[last]].handle == accesses[order[first]].handle) ++last;
    if (!std::is_sorted(order.begin() + first, order.begin() + last, earlier))
      std::sort(order.begin() + first, order.begin() + last, earlier);
    first = last;
  }
  return order;
}

}  // namespace

// Every group of accesses to a handle requires another version, and what follows it requires all of it: so the version
// after a group is the one that the next group requires. After the last it is its own plus one for each access that
// counts; a repetition, which counts for nothing, is the same task again. This also holds when groups were lost: what
// comes later still comes later.
void complete_versions(std::vector<access_row>& accesses) {
  const std::vector<std::uint32_t> order = by_handle_and_version(accesses);
  for (std::size_t first = 0; first < order.size();) {
    const access_row& group = accesses[order[first]];
    std::size_t last = first;
    std::uint64_t counting = 0;
    for (; last < order.size(); ++last) {
      const access_row& a = accesses[order[last]];
      if (a.handle != group.handle || a.version != group.version) break;
      if (last == first || accesses[order[last - 1]].task != a.task) ++counting;
    }
    const bool another = last < order.size() && accesses[order[last]].handle == group.handle;
    const std::uint64_t next = another ? accesses[order[last]].version : group.version + counting;
    for (; first < last; ++first) accesses[order[first]].next_version = next;
  }
}

}  // namespace weft::trace

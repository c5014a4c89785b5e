// The part of graph.hpp that asks the versions who waited for whom.
#include <algorithm>

#include "graph.hpp"

namespace weft::tool::report {

namespace {

// Accesses by handle: of handle h, order[start[h]] to before order[start[h + 1]].
struct by_handle {
  std::vector<std::uint32_t> start, order;

  explicit by_handle(const trace::file& r) : start(r.handles.size() + 2, 0), order(r.accesses.size()) {
    for (const trace::access& a : r.accesses) ++start[a.handle + 2];
    for (std::size_t i = 2; i < start.size(); ++i) start[i] += start[i - 1];
    for (std::uint32_t i = 0; i < r.accesses.size(); ++i) order[start[r.accesses[i].handle + 1]++] = i;
    start.pop_back();
  }
};

bool ran(const trace::file& r, const trace::access& a) { return r.tasks[a.task].ran(); }

}  // namespace

moments find_moments(const trace::file& r) {
  moments m;
  m.needs.assign(r.accesses.size(), none);
  m.brings.assign(r.accesses.size(), none);
  const by_handle handles(r);
  std::vector<std::int64_t> reached;  // versions of one handle that some group brings about
  for (std::size_t h = 0; h < r.handles.size(); ++h) {
    const std::uint32_t from = handles.start[h], to = handles.start[h + 1];
    reached.clear();
    for (std::uint32_t i = from; i < to; ++i) {
      const trace::access& a = r.accesses[handles.order[i]];
      if (a.next_version >= 0 && a.version >= 0) reached.push_back(a.next_version);
    }
    std::sort(reached.begin(), reached.end());
    reached.erase(std::unique(reached.begin(), reached.end()), reached.end());
    const auto find = [&](std::int64_t version) {
      const auto at = std::lower_bound(reached.begin(), reached.end(), version);
      if (at == reached.end() || *at != version) return none;
      return m.count + static_cast<std::uint32_t>(at - reached.begin());
    };
    for (std::uint32_t i = from; i < to; ++i) {
      const std::uint32_t k = handles.order[i];
      const trace::access& a = r.accesses[k];
      if (a.next_version < 0 || a.version < 0) continue;
      m.needs[k] = find(a.version);
      m.brings[k] = find(a.next_version);
    }
    m.count += static_cast<std::uint32_t>(reached.size());
  }
  return m;
}

std::vector<std::uint32_t> add_before(const trace::file& r) {
  std::vector<std::uint32_t> before(r.accesses.size(), none);
  const by_handle handles(r);
  const auto add = std::find(r.kinds.begin(), r.kinds.end(), "add") - r.kinds.begin();
  std::vector<std::uint32_t> adds;
  for (std::size_t h = 0; h < r.handles.size(); ++h) {
    adds.clear();
    for (std::uint32_t i = handles.start[h]; i < handles.start[h + 1]; ++i) {
      const trace::access& a = r.accesses[handles.order[i]];
      if (a.kind == add && ran(r, a)) adds.push_back(handles.order[i]);
    }
    const auto key = [&](std::uint32_t k) {
      const trace::task& t = r.tasks[r.accesses[k].task];
      return std::tuple(r.accesses[k].version, t.started_ns, t.finished_ns, r.accesses[k].task);
    };
    std::sort(adds.begin(), adds.end(), [&](std::uint32_t a, std::uint32_t b) { return key(a) < key(b); });
    for (std::size_t i = 1; i < adds.size(); ++i) {
      const trace::access &a = r.accesses[adds[i - 1]], &b = r.accesses[adds[i]];
      if (a.version == b.version && a.task != b.task) before[adds[i]] = a.task;
    }
  }
  return before;
}

std::vector<ns> wholly_done(const trace::file& r, const std::vector<std::uint32_t>& parents_first) {
  std::vector<ns> done(r.tasks.size());
  for (std::size_t t = 0; t < done.size(); ++t)
    done[t] = !r.tasks[t].ran() ? r.tasks[t].submitted_ns : r.tasks[t].finished_ns;
  for (std::size_t i = parents_first.size(); i-- > 0;) {
    const std::uint32_t t = parents_first[i], parent = r.tasks[t].parent;
    if (parent != none) done[parent] = std::max(done[parent], done[t]);
  }
  return done;
}

std::vector<bool> holds_back(const trace::file& r, const moments& m, const std::vector<std::uint32_t>& adds,
                             const std::vector<ns>& wholly) {
  std::vector<bool> holds(r.tasks.size(), false);
  if (r.format >= 2) {
    for (std::size_t t = 0; t < r.tasks.size(); ++t) holds[t] = r.tasks[t].subtasks && r.tasks[t].ran();
    return holds;
  }
  std::vector<ns> first_need(m.count, INT64_MAX);  // when the first task that needed that moment began
  for (std::size_t k = 0; k < r.accesses.size(); ++k)
    if (m.needs[k] != none && ran(r, r.accesses[k]))
      first_need[m.needs[k]] = std::min(first_need[m.needs[k]], r.tasks[r.accesses[k].task].started_ns);
  std::vector<bool> hurried(r.tasks.size(), false);  // somebody did not wait for the children
  for (std::size_t k = 0; k < r.accesses.size(); ++k) {
    const std::uint32_t t = r.accesses[k].task;
    if (m.brings[k] == none || first_need[m.brings[k]] == INT64_MAX) continue;
    (first_need[m.brings[k]] >= wholly[t] ? holds : hurried)[t] = true;
  }
  for (std::size_t k = 0; k < r.accesses.size(); ++k)
    if (adds[k] != none) (r.tasks[r.accesses[k].task].started_ns >= wholly[adds[k]] ? holds : hurried)[adds[k]] = true;
  for (std::size_t t = 0; t < r.tasks.size(); ++t)
    holds[t] = holds[t] && !hurried[t] && wholly[t] > r.tasks[t].finished_ns && r.tasks[t].ran();
  return holds;
}

std::vector<ns> ready_times(const trace::file& r, const moments& m, const std::vector<std::uint32_t>& adds,
                            const std::vector<bool>& holds, const std::vector<ns>& wholly) {
  std::vector<ns> reached(m.count, 0);
  for (std::size_t k = 0; k < r.accesses.size(); ++k) {
    const std::uint32_t t = r.accesses[k].task;
    if (m.brings[k] == none || !ran(r, r.accesses[k])) continue;
    reached[m.brings[k]] = std::max(reached[m.brings[k]], holds[t] ? wholly[t] : r.tasks[t].finished_ns);
  }
  std::vector<ns> ready(r.tasks.size());
  for (std::size_t t = 0; t < ready.size(); ++t) ready[t] = r.tasks[t].submitted_ns;
  for (std::size_t k = 0; k < r.accesses.size(); ++k) {
    ns& at = ready[r.accesses[k].task];
    if (m.needs[k] != none) at = std::max(at, reached[m.needs[k]]);
    if (adds[k] != none) at = std::max(at, holds[adds[k]] ? wholly[adds[k]] : r.tasks[adds[k]].finished_ns);
  }
  for (std::size_t t = 0; t < ready.size(); ++t)  // no later than it began, whatever the clocks of two cores say
    if (r.tasks[t].ran()) ready[t] = std::max(r.tasks[t].submitted_ns, std::min(ready[t], r.tasks[t].started_ns));
  return ready;
}

}  // namespace weft::tool::report

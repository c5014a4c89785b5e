// See analysis.hpp.
#include "analysis.hpp"

#include <algorithm>
#include <limits>
#include <string_view>
#include <unordered_map>

namespace weft::tool::report {

namespace {

// Of waiting: many tasks may do it at the same time, so the sum may be longer than any clock can tell.
void add_wait(ns& sum, ns time) {
  if (__builtin_add_overflow(sum, time, &sum)) sum = std::numeric_limits<ns>::max();
}

ns body_time(const pieces& p, std::size_t t) {
  ns sum = 0;
  for (const piece& x : p.of(t)) sum += x.length();
  return sum;
}

// The q-th of the sorted times, q in percent, by the nearest rank.
ns rank(const std::vector<ns>& sorted, std::size_t q) { return sorted[(sorted.size() * q + 99) / 100 - 1]; }

spread spread_of(std::vector<ns>& times) {
  spread s;
  std::sort(times.begin(), times.end());
  for (const ns x : times) s.total += x;
  s.min = times.front();
  s.median = rank(times, 50);
  s.p95 = rank(times, 95);
  s.max = times.back();
  return s;
}

void add(data_figures& to, const trace::data_of_task& l) {
  to.local += static_cast<double>(l.local_bytes);
  to.remote += static_cast<double>(l.remote_bytes);
}

std::vector<name_figures> name_table(const trace::file& r, const analysis& a) {
  const auto slot = [&](std::uint32_t t) { return a.names[t]; };
  std::vector<name_figures> all(r.names.size() + 1);
  std::vector<std::vector<ns>> times(all.size());
  std::vector<ns> beside(r.tasks.size(), 0);
  for (const piece& x : a.parts.beside)
    if (x.task != none) beside[x.task] += x.length();
  for (std::uint32_t t = 0; t < r.tasks.size(); ++t) {
    if (!r.tasks[t].ran()) continue;
    name_figures& n = all[slot(t)];
    ++n.count;
    if (r.tasks[t].at_near >= 0) ++n.hinted;
    if (r.tasks[t].at_near > 0) ++n.at_near;
    times[slot(t)].push_back(body_time(a.parts, t) + beside[t]);
    add_wait(n.waited_for_data, a.ready[t] - r.tasks[t].submitted_ns);
    add_wait(n.waited_for_worker, std::max<ns>(0, r.tasks[t].started_ns - a.ready[t]));
  }
  for (const trace::data_of_task& l : r.located) add(all[slot(l.task)].data, l);
  for (const step& s : a.path.steps) {
    const std::uint32_t t = a.parts.all[s.piece].task;
    if (t == none) continue;
    ++all[slot(t)].on_path;
    all[slot(t)].path_time += s.time;
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].name = i == r.names.size() ? none : static_cast<std::uint32_t>(i);
    if (all[i].count != 0) all[i].body = spread_of(times[i]);
  }
  std::erase_if(all, [](const name_figures& n) { return n.count == 0; });
  std::stable_sort(all.begin(), all.end(),
                   [](const name_figures& x, const name_figures& y) { return x.body.total > y.body.total; });
  return all;
}

std::vector<worker_figures> worker_table(const trace::file& r, const pieces& p) {
  std::vector<worker_figures> all(r.workers.size());
  for (const piece& x : p.all) {
    if (x.worker >= all.size()) continue;
    (x.task == none ? all[x.worker].program : all[x.worker].bodies) += x.length();
    if (x.task != none && x.wait == none) ++all[x.worker].tasks;
  }
  for (const auto& [from, to] : p.forks_of_main)  // what is in the main program's forks is in bodies
    if (!all.empty()) all[0].bodies += to - from, all[0].program -= to - from;
  for (const piece& x : p.beside)
    if (x.worker < all.size()) all[x.worker].bodies += x.length();
  for (const trace::sleep& s : r.sleeps)
    if (s.worker < all.size())
      all[s.worker].asleep += std::max<ns>(0, std::min(s.to_ns, p.end) - std::max(s.from_ns, p.begin));
  for (worker_figures& w : all) w.rest = std::max<ns>(0, p.end - p.begin - w.bodies - w.program - w.asleep);
  return all;
}

struct change {
  ns time;
  std::int32_t ready;  // tasks that could run and do not
  std::int32_t free;   // workers awake and in no body
};

std::vector<change> changes(const trace::file& r, const analysis& a) {
  std::vector<change> all;
  const pieces& p = a.parts;
  all.reserve(2 * (p.all.size() + r.tasks.size() + r.sleeps.size()));
  const auto interval = [&](ns from, ns to, std::int32_t ready, std::int32_t free) {
    from = std::max(from, p.begin);
    to = std::min(to, p.end);
    if (from >= to) return;
    all.push_back({from, ready, free});
    all.push_back({to, -ready, -free});
  };
  for (const piece& x : p.all) interval(x.from, x.to, 0, -1);
  for (const piece& x : p.beside) interval(x.from, x.to, 0, -1);
  for (const trace::sleep& s : r.sleeps) interval(s.from_ns, s.to_ns, 0, -1);
  for (std::size_t t = 0; t < r.tasks.size(); ++t)
    if (r.tasks[t].ran()) interval(a.ready[t], r.tasks[t].started_ns, 1, 0);
  std::sort(all.begin(), all.end(), [](const change& x, const change& y) { return x.time < y.time; });
  return all;
}

void split_rest(const trace::file& r, const analysis& a, figures& f) {
  std::int64_t ready = 0;
  std::int64_t free = static_cast<std::int64_t>(r.workers.size());
  ns last = a.parts.begin;
  const auto until = [&](ns time) {
    const std::int64_t idle = std::max<std::int64_t>(free, 0);
    const std::int64_t busy = std::min(idle, ready);
    f.overhead += busy * (time - last);
    f.searching += (idle - busy) * (time - last);
    last = time;
  };
  for (const change& c : changes(r, a)) {
    until(c.time);
    ready += c.ready;
    free += c.free;
  }
  until(a.parts.end);
}

// Of the main program, up to the end of what counts as it.
ns own_work(const trace::file& r, const analysis& a) {
  const std::span<const piece> program = a.parts.of(r.tasks.size());
  if (r.format < 3 || program.empty()) return -1;
  ns sum = 0;
  for (const trace::task& t : r.tasks) {
    if (t.parent != none || t.submitter != 0) continue;
    if (t.own_ns < 0) return -1;  // created elsewhere, where nobody saw what came before
    sum += t.own_ns;
  }
  for (const trace::wait& w : r.waits)
    if (w.task == none && w.own_ns > 0) sum += w.own_ns;
  for (const trace::passed_wait& w : r.passed)
    if (w.task == none && w.own_ns > 0 && w.time_ns <= program.back().to) sum += w.own_ns;
  return sum;
}

placing_figures placing(const trace::file& r) {
  placing_figures f;
  for (const trace::task& t : r.tasks) {
    if (!t.ran()) continue;
    f.hinted += t.at_near >= 0 ? 1 : 0;
    f.at_near += t.at_near > 0 ? 1 : 0;
    f.spanning += t.near == trace::spans_nodes ? 1 : 0;
    f.calls += t.is_call ? 1 : 0;
  }
  for (const trace::steal& s : r.steals) ++f.stolen[static_cast<std::size_t>(s.what)];
  return f;
}

figures sum_up(const trace::file& r, const analysis& a) {
  figures f;
  f.makespan = a.parts.end - a.parts.begin;
  f.workers = worker_table(r, a.parts);
  for (const worker_figures& w : f.workers) {
    f.work += w.bodies;
    f.program += w.program;
    f.asleep += w.asleep;
  }
  f.program_own = std::min(f.program, own_work(r, a));
  f.span = a.path.span;
  for (const trace::data_of_task& l : r.located) add(f.data, l);
  const auto busy = static_cast<double>(f.work + f.program);
  if (f.span > 0) f.parallelism = busy / static_cast<double>(f.span);
  const double room = static_cast<double>(f.makespan) * static_cast<double>(r.workers.size());
  if (room > 0) f.utilisation = std::min(1.0, busy / room);
  for (const trace::task& t : r.tasks) ++f.outcomes[static_cast<std::size_t>(t.result)];
  f.sleeps = r.sleeps.size();
  for (const trace::wait& w : r.waits) {
    wait_figures& x = f.waits[static_cast<std::size_t>(w.why)];
    ++x.count;
    add_wait(x.total, w.to_ns - w.from_ns);
  }
  f.names = name_table(r, a);
  for (const step& s : a.path.steps)
    if (a.parts.all[s.piece].task == none) f.path_program += s.time;
  split_rest(r, a, f);
  f.placing = placing(r);
  return f;
}

std::vector<std::uint32_t> names_of_tasks(const trace::file& r) {
  std::unordered_map<std::string_view, std::uint32_t> known;
  std::vector<std::uint32_t> first;
  for (std::uint32_t i = 0; i < r.names.size(); ++i) first.push_back(known.try_emplace(r.names[i], i).first->second);
  const auto unnamed = static_cast<std::uint32_t>(r.names.size());
  std::vector<std::uint32_t> all;
  all.reserve(r.tasks.size());
  for (const trace::task& t : r.tasks) all.push_back(t.name == none ? unnamed : first[t.name]);
  return all;
}

}  // namespace

analysis analyse(const trace::file& r, void (*tell)(void* to, double done), void* to) {
  analysis a;
  a.parts = make_pieces(r);
  a.names = names_of_tasks(r);
  a.order = find_moments(r);
  tell(to, 0.3);
  const std::vector<std::uint32_t> adds = add_before(r);
  const std::vector<ns> wholly = wholly_done(r, parents_first(r));
  const std::vector<bool> holds = holds_back(r, a.order, adds, wholly);
  a.ready = ready_times(r, a.order, adds, holds, wholly);
  tell(to, 0.5);
  a.path = longest_chain(r, a.parts, a.order, adds, holds);
  tell(to, 0.8);
  a.sums = sum_up(r, a);
  tell(to, 1);
  return a;
}

}  // namespace weft::tool::report

// See layout.hpp.
#include "layout.hpp"

#include <algorithm>
#include <queue>
#include <tuple>

#include "tools/weft/output.hpp"
#include "tools/weft/trace/checks.hpp"

namespace weft::tool::foreign {

namespace {

template <class T> using smallest_first = std::priority_queue<T, std::vector<T>, std::greater<>>;

// Of some tasks only: a mistake rather than a wish.
bool has_times(const graph& g) {
  const auto timed = [](const task& t) { return t.begin != no_time; };
  const auto with = static_cast<std::size_t>(std::ranges::count_if(g.tasks, timed));
  if (with == 0 || with == g.tasks.size()) return with != 0;
  const auto odd = std::ranges::find_if_not(g.tasks, timed);
  g.from().fail(g.called(static_cast<index>(odd - g.tasks.begin())) + " has no time of its start, and " +
                std::to_string(with) + " others have; give it to all, or to none");
}

void refuse_many(const graph& g, std::size_t workers) {
  if (workers > workers_max)
    g.from().fail("its tasks ran on " + std::to_string(workers) + " workers at once, and Weft has at most " +
                  std::to_string(workers_max));
}

std::vector<index> by_time(const graph& g) {
  std::vector<index> all(g.tasks.size());
  for (index t = 0; t < all.size(); ++t) all[t] = t;
  std::ranges::stable_sort(
      all, {}, [&g](index t) { return std::tuple(g.tasks[t].begin, g.tasks[t].begin + g.tasks[t].duration); });
  return all;
}

// The file says when, but not where: on the first worker that was free.
void find_workers(const graph& g, const std::vector<index>& in_time, layout& out) {
  smallest_first<index> idle;
  smallest_first<std::pair<ns, index>> busy;
  for (const index t : in_time) {
    for (; !busy.empty() && busy.top().first <= g.tasks[t].begin; busy.pop()) idle.push(busy.top().second);
    if (idle.empty()) idle.push(out.workers++);
    refuse_many(g, out.workers);
    out.worker[t] = idle.top();
    idle.pop();
    busy.emplace(g.tasks[t].begin + g.tasks[t].duration, out.worker[t]);
  }
}

layout recorded(const graph& g) {
  layout out{
      .begin = std::vector<ns>(g.tasks.size()), .worker = std::vector<index>(g.tasks.size()), .is_recorded = true};
  const std::vector<index> in_time = by_time(g);
  const bool placed = std::ranges::all_of(g.tasks, [](const task& t) { return t.worker != none; });
  if (!placed) find_workers(g, in_time, out);
  const ns origin = g.tasks[in_time[0]].begin;
  std::vector<index> last;
  for (const index t : in_time) {
    if (placed) out.worker[t] = g.tasks[t].worker;
    const index w = out.worker[t];
    out.workers = std::max(out.workers, w + 1);
    refuse_many(g, out.workers);
    last.resize(std::max<std::size_t>(last.size(), w + 1), none);
    ns begin = g.tasks[t].begin - origin;
    if (last[w] != none) {  // by so little as rounding takes it may begin too early, and then begins later
      const ns free = out.begin[last[w]] + g.tasks[last[w]].duration;
      if (begin + rounding_ns < free)
        g.from().fail(g.called(t) + " begins on worker " + std::to_string(w) + " before " + g.called(last[w]) +
                      " has ended there");
      begin = std::max(begin, free);
    }
    last[w] = t;
    out.begin[t] = begin;
    out.end = std::max(out.end, begin + g.tasks[t].duration);
    if (out.end > trace::time_max) g.from().fail(g.called(t) + " ends more than 52 days after the first began");
  }
  return out;
}

// Whoever is free takes the first task of the order that is ready.
layout list_schedule(const graph& g, const dependences& d, const std::vector<index>& order, unsigned workers) {
  layout out{.begin = std::vector<ns>(d.tasks()), .worker = std::vector<index>(d.tasks()), .workers = workers};
  std::vector<index> position(d.tasks());
  for (index i = 0; i < order.size(); ++i) position[order[i]] = i;
  smallest_first<index> idle;
  for (index w = 0; w < workers; ++w) idle.push(w);
  smallest_first<index> ready;                           // positions in the order
  smallest_first<std::tuple<ns, index, index>> running;  // end, worker, task
  const auto is_ready = [&](index t) { ready.push(position[t]); };
  countdown waits(d);
  waits.begin(is_ready);
  while (!ready.empty() || !running.empty()) {
    for (; !ready.empty() && !idle.empty(); ready.pop(), idle.pop()) {
      const index t = order[ready.top()];
      out.begin[t] = out.end;
      out.worker[t] = idle.top();
      running.emplace(out.end + g.tasks[t].duration, idle.top(), t);
    }
    const auto [end, worker, t] = running.top();
    running.pop();
    out.end = end;
    if (end > trace::time_max)
      g.from().fail("its tasks take more than 52 days on " + std::to_string(workers) +
                    (workers == 1 ? " worker" : " workers") +
                    ", as much as a trace can have; name more with --workers");
    idle.push(worker);
    waits.end(t, is_ready);
  }
  return out;
}

}  // namespace

layout lay_out(const graph& g, const dependences& d, const std::vector<index>& order) {
  if (has_times(g)) {
    layout out = recorded(g);
    out.workers = std::max(out.workers, g.workers);
    return out;
  }
  refuse_many(g, g.workers);
  return list_schedule(g, d, order, std::max(1u, g.workers));
}

}  // namespace weft::tool::foreign

// See export.hpp: what a timeline shows, the same for every format.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "export.hpp"

namespace weft::tool::trace {

namespace {

struct change {
  std::int64_t time_ns;
  int by;
};

// Exact steps, if there are few enough.
std::vector<sample> exact(const std::vector<change>& changes) {
  std::vector<sample> out = {{0, 0}};
  double value = 0;
  for (std::size_t i = 0; i < changes.size() && out.size() <= samples_max; ++i) {
    value += changes[i].by;
    const std::int64_t now = changes[i].time_ns;
    if (i + 1 < changes.size() && changes[i + 1].time_ns == now) continue;
    if (out.back().value == value) continue;
    if (now == 0) out.clear();
    out.push_back({now, value});
  }
  return out;
}

// The mean of each of samples_max intervals.
std::vector<sample> means(const std::vector<change>& changes, std::int64_t end) {
  const std::int64_t width = end / static_cast<std::int64_t>(samples_max) + 1;
  std::vector<double> area(static_cast<std::size_t>(end / width) + 1);
  std::int64_t now = 0;
  double value = 0;
  for (const change& c : changes) {
    while (value != 0 && now < c.time_ns) {
      const std::int64_t until = std::min(c.time_ns, (now / width + 1) * width);
      area[static_cast<std::size_t>(now / width)] += value * static_cast<double>(until - now);
      now = until;
    }
    now = c.time_ns;
    value += c.by;
  }
  std::vector<sample> out;
  for (std::size_t i = 0; i < area.size(); ++i)
    out.push_back({static_cast<std::int64_t>(i) * width, area[i] / static_cast<double>(width)});
  return out;
}

std::vector<sample> sampled(std::vector<change> changes) {
  std::sort(changes.begin(), changes.end(), [](const change& a, const change& b) { return a.time_ns < b.time_ns; });
  std::vector<sample> out = exact(changes);
  return out.size() <= samples_max ? out : means(changes, changes.back().time_ns);
}

// A worker sleeps when it has nothing to run, so its sleep lies between its slices. The moments are taken by the same
// worker one after the other, but where records were lost a wait may be missing, and then sleep gives way.
void add_sleeps(const file& f, std::vector<slice>& slices) {
  std::vector<slice> out;
  out.reserve(slices.size() + f.sleeps.size());
  std::size_t s = 0;
  const auto precedes = [](const sleep& a, const slice& b) {
    return a.worker != b.worker ? a.worker < b.worker : a.from_ns < b.from_ns;
  };
  const auto add = [&](const sleep& a, const slice* next) {
    std::int64_t from = a.from_ns, to = a.to_ns;
    if (!out.empty() && out.back().worker == a.worker) from = std::max(from, out.back().to_ns);
    if (next != nullptr && next->worker == a.worker) to = std::min(to, next->from_ns);
    if (from < to) out.push_back({slice::what::sleep, true, true, none, a.worker, from, to});
  };
  for (const slice& next : slices) {
    while (s < f.sleeps.size() && precedes(f.sleeps[s], next)) add(f.sleeps[s++], &next);
    out.push_back(next);
  }
  while (s < f.sleeps.size()) add(f.sleeps[s++], nullptr);
  slices = std::move(out);
}

}  // namespace

timeline::timeline(const file& f) : stolen_from(f.tasks.size(), none) {
  std::vector<change> running_changes, live_changes;
  const std::vector<segment> pieces = segments(f, true);
  slices.reserve(pieces.size());
  for (const segment& p : pieces) {
    if (p.task == none) {
      slices.push_back({slice::what::main_thread, p.first, p.last, none, p.worker, p.from_ns, p.to_ns});
      continue;
    }
    slices.push_back({slice::what::task, p.first, p.last, p.task, p.worker, p.from_ns, p.to_ns});
    running_changes.push_back({p.from_ns, +1});
    running_changes.push_back({p.to_ns, -1});
  }
  add_sleeps(f, slices);
  for (const task& t : f.tasks) {
    live_changes.push_back({t.submitted_ns, +1});
    if (t.ran()) live_changes.push_back({t.finished_ns, -1});
  }
  running = sampled(std::move(running_changes));
  live = sampled(std::move(live_changes));
  for (const steal& s : f.steals)
    if (s.task != none) stolen_from[s.task] = s.victim;
}

std::vector<arrow> arrows(const file& f, arrow_choice which, std::size_t tasks) {
  std::vector<arrow> out;
  if (which == arrow_choice::nothing) return out;
  const version_steps v(f, tasks);
  const index read = static_cast<index>(std::find(f.kinds.begin(), f.kinds.end(), "read") - f.kinds.begin());
  for (const version_step& step : v.steps) {
    const auto begin = v.before.begin() + step.before_first, end = v.before.begin() + step.before_last;
    if (begin == end) continue;
    const auto last = std::max_element(begin, end, [&](index a, index b) {
      return f.tasks[f.accesses[a].task].finished_ns < f.tasks[f.accesses[b].task].finished_ns;
    });
    for (std::uint32_t i = step.after_first; i < step.after_last; ++i) {
      const index after = f.accesses[v.after[i]].task;
      // A task that names a handle twice stands here twice, one behind the other.
      if (i > step.after_first && f.accesses[v.after[i - 1]].task == after) continue;
      const bool all = which == arrow_choice::all;
      for (auto b = all ? begin : last; b != (all ? end : last + 1); ++b) {
        const access& from = f.accesses[*b];
        if (from.task == after || (b != begin && all && f.accesses[*(b - 1)].task == from.task)) continue;
        out.push_back({from.task, after, step.handle, from.kind != read});
      }
    }
  }
  return out;
}

flows::lists flows::group(const std::vector<std::uint32_t>& slice_of, std::size_t slices) {
  lists l;
  l.first.resize(slices + 1);
  for (const std::uint32_t s : slice_of) ++l.first[s + 1];
  for (std::size_t s = 0; s < slices; ++s) l.first[s + 1] += l.first[s];
  l.all.resize(slice_of.size());
  std::vector<std::uint32_t> next = l.first;
  for (std::uint32_t i = 0; i < slice_of.size(); ++i) l.all[next[slice_of[i]]++] = i + 1;
  return l;
}

flows::flows(const file& f, const timeline& t, const timeline_options& opt) {
  constexpr std::uint32_t no_slice = UINT32_MAX;
  const auto& slices = t.slices;
  std::vector<std::uint32_t> first(f.tasks.size(), no_slice), last(f.tasks.size(), no_slice), from, to;
  for (std::uint32_t s = 0; s < slices.size(); ++s) {
    if (slices[s].kind != slice::what::task) continue;
    if (slices[s].first) first[slices[s].task] = s;
    if (slices[s].last) last[slices[s].task] = s;
  }
  const auto link = [&](std::uint32_t a, std::uint32_t b) {
    if (a == no_slice || b == no_slice) return;
    from.push_back(a);
    to.push_back(b);
  };
  for (const arrow& a : arrows(f, opt.which)) link(last[a.before], first[a.after]);
  if (opt.children) {
    // The piece of the parent that was running when it submitted the child.
    std::vector<std::uint32_t> pieces;
    for (std::uint32_t s = 0; s < slices.size(); ++s)
      if (slices[s].kind == slice::what::task) pieces.push_back(s);
    const auto key = [&](std::uint32_t s) { return std::pair(slices[s].task, slices[s].from_ns); };
    std::sort(pieces.begin(), pieces.end(), [&](auto a, auto b) { return key(a) < key(b); });
    for (index child = 0; child < f.tasks.size(); ++child) {
      const task& c = f.tasks[child];
      if (c.parent == none || first[c.parent] == no_slice) continue;
      const auto after = std::upper_bound(pieces.begin(), pieces.end(), std::pair(c.parent, c.submitted_ns),
                                          [&](const auto& k, std::uint32_t s) { return k < key(s); });
      if (after != pieces.begin() && slices[*(after - 1)].task == c.parent) link(*(after - 1), first[child]);
    }
  }
  count_ = from.size();
  out_ = group(from, slices.size());
  in_ = group(to, slices.size());
}

std::string duration_text(std::int64_t ns) {
  constexpr const char* units[] = {"ns", "us", "ms", "s"};
  double value = static_cast<double>(ns);
  int unit = 0;
  for (; unit < 3 && value >= 999.5; ++unit) value /= 1000;
  char out[48];
  const int decimals = unit == 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  std::snprintf(out, sizeof out, "%.*f %s", decimals, value, units[unit]);
  return out;
}

}  // namespace weft::tool::trace

// See dependences.hpp.
#include "dependences.hpp"

#include <algorithm>
#include <queue>

namespace weft::tool::foreign {

namespace {

bool joins(mode group, mode next) noexcept { return group == next && next != mode::write; }

std::vector<index> starts_by_task(const graph& g) {
  std::vector<index> first(g.tasks.size() + 1, 0);
  for (const access& a : g.accesses) ++first[a.task + 1];
  for (std::size_t i = 1; i < first.size(); ++i) first[i] += first[i - 1];
  return first;
}

void merge_accesses(graph& g) {
  const auto less = [](const access& a, const access& b) {
    return a.task != b.task ? a.task < b.task : a.datum < b.datum;
  };
  if (!std::ranges::is_sorted(g.accesses, less)) std::ranges::stable_sort(g.accesses, less);
  std::size_t kept = 0;
  for (const access& a : g.accesses) {
    if (kept != 0 && g.accesses[kept - 1].task == a.task && g.accesses[kept - 1].datum == a.datum) {
      if (g.accesses[kept - 1].mode != a.mode) g.accesses[kept - 1].mode = mode::write;
    } else {
      g.accesses[kept++] = a;
    }
  }
  g.accesses.resize(kept);
}

// Both have a datum, and are not in one group of it.
bool ordered_by_data(const graph& g, const std::vector<index>& first, const edge& e) {
  if (e.before > e.after) return false;
  index a = first[e.before], b = first[e.after];
  while (a < first[e.before + 1] && b < first[e.after + 1]) {
    const access x = g.accesses[a], y = g.accesses[b];
    if (x.datum == y.datum && !joins(x.mode, y.mode)) return true;
    if (x.datum <= y.datum) ++a;
    if (y.datum <= x.datum) ++b;
  }
  return false;
}

// A circle among the tasks that were never met: each of them waits for one of the others.
std::string circle(const graph& g, const dependences& d, const std::vector<index>& unmet) {
  std::vector<index> waits_for(d.nodes(), none);
  index at = none;
  for (index n = 0; n < d.nodes(); ++n) {
    if (unmet[n] == 0) continue;
    at = n;
    for (const index next : d.after(n))
      if (unmet[next] != 0) waits_for[next] = n;
  }
  std::vector<bool> seen(d.nodes(), false);
  while (!seen[at]) {
    seen[at] = true;
    at = waits_for[at];
  }
  constexpr std::size_t named_max = 6;
  std::vector<std::string> names;
  std::size_t length = 0;
  for (index n = at;;) {
    n = waits_for[n];
    if (n < d.tasks() && ++length <= named_max) names.push_back(g.called(n));
    if (n == at) break;
  }
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : " after ") + name;
  if (length > names.size())
    return text + " after " + std::to_string(length - names.size()) + " others after the first";
  return text + " after " + names[0];
}

}  // namespace

void normalise(graph& g) {
  merge_accesses(g);
  std::ranges::sort(g.edges);
  g.edges.erase(std::unique(g.edges.begin(), g.edges.end()), g.edges.end());
  if (g.accesses.empty()) return;
  const std::vector<index> first = starts_by_task(g);
  std::erase_if(g.edges, [&](const edge& e) { return ordered_by_data(g, first, e); });
}

dependences::dependences(const graph& g) : tasks_(static_cast<index>(g.tasks.size())) {
  std::vector<edge> links = g.edges;
  before_.assign(tasks_, 0);
  add_accesses(g, links);
  first_.assign(before_.size() + 1, 0);
  for (const edge& l : links) {
    ++first_[l.before + 1];
    ++before_[l.after];
  }
  for (std::size_t i = 1; i < first_.size(); ++i) first_[i] += first_[i - 1];
  after_.resize(links.size());
  std::vector<index> next(first_.begin(), first_.end() - 1);
  for (const edge& l : links) after_[next[l.before]++] = l.after;
}

void dependences::add_accesses(const graph& g, std::vector<edge>& links) {
  std::vector<index> first(g.data.size() + 1, 0), by_datum(g.accesses.size());
  for (const access& a : g.accesses) ++first[a.datum + 1];
  for (std::size_t i = 1; i < first.size(); ++i) first[i] += first[i - 1];
  std::vector<index> next(first.begin(), first.end() - 1);
  for (index a = 0; a < g.accesses.size(); ++a) by_datum[next[g.accesses[a].datum]++] = a;

  std::vector<index> before, group;
  const auto meet = [&] {
    if (before.size() > 1 && group.size() > 1) {
      const auto point = static_cast<index>(before_.size());
      before_.push_back(0);
      for (const index b : before) links.push_back({b, point});
      for (const index a : group) links.push_back({point, a});
    } else {
      for (const index b : before)
        for (const index a : group) links.push_back({b, a});
    }
    before.swap(group);
    group.clear();
  };
  for (std::size_t d = 0; d < g.data.size(); ++d) {
    before.clear();
    group.clear();
    for (index i = first[d]; i < first[d + 1]; ++i) {
      const access& a = g.accesses[by_datum[i]];
      if (!group.empty() && !joins(g.accesses[by_datum[i - 1]].mode, a.mode)) meet();
      group.push_back(a.task);
    }
    meet();
  }
}

std::vector<index> submission_order(const graph& g, const dependences& d) {
  std::vector<index> order;
  order.reserve(d.tasks());
  if (std::ranges::all_of(g.edges, [](const edge& e) { return e.before < e.after; })) {
    for (index t = 0; t < d.tasks(); ++t) order.push_back(t);
    return order;
  }
  countdown waits(d);
  std::priority_queue<index, std::vector<index>, std::greater<>> ready;
  const auto is_ready = [&ready](index t) { ready.push(t); };
  waits.begin(is_ready);
  while (!ready.empty()) {
    order.push_back(ready.top());
    ready.pop();
    waits.end(order.back(), is_ready);
  }
  if (order.size() != d.tasks()) g.from().fail("tasks wait for each other in a circle: " + circle(g, d, waits.unmet()));
  return order;
}

ns longest_chain(const graph& g, const dependences& d) {
  std::vector<index> unmet = d.before(), met;
  std::vector<ns> begin(d.nodes(), 0);
  for (index n = 0; n < d.nodes(); ++n)
    if (unmet[n] == 0) met.push_back(n);
  ns longest = 0;
  while (!met.empty()) {
    const index n = met.back();
    met.pop_back();
    const ns end = begin[n] + (n < d.tasks() ? g.tasks[n].duration : 0);
    longest = std::max(longest, end);
    for (const index next : d.after(n)) {
      begin[next] = std::max(begin[next], end);
      if (--unmet[next] == 0) met.push_back(next);
    }
  }
  return longest;
}

}  // namespace weft::tool::foreign

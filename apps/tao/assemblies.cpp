#include "assemblies.hpp"

#include <algorithm>
#include <cmath>

namespace weft::apps::tao {

namespace {

// Cycles of std::sort and std::merge on random values, measured on one core of a Xeon at 2.6 GHz (g++ 12, -O2,
// 2026-11-23: 124 for each of 32768 values, which is 15 levels, and 11.2), as time of the paper's cores of 3 GHz.
constexpr double ns_sort_level = 8.2 / 3.0;
constexpr double ns_merge = 11.2 / 3.0;
constexpr double ns_find_level = 100;  // of a binary search: a line of memory

constexpr std::size_t final_merge = 2;

// Units of a Merge by number: the two splits, four halves, the split of the last merge and its halves. A QuickMerge has
// its four sorts behind these.
constexpr team_graph::edge in_merge[] = {{0, 2}, {0, 3}, {1, 4}, {1, 5}, {2, 6},  {3, 6},  {4, 6},
                                         {5, 6}, {6, 7}, {6, 8}, {9, 0}, {10, 0}, {11, 1}, {12, 1}};
constexpr std::size_t edges_of_merge = 10;

const team_graph& graph_of(bool sorts) {
  static const team_graph merge(assembly::units, std::span(in_merge).first(edges_of_merge));
  static const team_graph quick_merge(assembly::units_with_sorts, in_merge);
  return sorts ? quick_merge : merge;
}

}  // namespace

// One merge: what comes in, and where it goes.
struct assembly::side {
  numa_array<integer>* from;
  numa_array<integer>* to;
  std::size_t x, y, out;  // where they begin
  std::size_t n;          // of x, and of y
};

assembly::side assembly::sides(std::size_t merge) const noexcept {
  const std::size_t q = quarter();
  if (merge == final_merge) return {of_.room, of_.values, of_.at, of_.at + 2 * q, of_.at, 2 * q};
  const std::size_t at = of_.at + 2 * q * merge;
  return {of_.values, of_.room, at, at + q, at, q};
}

void assembly::ended(times& unit, bool in_order) noexcept {
  unit = in_order && unit < out_of_order - 1 ? static_cast<times>(unit + 1) : out_of_order;
}
// A split needs the rows that it is of: two sorted quarters, or what two merges have made.
bool assembly::may_find(std::size_t merge) const noexcept {
  if (merge == final_merge) return merged_[0][0] != 0 && merged_[0][1] != 0 && merged_[1][0] != 0 && merged_[1][1] != 0;
  return !sorts_ || (sorted_[2 * merge] != 0 && sorted_[2 * merge + 1] != 0);
}

void assembly::sort(std::size_t which) {
  const std::size_t from = of_.at + which * quarter(), to = from + quarter();
  if (how_ == doing::all) std::sort(of_.values->begin() + from, of_.values->begin() + to);
  const auto n = static_cast<double>(quarter());
  ended(sorted_[which], true);
  charge(n < 2 ? 0 : ns_sort_level * n * std::log2(n), updates(*of_.values, from, to));
}

// Half of x, and what of y is less than the first of the other half.
void assembly::find(std::size_t which) {
  const bool in_order = may_find(which);
  const side s = sides(which);
  split& at = splits_[which];
  at = {s.n / 2, s.n / 2};
  if (how_ == doing::all && s.n != 0) {
    const integer *x = s.from->data() + s.x, *y = s.from->data() + s.y;
    at.in_y = static_cast<std::size_t>(std::lower_bound(y, y + s.n, x[at.in_x]) - y);
  }
  ended(found_[which], in_order);
  charge(ns_find_level * std::log2(static_cast<double>(s.n) + 1));
}

void assembly::merge(std::size_t which, std::size_t half) {
  const bool in_order = found_[which] != 0;
  const side s = sides(which);
  const split at = splits_[which], from = half == 0 ? split{0, 0} : at, to = half == 0 ? at : split{s.n, s.n};
  const std::size_t out = s.out + from.in_x + from.in_y, n = to.in_x + to.in_y - from.in_x - from.in_y;
  if (how_ == doing::all) {
    const integer *x = s.from->data() + s.x, *y = s.from->data() + s.y;
    std::merge(x + from.in_x, x + to.in_x, y + from.in_y, y + to.in_y, s.to->data() + out);
  }
  ended(merged_[which][half], in_order);
  charge(ns_merge * static_cast<double>(n), loads(*s.from, s.x + from.in_x, s.x + to.in_x),
         loads(*s.from, s.y + from.in_y, s.y + to.in_y), stores(*s.to, out, out + n));
}

void assembly::run(unit what, std::size_t i) {
  switch (what) {
  case unit::sort: return sort(i);
  case unit::find: return find(i);
  case unit::merge: return merge(i / 2, i % 2);
  case unit::last_find: return find(final_merge);
  case unit::last_merge: return merge(final_merge, i);
  }
}

void assembly::by_graph(team_context& t) {
  if (planted_ == planted::early && t.rank() == 0) find(final_merge);
  graph_of(sorts_).run(t, [this](unsigned i) {
    if (i >= units) return run(unit::sort, i - units);
    if (i >= 7) return run(unit::last_merge, i - 7);
    if (i == 6) return run(unit::last_find, 0);
    i >= 2 ? run(unit::merge, i - 2) : run(unit::find, i);
  });
  if (planted_ == planted::twice && t.rank() == 0) merge(0, 1);
}

// Four slots: what belongs to the first two quarters in the first two. The last merge has a half for each pair of
// slots, so that two members have one each.
void assembly::by_table(team_context& t) {
  static constexpr team_table steps(4, 4), with_sorts(5, 4);
  (sorts_ ? with_sorts : steps).run(t, [this](std::size_t step, std::size_t slot) {
    static constexpr unit what[] = {unit::sort, unit::find, unit::merge, unit::last_find, unit::last_merge};
    const unit u = what[step + (sorts_ ? 0 : 1)];
    if (u == unit::sort || u == unit::merge) return run(u, slot);
    if (slot % 2 == 0 && (slot == 0 || u != unit::last_find)) run(u, slot / 2);
  });
}

std::size_t assembly::units_done() const noexcept {
  const auto in = [](const auto& row) {
    return static_cast<std::size_t>(std::count(std::begin(row), std::end(row), times{1}));
  };
  return in(sorted_) + in(found_) + in(merged_[0]) + in(merged_[1]) + in(merged_[2]);
}

void assembly::by_tasks() {
  const auto step = [this](unit what, std::size_t n) {
    finish([&] {
      for (std::size_t i = 0; i < n; ++i)
        async(named(what == unit::sort ? name_with_sorts : name), [this, what, i] { run(what, i); });
    });
  };
  if (sorts_) step(unit::sort, 4);
  find(0);
  find(1);
  step(unit::merge, 4);
  find(final_merge);
  step(unit::last_merge, 2);
}

}  // namespace weft::apps::tao

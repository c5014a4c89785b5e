// A private scheduler of a team: work units with dependences among them (TAO §3.1, §6). Who is free takes the unit that
// has been ready longest, from one queue that all members share.
//
//   const weft::team_graph merges(3, {{0, 2}, {1, 2}});  // three units; 2 comes after 0 and 1
//   rt.submit(weft::team(2), [&](weft::team_context& t) {
//     merges.run(t, [&](unsigned unit) { ... });
//   });
//
// A graph does not change once it is made, so one serves any number of teams at a time. What a team has done of it is
// the team's (src/sched/queues/unit_queue.hpp).
#pragma once
#include "weft/detail/language.hpp"  // before all others

#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

#include "weft/team.hpp"

namespace weft {

namespace detail {
// from[at] is the unit that `at` comes after, and so on round.
#ifdef WEFT_SERIAL
[[noreturn]] inline void throw_bad_edge(std::uint32_t, std::uint32_t, std::uint32_t) {
  throw error("weft: a team_graph has an edge of a unit that it has not");
}
[[noreturn]] inline void throw_circle(const std::vector<std::uint32_t>&, std::uint32_t) {
  throw error("weft: units of a team_graph come after one another in a circle, so none of them could begin");
}
#else
[[noreturn]] void throw_bad_edge(std::uint32_t units, std::uint32_t earlier, std::uint32_t later);
[[noreturn]] void throw_circle(const std::vector<std::uint32_t>& from, std::uint32_t at);
#endif
}  // namespace detail

class team_graph {
 public:
  // Unit `later` begins when unit `earlier` is done.
  struct edge {
    std::uint32_t earlier;
    std::uint32_t later;
  };

  // Units 0 to units - 1. The same edge twice counts once more, and does no harm. Cost: O(units + edges), and memory
  // for them. Errors: weft::error for an edge of a unit that there is not, and for units that wait for each other in a
  // circle, which it names.
  team_graph(std::uint32_t units, std::span<const edge> edges) { open(units, edges); }
  team_graph(std::uint32_t units, std::initializer_list<edge> edges)
      : team_graph(units, std::span<const edge>(edges.begin(), edges.size())) {}

  [[nodiscard]] std::uint32_t units() const noexcept { return static_cast<std::uint32_t>(before_.size()); }

  // unit(i) for each unit once, by one member or another, after those that it comes after. Who: all members, with
  // graphs that are alike. Returns when all units are done. Cost: a lock and two lines for each unit, and a barrier. A
  // member that has nothing ready for longer than it takes to wake one is set aside. Errors: what unit throws;
  // team_error in the other members then, and no unit begins after.
  template <class Unit> void run(team_context& t, Unit&& unit) const {
    if (t.team_ == nullptr) {
      for (const std::uint32_t i : in_order_) unit(i);
      return;
    }
    const detail::unit_order order{units(), before_.data(), first_.data(), after_.data()};
    std::uint32_t mine = detail::no_unit;
    while ((mine = detail::team_unit(*t.team_, order, mine)) < order.count) {
      try {
        unit(mine);
      } catch (...) {
        static_cast<void>(detail::team_unit(*t.team_, order, detail::unit_threw));
        throw;
      }
    }
    if (mine == detail::units_failed) detail::throw_team_failed(*t.team_);
    t.barrier();
  }

 private:
  void open(std::uint32_t units, std::span<const edge> edges) {
    if (units > detail::units_max) throw error("weft: a team_graph of more units than fit into 32 bits");
    before_.resize(units);
    first_.resize(std::size_t{units} + 1);
    for (const edge& e : edges) {
      if (e.earlier >= units || e.later >= units) detail::throw_bad_edge(units, e.earlier, e.later);
      ++before_[e.later];
      ++first_[std::size_t{e.earlier} + 1];
    }
    for (std::size_t i = 0; i < units; ++i) first_[i + 1] += first_[i];
    after_.resize(edges.size());
    std::vector<std::uint32_t> filled(first_.begin(), first_.end() - 1);
    for (const edge& e : edges) after_[filled[e.earlier]++] = e.later;
    sort();
  }
  // The order in which one member would do them. What is left over waits in a circle, or for one.
  void sort() {
    std::vector<std::uint32_t> waits_for = before_;
    in_order_.reserve(units());
    for (std::uint32_t i = 0; i < units(); ++i)
      if (waits_for[i] == 0) in_order_.push_back(i);
    for (std::size_t at = 0; at < in_order_.size(); ++at)
      for (std::uint32_t e = first_[in_order_[at]]; e < first_[std::size_t{in_order_[at]} + 1]; ++e)
        if (--waits_for[after_[e]] == 0) in_order_.push_back(after_[e]);
    if (in_order_.size() < units()) throw_circle(waits_for);
  }
  // Going back from a unit that is left over, along edges from others that are, one comes round.
  [[noreturn]] void throw_circle(const std::vector<std::uint32_t>& waits_for) const {
    std::vector<std::uint32_t> from(units());
    std::uint32_t at = 0;
    for (std::uint32_t i = 0; i < units(); ++i)
      for (std::uint32_t e = first_[i]; waits_for[i] != 0 && e < first_[std::size_t{i} + 1]; ++e) from[after_[e]] = i;
    while (waits_for[at] == 0) ++at;
    for (std::uint32_t i = 0; i < units(); ++i) at = from[at];
    detail::throw_circle(from, at);
  }

  std::vector<std::uint32_t> before_;    // [unit] how many it comes after
  std::vector<std::uint32_t> first_;     // [unit] where its own begin in after_
  std::vector<std::uint32_t> after_;     // those that come after a unit, unit by unit
  std::vector<std::uint32_t> in_order_;  // each after all that it comes after
};

}  // namespace weft

// See verdict.hpp.
#include "verdict.hpp"

#include <algorithm>
#include <array>

#include "tools/weft/report/text.hpp"

namespace weft::tool::sim {

const char* text(limit l) noexcept {
  constexpr const char* texts[] = {"cores",        "critical path", "creation", "bandwidth",
                                   "shared units", "contention",    "imbalance"};
  return texts[static_cast<std::size_t>(l)];
}

report::chain chain_of_bodies(const trace::file& f, const report::analysis& a) {
  report::pieces bodies = a.parts;
  for (report::piece& p : bodies.all)
    if (p.task == none) p.to = p.from;
  const std::vector<std::uint32_t> adds = report::add_before(f);
  const std::vector<ns> wholly = report::wholly_done(f, report::parents_first(f));
  return report::longest_chain(f, bodies, a.order, adds, report::holds_back(f, a.order, adds, wholly));
}

namespace {

ns last_submitted_body(const trace::file& f) {
  for (std::size_t t = f.tasks.size(); t-- > 0;)
    if (f.tasks[t].parent == none && f.tasks[t].ran()) return f.tasks[t].finished_ns - f.tasks[t].started_ns;
  return 0;
}

std::vector<std::pair<std::string, ns>> by_name(const trace::file& f, const report::analysis& a,
                                                const report::chain& path) {
  std::vector<ns> sums(f.names.size() + 1, 0);
  for (const report::step& s : path.steps)
    if (const std::uint32_t t = a.parts.all[s.piece].task; t != none) sums[a.names[t]] += s.time;
  std::vector<std::pair<std::string, ns>> all;
  for (std::uint32_t n = 0; n < sums.size(); ++n)
    if (sums[n] > 0) all.emplace_back(n == f.names.size() ? "" : report::printable(f.names[n], 60), sums[n]);
  std::stable_sort(all.begin(), all.end(), [](const auto& x, const auto& y) { return x.second > y.second; });
  return all;
}

limit decide(const verdict& v, double workers) {
  using enum limit;
  const std::array<std::pair<ns, limit>, 3> bounds{
      {{v.program >= program_from / workers ? v.creation_bound : 0, creation},
       {v.span, critical_path},
       {v.work_bound, cores}}};
  const auto most =
      std::max_element(bounds.begin(), bounds.end(), [](const auto& x, const auto& y) { return x.first < y.first; });
  if (static_cast<double>(most->first) >= binds_from * static_cast<double>(v.makespan)) return most->second;
  const double others = std::max(v.late, v.idle);
  if (std::max(v.bandwidth, v.units) > others) return v.units > v.bandwidth ? shared_units : bandwidth;
  return v.late > v.idle ? contention : imbalance;
}

}  // namespace

verdict judge(const trace::file& f, const report::analysis& a, unseen longer) {
  const report::figures& s = a.sums;
  verdict v;
  v.makespan = s.makespan;
  const report::chain path = chain_of_bodies(f, a);
  v.span = path.span;
  v.path_names = by_name(f, a, path);
  if (s.program > 0) v.creation_bound = s.program + last_submitted_body(f);
  const auto workers = static_cast<ns>(std::max<std::size_t>(f.workers.size(), 1));
  v.work_bound = (s.work + s.program + workers - 1) / workers;
  const double room = static_cast<double>(s.makespan) * static_cast<double>(workers);
  if (room > 0) {
    v.busy = static_cast<double>(s.work) / room;
    v.program = static_cast<double>(s.program) / room;
    // A body that waits for memory is, in the records of a replay, one that has ended (replay.cpp).
    v.bandwidth = static_cast<double>(longer.bandwidth_ns) / room;
    v.units = static_cast<double>(longer.units_ns) / room;
    v.late = std::max(0.0, static_cast<double>(s.overhead) / room - v.bandwidth - v.units);
    v.idle = static_cast<double>(s.searching + s.asleep) / room;
  }
  v.binds = decide(v, static_cast<double>(workers));
  return v;
}

}  // namespace weft::tool::sim

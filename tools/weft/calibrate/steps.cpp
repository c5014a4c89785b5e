// See steps.hpp.
#include "steps.hpp"

#include <algorithm>
#include <cmath>

#include "probe.hpp"
#include "solver.hpp"

namespace weft::tool::calibrate {

namespace {

constexpr int passes_to_warm_up = 3;         // records made, handles in the caches, workers awake
constexpr std::uint64_t probe_ps = 100'000;  // what one step costs while its number is asked for

options options_of(const program_kind& p, const char* machine) {
  options o;
  o.workers = p.workers;
  o.machine = machine;
  return o;
}

std::uint64_t to_ps(double ns) { return static_cast<std::uint64_t>(std::llround(std::max(0.0, ns) * 1000)); }

// The unknowns in one row: the steps, then the switch.
std::uint64_t& unknown(model::runtime_costs& c, std::size_t i) { return i < model::steps ? c.step_ps[i] : c.switch_ps; }

}  // namespace

std::vector<measured_part> measure(const effort& e, const std::vector<program_kind>& programs, unsigned cpu,
                                   const std::function<void()>& each) {
  std::vector<measured_part> found;
  for (const program_kind& p : programs) {
    on_core(cpu, [&] {
      runtime rt(options_of(p, "host"));
      const std::unique_ptr<program> instance = p.make();
      for (int i = 0; i < passes_to_warm_up; ++i) static_cast<void>(instance->pass(rt));
      std::vector<std::vector<double>> parts(p.parts.size());
      static_cast<void>(repeat(e, [&] {
        const std::vector<double> ns = instance->pass(rt);
        double sum = 0;
        for (std::size_t i = 0; i < ns.size(); ++i) {
          parts[i].push_back(ns[i]);
          sum += ns[i];
        }
        return sum;
      }));
      for (std::size_t i = 0; i < parts.size(); ++i)
        found.push_back({p.name + (parts.size() > 1 ? ": " + p.parts[i] : ""), summarise(std::move(parts[i]))});
    });
    each();
  }
  return found;
}

std::vector<double> modelled_ns(const std::vector<program_kind>& programs, const std::string& machine_file) {
  std::vector<double> found;
  for (const program_kind& p : programs) {
    runtime rt(options_of(p, machine_file.c_str()));
    const std::unique_ptr<program> instance = p.make();
    for (int i = 0; i < passes_to_warm_up; ++i) static_cast<void>(instance->pass(rt));
    const std::vector<double> ns = instance->pass(rt);
    found.insert(found.end(), ns.begin(), ns.end());
  }
  return found;
}

step_costs solve_steps(const std::vector<measured_part>& measured, model::machine m, const run_model& run) {
  constexpr std::size_t unknowns = model::steps + 1;
  step_costs found{m.runtime, {}};
  m.runtime.body_ps = 0;
  for (std::size_t u = 0; u < unknowns; ++u) unknown(m.runtime, u) = 0;
  const std::vector<double> bare = run(m);
  std::vector<equation> equations;
  for (std::size_t i = 0; i < measured.size(); ++i) {
    const double ns = measured[i].ns.median;
    equations.push_back({std::vector<double>(unknowns), std::max(0.0, ns - bare[i]), ns > 0 ? 1 / (ns * ns) : 0});
  }
  for (std::size_t u = 0; u < unknowns; ++u) {
    model::machine one = m;
    unknown(one.runtime, u) = probe_ps;
    const std::vector<double> with = run(one);
    for (std::size_t i = 0; i < measured.size(); ++i)
      equations[i].counts[u] = (with[i] - bare[i]) / (static_cast<double>(probe_ps) / 1000);
  }
  const solution s = solve_costs(equations);
  for (std::size_t u = 0; u < unknowns; ++u)
    if (s.determined[u]) unknown(found.costs, u) = to_ps(s.values[u]);
  found.determined = s.determined;
  return found;
}

}  // namespace weft::tool::calibrate

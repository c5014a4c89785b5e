// See steps.hpp.
#include "steps.hpp"

#include <malloc.h>

#include <algorithm>
#include <cassert>
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

std::uint64_t& unknown(model::machine& m, std::size_t i) {
  if (i == unknown_switch) return m.runtime.switch_ps;
  return i == unknown_memory ? m.lines.memory_ps.at(0) : m.runtime.step_ps[i];
}

// So that new records lie in new pages, as they do in a program that begins.
void give_memory_back() noexcept {
#if defined(__GLIBC__)
  static_cast<void>(malloc_trim(0));
#endif
}

// A program and the runtime that it runs in.
class stage {
 public:
  stage(const program_kind& p, const char* machine) : kind_(p), machine_(machine) {
    for (int i = 0; !p.anew && i < passes_to_warm_up; ++i) static_cast<void>(pass());
  }
  std::vector<double> pass() {
    if (kind_.anew || !rt_) {
      instance_.reset();
      rt_.reset();
      give_memory_back();
      rt_ = std::make_unique<runtime>(options_of(kind_, machine_));
      instance_ = kind_.make();
    }
    return instance_->pass(*rt_);
  }

 private:
  const program_kind& kind_;
  const char* machine_;
  std::unique_ptr<runtime> rt_;
  std::unique_ptr<program> instance_;  // gone before its runtime
};

}  // namespace

std::vector<measured_part> measure(const effort& e, const std::vector<program_kind>& programs, unsigned cpu,
                                   const std::function<void()>& each) {
  std::vector<measured_part> found;
  for (const program_kind& p : programs) {
    on_core(cpu, [&] {
      stage here(p, "host");
      std::vector<std::vector<double>> parts(p.parts.size());
      static_cast<void>(repeat(e, [&] {
        const std::vector<double> ns = here.pass();
        assert(ns.size() == parts.size());
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
    const std::vector<double> ns = stage(p, machine_file.c_str()).pass();
    found.insert(found.end(), ns.begin(), ns.end());
  }
  return found;
}

step_costs solve_steps(const std::vector<measured_part>& measured, model::machine m, const run_model& run) {
  step_costs found{m, {}};
  m.runtime.body_ps = 0;
  for (std::size_t u = 0; u < unknowns; ++u) unknown(m, u) = 0;
  const std::vector<double> bare = run(m);
  std::vector<equation> equations;
  for (std::size_t i = 0; i < measured.size(); ++i) {
    const double ns = measured[i].ns.median;
    equations.push_back({std::vector<double>(unknowns), std::max(0.0, ns - bare[i]), ns > 0 ? 1 / (ns * ns) : 0});
  }
  for (std::size_t u = 0; u < unknowns; ++u) {
    model::machine one = m;
    unknown(one, u) = probe_ps;
    const std::vector<double> with = run(one);
    for (std::size_t i = 0; i < measured.size(); ++i)
      equations[i].counts[u] = (with[i] - bare[i]) / (static_cast<double>(probe_ps) / 1000);
  }
  const solution s = solve_costs(equations);
  for (std::size_t u = 0; u < unknowns; ++u)
    if (s.determined[u]) unknown(found.machine, u) = to_ps(s.values[u]);
  found.determined = s.determined;
  return found;
}

}  // namespace weft::tool::calibrate

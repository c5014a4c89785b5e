#include "steps.hpp"

#include <doctest/doctest.h>

namespace weft::tool::calibrate {

// A model that is linear in its costs, as the virtual machine with one worker is.
TEST_CASE("the steps are what is left when the model's own charges are taken off") {
  const auto at = [](model::step s) { return static_cast<std::size_t>(s); };
  const run_model run = [&](const model::machine& m) {
    const auto& s = m.runtime.step_ps;
    const auto ns = [](std::uint64_t ps) { return static_cast<double>(ps) / 1000; };
    const double line = ns(m.lines.modify_ps);
    return std::vector<double>{ns(s[at(model::step::submit)]) + 2 * line,
                               ns(s[at(model::step::submit)] + s[at(model::step::submit_access)]) + 4 * line,
                               ns(s[at(model::step::run)]) + ns(m.runtime.switch_ps),
                               ns(s[at(model::step::run)]) + 3 * ns(m.runtime.switch_ps)};
  };
  model::machine truth;
  truth.lines.modify_ps = 3'000;
  truth.runtime.step_ps[at(model::step::submit)] = 11'000;
  truth.runtime.step_ps[at(model::step::submit_access)] = 7'000;
  truth.runtime.step_ps[at(model::step::run)] = 20'000;
  truth.runtime.switch_ps = 5'000;
  std::vector<measured_part> measured;
  for (const double ns : run(truth)) measured.push_back({"p", {ns, ns, ns, ns, 1}});
  model::machine before = truth;
  before.runtime.step_ps = {};
  before.runtime.switch_ps = 1;
  const step_costs found = solve_steps(measured, before, run);
  CHECK(found.costs.step_ps[at(model::step::submit)] == 11'000);
  CHECK(found.costs.step_ps[at(model::step::submit_access)] == 7'000);
  CHECK(found.costs.step_ps[at(model::step::run)] == 20'000);
  CHECK(found.costs.switch_ps == 5'000);
  CHECK_FALSE(found.determined[at(model::step::steal)]);
  CHECK(found.costs.wake_ps == truth.runtime.wake_ps);
}

}  // namespace weft::tool::calibrate

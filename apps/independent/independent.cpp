// The smallest parallel program: n tasks that have nothing to do with each other. Each adds one to a slot of its own,
// so what is timed is the runtime: creating a task, passing it to a worker, running it, forgetting it. With --grain-ns
// each task also works that long, which shows from which task length on a second worker pays. Check: every slot holds
// exactly one, so no task was lost and none ran twice.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>

#include "../app.hpp"
#include "../busy.hpp"

namespace weft::apps {
namespace {

struct parameters {
  std::size_t n = 1'000'000;
  std::size_t grain_ns = 0;
};

double submit_all(runtime& rt, std::vector<std::uint32_t>& slots, std::size_t grain_ns, progress& bar) {
  const busy grain(rt, static_cast<double>(grain_ns));
  const std::size_t step = slots.size() / 100 + 1;
  const double start = rt.now_ns();
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (grain_ns == 0 && i % step != 0) {
      rt.submit([slot = &slots[i]] { ++*slot; });
      continue;
    }
    rt.submit(cost(static_cast<double>(grain_ns)), [&slots, &bar, i, step, grain] {
      ++slots[i];
      grain();
      if (i % step == 0) bar.report(static_cast<double>(i) / static_cast<double>(slots.size()));
    });
  }
  rt.wait();
  return (rt.now_ns() - start) * 1e-9;
}

result run(const parameters& p, const weft::options& opt, progress& bar) {
  require_memory("independent: --n " + std::to_string(p.n), static_cast<double>(p.n) * sizeof(std::uint32_t));
  runtime rt(opt);
  std::vector<std::uint32_t> slots(p.n);
  result r;
  r.seconds = submit_all(rt, slots, p.grain_ns, bar);
  r.describe(rt);
  r.add("n", std::uint64_t{p.n});
  r.add("grain_ns", std::uint64_t{p.grain_ns});
  r.add("ns_per_task", r.seconds * 1e9 / static_cast<double>(p.n));

  const auto once = static_cast<std::size_t>(std::count(slots.begin(), slots.end(), 1u));
  const auto sum = std::accumulate(slots.begin(), slots.end(), std::uint64_t{0});
  r.checks.push_back(
      {"every_slot_once", once == p.n && sum == p.n,
       std::to_string(once) + " of " + std::to_string(p.n) + " slots hold 1, their sum is " + std::to_string(sum)});
  return r;
}

}  // namespace

app independent_app() {
  auto p = std::make_shared<parameters>();
  return {.name = "independent",
          .summary = "n tasks without dependencies: what one task costs",
          .example = "independent --n 1000000 --workers 2",
          .options = {{"n", "number of tasks", &p->n, 1, 1'000'000'000},
                      {"grain-ns", "length of each task in nanoseconds", &p->grain_ns, 0, 1'000'000'000}},
          .run = [p](const weft::options& opt, progress& bar) { return run(*p, opt, bar); }};
}

}  // namespace weft::apps

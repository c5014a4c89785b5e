#include "independent_tasks.hpp"

namespace weft::apps::micro {

sample run_independent(runtime& rt, std::size_t tasks, std::size_t grain_ns, creation when, const mistake& planted) {
  const grain g(rt, static_cast<double>(grain_ns));
  std::vector<std::uint32_t> runs(tasks);
  double start = rt.now_ns();
  if (when == creation::before) rt.pause();
  for (std::size_t i = 0; i < tasks; ++i) {
    if (i == planted.omitted) continue;
    rt.submit(cost(g.ns()), named("wait"), [slot = &runs[i], g] {
      g.wait();
      ++*slot;
    });
  }
  if (when == creation::before) {
    start = rt.now_ns();
    rt.start();
  }
  rt.wait();
  sample s;
  s.seconds = (rt.now_ns() - start) * 1e-9;
  for (const std::uint32_t n : runs) s.wrong += n == 1 ? 0 : 1;
  return s;
}

}  // namespace weft::apps::micro

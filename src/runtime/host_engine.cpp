// The scheduler on real cores.
#include "machine/host/host.hpp"
#include "memory/pages.hpp"
#include "place/topology.hpp"
#include "runtime/engines.hpp"
#include "runtime/listeners.hpp"
#include "runtime/live_counters.hpp"
#include "runtime/options.hpp"
#include "sched/engine/engine.hpp"

namespace weft {

namespace sched {
template class engine<machine::host>;
}

std::unique_ptr<sched::any_engine> make_host_engine(const options& opt) {
  using engine = sched::engine<machine::host>;
  // The caller is worker 0 and not bound: the others are bound beside where it is now. Bound to its core, worker 1 and
  // it would share that core until the kernel moves the caller away, which took it 100 ms.
  const std::vector<place::core> cores = place::starting_at(place::usable_cores(), place::current_cpu());
  std::vector<unsigned> cpus;
  // With more workers than cores the kernel balances better than a fixed binding.
  if (opt.pin && opt.workers <= cores.size())
    for (const place::core& c : cores) cpus.push_back(c.cpu);
  sched::engine_setup setup = setup_of(opt);
  setup.bound = !cpus.empty();
  setup.stuck_ns = opt.stuck_ms * std::uint64_t{1'000'000};
  auto e = std::make_unique<engine>(setup);
  if (opt.trace != nullptr) e->record(std::make_unique<trace::session>(opt.trace, opt.trace_mib, opt.counters));
  tell_listeners(*e);
  const unsigned n = e->the_machine().start(opt.workers, &engine::worker_entry, e.get(), cpus);
  auto apart = place::node_distances();
  place::memory_facts facts;
  if (apart.size() > 1) {
    facts.unit_bytes = memory::host::here().units(false).unit_bytes;
    facts.node_of = [](const void* p) { return memory::host::here().node_of(p); };
  }
  e->open(place::tree(cores, n, std::move(apart), std::move(facts)), sched::find_policy(opt.policy));
  e->the_machine().run();
  if (opt.top) e->onlooker = std::make_unique<live_counters>(*e, opt.policy);
  return e;
}

}  // namespace weft

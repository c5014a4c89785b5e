// The scheduler in virtual time.
#include "machine/virtual/virtual.hpp"
#include "model/machine_file.hpp"
#include "runtime/engines.hpp"
#include "runtime/options.hpp"

namespace weft {

namespace sched {
template class engine<machine::virtual_machine>;
}

std::unique_ptr<sched::any_engine> make_virtual_engine(const options& opt) {
  using engine = sched::engine<machine::virtual_machine>;
  model::machine m = model::with_cores(model::load_machine(opt.machine), opt.workers);
  auto apart = m.apart;
  const machine::virtual_machine::setup setup{.seed = opt.seed,
                                              .random_order = std::string_view(opt.schedule) == "random",
                                              .coarse = std::string_view(opt.mode) == "coarse",
                                              .measured = std::string_view(opt.body) == "measured",
                                              .body_scale = opt.body_scale,
                                              .first_core = opt.core,
                                              .model = std::move(m)};
  auto e = std::make_unique<engine>(sched::engine_setup{opt.workers, opt.seed, opt.window, opt.stack_kib * 1024,
                                                        opt.submitters_help, false, decoupled(opt), opt.creator},
                                    setup);
  if (opt.trace != nullptr) {
    auto recorded = std::make_unique<trace::session>(opt.trace, opt.trace_mib, nullptr);
    recorded->schedule(opt.schedule);
    e->record(std::move(recorded));
  }
  e->the_machine().start(opt.workers, &engine::worker_entry, e.get(), opt.stack_kib * 1024);
  e->open(place::tree(e->the_machine().places(), opt.workers, std::move(apart)), sched::find_policy(opt.policy));
  return e;
}

}  // namespace weft

// The scheduler in virtual time.
#include "machine/virtual/virtual.hpp"
#include "runtime/engines.hpp"

namespace weft {

namespace sched {
template class engine<machine::virtual_machine>;
}

std::unique_ptr<sched::any_engine> make_virtual_engine(const options& opt) {
  using engine = sched::engine<machine::virtual_machine>;
  model::machine m = model::flat();
  m.name = "virtual";
  const machine::virtual_machine::setup setup{.seed = opt.seed,
                                              .random_order = std::string_view(opt.schedule) == "random",
                                              .coarse = std::string_view(opt.mode) == "coarse",
                                              .measured = std::string_view(opt.body) == "measured",
                                              .body_scale = opt.body_scale,
                                              .first_core = opt.core,
                                              .model = std::move(m)};
  auto e = std::make_unique<engine>(
      sched::engine_setup{opt.workers, opt.seed, opt.window, opt.stack_kib * 1024, opt.submitters_help}, setup);
  if (opt.trace != nullptr) e->record(std::make_unique<trace::session>(opt.trace, opt.trace_mib, nullptr));
  e->the_machine().start(opt.workers, &engine::worker_entry, e.get(), opt.stack_kib * 1024);
  e->open(place::tree(e->the_machine().places(), opt.workers), sched::find_policy(opt.policy));
  return e;
}

}  // namespace weft

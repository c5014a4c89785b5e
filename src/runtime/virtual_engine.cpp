// The scheduler in virtual time.
#include "machine/virtual/virtual.hpp"
#include "model/machine_file.hpp"
#include "runtime/engines.hpp"
#include "runtime/listeners.hpp"
#include "runtime/options.hpp"
#include "runtime/schedule.hpp"
#include "runtime/variables.hpp"
#include "sched/engine/engine.hpp"

namespace weft {

namespace sched {
template class engine<machine::virtual_machine>;
}

namespace {

detail::cell<std::uint32_t> runtimes_made;

// nullptr: the scheduler decides, and nobody wants to know what came of it.
std::unique_ptr<sched::task_order> make_order(const schedule& s, std::uint64_t seed) {
  using enum sched::task_order::rule;
  const std::uint32_t number = base::shared(runtimes_made).fetch_add(1, base::relaxed) + 1;
  const char* log = value_of_variable("order_log");
  const auto how = s.how == schedule::kind::tasks ? drawn : s.how == schedule::kind::order ? given : free;
  if (how == free && log == nullptr) return nullptr;
  return std::make_unique<sched::task_order>(sched::task_order::setup{.how = how,
                                                                      .seed = seed,
                                                                      .depth = s.depth,
                                                                      .length = s.length,
                                                                      .given = s.file,
                                                                      .log = log != nullptr ? log : "",
                                                                      .runtime = number});
}

}  // namespace

machine::disturbance& disturb_modelled_machines() noexcept {
  static machine::disturbance none;
  return none;
}

std::unique_ptr<sched::any_engine> make_virtual_engine(const options& opt) {
  using engine = sched::engine<machine::virtual_machine>;
  const schedule s = parse_schedule(opt.model.schedule);
  const bool by_priority = s.how == schedule::kind::pct;
  model::machine m = model::with_cores(model::load_machine(opt.machine, opt.model.change), opt.workers);
  auto apart = m.apart;
  const std::uint64_t chunk_bytes = m.memory.chunk_bytes;
  place::memory_facts facts{
      .read_line = m.memory.read_line_ps, .write_line = m.memory.write_line_ps, .unit_bytes = m.memory.chunk_bytes};
  const machine::virtual_machine::setup setup{.seed = opt.seed,
                                              .random_order = by_priority || s.how == schedule::kind::random,
                                              .by_priority = by_priority,
                                              .depth = s.depth,
                                              .length = s.length,
                                              .disturbed = disturb_modelled_machines(),
                                              .coarse = std::string_view(opt.model.mode) == "coarse",
                                              .measured = std::string_view(opt.model.body) == "measured",
                                              .body_scale = opt.model.body_scale,
                                              .first_core = opt.model.core,
                                              .model = std::move(m)};
  sched::engine_setup engine_setup = setup_of(opt);
  if (setup.disturbed.deque_slots != 0) engine_setup.deque_slots = setup.disturbed.deque_slots;
  if (setup.disturbed.deque_slots_max != 0) engine_setup.deque_slots_max = setup.disturbed.deque_slots_max;
  auto e = std::make_unique<engine>(engine_setup, setup);
  if (opt.trace != nullptr) {
    auto recorded = std::make_unique<trace::session>(opt.trace, opt.trace_mib, nullptr);
    recorded->schedule(opt.model.schedule);
    e->record(std::move(recorded));
  }
  tell_listeners(*e);
  if (!decoupled(opt)) e->order(make_order(s, opt.seed));  // there the creator submits, and steps are nobody's
  e->the_machine().start(opt.workers, &engine::worker_entry, e.get(), opt.stack_kib * 1024);
  place::tree places(e->the_machine().places(), opt.workers, std::move(apart), std::move(facts));
  memory::machine_shape& memory = e->machine_memory;
  memory = {.modelled = true, .units = {places.memory_nodes(), chunk_bytes}, .node_of_worker = {}};
  for (unsigned w = 0; w < places.workers(); ++w)
    memory.node_of_worker.push_back(static_cast<std::uint16_t>(places.node_of(w)));
  e->open(std::move(places), sched::find_policy(opt.policy));
  return e;
}

}  // namespace weft

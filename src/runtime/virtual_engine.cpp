// The scheduler in virtual time.
#include <cstdlib>

#include "machine/virtual/virtual.hpp"
#include "runtime/engines.hpp"
#include "runtime/schedule.hpp"

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
  const char* log = std::getenv("WEFT_ORDER_LOG");
  const auto how = s.how == schedule::kind::tasks ? drawn : s.how == schedule::kind::order ? given : free;
  if (how == free && (log == nullptr || *log == '\0')) return nullptr;
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
  const schedule s = parse_schedule(opt.schedule);
  const bool by_priority = s.how == schedule::kind::pct;
  const machine::virtual_machine::setup setup{.seed = opt.seed,
                                              .random_order = by_priority || s.how == schedule::kind::random,
                                              .by_priority = by_priority,
                                              .depth = s.depth,
                                              .length = s.length,
                                              .disturbed = disturb_modelled_machines()};
  sched::engine_setup engine_setup{opt.workers, opt.seed, opt.window, opt.stack_kib * 1024, opt.submitters_help};
  if (setup.disturbed.deque_slots != 0) engine_setup.deque_slots = setup.disturbed.deque_slots;
  auto e = std::make_unique<engine>(engine_setup, setup);
  if (opt.trace != nullptr) e->record(std::make_unique<trace::session>(opt.trace, opt.trace_mib, nullptr));
  e->order(make_order(s, opt.seed));
  e->the_machine().start(opt.workers, &engine::worker_entry, e.get(), opt.stack_kib * 1024);
  e->open(place::tree(place::flat(opt.workers), opt.workers), sched::find_policy(opt.policy));
  return e;
}

}  // namespace weft

// Arrays and questions that need to know which machine the calling thread works for.
#include "weft/numa_array.hpp"

#include "access/placed_range.hpp"
#include "memory/pages.hpp"
#include "sched/admit/any_engine.hpp"
#include "sched/workers/worker.hpp"
#include "weft/runtime.hpp"

namespace weft {

namespace {

// Of a modelled machine; nullptr: the thread works for this computer.
const memory::machine_shape* modelled() noexcept {
  const detail::worker* w = sched::current_worker();
  if (w == nullptr || w->engine == nullptr) return nullptr;
  const memory::machine_shape& m = static_cast<const sched::any_engine&>(*w->engine).machine_memory;
  return m.modelled ? &m : nullptr;
}

}  // namespace

unsigned memory_nodes() {
  const memory::machine_shape* m = modelled();
  return m != nullptr ? m->units.nodes : memory::host::here().nodes();
}

std::optional<unsigned> node_of(const void* address) { return memory::host::here().node_of(address); }

memory_placement memory_placement::local() {
  const memory::machine_shape* m = modelled();
  if (m == nullptr) return on_node(memory::host::here().current_node());
  const auto id = static_cast<std::size_t>(worker_id());  // -1 of the main thread, which sits where worker 0 does
  return on_node(m->node_of_worker[id < m->node_of_worker.size() ? id : 0]);
}

namespace detail {

array_memory take_array(std::uint64_t bytes, const memory_placement& how, bool huge) {
  const memory::host& computer = memory::host::here();
  check_placement(how);
  if (bytes == 0) return {nullptr, 0, how, huge};
  const array_memory m{computer.take(bytes, how, huge), bytes, how, huge};
  try {
    place_memory(m.begin, bytes, how);
  } catch (...) {
    computer.give_back(m.begin, bytes, huge);
    throw;
  }
  return m;
}

void give_back_array(const array_memory& m) noexcept {
  weft::access::forget_range(m.begin);
  memory::host::here().give_back(m.begin, m.bytes, m.huge);
}

std::optional<unsigned> node_of_byte(const array_memory& m, std::uint64_t at) {
  const memory::machine_shape* model = modelled();
  const auto home =
      memory::home_of(m.how, m.bytes, at, model != nullptr ? model->units : memory::host::here().units(m.huge));
  return home ? std::optional(home->node) : std::nullopt;
}

}  // namespace detail
}  // namespace weft

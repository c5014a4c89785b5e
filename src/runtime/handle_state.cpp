// What a handle does that is not inline: it gets its number, and is drained before it goes.
#include "weft/detail/handle_state.hpp"

#include "access/version.hpp"
#include "base/atomic.hpp"
#include "sched/admit/decoupled.hpp"
#include "weft/detail/worker.hpp"

namespace weft::detail {

namespace {
cell<std::uint32_t> handles_made;
constexpr std::uint32_t id_mask = 0x7fffffff;
}  // namespace

handle_state::handle_state() noexcept
    : registered(0), waiters_head(nullptr), waiters_tail(nullptr), group_start(0), engine(nullptr),
      id((base::shared(handles_made).fetch_add(1, base::relaxed) + 1) & id_mask), sized(false), group_kind(0),
      exclusive_taken(false) {}

bool is_made_since(const handle_state& h, const handle_state& other) noexcept {
  const std::uint32_t newest = base::shared(handles_made).load(base::relaxed);
  return h.id != other.id && ((h.id - other.id) & id_mask) <= ((newest - other.id) & id_mask);
}
void set_next_handle_id(std::uint32_t id) noexcept { poke(handles_made, id - 1); }

bool handle_state::idle() noexcept {
  if (sched::decoupled::any() && !sched::decoupled::none_pending()) [[unlikely]]
    return false;
  if (base::shared(lock).exchange(1, base::acquire) != 0) return false;
  const bool all_done = weft::access::outstanding(base::shared(word).load(base::acquire), registered) == 0;
  const bool open = group_kind == kind_reduce;
  base::shared(lock).store(0, base::release);
  return all_done && !open;
}

void handle_state::await_registration() noexcept {
  if (sched::decoupled::any()) [[unlikely]]
    sched::decoupled::await_all();
}

void handle_state::drain() noexcept {
  await_registration();
  if (engine == nullptr) return;
  // The version first, then the lock: whoever advanced the version last did so by one compare-exchange, or inside the
  // lock. So once both are seen nobody touches this handle any more, and its runtime may be gone already.
  const bool all_done = weft::access::outstanding(base::shared(word).load(base::acquire), registered) == 0;
  const bool open =
      group_kind == kind_reduce;  // what the reduces left over is still to be applied, by a living runtime
  if (all_done && !open && base::shared(lock).load(base::acquire) == 0 && !base::shared(poisoned).load(base::relaxed))
    return;
  engine->drain(*this);
  engine = nullptr;  // said once: a handle with data drains before the data goes, and again as a member
}

}  // namespace weft::detail

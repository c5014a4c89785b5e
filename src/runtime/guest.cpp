// The out-of-line half of weft/guest.hpp.
#include "weft/guest.hpp"

#include <sched.h>

#include <string>

#include "base/atomic.hpp"
#include "runtime/teams.hpp"
#include "weft/detail/worker.hpp"

namespace weft::detail {

void bind_thread(int cpu) noexcept {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<unsigned>(cpu), &one);
  static_cast<void>(sched_setaffinity(0, sizeof one, &one));
}

void throw_guest_end(const team_state& t, guest_end reason) {
  if (reason == guest_end::team_failed) throw_team_failed(t);
  throw error("weft: a member of " + name_of(t) + " has left before a guest of the others; all members call it");
}

void team_guest(team_state* t, guest_call& c) {
  if (t != nullptr) return t->engine->team_guest(t, c);
  if (const worker* w = self(); w != nullptr && w->current != nullptr) return w->engine->team_guest(nullptr, c);
  guest_crew alone;  // outside of tasks
  guest_context context(alone);
  c.run(c.body, context);
}

void one_comes(cell<unsigned>& inside) noexcept { base::shared(inside).fetch_add(1, base::relaxed); }
void one_leaves(cell<unsigned>& inside) noexcept { base::shared(inside).fetch_sub(1, base::release); }
void await_none(cell<unsigned>& inside) noexcept {
  while (base::shared(inside).load(base::acquire) != 0) sched_yield();
}

}  // namespace weft::detail

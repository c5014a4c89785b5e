// Which worker each thread is.
#include "weft/detail/worker.hpp"

#include "sched/workers/worker.hpp"
#include "weft/runtime.hpp"

namespace weft {

namespace detail {

thread_local constinit worker* this_worker = nullptr;

worker* self_out_of_line() noexcept { return this_worker; }

}  // namespace detail

namespace sched {

void set_current_worker(detail::worker* w) noexcept { detail::this_worker = w; }

}  // namespace sched

int worker_id() noexcept {
  const detail::worker* w = sched::current_worker();
  if (w == nullptr || detail::peek(w->shown_id) == detail::record::unpinned) return -1;
  return static_cast<int>(detail::peek(w->shown_id));
}

}  // namespace weft

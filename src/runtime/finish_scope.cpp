// A finish in two calls, and bodies that stay where they are.
#include "weft/finish_scope.hpp"

#include "sched/workers/worker.hpp"
#include "weft/detail/light_scope.hpp"
#include "weft/error.hpp"

namespace weft {

finish_scope::finish_scope() {
  detail::worker* const w = sched::current_worker();
  if (w == nullptr || w->current == nullptr)
    throw error("weft: a finish_scope outside of a task; use weft::finish there, or runtime::wait");
  outer_ = w->light;
  w->light = nullptr;
  detail::open(*w, scope_);
  open_ = true;
}

finish_scope::~finish_scope() {
  if (!open_) return;
  try {
    close();
  } catch (...) {  // NOLINT: said in the header
  }
}

void finish_scope::close() {
  if (!open_) throw error("weft: a finish_scope is closed twice");
  open_ = false;
  const struct at_end {
    detail::light_scope* outer;
    ~at_end() { sched::current_worker()->light = outer; }
  } restored{outer_};
  detail::close_slowly(*sched::current_worker(), scope_);
}

void stay() noexcept {
  detail::worker* const w = sched::current_worker();
  if (w == nullptr) return;
  detail::record* const r = detail::body_around(w->current);
  if (r != nullptr && r->pin == detail::record::unpinned)
    r->pin = static_cast<std::uint16_t>(detail::peek(w->shown_id));
}

}  // namespace weft

#include "access/version.hpp"

namespace weft::access {

void insert_waiter(handle_state& h, record* r) noexcept {
  const std::uint64_t required = awaited(r).required;
  // `before` walks from the tail over those that must stay behind r, `after` from the head over those that must stay
  // ahead of it; whichever arrives first names the place.
  record* before = h.waiters_tail;
  record* after = h.waiters_head;
  while (before != nullptr && !is_resource(awaited(r)) && !reached(required, awaited(before).required)) {
    if (!reached(required, awaited(after).required)) {
      before = after->prev;
      break;
    }
    before = before->prev;
    after = after->next;
  }
  r->prev = before;
  r->next = before == nullptr ? h.waiters_head : before->next;
  (r->prev == nullptr ? h.waiters_head : r->prev->next) = r;
  (r->next == nullptr ? h.waiters_tail : r->next->prev) = r;
}

void remove_waiter(handle_state& h, record* r) noexcept {
  (r->prev == nullptr ? h.waiters_head : r->prev->next) = r->next;
  (r->next == nullptr ? h.waiters_tail : r->next->prev) = r->prev;
}

}  // namespace weft::access

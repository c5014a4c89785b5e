#include "access/version.hpp"

namespace weft::access {

void insert_waiter(handle_state& h, record* r, std::uint64_t required) noexcept {
  r->state = detail::record_state::blocked;
  // `after` walks from the head over those that stay ahead of r, `before` from the tail over those that stay behind it;
  // whichever arrives first names the place. The head is asked first: a task that comes from another list belongs near
  // it, and in a long list the tail has long left the caches.
  record* before = h.waiters_tail;
  for (record* after = h.waiters_head; before != nullptr; after = after->next, before = before->prev) {
    if (!reached(required, awaited(after).required)) {
      before = after->prev;
      break;
    }
    if (reached(required, awaited(before).required)) break;
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

#include "access/wait_list.hpp"

namespace weft::access {

namespace {

// before: who is directly in front of r from now on, nullptr if nobody is.
void link(handle_state& h, record* r, record* before) noexcept {
  r->waiting.prev = before;
  r->waiting.next = before == nullptr ? h.waiters_head : before->waiting.next;
  WEFT_DEBUG_ASSERT(r->waiting.next == nullptr || r->waiting.next->waiting.prev == before);
  (r->waiting.prev == nullptr ? h.waiters_head : r->waiting.prev->waiting.next) = r;
  (r->waiting.next == nullptr ? h.waiters_tail : r->waiting.next->waiting.prev) = r;
}

}  // namespace

bool seems_listed(const handle_state& h, const record* r) noexcept {
  const record* from_head = h.waiters_head;
  const record* from_tail = h.waiters_tail;
  for (int few = 8; few > 0 && from_head != nullptr && from_tail != nullptr; --few) {
    if (from_head == r || from_tail == r) return true;
    from_head = from_head->waiting.next;
    from_tail = from_tail->waiting.prev;
  }
  return false;
}

void insert_waiter(handle_state& h, record* r, std::uint64_t required) noexcept {
  WEFT_DEBUG_ASSERT(is_locked(h) && !seems_listed(h, r) && !waits_for_units(h));
  becomes_blocked(*r);
  // `after` walks from the head over those that stay ahead of r, `before` from the tail over those that stay behind it;
  // whichever arrives first names the place. The head is asked first: a task that comes from another list belongs near
  // it, and in a long list the tail has long left the caches.
  record* before = h.waiters_tail;
  for (record* after = h.waiters_head; before != nullptr; after = after->waiting.next, before = before->waiting.prev) {
    if (!reached(required, awaited(after).required)) {
      before = after->waiting.prev;
      break;
    }
    if (reached(required, awaited(before).required)) break;
  }
  link(h, r, before);
}

void insert_ahead_of_units(handle_state& h, record* r, std::uint64_t required) noexcept {
  WEFT_ASSERT(is_locked(h));
  WEFT_ASSERT(waits_for_units(h) && !seems_listed(h, r));
  becomes_blocked(*r);
  record* after = h.waiters_head;
  while (!is_resource(awaited(after)) && reached(required, awaited(after).required)) after = after->waiting.next;
  link(h, r, after->waiting.prev);
}

void remove_waiter(handle_state& h, record* r) noexcept {
  WEFT_ASSERT(is_locked(h));
  WEFT_ASSERT(r->state == detail::record_state::blocked);
  record *const prev = r->waiting.prev, *const next = r->waiting.next;
  record*& before = prev == nullptr ? h.waiters_head : prev->waiting.next;
  record*& after = next == nullptr ? h.waiters_tail : next->waiting.prev;
  WEFT_ASSERT(before == r && after == r);  // it is in this list, and only there
  before = next;
  after = prev;
}

record* first_for_units(const handle_state& h) noexcept {
  if (!waits_for_units(h)) return nullptr;
  record* r = h.waiters_head;
  while (!is_resource(awaited(r))) r = r->waiting.next;
  return r;
}

}  // namespace weft::access

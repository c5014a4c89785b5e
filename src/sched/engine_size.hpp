// Step 4 of a task's life: how many workers it has. So far one, or none of its own: a call in the body that submits it.
#pragma once

namespace weft::sched {

// A task with hints for the place where it is submitted is a call while nobody there starves (PufferFish §IV-D). Only
// in a body, whose stack has room, and which others may wait for.
template <machine::machine M> bool engine<M>::is_call(worker& w, const detail::record& r) noexcept {
  const detail::record* const parent = w.current;
  if (parent == nullptr || parent->exclusives != 0 || w.is_special() || !locality::is_node(r.near)) return false;
  if (!r.plain || attention_.called() || ordering_.chooses() || !stacks_.has_room_for_body(w)) return false;
  return places_->node_of(w.id) == locality_.node(r.near) && placement_.leaves().calm(w.id);
}

template <machine::machine M> bool engine<M>::called(detail::record* r) {
  const visit v(*this);
  worker& w = v.self();
  if (!is_call(w, *r)) return false;
  detail::record* const parent = w.current;
  count(w, *r);
  transition(*r, detail::record_state::ready);
  detail::record* const body = detail::body_around(parent);
  const auto since = recording_.waits(w, body);
  if (body != nullptr) body->has_waited = true;
  count_one(w.called);
  run_child(w, r);
  worker& here = static_cast<worker&>(*current_worker());
  here.current = parent;
  if (failures_.any()) [[unlikely]]
    children<M>::looked_for(*parent);
  recording_.goes_on(here, body, {trace::why::children}, since);
  return true;
}

}  // namespace weft::sched

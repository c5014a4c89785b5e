// Step 4 of a task's life: how many workers it has. One; or none of its own, a call in the body that submits it; or a
// team.
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
  count(w, *r);
  transition(*r, detail::record_state::ready);
  count_one(w.called);
  call_child(w, r);
  return true;
}

// Runs r, a child of the body that w is in, on its stack.
template <machine::machine M> void engine<M>::call_child(worker& w, detail::record* r) {
  detail::record* const parent = w.current;
  detail::record* const body = detail::body_around(parent);
  const auto since = recording_.waits(w, body);
  if (body != nullptr) body->has_waited = true;
  run_child(w, r);
  worker& here = static_cast<worker&>(*current_worker());
  here.current = parent;
  if (failures_.any()) [[unlikely]]
    children<M>::looked_for(*parent);
  recording_.goes_on(here, body, {trace::why::children}, since);
}

// ---- teams

template <machine::machine M>
void engine<M>::run_team(detail::record& r, const detail::team_clause& wish, detail::team_body body) {
  {
    const visit v(*this);
    worker& w = v.self();
    r.subtasks = true;  // it is done when its members and all below them are, however many it has
    const unsigned widest = teams_.who().widest();
    const unsigned most = std::min<unsigned>(wish.most, widest), least = std::min<unsigned>(wish.least, most);
    const unsigned width = least == most ? most : std::clamp(rules_->width(w.id, r, least, most), least, most);
    if (width > 1) {
      if (detail::record* const first = teams_.gather(w, r, wish, width, body)) call_child(w, first);
      return;
    }
  }
  struct at_end {
    detail::record& r;
    ~at_end() { r.invoke(r, detail::errand::destroy); }
  } const behind_body{r};
  team_context alone;
  body(r, alone);
}

template <machine::machine M> bool engine<M>::team_barrier(detail::team_state& t) {
  const visit v(*this);
  return teams_.barrier(v.self(), t);
}

template <machine::machine M> std::uint64_t engine<M>::team_take(detail::team_state& t, std::uint64_t count,
                                                                 std::uint64_t least, bool guided,
                                                                 std::uint64_t& taken) {
  const visit v(*this);
  return teams_.take(t, count, least, guided, taken);
}

}  // namespace weft::sched

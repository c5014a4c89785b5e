// Step 4 of a task's life: how many workers it has. One; or none of its own, a call in the body that submits it; or
// that of this body, which gives way; or a team.
#pragma once

namespace weft::sched {

// What hints ask for. The first that ask for anything change the rules, where the policy awaits that: from then on it
// is asked where each task goes.
template <machine::machine M>
std::uint8_t engine<M>::near(const detail::near_clause* hints, std::size_t count) noexcept {
  const std::uint8_t wish = place_.locality.of(hints, count);
  if (wish != locality::none && !context_.placement.looks_near()) [[unlikely]]
    follow_hints();
  return wish;
}
template <machine::machine M> void engine<M>::follow_hints() noexcept {
  opened_.policy->hint_given();
  context_.placement.hints_begin();
  for (const auto& w : context_.crew)
    static_cast<void>(M::unseen::fetch_or(w->hooked, detail::hooked_hinted, base::relaxed));
}

// A task with hints for the place where it is submitted is a call while nobody there starves (PufferFish §IV-D). Only
// in a body, whose stack has room, and which others may wait for.
template <machine::machine M> bool engine<M>::is_call(worker& w, const detail::record& r) noexcept {
  const detail::record* const parent = w.current;
  if (parent == nullptr || parent->exclusives != 0 || w.is_special() || !locality::is_node(r.near)) return false;
  if (!r.plain || context_.attention.called() || context_.ordering.chooses() || !admit_.stacks.has_room_for_body(w))
    return false;
  return opened_.places->node_of(w.id) == place_.locality.node(r.near) && context_.placement.leaves().calm(w.id);
}

template <machine::machine M> bool engine<M>::called(detail::record* r) {
  const visit v(*this);
  worker& w = v.self();
  if (!is_call(w, *r)) return false;
  count(w, *r);
  r->is_call = true;
  if (context_.recording.on()) [[unlikely]]
    context_.recording.submitted(w, *r);
  context_.placement.tell_ready(w, *r);
  transition(*r, detail::record_state::filling, detail::record_state::ready);
  count_one(w.counted.called);
  call_child(w, r);
  return true;
}

// Runs r, a child of the body that w is in, on its stack.
template <machine::machine M> void engine<M>::call_child(worker& w, detail::record* r) {
  detail::record* const parent = w.current;
  detail::record* const body = detail::body_around(parent);
  const auto since = context_.recording.waits(w, body);
  if (body != nullptr) suspension<M>::note_wait(*body, nullptr);
  run_child(w, r);
  worker& here = static_cast<worker&>(*current_worker());
  here.current = parent;
  if (context_.failures.any()) [[unlikely]]
    children<M>::looked_for(*parent);
  context_.recording.goes_on(here, body, {trace::why::spawn}, since);
}

// On the stack of its parent, which waits.
template <machine::machine M> void engine<M>::run_child(worker& w, detail::record* x) {
  const detail::record* parent = w.current;
  WEFT_ASSERT(x->parent == parent && x->kind == detail::record_kind::task);
  worker* here = &w;
  const typename stacks<M>::other_body apart(admit_.stacks);
  while (x != nullptr) {
    x->is_call = true;
    x = run(*here, x);
    here = static_cast<worker*>(current_worker());
    if (x != nullptr && x->parent != parent) {
      context_.placement.put_off(*here, x);  // it may be pinned to this worker
      x = nullptr;
    }
  }
}

// ---- teams

template <machine::machine M>
void engine<M>::run_team(detail::record& r, const detail::team_clause& wish, detail::team_body body) {
  team_course<M> course;
  {
    const visit v(*this);
    worker& w = v.self();
    WEFT_ASSERT(r.subtasks);  // it is done when its members and all below them are, however many it has
    course = how_wide(w, r, wish);
    if (course.width > 1) {
      detail::record* first = nullptr;
      try {
        first = teams_.teams.gather(w, r, wish, course, body);
      } catch (...) {
        teams_.teams.gives_up(course);
        r.invoke(r, detail::errand::destroy);  // as behind its last member
        throw;
      }
      if (first != nullptr) call_child(w, first);
      teams_.teams.see_off(static_cast<worker&>(*current_worker()), r);
      return;
    }
  }
  struct at_end {
    detail::record& r;
    ~at_end() { r.invoke(r, detail::errand::destroy); }
  } const behind_body{r};
  team_context alone;
  try {
    body(r, alone);
  } catch (...) {
    teams_.teams.gives_up(course);
    throw;
  }
  machine_.end_member(r, r, 1);
  const visit v(*this);
  teams_.teams.was_alone(v.self(), r, course);
}

// What its clause says; between its bounds, what is learned, or what the policy says.
template <machine::machine M>
team_course<M> engine<M>::how_wide(worker& w, detail::record& r, const detail::team_clause& wish) {
  const unsigned most = std::min<unsigned>(wish.most, teams_.teams.who().widest());
  const unsigned least = std::min<unsigned>(wish.least, most);
  if (wish.is_learned) {
    const bool others_wait = deque::size(w) != 0 || any_at_hand(w);
    return teams_.teams.learned(w, r, wish, least, most, others_wait);
  }
  return teams_.teams.fixed(
      least == most ? most
                    : std::clamp(opened_.policy->width(context_.placement.seat_of(w), r, least, most), least, most));
}

template <machine::machine M> bool engine<M>::team_barrier(detail::team_state& t) {
  const visit v(*this);
  return teams_.teams.barrier(v.self(), t);
}

template <machine::machine M> void engine<M>::team_guest(detail::team_state* t, detail::guest_call& c) {
  {
    const visit v(*this);
    t != nullptr ? teams_.hosting.guest(v.self(), *t, c) : teams_.hosting.run_alone(v.self(), c);
  }
  if (c.why != nullptr) std::rethrow_exception(c.why);
}

template <machine::machine M> std::uint64_t engine<M>::team_take(detail::team_state& t, std::uint64_t count,
                                                                 std::uint64_t least, bool guided,
                                                                 std::uint64_t& taken) {
  const visit v(*this);
  return teams_.teams.take(t, count, least, guided, taken);
}

template <machine::machine M>
std::uint32_t engine<M>::team_unit(detail::team_state& t, const detail::unit_order& order, std::uint32_t done) {
  const visit v(*this);
  return teams_.teams.unit(t, order, done);
}

// Whether r, which is ready, runs before the rest of the body that submits it, under a policy that wants that. Not
// where a clause sends r elsewhere, nor where that body could not go on elsewhere: where it is pinned, or on the main
// thread's stack, which only worker 0 enters. Nor when it holds what others may need (it would for longer), when
// something calls for attention, or when bodies are nested so deeply that all stacks are out.
template <machine::machine M> bool engine<M>::goes_first(worker& w, const detail::record& r) noexcept {
  const detail::record* const parent = w.current;
  if (parent == nullptr || parent->exclusives != 0 || w.is_special()) return false;
  if (suspension<M>::only_on(w) != detail::record::unpinned) return false;
  if (r.pin != detail::record::unpinned || r.urgent || context_.attention.called() || context_.ordering.chooses())
    return false;
  return admit_.stacks.has_one_more(w);
}

// The body that w is in is set aside and waits in w's deque, where thieves find it; on the stack that goes on r is the
// first to run. Returns when the body goes on, perhaps on another worker. The child is run by the step that tells of
// the body, before the loop below it: so no other task comes between, and the loop need not look for it.
template <machine::machine M> void engine<M>::run_first(worker& w, detail::record* r) {
  context_.placement.tell_ready(w, *r);
  transition(*r, detail::record_state::filling, detail::record_state::ready);
  detail::record* const current = w.current;
  detail::record* const body = detail::body_around(current);
  const auto since = context_.recording.waits(w, body);
  if (body != nullptr) suspension<M>::note_wait(*body, nullptr);
  waiter self;
  admit_.suspension.set_aside(w, self, [this, &self, r](worker& last) {
    context_.placement.place(last, &self.r);  // the body may go on from here on, and self be gone
    context_.placement.keep_within_reach(last);
    for (detail::record* x = r; x != nullptr; admit_.stacks.body_over())
      x = run(static_cast<worker&>(*current_worker()), x);
  });
  worker& here = static_cast<worker&>(*current_worker());
  here.current = current;
  context_.recording.goes_on(here, body, {trace::why::spawn}, since);
}

}  // namespace weft::sched

// The six steps of a task's life, in their order: what each asks of which noun. Parts of one are inlined for speed.
#pragma once

namespace weft::sched {

// ---- create

template <machine::machine M> detail::record* engine<M>::allocate(std::size_t bytes) {
  check_process();
  const std::uint8_t c = detail::record_class(bytes);
  worker* const here = at_home();
  if (here != nullptr && here->light != nullptr) detail::open_light(*here);
  if (here != nullptr && c != detail::record_classes) {
    context_.recording.submission_begins(*here);
    return admit_.admission.get(*here, c);
  }
  const visit v(*this);
  context_.recording.submission_begins(v.self());
  const bool is_guest = v.self().role == role::guest;
  if (is_guest) context_.guests.begin_call();  // until discard() or the end of enter()
  try {
    return c == detail::record_classes ? context_.pool.allocate_large(bytes) : admit_.admission.get(v.self(), c);
  } catch (...) {
    if (is_guest) context_.guests.end_call();
    throw;
  }
}

template <machine::machine M> void engine<M>::discard(detail::record* r) noexcept {
  WEFT_ASSERT(r->state == detail::record_state::filling);
  visit v(*this);
  recycle(v.self(), r);
  if (v.self().role == role::guest) context_.guests.end_call();
}

template <machine::machine M> void engine<M>::enter(detail::record* r) {
  if (r->near != 0) [[unlikely]] {
    if (!context_.placement.looks_near()) follow_hints();  // a wish from a trace, of which nobody asked near()
    if (r->access_count == 0 && opened_.policy->elastic() != elasticity::none && called(r)) return;
  }
  if (r->plain) [[likely]]
    if (worker* w = creates_here()) return enter_plain(*w, r);
  if (worker* w = hands_over_here(); w != nullptr && r->pin == detail::record::unpinned) return hand_over(*w, r);
  enter_slow(r);
}

// What most submissions are; nothing here throws but the deque when it must grow and cannot.
template <machine::machine M> void engine<M>::enter_plain(worker& w, detail::record* r) {
  enter_plainly(w, r);
  context_.recording.submission_over(w);
}
template <machine::machine M> void engine<M>::enter_plainly(worker& w, detail::record* r) {
  pay_creation<M>(*r, true);
  count(w, *r);
  const access::short_outcome done = admit_.registrar.plain(w, r);
  if (done == access::short_outcome::waits) return context_.placement.submitted_waiting(w);
  if (done == access::short_outcome::long_way) [[unlikely]] {
    WEFT_ASSERT(r->state == detail::record_state::filling);
    r->plain = false;
    return enter_counted(w, r);
  }
  context_.placement.place_plain(w, r);
}

// Another worker creates it; nothing is recorded. What is submitted here is run elsewhere, so the records come from
// there.
template <machine::machine M> void engine<M>::hand_over(worker& w, detail::record* r) {
  count(w, *r);
  if (context_.pool.foresee(w, r->size_class)) return hand_over_and_foresee(w, r);
  admit_.creation.hand_over(w, r);
}
template <machine::machine M> void engine<M>::hand_over_and_foresee(worker& w, detail::record* r) {
  context_.pool.foresee_magazine(w, r->size_class, admit_.admission.limit());
  admit_.creation.hand_over(w, r);
}

template <machine::machine M> void engine<M>::count(worker& w, detail::record& r) {
  context_.quiescence.created(w, r);
  context_.ordering.submitted(r);
}

template <machine::machine M> void engine<M>::enter_slow(detail::record* r) {
  WEFT_ASSERT(r->state == detail::record_state::filling);
  check_pin(r);
  if (worker* w = at_home(); w != nullptr && !admit_.creation.on()) {
    enter_on(*w, r);
    return context_.recording.submission_over(static_cast<worker&>(*current_worker()));
  }
  visit v(*this);
  enter_visiting(v.self(), r);
  context_.recording.submission_over(static_cast<worker&>(*current_worker()));
}

template <machine::machine M> void engine<M>::enter_visiting(worker& w, detail::record* r) {
  struct call_end {  // of a guest's call, which allocate() began
    guests<M>* g;
    ~call_end() {
      if (g != nullptr) g->end_call();
    }
  } until_return{w.role == role::guest ? &context_.guests : nullptr};
  if (admit_.creation.on()) {
    count(w, *r);
    return admit_.creation.request(w, r);
  }
  if (w.role == role::guest) return enter_on(w, r);
  const program_call call(context_.ordering);
  offer_turn(w);
  context_.ordering.step(detail::body_around(current_worker()->current));  // the submission itself
  enter_on(static_cast<worker&>(*current_worker()), r);
  offer_turn(static_cast<worker&>(*current_worker()));
}

template <machine::machine M> void engine<M>::enter_on(worker& w, detail::record* r) {
  pay_creation<M>(*r, true);
  count(w, *r);
  enter_counted(w, r);
}

template <machine::machine M> void engine<M>::enter_counted(worker& w, detail::record* r) {
  woken list;
  bool first = false;
  try {
    if (admit_.registrar.any(w, r, list, false)) {
      first = opened_.child_first && goes_first(w, *r);
      if (!first) context_.placement.place(w, r);
    }
  } catch (...) {
    r->invoke(*r, detail::errand::destroy);
    context_.quiescence.withdraw(w, *r);
    recycle(w, r);
    throw;
  }
  if (list.head != nullptr) context_.readiness.all(w, list);
  if (first) [[unlikely]]
    run_first(w, r);
}

// ---- run

// Runs on a stack of its own, not always on the same worker: run() may come back on another one.
template <machine::machine M> void engine<M>::loop() {
  for (;;) {
    worker& w = static_cast<worker&>(*current_worker());
    detail::record* r = search_.next_or_sleep(w);
    if (context_.attention.called() && r != nullptr && passes_over(w, r)) [[unlikely]]
      continue;
    if (w.role == role::reserve && (r == nullptr || !admit_.admission.the_reserve().has_turn()) && !take_turn(w, r))
        [[unlikely]]
      continue;
    if (r == nullptr) {  // stopping
      fiber* mine = w.goes_home();
      machine_.jump(w.id, *mine, *w.stacks.home, nullptr);
    }
    while (r != nullptr) {
      r = run(static_cast<worker&>(*current_worker()), r);
      admit_.stacks.body_over();
    }
  }
}

// A worker may have looked whether there is a pause long before it took r. Whoever took what was submitted after
// pause() has seen that, too, so looking once more is enough. Returns whether r is left for later. Who: w.
template <machine::machine M> bool engine<M>::passes_over(worker& w, detail::record* r) {
  if (!detail::is_task(*r) || !context_.attention.paused() || context_.ordering.chooses()) return false;
  context_.placement.place(w, r);
  w.look.left_own();
  return true;
}

// Who: the reserve, between two bodies, with what it has found to do or nullptr. Returns whether it goes on with that;
// if not, r is left to others, and where it was not wanted it has been away.
template <machine::machine M> bool engine<M>::take_turn(worker& w, detail::record* r) {
  if (search_.stopping()) return true;
  reserve<M>& self = admit_.admission.the_reserve();
  if (self.next_turn()) return r != nullptr;
  if (r != nullptr) context_.placement.place(w, r);
  // It leaves like a worker that falls asleep: it may have run the last task, and the last who could have run one.
  if (context_.quiescence.is_over_for_some()) context_.readiness.quiescent(w);
  context_.placement.expose(w);
  if (!self.go_away()) return false;
  // Whoever made work visible while this worker was a searcher relied on it: the last look, as before falling asleep.
  if (search_.anything_left(w)) context_.sleep.notify(machine_);
  if (context_.sleep.all_asleep()) join_.stall.look(w);
  const typename worker_time<M>::during asleep(context_.worker_time, w, spends::asleep);
  if (!search_.stopping()) self.block();
  return false;
}

// Runs r and returns a task to run next, or nullptr. May return on another worker than it was called on.
template <machine::machine M> detail::record* engine<M>::run(worker& w, detail::record* r) {
  if (r->kind != detail::record_kind::task) [[unlikely]] {
    if (r->kind == detail::record_kind::node) return run_node(w, r);
    if (r->kind == detail::record_kind::branch) return run_branch(w, static_cast<branch&>(*r));
    admit_.admission.resumes(w);
    admit_.suspension.resume(w, waiter::of(r));
    return nullptr;
  }
  execute(w, r);
  return follow(static_cast<worker&>(*current_worker()), r);
}

// Its body. May return on another worker.
template <machine::machine M> template <bool IsNode> void engine<M>::execute(worker& w, detail::record* r) {
  M::work(model::step::run);
  M::touch(r, bytes_in_use(*r), false);  // before the clock: where a record comes from does not make its body long
  if (!w.pace.watched) [[likely]]
    static_cast<void>(call_body<IsNode>(w, r));
  else
    w.trace.book != nullptr ? run_traced(w, r) : run_timed(w, r);
}

template <machine::machine M> void engine<M>::run_timed(worker& w, detail::record* r) {
  const std::uint64_t start = machine_.now_ps();
  static_cast<void>(call_body(w, r));
  ran(static_cast<worker&>(*current_worker()), *r, machine_.now_ps() - start);
}

template <machine::machine M> void engine<M>::ran(worker& w, const detail::record& r, std::uint64_t body_ps) {
  if (r.has_waited) {
    if (!r.subtasks) context_.tempo.waited(w.pace);  // not the run of a graph, whose time says nothing either
    return;
  }
  context_.tempo.ran(w.pace, body_ps, r.parent != nullptr);
  opened_.policy->ran(context_.placement.seat_of(w), r, body_ps);
}

template <machine::machine M> void engine<M>::run_traced(worker& w, detail::record* r) {
  const bool timed = w.pace.timed;
  trace::strand* const outer = context_.recording.starts(w, *r);
  const std::uint64_t start = machine_.now_ps();
  const std::uint16_t first = w.id;
  const trace::outcome outcome = call_body(w, r);
  worker& here = static_cast<worker&>(*current_worker());
  const std::uint64_t end = machine_.now_ps();
  context_.recording.ran(here, *r, {start, end, first, outer, outcome});
  if (timed) ran(here, *r, end - start);
}

// A node has no children between its runs, and is spared the look at that line.
template <machine::machine M> template <bool IsNode> void engine<M>::begin_body(worker& w, detail::record& r) {
  transition(r, detail::record_state::ready, detail::record_state::running);
  WEFT_DEBUG_ASSERT(w.light == nullptr);
  r.running.ended_here = 0;
  if constexpr (!IsNode) r.running.children = 0;
  w.current = &r;
  detail::poke(w.body_name, r.name);
  machine_.begin_body(r);
}

template <machine::machine M> template <bool IsNode> trace::outcome engine<M>::call_body(worker& w, detail::record* r) {
  count_one(w.tasks);
  begin_body<IsNode>(w, *r);
  trace::outcome outcome = trace::outcome::done;
  context_.ordering.step(r);
  try {
    if (!context_.poison.concerns(*r)) [[likely]]
      r->invoke(*r, detail::errand::run);
    else if (context_.poison.skip(*r))
      outcome = trace::outcome::skipped;
    if (outcome == trace::outcome::skipped) [[unlikely]]
      abandon_event(w, *r, nullptr);
  } catch (...) {
    context_.poison.fail(*r, std::current_exception());
    outcome = trace::outcome::failed;
    abandon_event(static_cast<worker&>(*current_worker()), *r, std::current_exception());
  }
  if (outcome != trace::outcome::skipped) machine_.end_body(*r);
  context_.ordering.ended(*r);
  return outcome;
}

// ---- done

// The body of r has returned on w. Returns what runs next.
template <machine::machine M> detail::record* engine<M>::follow(worker& w, detail::record* r) {
  detail::record* follower = done(w, r);
  if (follower == nullptr) return nullptr;
  if (++w.tick < detail::peek(w.tick_limit) && !context_.attention.called()) return follower;
  context_.placement.put_off(w, follower);
  return nullptr;
}

// The body of r has returned: versions advance, and what waited for them moves on (SuperGlue §3.1, Listing 5).
template <machine::machine M> detail::record* engine<M>::done(worker& w, detail::record* r) {
  w.current = nullptr;
  woken list;
  if (r->has_children) [[unlikely]] {
    transition(*r, detail::record_state::running, detail::record_state::draining);
    if (!r->subtasks)
      access::settle<M>(*r, list);
    else if (r->exclusives != 0)
      context_.readiness.wait_begins(list);
    const bool is_call = r->is_call;
    r->is_call = false;  // whoever is last may be elsewhere
    if (children<M>::body_over(*r)) {
      r->is_call = is_call;
      wholly_done(w, r);
    }
  } else {
    if (r->access_count != 0) access::settle<M>(*r, list);
    if (r->parent == nullptr && !context_.failures.any()) [[likely]] {
      recycle(w, r);
      context_.quiescence.finished(w);
    } else {
      wholly_done(w, r);
    }
  }
  return context_.readiness.all_but_one(w, list);
}

// r and its children are done: the record is free, and its parent has one child less. Walks up as far as that was the
// last; a parent that waits for its children is resumed instead.
template <machine::machine M> void engine<M>::wholly_done(worker& w, detail::record* r) {
  for (;;) {
    detail::record* parent = r->parent;
    if (context_.failures.any()) [[unlikely]]
      context_.poison.hand_up(*r);
    if (r->subtasks && r->has_children) release_behind(w, *r);
    const bool is_call = r->is_call;
    recycle(w, r);
    if (parent == nullptr) return context_.quiescence.finished(w);
    if (is_call) return children<M>::ended_here(*parent);
    if (!children<M>::ended(*parent)) return;
    if (parent->running.awaits_children != nullptr) return context_.placement.place(w, parent->running.awaits_children);
    r = parent;
  }
}

template <machine::machine M> void engine<M>::recycle(worker& w, detail::record* r) noexcept {
  if (r->size_class >= detail::record_classes) [[unlikely]]
    return r->size_class == detail::kept_record ? graphs<M>::rests(*r) : context_.pool.free_large(r);
  const std::uint8_t size_class = r->size_class;
  if (context_.pool.recycle(w, r)) admit_.admission.batch_back(size_class);
}

}  // namespace weft::sched

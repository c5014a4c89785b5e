// Part of engine.hpp. The worker: what to do next, doing it, and what follows from its being done.
#pragma once

namespace weft::sched {

template <machine::machine M> void engine<M>::worker_entry(void* engine_address, unsigned id) {
  engine& e = *static_cast<engine*>(engine_address);
  worker& w = *e.workers_[id];
  fiber thread_stack;
  set_current_worker(&w);
  if (w.trace != nullptr) e.trace_->open_counters(*w.trace);
  w.home = &thread_stack;
  if constexpr (M::modelled) w.home = &e.machine_.stack(id);  // a modelled core begins on a fiber of its machine
  fiber& loop = e.idle_loop(w);
  w.running = &loop;
  e.machine_.jump(w.id, *w.home, loop, nullptr);  // comes back when the runtime stops
  set_current_worker(nullptr);
}

template <machine::machine M> void engine<M>::loop_entry(void* engine_address) {
  static_cast<engine*>(engine_address)->loop();
}

// Runs on a stack of its own, not always on the same worker: run() may come back on another one.
template <machine::machine M> void engine<M>::loop() {
  for (;;) {
    worker& w = static_cast<worker&>(*current_worker());
    detail::record* r = nullptr;
    if (w.is_special) [[unlikely]]
      r = next_special(w);
    else if (r = next(w); r == nullptr)
      r = search(w);
    if (M::load(attention_, base::relaxed) != 0 && r != nullptr && passes_over(w, r)) [[unlikely]]
      continue;
    if (w.is_reserve && !take_turn(w, r)) [[unlikely]]
      continue;
    if (r == nullptr) {  // stopping
      fiber* mine = w.running;
      w.running = w.home;
      machine_.jump(w.id, *mine, *w.home, nullptr);
    }
    while (r != nullptr) r = run(static_cast<worker&>(*current_worker()), r);
  }
}

// A worker may have looked whether there is a pause long before it took r. Whoever took what was submitted after
// pause() has seen that, too, so looking once more is enough. Gives whether r is left for later. Who: w, which has
// taken r.
template <machine::machine M> bool engine<M>::passes_over(worker& w, detail::record* r) {
  if (r->kind != detail::record_kind::task || !paused() || chooses()) return false;
  make_ready(w, r);
  w.passed_over = true;
  return true;
}

// The reserve and the creator. As the two steps of loop() for others.
template <machine::machine M> detail::record* engine<M>::next_special(worker& w) {
  if (w.creates_only) return next_of_creator(w);
  detail::poke(w.shown_id, worker::no_id);
  detail::record* r = next(w);
  return r != nullptr ? r : search(w);
}

// Own deque first, newest first; from time to time the inboxes, so that a worker that never runs dry serves them too.
template <machine::machine M> detail::record* engine<M>::next(worker& w) {
  if (chooses()) return next_by_order(w);
  if (M::load(attention_, base::relaxed) != 0) [[unlikely]] {
    w.passed_over = true;
    w.body_end_ps = 0;
    if (paused()) return nullptr;
    if (detail::record* r = next_urgent()) return r;
  }
  if (w.tick >= w.tick_limit) {
    w.tick = 0;
    w.timed = w.watched = true;
    w.body_end_ps = 0;
    if (bodies_are_tiny()) {
      if (!w.reluctant) w.reluctant = others_move(w);
      give_way(w);
    }
    if (detail::record* r = w.box.pop()) return r;
    if (detail::record* r = central_.pop()) return r;
    if (detail::record* r = next_throttled(w)) return r;
    if (detail::record* r = look_aside(w)) return r;
  }
  detail::record* r = next_own(w);
  return r != nullptr ? r : next_shared(w);
}

template <machine::machine M> detail::record* engine<M>::next_own(worker& w) {
  detail::record* r = deque::pop(w, w.coarse);
  if (r != nullptr) keep_within_reach(w);
  return r;
}

// Before a body: what is private now stays out of reach until the body ends, so long bodies leave nothing private.
template <machine::machine M> void engine<M>::keep_within_reach(worker& w) noexcept {
  if (!w.coarse) {
    if (deque::starved(w) && deque::has_private(w)) share(w);
  } else if (workers() > 1 && deque::expose(w)) {
    sleep_.notify(machine_);
  }
}

// Where to find work, nearest first. `all`: with every worker, and not only those whose turn it is.
template <machine::machine M> detail::record* engine<M>::next_shared(worker& w, bool all) {
  if (chooses()) return next_by_order(w);
  w.body_end_ps = 0;
  if (M::load(attention_, base::seq_cst) != 0) [[unlikely]] {
    if (paused()) {
      while (requests_wait_for_anyone() && create_one(w)) w.passed_over = true;  // creation goes on, as inline
      return next_throttled(w);
    }
    if (detail::record* r = next_urgent()) return r;
  }
  if (w.passed_over) [[unlikely]] {
    if (detail::record* r = next_own(w)) return r;
    w.passed_over = false;
  }
  if (detail::record* r = w.box.pop()) return r;
  if (creator_ != nullptr) [[unlikely]]
    if (detail::record* r = next_created(w)) return r;
  if (detail::record* r = central_.pop()) return r;
  if (detail::record* r = steal(w, all)) return r;
  if (detail::record* r = next_throttled(w)) return r;
  if (M::load(quiescent_waiting_, base::seq_cst) == 0 || sleep_.somebody_is_busy()) return nullptr;
  return end_if_quiescent(w);
}

template <machine::machine M> detail::record* engine<M>::next_urgent() noexcept {
  detail::record* r = urgent_.pop();
  if (r != nullptr) static_cast<void>(M::fetch_sub(attention_, 1u, base::seq_cst));
  return r;
}

template <machine::machine M> bool engine<M>::paused() noexcept {
  return (M::load(attention_, base::seq_cst) & paused_bit) != 0;
}

// Whoever had something last time has more, as a rule; so it is asked before the policy is. With many workers most
// looks find nothing, and each is a line that may have to come from far away; so then the partners come next, and of
// the others a few each time, but all of them where `all`.
template <machine::machine M> detail::record* engine<M>::steal(worker& w, bool all) {
  const bool keeps_away = w.reluctant && bodies_are_tiny();
  if (keeps_away && w.id != 0) return nullptr;
  if (w.robbed_last != worker::no_id && !keeps_away) {
    if (detail::record* r = rob(w, *workers_[w.robbed_last])) return r;
    w.robbed_last = worker::no_id;
  }
  all = all || workers() <= base::sweep_max || keeps_away || w.is_reserve;
  if (!all && rules_->has_partners())
    if (detail::record* r = rob_partners(w)) return r;
  // The reserve has no place of its own, so it robs in order of ids; and everybody robs it last.
  const unsigned seats = static_cast<unsigned>(workers_.size());
  if (all) w.victim_next = 0;
  for (unsigned looks = all ? seats - 1 : base::sweep_max; looks != 0; --looks) {
    const unsigned i = w.victim_next;
    w.victim_next = i + 2 < seats ? i + 1 : 0;
    const bool ruled = !w.is_reserve && i + 1 < workers();
    worker& victim = *workers_[ruled ? rules_->victim(w.id, i, w.rng) : w.is_reserve ? i : seats - 1];
    if (keeps_away && !M::load(victim.gives_way, base::relaxed)) continue;
    if (detail::record* r = rob(w, victim)) return r;
  }
  return nullptr;
}

// The workers whose number differs from w's in one bit, nearest first as numbers go. Tasks reach everybody over those
// in a few steps, and a victim has few thieves, which would else be in each other's way on the one line that is its
// word.
template <machine::machine M> detail::record* engine<M>::rob_partners(worker& w) {
  for (unsigned bit = 1; bit < workers(); bit *= 2)
    if (const unsigned partner = w.id ^ bit; partner < workers())
      if (detail::record* r = rob(w, *workers_[partner])) return r;
  return nullptr;
}

// Of several tasks it takes the oldest is to run next; the others go where the next thief finds them, nearer to it than
// the victim was. Who has lost against another goes elsewhere.
template <machine::machine M> detail::record* engine<M>::rob(worker& w, worker& victim) {
  loot got;
  M::work(model::step::steal);
  const auto how_many = [&](std::uint32_t available) {
    if (&victim == &w) return 1u;
    return std::min(rules_->how_many(w.id, victim.id, available), deque::room(w) + 1);
  };
  if (deque::steal(victim, got, how_many) != steal_result::taken) return nullptr;
  if (&victim != &w) {
    M::took_from(victim.id);
    w.robbed_last = victim.id;
    detail::poke(w.steals, detail::peek(w.steals) + got.count);
    if (w.trace != nullptr)
      for (std::uint32_t i = 0; i < got.count; ++i) trace_stolen(w, victim, *got.tasks[i]);
  }
  if (got.count > 1) {
    for (std::uint32_t i = 1; i < got.count; ++i) deque::push(w, got.tasks[i]);
    keep_within_reach(w);
    if (w.coarse) sleep_.spread(machine_, got.count - 1);
  }
  return got.tasks[0];
}

// Bodies so short that bringing one over to another core costs more than running it here. Then a thief is reluctant: it
// keeps away while the others move, and looks again after each search. A task whose owner does not move - it is away in
// the program, or blocked - waits no longer than that, and then they are taken one after the other until others move.
template <machine::machine M> bool engine<M>::bodies_are_tiny() noexcept {
  return M::load(body_ns_, base::relaxed) < base::worth_stealing_ns;
}

// Whether any other worker has run or submitted a task since w last asked. Cost: their lines, so not for every task.
template <machine::machine M> bool engine<M>::others_move(worker& w) noexcept {
  std::uint64_t moves = 0;
  for (const auto& x : workers_)
    if (x.get() != &w) moves += M::load(x->tasks, base::relaxed) + M::load(x->created, base::relaxed);
  return std::exchange(w.seen_moves, moves) != moves;
}

// The main thread submits, and w runs what it submits, tiny bodies: every handle and record goes from one to the other,
// which costs both more than is done. So now and then w leaves the main thread alone for as long as a search takes.
// What w has is within reach meanwhile, and a main thread that has begun to wait may have it (steal()).
template <machine::machine M> void engine<M>::give_way(worker& w) {
  worker& main = *workers_[0];
  const std::uint64_t submitted = M::load(main.created, base::relaxed);
  if (&w == &main || w.is_reserve || std::exchange(w.seen_submitted, submitted) == submitted) return;
  if (deque::expose(w)) sleep_.notify(machine_);
  M::store(w.gives_way, true, base::relaxed);
  const std::uint64_t until = machine_.now_ps() + base::search_ns * 1000;
  unsigned spins = 0;
  while (machine_.now_ps() < until && M::load(stopping_, base::relaxed) == 0) M::search_pause(++spins, until);
  M::store(w.gives_way, false, base::relaxed);
  w.seen_submitted = M::load(main.created, base::relaxed);
}

// Looks for the time that a wake-up would cost, whether others rely on it or not.
template <machine::machine M> detail::record* engine<M>::look_around(worker& w) {
  const std::uint64_t until = machine_.now_ps() + base::search_ns * 1000;
  unsigned spins = 0;
  do {
    if (detail::record* r = next_shared(w)) return r;
    if (M::load(stopping_, base::acquire) != 0) return nullptr;
    M::search_pause(++spins, until);
  } while (machine_.now_ps() < until);
  return nullptr;
}

// Nothing to do here. Gives a record, sooner or later; nullptr when the runtime stops. Protocol: sleep.md.
template <machine::machine M> detail::record* engine<M>::search(worker& w) {
  bool counted = sleep_.begin_search();
  sleep_.set_busy(w.id, false);
  for (;;) {
    if (detail::record* r = look_around(w)) {
      if (counted) sleep_.found(machine_);
      sleep_.set_busy(w.id, true);
      return r;
    }
    if (counted) sleep_.give_up();
    if (M::load(stopping_, base::seq_cst) != 0) return nullptr;
    if (bodies_are_tiny()) {
      // Who may not search any more, because enough do, must not wait for the others either: it steals.
      w.reluctant = others_move(w) && anything_visible(w) && sleep_.begin_search();
      counted = w.reluctant;
      if (counted) continue;
    }
    if (w.is_reserve && w.throttled_head == nullptr && leaves_reserve()) return nullptr;
    if (pull(w)) {
      counted = sleep_.begin_search();
      if (detail::record* r = next_shared(w, true)) {
        counted ? sleep_.found(machine_) : sleep_.notify(machine_);
        sleep_.set_busy(w.id, true);
        return r;
      }
      continue;
    }
    // Passed over because of a pause, and perhaps the last that is left: who looks for a stall must see it.
    if (w.passed_over) static_cast<void>(deque::expose(w));
    if (sleep_.announce(w.id)) break_stall(w);
    if (!anything_visible(w)) {
      park(w);
      counted = true;
      continue;
    }
    counted = !sleep_.retract(w.id);
    if (counted) {
      machine_.park(w.id);  // takes the wake that is on its way
    } else {
      detail::record* r = next_shared(w, true);
      if (r == nullptr) r = end_if_quiescent(w);
      if (r != nullptr) {
        sleep_.set_busy(w.id, true);
        sleep_.notify(machine_);  // others may have relied on the search that was given up, and there may be more
        return r;
      }
      counted = sleep_.begin_search();
    }
  }
}

template <machine::machine M> bool engine<M>::anything_visible(worker& w) noexcept {
  if (M::load(stopping_, base::seq_cst) != 0) return true;
  if (M::load(beyond_window_, base::seq_cst) != 0 && w.throttled_head != nullptr) return true;
  if (requests_wait_for_anyone()) return true;
  if (paused()) return false;
  if (chooses() && order_->has_for(w.id)) return true;
  if (!w.box.empty() || !central_.empty() || !urgent_.empty() || w.passed_over) return true;
  for (const auto& victim : workers_)
    if (victim.get() != &w && deque::stealable(*victim)) return true;
  return M::load(quiescent_waiting_, base::seq_cst) != 0 && quiescent();
}

// Runs r and gives a task to run next, or nullptr. May return on another worker than it was called on.
template <machine::machine M> detail::record* engine<M>::run(worker& w, detail::record* r) {
  if (r->kind == detail::record_kind::resume) {
    resume(w, waiter::of(r));
    return nullptr;
  }
  WEFT_ASSERT(r->state == detail::record_state::ready);
  M::work(model::step::run);
  M::touch(r, bytes_in_use(*r), false);  // before the clock: where a record comes from does not make its body long
  if (w.watched) [[unlikely]] {
    if (w.trace != nullptr) return run_traced(w, r);
    run_timed(w, r);
  } else {
    static_cast<void>(call_body(w, r));
  }
  return follow(static_cast<worker&>(*current_worker()), r);
}

template <machine::machine M> void engine<M>::run_timed(worker& w, detail::record* r) {
  const std::uint64_t start = machine_.now_ps();
  static_cast<void>(call_body(w, r));
  note_length(static_cast<worker&>(*current_worker()), machine_.now_ps() - start);
}

// Whether bodies are long is asked of the clock each time while they are, and once in a while when they are short.
template <machine::machine M> void engine<M>::note_length(worker& w, std::uint64_t body_ps) noexcept {
  const auto ns = static_cast<std::uint32_t>(std::min<std::uint64_t>(body_ps / 1000, unknown_ns / 8));
  const std::uint32_t before = M::load(body_ns_, base::relaxed);
  const std::uint32_t now = before == unknown_ns ? ns
                                                 : before + (ns > before ? (ns - before + 7) / 8 : 0) -
                                                       (ns < before ? (before - ns + 7) / 8 : 0);
  if (now != before) M::store(body_ns_, now, base::relaxed);
  const bool is_long = body_ps >= base::long_body_ps;
  w.short_bodies = is_long ? 0 : w.short_bodies + 1;
  w.coarse = is_long || (w.coarse && w.short_bodies < base::short_bodies_max);
  w.timed = w.coarse;
  w.watched = w.timed || w.trace != nullptr;
}

// The body of r has returned on w. Gives what runs next.
template <machine::machine M> detail::record* engine<M>::follow(worker& w, detail::record* r) {
  detail::record* follower = done(w, r);
  if (follower == nullptr) return nullptr;
  if (++w.tick < w.tick_limit && M::load(attention_, base::relaxed) == 0) return follower;
  push_own(w, follower);
  return nullptr;
}

template <machine::machine M> trace::outcome engine<M>::call_body(worker& w, detail::record* r) {
  r->state = detail::record_state::running;
  r->next = nullptr;  // from here on: who waits for the children
  r->cursor = 0;      // from here on: the number of children so far
  w.current = r;
  count_one(w.tasks);
  machine_.begin_body(*r);
  trace::outcome outcome = trace::outcome::done;
  if constexpr (M::modelled) note_step(r);
  try {
    if (!failures_.any() || !reads_poison(*r)) [[likely]]
      r->invoke(*r, true);
    else if (skip(*r))
      outcome = trace::outcome::skipped;
  } catch (...) {
    fail(*r, std::current_exception());
    outcome = trace::outcome::failed;
  }
  if constexpr (M::modelled) {
    if (outcome != trace::outcome::skipped) machine_.end_body(*r);
    if (order_ != nullptr) [[unlikely]]
      order_->ended(*r);
  }
  return outcome;
}

// Whether r has lost its accesses (engine_create.hpp).
[[nodiscard]] inline bool was_refused(detail::record& r) noexcept {
  return r.access_count != 0 && (r.accesses()[0].handle_and_kind & detail::handle_address_mask) == 0;
}

template <machine::machine M> bool engine<M>::reads_poison(detail::record& r) noexcept {
  if (was_refused(r)) return true;
  for (std::uint32_t i = 0; i < r.access_count; ++i)
    if (M::load(access::handle_of(r.accesses()[i]).poisoned, base::relaxed)) return true;  // ordered by the version
  return false;
}

// Gives whether r was skipped; if a wait of the whole program has healed its handles in between, its body is called.
template <machine::machine M> bool engine<M>::skip(detail::record& r) {
  if (was_refused(r)) {  // and has failed already
    r.invoke(r, false);
    return true;
  }
  std::exception_ptr e;
  for (std::uint32_t i = 0; i < r.access_count && e == nullptr; ++i)
    e = failures_.of(access::handle_of(r.accesses()[i]));
  r.invoke(r, e == nullptr);
  if (e != nullptr) fail(r, e);
  return e != nullptr;
}

template <machine::machine M> void engine<M>::fail(detail::record& r, const std::exception_ptr& e) {
  failures_.add(r, e);
  poison_writes(r, e);
}

template <machine::machine M> void engine<M>::poison_writes(detail::record& r, const std::exception_ptr& e) {
  for (std::uint32_t i = 0; i < r.access_count; ++i)
    if ((access::kind_of(r.accesses()[i]) & (detail::kind_readonly | detail::kind_resource)) == 0)
      failures_.poison(access::handle_of(r.accesses()[i]), e);
}

template <machine::machine M> void engine<M>::finish_accesses(detail::record* r, woken& list) {
  if (r->plain) return access::finish_plain<M>(*r, list);
  for (std::uint32_t i = 0; i < r->access_count; ++i)
    if (!access::is_repeated(r->accesses()[i])) access::finish<M>(r->accesses()[i], list);
}

// Whether x, which is ready, may run on w at once. A plain task may run anywhere.
template <machine::machine M> bool engine<M>::may_follow(const worker& w, const detail::record& x) const noexcept {
  return own_deque_only_ && (x.plain || (x.kind == detail::record_kind::task && !x.urgent &&
                                         (x.pin == detail::record::unpinned || x.pin == w.id)));
}

// The body of r has returned: versions advance, and what waited for them moves on (SuperGlue §3.1, Listing 5). The
// first task that becomes ready is given back to run at once, where its data is; no queue lies on the critical path.
template <machine::machine M> detail::record* engine<M>::done(worker& w, detail::record* r) {
  w.current = nullptr;
  woken list;
  if (r->has_children) [[unlikely]] {
    r->state = detail::record_state::draining;
    if (!r->subtasks)
      finish_accesses(r, list);
    else if (r->exclusives != 0)
      reservations_.wait_begins(list);
    if (M::fetch_sub(r->pending, 1u, base::acq_rel) == 1) wholly_done(w, r);
  } else {
    if (r->access_count != 0) finish_accesses(r, list);
    if (r->parent == nullptr && !failures_.any()) [[likely]] {
      recycle(w, r);
      M::store(w.finished, detail::peek(w.finished) + 1, base::release);  // pairs with quiescent()
    } else {
      wholly_done(w, r);
    }
  }
  detail::record* follower = nullptr;
  while (detail::record* x = list.take()) {
    if (!advance_waiting(x, list)) continue;
    if (!may_follow(w, *x) || (follower != nullptr && !x->plain)) {
      make_ready(w, x);
      continue;
    }
    x->state = detail::record_state::ready;
    if (follower == nullptr)
      follower = x;
    else
      deque::push(w, x);
  }
  if (follower != nullptr) keep_within_reach(w);
  return follower;
}

// r and its children are done: the record is free, and its parent has one child less. Walks up as far as that was the
// last; a parent that waits for its children is resumed instead.
template <machine::machine M> void engine<M>::wholly_done(worker& w, detail::record* r) {
  for (;;) {
    detail::record* parent = r->parent;
    if (failures_.any()) [[unlikely]] {
      // The children's work counts as r's own: what r writes is as bad as theirs.
      const std::exception_ptr e = failures_.hand_up(*r);
      if (e != nullptr && r->subtasks) poison_writes(*r, e);
    }
    if (r->subtasks && r->has_children) {
      woken list;
      finish_accesses(r, list);
      if (r->exclusives != 0) reservations_.wait_ends();
      make_all_ready(&w, list);
    }
    recycle(w, r);
    if (parent == nullptr) {
      M::store(w.finished, detail::peek(w.finished) + 1, base::release);  // pairs with quiescent()
      return;
    }
    if (M::fetch_sub(parent->pending, 1u, base::acq_rel) != 1) return;
    if (parent->next != nullptr) return make_ready(w, parent->next);
    r = parent;
  }
}

}  // namespace weft::sched

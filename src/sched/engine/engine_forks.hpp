// What a fork and a finish ask of the engine (weft/detail/branch.hpp, scope.hpp), and a branch that somebody else runs.
#pragma once

namespace weft::sched {

template <machine::machine M> void engine<M>::enter_forks(detail::worker& w) {
  check_process();
  visit v(*this);
  join_.watch.call();
  start_if_paused();
  join_.branches.enter(static_cast<worker&>(w));
  context_.recording.program_forks(static_cast<worker&>(w));
}

template <machine::machine M> void engine<M>::leave_forks(detail::worker& w) noexcept {
  visit v(*this);
  context_.recording.program_forked(static_cast<worker&>(w));
  join_.branches.leave(static_cast<worker&>(w));
  place_.short_forks.over(static_cast<worker&>(w));
}

template <machine::machine M> detail::not_begun engine<M>::fork(detail::worker& w, detail::branch& b) {
  if (!context_.recording.on()) [[likely]]
    return offer(w, b);
  worker& me = static_cast<worker&>(w);
  const std::uint32_t id = context_.recording.strands().forks(me);
  const detail::not_begun which = offer(w, b, id);
  context_.recording.strands().forked(me, which != detail::not_begun::both);
  return which;
}

// id: what a trace calls b by, if somebody else runs it.
template <machine::machine M>
detail::not_begun engine<M>::offer(detail::worker& w, detail::branch& b, std::uint32_t id) {
  using detail::not_begun;
  if (detail::peek(w.kept) != &b)
    make_ready(b, w.current);
  else if (!deque::take_kept(w, b))  // a thief has it
    return context_.poison.is_stopped(w.current) ? not_begun::first : not_begun::nothing;
  if (context_.poison.is_stopped(b.parent)) return not_begun::both;
  b.trace_id() = id;
  visit v(*this);
  join_.branches.offer(static_cast<worker&>(w), b);
  return not_begun::nothing;
}

template <machine::machine M> void engine<M>::look_in_loop(detail::worker& w, std::uint64_t left, bool begins) {
  if (context_.recording.on()) context_.recording.strands().looks_in_loop(static_cast<worker&>(w), left, begins);
}
template <machine::machine M> void engine<M>::loop_over(detail::worker& w) {
  if (context_.recording.on()) context_.recording.strands().loop_is_over(static_cast<worker&>(w));
}

template <machine::machine M> void engine<M>::share(detail::worker& w) noexcept {
  if (!place_.short_forks.turns_down(static_cast<worker&>(w))) context_.placement.share(static_cast<worker&>(w));
}

// What a hooked worker keeps all goes the slow way: some of it may be in a scope that is cancelled.
template <machine::machine M> bool engine<M>::join(detail::worker& w, detail::branch& b) {
  context_.recording.strands().first_is_over(static_cast<worker&>(w));
  bool is_mine = kept<M>::any(w) && deque::take_kept(w, b);
  if (!is_mine || detail::peek(w.hooked) != 0) {
    visit v(*this);
    if (!is_mine) is_mine = join_.branches.join(static_cast<worker&>(w), b);
  }
  if (is_mine && context_.poison.is_stopped(b.parent)) {
    context_.recording.strands().does_not_begin_second(static_cast<worker&>(*current_worker()));
    b.invoke(b, detail::errand::skip);
    throw cancelled_error();
  }
  if (is_mine) return !context_.recording.on() || !call_recorded(b);
  context_.recording.strands().second_ran_elsewhere(static_cast<worker&>(*current_worker()));
  if (std::exception_ptr e = join_.branches.thrown_by(b)) std::rethrow_exception(e);
  return false;
}

// Calls b here, instead of its fork, so that its end is seen. Returns whether it has.
template <machine::machine M> bool engine<M>::call_recorded(detail::branch& b) {
  context_.recording.strands().second_begins(static_cast<worker&>(*current_worker()));
  struct at_end {
    engine& e;
    ~at_end() { e.context_.recording.strands().second_is_over(static_cast<worker&>(*current_worker())); }
  } const guard{*this};
  b.invoke(b, detail::errand::run);
  return true;
}

// Before it waits for who may have b: if that is in a scope that can be cancelled, its parts need not all be done.
template <machine::machine M> void engine<M>::drop(detail::worker& w, detail::branch& b) noexcept {
  visit v(*this);
  context_.recording.strands().first_is_over(static_cast<worker&>(w));
  context_.poison.cancels(b, std::current_exception());
  try {
    const bool is_mine = join_.branches.join(static_cast<worker&>(w), b);
    context_.recording.strands().does_not_begin_second(static_cast<worker&>(*current_worker()));
    if (is_mine) {
      if (context_.poison.is_stopped(b.parent)) b.invoke(b, detail::errand::skip);
      return;
    }
    if (const std::exception_ptr thrown = join_.branches.thrown_by(b))
      context_.poison.tell_scope(b, thrown);
    else
      b.invoke(b, detail::errand::destroy);
  } catch (const error&) {
    // Nothing can run any more, and that exception is told already by the one that is on its way.
  }
}

template <machine::machine M> void engine<M>::open_scope(detail::worker& w, detail::scope& s) {
  const visit v(*this);
  join_.scopes.open(static_cast<worker&>(w), s);
}

template <machine::machine M> void engine<M>::close_scope(detail::worker& w, detail::scope& s) {
  if (at_home() != nullptr) return join_.scopes.close(static_cast<worker&>(w), s);
  const visit v(*this);
  const program_call call(context_.ordering);
  join_.scopes.close(static_cast<worker&>(w), s);
}

// A child that the inline path has called, and that is not simply over. Who: the stack of its parent; threw: inside the
// handler of what it threw.
template <machine::machine M> void engine<M>::end_call(detail::worker& w, detail::record& r, bool threw) noexcept {
  WEFT_ASSERT(w.current == &r && r.access_count == 0);
  if (threw) context_.poison.fail(r, std::current_exception());
  detail::record* const follower = done(static_cast<worker&>(w), &r);
  WEFT_ASSERT(follower == nullptr);
}

// A part of the body on w, which is no task of its own.
template <machine::machine M> void engine<M>::failed(detail::worker& w, const std::exception_ptr& e) noexcept {
  detail::record part{};
  part.parent = w.current;
  context_.poison.cancels(part, e);
}

// Step 5 for a branch: as a task without accesses, whose children are done when it is.
template <machine::machine M> detail::record* engine<M>::run_branch(worker& w, branch& b) {
  M::work(model::step::run);
  if (context_.poison.is_stopped(b.parent)) [[unlikely]] {
    b.invoke(b, detail::errand::skip);
    join_.branches.over(w, b, base::exception_or_bad_alloc([] { return cancelled_error(); }));
    return nullptr;
  }
  const std::uint32_t id = b.trace_id();
  branches<M>::begins(b);
  begin_body(w, b);
  context_.recording.strands().begins_branch(w, id);
  std::exception_ptr thrown;
  try {
    b.invoke(b, detail::errand::run);
  } catch (...) {
    thrown = std::current_exception();
    context_.poison.cancels(b, thrown);
  }
  machine_.end_body(b);
  try {
    if (b.has_children) join_.waits.for_children(static_cast<worker&>(*current_worker()));
  } catch (...) {
    const std::exception_ptr below = std::current_exception();
    if (thrown == nullptr) {
      b.invoke(b, detail::errand::destroy);
      context_.poison.cancels(b, below);
    }
    if (thrown == nullptr || !detail::is_cancelled_error(below)) thrown = below;  // a child comes first
  }
  worker& here = static_cast<worker&>(*current_worker());
  context_.recording.strands().ends(here);
  here.current = nullptr;
  join_.branches.over(here, b, std::move(thrown));
  return nullptr;
}

// A scope of this runtime is cancelled, and open; or is not any more. While there is one all forks come to the slow
// half. Those that were made before, and whose first body is still running, come there when it returns, since their
// worker's list is claimed then. So the way that forks go as a rule has nothing of this.
template <machine::machine M> void engine<M>::cancelled(bool is_open) noexcept {
  if (is_open) context_.failures.cancelled(true);
  const auto hook = [&] {
    for (const auto& w : context_.crew) {
      if (is_open) {
        static_cast<void>(M::unseen::fetch_or(w->hooked, detail::hooked_cancelled, base::release));
        static_cast<void>(M::unseen::fetch_or(w->claimed, std::uint8_t{1}, base::release));
      } else {
        constexpr auto others = static_cast<std::uint8_t>(~detail::hooked_cancelled);
        static_cast<void>(M::unseen::fetch_and(w->hooked, others, base::relaxed));
      }
    }
  };
  is_open ? context_.attention.add_cancelled(hook) : context_.attention.remove_cancelled(hook);
  if (!is_open) context_.failures.cancelled(false);
}

}  // namespace weft::sched

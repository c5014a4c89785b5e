// What a fork and a finish ask of the engine (weft/detail/branch.hpp, scope.hpp), and a branch that somebody else runs.
#pragma once

namespace weft::sched {

template <machine::machine M> void engine<M>::enter_forks(detail::worker& w) {
  visit v(*this);
  watch_.call();
  start_if_paused();
  branches_.enter(static_cast<worker&>(w));
}

template <machine::machine M> void engine<M>::leave_forks(detail::worker& w) noexcept {
  visit v(*this);
  branches_.leave(static_cast<worker&>(w));
}

template <machine::machine M> void engine<M>::fork(detail::worker& w, detail::branch& b) {
  visit v(*this);
  branches_.offer(static_cast<worker&>(w), b);
}

template <machine::machine M> bool engine<M>::join(detail::worker& w, detail::branch& b) {
  {
    visit v(*this);
    if (branches_.join(static_cast<worker&>(w), b)) return true;
  }
  if (std::exception_ptr e = branches_.thrown_by(b)) std::rethrow_exception(e);
  return false;
}

template <machine::machine M> void engine<M>::drop(detail::worker& w, detail::branch& b) noexcept {
  visit v(*this);
  try {
    if (branches_.join(static_cast<worker&>(w), b)) return;
    if (branches_.thrown_by(b) == nullptr) b.invoke(b, detail::errand::destroy);
  } catch (const error&) {
    // Nothing can run any more, and that exception is told already by the one that is on its way.
  }
}

template <machine::machine M> void engine<M>::open_scope(detail::worker& w, detail::scope& s) {
  const visit v(*this);
  scopes_.open(static_cast<worker&>(w), s);
}

template <machine::machine M> void engine<M>::close_scope(detail::worker& w, detail::scope& s) {
  if (at_home() != nullptr) return scopes_.close(static_cast<worker&>(w), s);
  const visit v(*this);
  const program_call call(ordering_);
  scopes_.close(static_cast<worker&>(w), s);
}

// A child that the inline path has called, and that is not simply over. Who: the stack of its parent; threw: inside the
// handler of what it threw.
template <machine::machine M> void engine<M>::end_call(detail::worker& w, detail::record& r, bool threw) noexcept {
  WEFT_ASSERT(w.current == &r && r.access_count == 0);
  if (threw) poison_.fail(r, std::current_exception());
  detail::record* const follower = done(static_cast<worker&>(w), &r);
  WEFT_ASSERT(follower == nullptr);
}

// Step 5 for a branch: as a task without accesses, whose children are done when it is.
template <machine::machine M> detail::record* engine<M>::run_branch(worker& w, branch& b) {
  M::work(model::step::run);
  branches<M>::begins(b);
  begin_body(w, b);
  std::exception_ptr thrown;
  try {
    b.invoke(b, detail::errand::run);
  } catch (...) {
    thrown = std::current_exception();
  }
  machine_.end_body(b);
  try {
    if (b.has_children) waits_.for_children(static_cast<worker&>(*current_worker()));
  } catch (...) {
    if (thrown == nullptr) {
      b.invoke(b, detail::errand::destroy);
      thrown = std::current_exception();
    }
  }
  worker& here = static_cast<worker&>(*current_worker());
  here.current = nullptr;
  branches_.over(here, b, std::move(thrown));
  return nullptr;
}

}  // namespace weft::sched

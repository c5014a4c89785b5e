// Part of engine.hpp. What goes into a trace, and when the clock is read for it. Without a trace each step of a task's
// life costs the test of one pointer; with it, a task costs two looks at the clock - at its submission and at its end,
// which is the start of the task that follows directly - and 32 bytes at each, and 32 for each access.
// Recording takes no modelled time and no decision looks at it: a virtual machine runs the same with and without.
#pragma once

#include <cstdio>

namespace weft::sched {

// r has its parent and its versions, and nobody can run it yet. w: nullptr for a stranger.
template <machine::machine M> void engine<M>::trace_submitted(worker* w, detail::record& r) noexcept {
  if (creator_ == nullptr || r.applies_reduction) {
    const std::uint64_t now = machine_.now_ps();
    return w != nullptr ? w->trace->submitted(r, now) : trace_->submitted_outside(r, now);
  }
  w->trace->submitted(r, w->requested_ps, w->requested_by);  // create_one() is at it
}

// As run(), which begins with the choice between the two.
template <machine::machine M> detail::record* engine<M>::run_traced(worker& w, detail::record* r) {
  const bool timed = w.timed;
  const bool follows = trace_start(w, *r);
  const std::uint64_t start = follows ? w.body_end_ps : machine_.now_ps();
  const std::uint16_t first = w.id;
  const trace::outcome outcome = call_body(w, r);
  worker& here = static_cast<worker&>(*current_worker());
  const std::uint64_t end = machine_.now_ps();
  trace_ran(here, *r, {start, end, first, follows, outcome});
  if (timed) note_length(here, end - start);
  return follow(here, r);
}

// Gives whether r starts when the last body ended. Then nothing but this worker's own steps came in between; r may
// still have become ready by others, a little later, which the writer of the trace puts right (complete_versions). What
// is exclusive was perhaps given back by others, which nothing in the trace would tell: there the clock is asked.
template <machine::machine M> bool engine<M>::trace_start(worker& w, const detail::record& r) noexcept {
  if (w.trace->counters.size() != 0) w.trace->counters.begin();
  return !M::modelled && w.body_end_ps != 0 && r.exclusives == 0;
}

template <machine::machine M> void engine<M>::trace_ran(worker& w, const detail::record& r, const piece& ran) noexcept {
  w.body_end_ps = ran.end_ps;
  w.trace->add({.time = ran.start_ps,
                .value = ran.end_ps,
                .task = r.trace_id,
                .position = ran.follows ? 1u : 0u,
                .worker = ran.first_worker,
                .kind = trace::event_kind::ran,
                .detail = static_cast<std::uint8_t>(ran.outcome)});
  trace_counts(w, &r);
}

template <machine::machine M> void engine<M>::trace_counts(worker& w, const detail::record* body) noexcept {
  if (w.trace->counters.size() == 0 || body == nullptr) return;
  const trace::counter_group::values counted = w.trace->counters.since();
  for (std::uint8_t i = 0; i < w.trace->counters.size(); ++i)
    w.trace->add({.value = counted.of[i], .task = body->trace_id, .kind = trace::event_kind::counted, .detail = i});
}

// body: nullptr for the main thread.
template <machine::machine M> std::uint64_t engine<M>::trace_suspend(worker& w, const detail::record* body) noexcept {
  w.body_end_ps = 0;
  trace_counts(w, body);
  return machine_.now_ps();
}

template <machine::machine M> void engine<M>::trace_resume(worker& w, const detail::record* body, trace::reason why,
                                                           const pause_start& from) noexcept {
  w.trace->add({.time = from.ps,
                .value = machine_.now_ps(),
                .task = body != nullptr ? body->trace_id : 0,
                .other = why.handle,
                .worker = from.worker,
                .kind = trace::event_kind::waited,
                .detail = static_cast<std::uint8_t>(why.why)});
  if (w.trace->counters.size() != 0) w.trace->counters.begin();
}

// A wait that found nothing to wait for. On another machine the same wait may have to: who replays the trace needs it.
template <machine::machine M> void engine<M>::trace_passed(worker& w, trace::reason why) noexcept {
  w.trace->add({.time = machine_.now_ps(),
                .task = w.current != nullptr ? w.current->trace_id : 0,
                .other = why.handle,
                .kind = trace::event_kind::passed,
                .detail = static_cast<std::uint8_t>(why.why)});
}

template <machine::machine M>
void engine<M>::trace_stolen(worker& w, const worker& victim, const detail::record& r) noexcept {
  w.trace->add({.time = machine_.now_ps(),
                .task = r.kind == detail::record_kind::task ? r.trace_id : 0,
                .worker = victim.id,
                .kind = trace::event_kind::stolen});
}

// Sleeps until somebody claims w, and says so to the statistics and the trace.
template <machine::machine M> void engine<M>::park(worker& w) {
  count_one(w.sleeps);
  const std::uint64_t from = w.trace != nullptr ? machine_.now_ps() : 0;
  machine_.park(w.id);
  if (w.trace != nullptr) w.trace->add({.time = from, .value = machine_.now_ps(), .kind = trace::event_kind::slept});
}

template <machine::machine M> void engine<M>::write_trace() {
  if (trace_ == nullptr) throw error("weft: this runtime records no trace; give it the option trace, or WEFT_TRACE");
  visit v(*this);
  trace::facts about;
  about.machine = machine_.name();
  about.policy = rules_name_;
  about.seed = setup_.seed;
  about.window = setup_.window_tasks;
  about.duration_ns = (machine_.now_ps() - start_ps_) / 1000;
  about.places = places_.get();
  about.bound = setup_.bound;
  trace_->write(std::move(about), start_ps_);
}

template <machine::machine M> void engine<M>::write_trace_or_say() noexcept {
  if (trace_ == nullptr || !trace_->anything_new()) return;
  const std::string told = trace_->last_error();  // to the program, by write_trace(): tried again, but not said again
  try {
    write_trace();
  } catch (const std::exception& e) {
    if (told != e.what()) std::fprintf(stderr, "%s\n", e.what());
  }
}

}  // namespace weft::sched

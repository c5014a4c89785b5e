// The strands that are recorded (trace/strand.hpp): which stack has one, and when it begins and ends. A body gets one
// at its first fork or loop, a branch that somebody else runs, and the main program for as long as it forks outside of
// tasks. A strand belongs to its stack: it is put aside where that is, as the scope without a record is
// (suspension.hpp), and where a body calls others while it waits. Forks come here because where a trace is recorded all
// workers are hooked; without one this costs a test in the slow half of a join.
#pragma once
#include <cstdint>
#include <new>
#include <utility>

#include "base/assert.hpp"
#include "sched/workers/worker.hpp"
#include "trace/strand.hpp"
#include "weft/detail/branch.hpp"

namespace weft::sched {

template <class M> class strands {
 public:
  explicit strands(M& machine) : machine_(machine) {}

  // w leaves the stack that it is on, or enters one. Returns the strand that is recorded there.
  [[nodiscard]] static trace::strand* leaves_stack(worker<M>& w) noexcept {
    return std::exchange(w.trace.strand, nullptr);
  }
  static void enters_stack(worker<M>& w, trace::strand* s) noexcept { w.trace.strand = s; }

  // The stack on w has none so far, and gets one. Without memory it has none, and counts as lost. Who, of all: w's
  // thread, in what the strand is of.
  void begins(worker<M>& w, trace::strand_of of, std::uint32_t id, std::uint64_t own_ps = trace::no_time) noexcept {
    if (w.trace.book == nullptr) return;
    WEFT_ASSERT(w.trace.strand == nullptr);
    const std::uint32_t task = w.current != nullptr ? w.current->trace_id() : 0;
    w.trace.strand =
        new (std::nothrow) trace::strand(id != 0 ? id : w.trace.book->new_id(), task, of, machine_.now_ps(), own_ps);
  }
  // A branch, which has that number for its fork, begins on w in the record of a body.
  void begins_branch(worker<M>& w, std::uint32_t id) noexcept {
    count_one(w.counted.elsewhere);
    begins(w, trace::strand_of::branch, id);
  }
  // A pass of a pipeline, inside of what w is in, which goes on behind it.
  void begins_pass(worker<M>& w) noexcept {
    if (w.trace.book == nullptr) return;
    const std::uint32_t task = w.current != nullptr ? w.current->trace_id() : 0;
    trace::strand* const outer = w.trace.strand;
    w.trace.strand =
        new (std::nothrow) trace::strand(0, task, trace::strand_of::pass, machine_.now_ps(), trace::no_time, outer);
  }
  // A pipeline begins in the body on w, and is over. Returns whether there is a strand that knows of it.
  [[nodiscard]] bool pipeline_begins(worker<M>& w, std::uint32_t id) noexcept {
    if (!has_one(w)) return false;
    w.trace.strand->enters(machine_.now_ps());
    w.trace.strand->pipeline_begins(id);
    return true;
  }
  void pipeline_is_over(worker<M>& w) noexcept {
    w.trace.strand->pipeline_is_over();
    w.trace.strand->leaves(machine_.now_ps());
  }
  // What the strand on w is of is over.
  void ends(worker<M>& w) noexcept {
    if (w.trace.book == nullptr || w.trace.strand == nullptr) return;
    trace::strand& s = *w.trace.strand;
    const std::uint64_t now = machine_.now_ps();
    s.enters(now);
    s.ends(now);
    if (s.of() != trace::strand_of::body) stayed(w, s, now);
    w.trace.book->tell(s);
    delete w.trace.strand;
    w.trace.strand = nullptr;
  }
  // The stack of s was on w until now.
  void stayed(worker<M>& w, const trace::strand& s, std::uint64_t now_ps) noexcept {
    w.trace.book->add(
        {.time = s.stay_ps(), .value = now_ps, .task = s.task(), .other = s.id(), .kind = trace::event_kind::stay});
  }

  // The stack on w begins to wait, and goes on, perhaps elsewhere; or had nothing to wait for. Where it has a strand.
  void waits(worker<M>& w, std::uint64_t now_ps) noexcept {
    w.trace.strand->enters(now_ps);
    if (const trace::strand* s = w.trace.strand->of_stack(); s != nullptr && s->of() == trace::strand_of::branch)
      stayed(w, *s, now_ps);
  }
  void goes_on(worker<M>& w, trace::reason why) noexcept {
    const std::uint64_t now = machine_.now_ps();
    put(w, why);
    if (trace::strand* s = w.trace.strand->of_stack(); s != nullptr) s->stays_from(now);
    w.trace.strand->leaves(now);
  }
  void passed(worker<M>& w, std::uint64_t now_ps, trace::reason why) noexcept {
    w.trace.strand->enters(now_ps);
    put(w, why);
    w.trace.strand->leaves(now_ps);
  }
  void does(worker<M>& w, std::uint64_t now_ps, trace::step_kind kind, std::uint64_t which) noexcept {
    w.trace.strand->enters(now_ps);
    w.trace.strand->does(kind, which);
    w.trace.strand->leaves(now_ps);
  }

  // The body on w forks. Returns the number of the second body, should somebody else run it. Then the first begins,
  // unless the fork does not.
  [[nodiscard]] std::uint32_t forks(worker<M>& w) noexcept {
    if (w.trace.book == nullptr) return 0;
    count_one(w.counted.forks);
    if (!has_one(w)) return 0;
    const std::uint32_t id = w.trace.book->new_id();
    const std::uint64_t now = machine_.now_ps();
    w.trace.strand->enters(now);
    w.trace.strand->forks(now, id);
    return id;
  }
  void forked(worker<M>& w, bool begins) noexcept {
    if (w.trace.strand == nullptr) return;
    if (!begins) w.trace.strand->undoes_fork();
    w.trace.strand->leaves(machine_.now_ps());
  }
  void first_is_over(worker<M>& w) noexcept {
    if (w.trace.strand == nullptr) return;
    const std::uint64_t now = machine_.now_ps();
    w.trace.strand->enters(now);
    w.trace.strand->first_is_over(now);
  }
  // Behind first_is_over(): the second begins here; it, or what there is in its place, is over; or it ran elsewhere.
  void second_begins(worker<M>& w) noexcept {
    if (w.trace.strand != nullptr) w.trace.strand->leaves(machine_.now_ps());
  }
  void second_is_over(worker<M>& w) noexcept {
    if (w.trace.strand == nullptr) return;
    const std::uint64_t now = machine_.now_ps();
    w.trace.strand->enters(now);
    w.trace.strand->second_is_over(now);
    w.trace.strand->leaves(now);
  }
  void does_not_begin_second(worker<M>& w) noexcept {
    second_begins(w);
    second_is_over(w);
  }
  void second_ran_elsewhere(worker<M>& w) noexcept {
    if (w.trace.strand == nullptr) return;
    const std::uint64_t now = machine_.now_ps();
    w.trace.strand->second_ran_elsewhere(now);
    w.trace.strand->leaves(now);
  }

  void looks_in_loop(worker<M>& w, std::uint64_t left, bool begins) noexcept {
    if (w.trace.book == nullptr) return;
    if (begins) count_one(w.counted.forks);
    if (begins ? !has_one(w) : w.trace.strand == nullptr) return;
    const std::uint64_t now = machine_.now_ps();
    w.trace.strand->enters(now);
    w.trace.strand->looks_in_loop(now, left, begins);
    w.trace.strand->leaves(now);
  }
  void loop_is_over(worker<M>& w) noexcept {
    if (w.trace.strand == nullptr) return;
    const std::uint64_t now = machine_.now_ps();
    w.trace.strand->enters(now);
    w.trace.strand->loop_is_over(now);
    w.trace.strand->leaves(now);
  }

 private:
  // What others end, who follows the steps has no need of: a branch, room in the window, an event, a team, a child.
  static void put(worker<M>& w, trace::reason why) noexcept {
    if (why.why == trace::why::children) w.trace.strand->does(trace::step_kind::waits_children, 0);
    if (why.why == trace::why::all) w.trace.strand->does(trace::step_kind::waits_all, 0);
    if (why.why == trace::why::handle) w.trace.strand->does(trace::step_kind::waits_handle, why.handle);
  }
  [[nodiscard]] bool has_one(worker<M>& w) noexcept {
    if (w.trace.strand == nullptr && w.current != nullptr) begins(w, trace::strand_of::body, 0);
    return w.trace.strand != nullptr;
  }

  M& machine_;
};

}  // namespace weft::sched

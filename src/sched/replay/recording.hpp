// What goes into a trace, and when the clock is read for it. Without a trace each step of a task's life costs the test
// of one pointer; with it, a task costs three looks at the clock - at its submission, its start and its end - and 32
// bytes at the first and the last, and 32 for each access; on machines of several memory nodes 32 more, for where its
// data lay. The main program looks twice more, as it comes and goes, so that its own work can be told from submitting.
// What a look takes is taken off where it would count as the program's: who replays a trace of bodies of a microsecond
// would find them 3 % longer, and 15 % if the start were the end of the task before, which spares a look.
// Recording takes no modelled time and no decision looks at it: a virtual machine runs the same with and without. Who:
// each worker writes with its own recorder; a guest with the one for threads outside.
#pragma once
#include <algorithm>
#include <cstdio>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "base/assert.hpp"
#include "sched/replay/graph_state.hpp"
#include "sched/replay/listeners.hpp"
#include "sched/replay/located.hpp"
#include "sched/replay/strands.hpp"
#include "sched/workers/crew.hpp"
#include "trace/session.hpp"
#include "weft/error.hpp"

namespace weft::sched {

template <class M> class recording {
 public:
  explicit recording(M& machine) : strands_(machine), listeners_(machine), machine_(machine) {}

  // Before the machine starts: everything is recorded.
  void begin(std::unique_ptr<trace::session> s) noexcept {
    WEFT_ASSERT(!on());
    session_ = std::move(s);
  }
  // The same: these are told, too. Without a file events are kept as for one, and nothing is written.
  void tells(std::vector<listener> all, unsigned runtime) {
    if (!on()) session_ = std::make_unique<trace::session>();
    listeners_.open(std::move(all), runtime);
  }
  [[nodiscard]] sched::listeners<M>& listeners() noexcept { return listeners_; }
  // places: where data lie and workers are; nullptr: nothing is said of that. Who: the thread that makes the runtime,
  // before any worker runs.
  void open(crew<M>& all, const place::tree* places = nullptr, std::uint64_t look_ps = 0) {
    if (!on()) return;
    look_ps_ = look_ps;
    if (places != nullptr && places->memory_nodes() > 1) places_ = places;
    WEFT_ASSERT(all.is_open());
    session_->open(all.seats());
    for (const auto& w : all) {
      w->trace.book = &session_->of(w->id);
      w->pace.always = true;
    }
    session_->open_counters(*all.main().trace.book);
  }
  void begins(trace::facts about, std::uint64_t start_ps) {
    if (on()) session_->begins(std::move(about), start_ps);
  }
  void open_counters(worker<M>& w) {
    if (w.trace.book != nullptr) session_->open_counters(*w.trace.book);
  }
  [[nodiscard]] bool on() const noexcept { return session_ != nullptr; }
  [[nodiscard]] const char* path() const noexcept { return on() ? session_->file() : nullptr; }  // nullptr: none

  // r has its parent and its versions, and nobody can run it yet.
  [[gnu::noinline]] void submitted(worker<M>& w, detail::record& r) noexcept {
    detail::graph_state* const g = detail::graph_of(r);
    g == nullptr ? submitted_as_is(w, r) : submitted_run(w, r, *g);
  }
  // Run r of g begins: from here on its nodes have the numbers that were given when it was submitted. Who: its body.
  void run_begins(const detail::record& r, detail::graph_state& g) noexcept {
    if (!on()) return;
    const typename M::section guard(g.runs.state().lock);  // what is traced takes no modelled time
    while (!g.traced.empty() && g.traced.front().run != r.trace_id()) g.traced.pop_front();  // runs that were skipped
    if (g.traced.empty()) return;
    const std::vector<std::uint32_t>& ids = g.traced.front().nodes;
    for (std::size_t i = 0; i < ids.size(); ++i) g.nodes[i].node->task.trace_id() = ids[i];
    g.traced.pop_front();
  }
  void submitted_as_is(worker<M>& w, detail::record& r) noexcept { write_submitted(w, r), listeners_.submitted(w, r); }
  void write_submitted(worker<M>& w, detail::record& r) noexcept {
    WEFT_ASSERT(on() && (w.trace.book != nullptr || w.role == role::guest));
    if (w.trace.creates_request && !r.internal)
      return w.trace.book->submitted(r, w.trace.requested_ps, w.trace.requested_by);
    const std::uint64_t now = machine_.now_ps();
    if (w.trace.book == nullptr) return session_->submitted_outside(r, now);
    // What the runtime submits for itself, inside a call of the main program, has nothing of the program's before it.
    const std::uint64_t own = !is_main(w) ? trace::no_time : r.internal ? 0 : own_ps_;
    w.trace.book->submitted(r, now, trace::by_recorder, own);
    if (w.trace.strand != nullptr && !r.internal) strands_.does(w, now, trace::step_kind::submits, r.trace_id());
  }

  // The main program asks for a record: from here on it submits, until submission_over(). What lies between that and
  // the next submission or wait is its own work. Who: the submitter; nothing happens for others than the main program.
  void submission_begins(worker<M>& w) noexcept {
    if (!on()) return;
    sched::listeners<M>::check_call(w);
    if (is_main(w)) own_ps_ = own_until_now(w);
  }
  void submission_over(worker<M>& w) noexcept {
    if (on() && is_main(w) && w.trace.strand == nullptr) [[unlikely]]
      own_since_ps_ = machine_.now_ps();
  }
  // For registration, which calls it with a task whose versions are known and which nobody can run yet.
  [[nodiscard]] auto of_submission(worker<M>& w) noexcept {
    return [this, &w](detail::record& r) {
      if (on()) [[unlikely]]
        submitted(w, r);
    };
  }

  // r is handed over to be created elsewhere: when and by whom, in two fields that are free until registration.
  void requested(const worker<M>& w, detail::record& r) noexcept {
    if (!on()) return;
    r.request.made_ps = machine_.now_ps();
    r.request.made_by = w.role != role::guest ? w.id + 1u : trace::by_outside;
  }
  // The request r is being created on w, until creation_over().
  void creates(worker<M>& w, detail::record& r) noexcept {
    if (!on()) return;
    WEFT_ASSERT(!w.trace.creates_request && r.state == detail::record_state::requested);
    w.trace.requested_ps = r.request.made_ps;
    w.trace.requested_by = static_cast<std::uint16_t>(r.request.made_by);
    w.trace.creates_request = true;
  }
  void creation_over(worker<M>& w) noexcept { w.trace.creates_request = false; }

  // The body of r is about to start on w. Returns the strand of a body that waits below on this stack.
  [[nodiscard]] trace::strand* starts(worker<M>& w, const detail::record& r) noexcept {
    WEFT_ASSERT(w.trace.book != nullptr);
    listeners_.begins(w, r);
    if (w.trace.book->counters.size() != 0) w.trace.book->counters.begin();
    return sched::strands<M>::leaves_stack(w);
  }
  struct piece {
    std::uint64_t start_ps;
    std::uint64_t end_ps;
    std::uint16_t first_worker;
    trace::strand* outer;
    trace::outcome outcome;
  };
  void ran(worker<M>& w, const detail::record& r, const piece& p) noexcept {
    strands_.ends(w);
    w.trace.strand = p.outer;
    w.trace.book->add({.time = p.start_ps,
                       .value = std::max(p.start_ps, before_look(p.end_ps)),
                       .task = r.trace_id(),
                       .worker = p.first_worker,
                       .kind = trace::event_kind::ran,
                       .detail = static_cast<std::uint8_t>(p.outcome)});
    if (places_ != nullptr && p.first_worker < places_->workers() && p.outcome == trace::outcome::done)
      locate(w, r, places_->node_of(p.first_worker));
    counted(w, &r);
    listeners_.ends(w, r, p.outcome);
  }

  struct pause {
    std::uint64_t ps = 0;
    std::uint16_t worker = 0;
    std::uint64_t own_ps = trace::no_time;  // of the main program, before it
  };
  // A body, or if nullptr the main thread, begins to wait on w. Costs nothing where nothing is recorded.
  [[nodiscard]] pause waits(worker<M>& w, const detail::record* body) noexcept {
    if (w.trace.book == nullptr) return {0, w.id};
    sched::listeners<M>::check_call(w);
    if (!is_branch(body)) listeners_.waits(w, body);
    counted(w, body);
    if (w.trace.strand == nullptr && is_branch(body)) return {0, w.id};
    const std::uint64_t now = before_look(machine_.now_ps());
    if (w.trace.strand != nullptr) strands_.waits(w, now);
    return {now, w.id, body != nullptr || !is_main(w) ? trace::no_time : own_until_now(w)};
  }
  // It goes on, perhaps elsewhere.
  void goes_on(worker<M>& w, const detail::record* body, trace::reason why, const pause& from) noexcept {
    if (w.trace.book == nullptr) return;
    if (!is_branch(body)) waited(w, body, why, from);
    if (w.trace.strand != nullptr) strands_.goes_on(w, why);
    if (w.trace.book->counters.size() != 0) w.trace.book->counters.begin();
  }
  // A wait that found nothing to wait for. On another machine it may have to: who replays the trace needs it.
  void passed(worker<M>& w, trace::reason why) noexcept {
    if (w.trace.book == nullptr) return;
    sched::listeners<M>::check_call(w);
    if (is_branch(w.current) && w.trace.strand == nullptr) return;
    const std::uint64_t now = machine_.now_ps();
    if (w.trace.strand != nullptr) strands_.passed(w, now, why);
    if (is_branch(w.current)) return;
    const bool main = is_main(w);
    w.trace.book->add({.time = now,
                       .task = w.current != nullptr ? w.current->trace_id() : 0,
                       .other = why.handle,
                       .position = trace::packed_time(main ? own_until_now(w) : trace::no_time),
                       .kind = trace::event_kind::passed,
                       .detail = static_cast<std::uint8_t>(why.why)});
    if (main && w.trace.strand == nullptr) own_since_ps_ = now;
  }
  // The main program begins to fork outside of tasks, and is through. Who: it.
  void program_forks(worker<M>& w) noexcept {
    if (on()) strands_.begins(w, trace::strand_of::program, 0, own_until_now(w));
  }
  void program_forked(worker<M>& w) noexcept {
    if (!on()) return;
    strands_.ends(w);
    own_since_ps_ = machine_.now_ps();
  }
  [[nodiscard]] sched::strands<M>& strands() noexcept { return strands_; }
  void stolen(worker<M>& w, const detail::worker& victim, const detail::record& r) noexcept {
    if (w.trace.book == nullptr) return;
    const auto what = detail::is_task(r)                      ? trace::booty::task
                      : r.kind == detail::record_kind::branch ? trace::booty::branch
                                                              : trace::booty::stack;
    w.trace.book->add({.time = machine_.now_ps(),
                       .task = what == trace::booty::task ? r.trace_id() : 0,
                       .worker = victim.id,
                       .kind = trace::event_kind::stolen,
                       .detail = static_cast<std::uint8_t>(what)});
    listeners_.stolen(w, r, victim.id);
  }
  // m is a member of a team. Who: w, which has just said that it is submitted.
  void is_member(worker<M>& w, const detail::record& m, unsigned rank) noexcept {
    if (w.trace.book == nullptr) return;
    w.trace.book->add({.task = m.trace_id(), .position = rank, .kind = trace::event_kind::member});
  }
  // A team has been through; busy_ps: the sum over its members.
  struct team_times {
    unsigned width;
    trace::aim aim;
    std::uint64_t entered_ps, left_ps, busy_ps;
  };
  void team(worker<M>& w, const detail::record& r, const team_times& t) noexcept {
    if (w.trace.book == nullptr) return;
    w.trace.book->add({.time = t.entered_ps,
                       .value = t.left_ps,
                       .task = r.trace_id(),
                       .other = trace::packed_time(t.busy_ps),
                       .position = t.width,
                       .kind = trace::event_kind::team,
                       .detail = static_cast<std::uint8_t>(t.aim)});
  }
  // Sleeps until somebody wakes w, and says so to the statistics and the trace.
  void park(worker<M>& w) {
    count_one(w.counted.sleeps);
    if (w.trace.book == nullptr) return machine_.doze(w.id);
    listeners_.sleeps(w);
    const std::uint64_t from = machine_.now_ps();
    machine_.doze(w.id);
    w.trace.book->add({.time = from, .value = machine_.now_ps(), .kind = trace::event_kind::slept});
    listeners_.wakes(w);
  }

  // Errors: weft::error if nothing is recorded, or the file cannot be written.
  void write(trace::facts about, std::uint64_t start_ps) {
    if (path() == nullptr) throw error("weft: this runtime records no trace; give it the option trace, or WEFT_TRACE");
    about.duration_ns = (machine_.now_ps() - start_ps) / 1000;
    session_->write(std::move(about), start_ps);
  }
  // At the runtime's end, where nothing can be thrown.
  void write_or_say(trace::facts about, std::uint64_t start_ps) noexcept {
    if (path() == nullptr || !session_->anything_new()) return;
    const std::string told = session_->last_error();  // to the program, by write(): tried again, but not said again
    try {
      write(std::move(about), start_ps);
    } catch (const std::exception& e) {
      if (told != e.what()) std::fprintf(stderr, "%s\n", e.what());
    }
  }

 private:
  // A run is shown as what it stands for: its nodes, submitted one by one where it is, with the versions that they
  // would have; behind them the run itself, without accesses. Who: holder of the locks of all its handles.
  [[gnu::cold]] void submitted_run(worker<M>& w, detail::record& r, detail::graph_state& g) noexcept {
    try {
      std::vector<std::uint32_t> ids;
      detail::show_nodes(r, g, [&](detail::record& shown) {
        submitted_as_is(w, shown);
        ids.push_back(shown.trace_id());
      });
      const std::uint32_t accesses = std::exchange(r.access_count, 0);
      submitted_as_is(w, r);
      r.access_count = accesses;
      g.traced.push_back({r.trace_id(), std::move(ids)});
    } catch (const std::bad_alloc&) {
      // Then the trace does not know these tasks.
    }
  }

  void counted(worker<M>& w, const detail::record* body) noexcept {
    if (w.trace.book->counters.size() == 0 || body == nullptr) return;
    const trace::counter_group::values counted = w.trace.book->counters.since();
    for (std::uint8_t i = 0; i < w.trace.book->counters.size(); ++i)
      w.trace.book->add(
          {.value = counted.of[i], .task = body->trace_id(), .kind = trace::event_kind::counted, .detail = i});
  }

  // Where the data of a body that has run lay, if any of them are known.
  void locate(worker<M>& w, const detail::record& r, unsigned node) noexcept {
    const located data = data_of(r, *places_, node);
    if ((data.local | data.remote) == 0) return;
    w.trace.book->add(
        {.time = data.local, .value = data.remote, .task = r.trace_id(), .kind = trace::event_kind::located});
  }

  void waited(worker<M>& w, const detail::record* body, trace::reason why, const pause& from) noexcept {
    listeners_.goes_on(w, body, why.why);
    const std::uint64_t now = machine_.now_ps();
    w.trace.book->add({.time = from.ps,
                       .value = now,
                       .task = body != nullptr ? body->trace_id() : 0,
                       .other = why.handle,
                       .position = trace::packed_time(from.own_ps),
                       .worker = from.worker,
                       .kind = trace::event_kind::waited,
                       .detail = static_cast<std::uint8_t>(why.why)});
    if (from.own_ps != trace::no_time && w.trace.strand == nullptr) own_since_ps_ = now;
  }
  // A branch of a fork that was taken, or a scope in it. It is on a stack of its own, of which a trace has no pieces:
  // what it waits for is no wait of its task, which runs or waits elsewhere at the same time.
  [[nodiscard]] static bool is_branch(const detail::record* r) noexcept {
    const detail::record* const body = detail::body_around(const_cast<detail::record*>(r));
    return body != nullptr && body->kind == detail::record_kind::branch;
  }
  // The thread that made the runtime, outside of tasks.
  [[nodiscard]] static bool is_main(const worker<M>& w) noexcept {
    return w.id == 0 && w.current == nullptr && w.role != role::guest;
  }
  // Of the main program, and counted once. What it computes between its forks is in their strand.
  [[nodiscard]] std::uint64_t own_until_now(const worker<M>& w) noexcept {
    if (w.trace.strand != nullptr) return 0;
    const std::uint64_t since = std::exchange(own_since_ps_, 0);
    return since == 0 ? 0 : std::max(since, before_look(machine_.now_ps())) - since;
  }
  // When the look began that has returned `now`.
  [[nodiscard]] std::uint64_t before_look(std::uint64_t now) const noexcept { return now - std::min(now, look_ps_); }

  sched::strands<M> strands_;
  sched::listeners<M> listeners_;
  std::uint64_t own_since_ps_ = 0;  // the main program's: when it came back from the runtime; 0: it is in it
  std::uint64_t own_ps_ = 0;        // what it computed before the submission that it is in
  std::uint64_t look_ps_ = 0;       // what a look at the clock takes
  M& machine_;
  std::unique_ptr<trace::session> session_;  // nullptr: nothing is recorded
  const place::tree* places_ = nullptr;      // of several memory nodes, if that is recorded, too
};

}  // namespace weft::sched

// See replay.hpp. One object holds the run; bodies refer to it by its address and a number, so a task costs no
// allocation beyond its record.
#include "replay.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <deque>
#include <map>

#include "held_back.hpp"
#include "recorded.hpp"
#include "sections.hpp"

namespace weft::tool::sim {

namespace {

std::uint64_t picoseconds(double nanoseconds) { return static_cast<std::uint64_t>(std::llround(nanoseconds * 1e3)); }

class replay_run final : strand_steps, section_steps {
 public:
  replay_run(const trace::file& f, const script& s, const replay_options& opt, const std::function<void(double)>& tell)
      : file_(f), script_(s), opt_(opt), tell_(tell), strands_(f), sections_(f), teams_(f, opt.teams),
        held_(f.accesses), rt_(opt.machine.options()), report_every_(std::max<std::uint64_t>(1, s.tasks() / 256)) {
    out_.tasks.resize(f.tasks.size());
    last_.resize(f.tasks.size() + 1);
    out_.own_in_strands.resize(f.tasks.size() + 1);
    make_handles();
    make_accesses();
  }

  replayed run() {
    const auto begin = std::chrono::steady_clock::now();
    start_ps_ = 0;
    start_ps_ = now();
    try {
      follow(script_.main(), none);
      wait(none, trace::wait_reason::all, none, [this] { rt_.wait(); });
    } catch (...) {
      end_tasks();
      throw;
    }
    out_.makespan_ps = now();
    out_.host_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    out_.machine = rt_.machine();
    out_.policy = rt_.policy();
    out_.workers = rt_.workers();
    out_.counts = rt_.statistics();
    if (moved_pins_ != 0)
      out_.notes.push_back(std::to_string(moved_pins_) +
                           " tasks are pinned to workers that this machine does not have; "
                           "they went to worker number modulo " +
                           std::to_string(out_.workers));
    std::stable_sort(out_.waits.begin(), out_.waits.end(), [](const trace::wait& a, const trace::wait& b) {
      return std::pair(a.task, a.from_ns) < std::pair(b.task, b.from_ns);
    });
    return std::move(out_);
  }

 private:
  // Those that are under way use what goes before the runtime does.
  void end_tasks() noexcept {
    try {
      rt_.wait();
    } catch (...) {  // the first error is the one to be told
    }
  }
  [[nodiscard]] std::uint64_t now() const noexcept { return picoseconds(rt_.now_ns()) - start_ps_; }
  [[nodiscard]] static std::uint16_t here() noexcept { return static_cast<std::uint16_t>(std::max(worker_id(), 0)); }

  // In the order of their numbers, which is the order in which the scheduler locks them.
  void make_handles() {
    handles_.reserve(file_.handles.size());
    for (std::uint32_t h = 0; h < file_.handles.size(); ++h) {
      handle_base* made = nullptr;
      if (script_.of_handle(h) == nature::resource)
        made = &resources_.emplace_back(script_.units(h));
      else if (script_.of_handle(h) == nature::reduction)
        made = &reductions_.emplace_back(*this, h);
      else
        made = &plain_.emplace_back();
      if (!file_.handles[h].name.empty()) made->name(file_.handles[h].name.c_str());
      if (file_.handles[h].bytes > 0) made->bytes(static_cast<std::uint64_t>(file_.handles[h].bytes));
      handles_.push_back(made);
    }
  }

  void make_accesses() {
    accesses_.reserve(file_.accesses.size());
    first_.assign(file_.tasks.size() + 1, 0);
    for (const trace::access& a : file_.accesses) {
      ++first_[a.task + 1];
      const std::uintptr_t address = reinterpret_cast<std::uintptr_t>(&handles_[a.handle]->state());
      accesses_.push_back({address | kind_bits(a), static_cast<std::uint64_t>(std::max<std::int64_t>(a.units, 0))});
    }
    for (std::size_t i = 1; i < first_.size(); ++i) first_[i] += first_[i - 1];
  }

  [[nodiscard]] std::uintptr_t kind_bits(const trace::access& a) const {
    const std::string& kind = file_.kinds[a.kind];
    if (kind == "reduce") return detail::kind_bits(detail::kind_reduce);
    if (kind == "resource") return detail::kind_bits(detail::kind_resource);
    const trace::kind_flags k = file_.flags[a.kind];
    const bool several = k.commutative || (!k.known && a.next_version - a.version > 1);
    const auto flags =
        static_cast<std::uint8_t>((k.readonly ? detail::kind_readonly : 0) | (several ? detail::kind_commutative : 0) |
                                  (k.exclusive || !k.known ? detail::kind_exclusive : 0));
    if (!kind.starts_with("user ")) return detail::kind_bits(flags);
    const int number = std::clamp(std::atoi(kind.c_str() + 5), 1, static_cast<int>(detail::user_types_max));
    return detail::kind_bits(flags, static_cast<std::uint8_t>(number));
  }

  // --- bodies

  // Data that moves does so beside what the cost clause says, not beside what the body charges. So bodies that have
  // such data leave their last piece to the clause; the machine adds it after they return, and their end is where it
  // would be if the data did not make them wait.
  [[nodiscard]] bool moves_data(std::uint32_t t) const noexcept {
    for (std::uint32_t i = first_[t]; i < first_[t + 1]; ++i)
      if (file_.handles[file_.accesses[i].handle].bytes > 0) return true;
    return false;
  }
  [[nodiscard]] std::uint64_t rest_ps(std::uint32_t t) const noexcept {
    return picoseconds(static_cast<double>(script_.rest(t)) / opt_.speed);
  }

  // What siblings take from it while it computes here is in the body's own time, and in no clause's.
  void charge(ns time) noexcept {
    const std::uint64_t from = now();
    weft::charge(static_cast<double>(time) / opt_.speed);
    const std::uint64_t took = now() - from, alone = picoseconds(static_cast<double>(time) / opt_.speed);
    if (took > alone) out_.slowed_ps += took - alone;
  }

  // Calls `rest` with a part of each reduction from the i-th access on.
  template <class Rest> void with_parts(std::uint32_t i, std::uint32_t t, const Rest& rest) {
    for (; i < first_[t + 1]; ++i) {
      if ((accesses_[i].handle_and_kind & ~detail::handle_address_mask & 63) != detail::kind_reduce) continue;
      const dry_reduction::part mine(static_cast<dry_reduction&>(*handles_[file_.accesses[i].handle]));
      return with_parts(i + 1, t, rest);
    }
    rest();
  }

  void body(std::uint32_t t) {
    out_.tasks[t].from_worker = here();
    out_.tasks[t].from_ps = now();
    out_.tasks[t].is_call = out_.tasks[t].in_submission && detail::self()->current->is_call;
    const auto work = [this, t] {
      follow(script_.of(t), t);
      if (!moves_data(t)) charge(script_.rest(t));
    };
    reduces(t) ? with_parts(first_[t], t, work) : work();
    task_run& r = out_.tasks[t];
    r.to_worker = here();
    r.to_ps = now() + (moves_data(t) ? rest_ps(t) : 0);
    r.ran = true;
    if (++done_ % report_every_ == 0) tell_(static_cast<double>(done_) / static_cast<double>(script_.tasks()));
  }

  // What members compute last, in sum, where it is left to the clause, which deals it out evenly: as bodies do that
  // have data which moves. Where the width is learned it depends on that, so there data moves after the bodies.
  [[nodiscard]] bool rests_in_clause(std::uint32_t t) const noexcept { return moves_data(t) && !teams_.is_learned(); }
  [[nodiscard]] std::uint64_t team_rest_ps(std::uint32_t t) const {
    const unsigned width = teams_.clause(t).most;
    if (const double part = teams_.part(t, width); part >= 0) return picoseconds(part * width / opt_.speed);
    ns sum = 0;
    for (const std::uint32_t m : teams_.members(t)) sum += script_.rest(m);
    return picoseconds(static_cast<double>(sum) / opt_.speed);
  }

  // Of team t. Alone it is the task itself; else it is the member that had its rank, if there was one.
  void member(std::uint32_t t, const team_context& c) {
    const double part = teams_.part(t, c.width());
    if (c.width() == 1 && part < 0) return body(t);
    const std::vector<std::uint32_t>& had = teams_.members(t);
    const std::uint32_t self = c.width() == 1 ? t : c.rank() < had.size() ? had[c.rank()] : none;
    const std::uint16_t from_worker = here();
    const std::uint64_t from = now();
    if (part < 0 && self != none) {
      follow(script_.of(self), self);
      if (!rests_in_clause(t)) charge(script_.rest(self));
    } else {
      for (std::size_t i = c.rank(); i < had.size(); i += c.width())
        for (const step& s : script_.of(had[i]))
          if (s.kind == step::what::submit) submit(s.which, self);
      if (!rests_in_clause(t)) weft::charge(part / opt_.speed);
    }
    const std::uint64_t rest_ps = rests_in_clause(t) ? team_rest_ps(t) / c.width() : 0;
    if (c.rank() == 0) ran(out_.tasks[t], from_worker, from, rest_ps);
    if (c.rank() == 0 && self != t) out_.tasks[t].to_ps = from;  // what follows is the members'
    if (self == t) return;
    ran(self != none ? out_.tasks[self] : out_.more.emplace_back(more_member{t, c.rank(), {}}).run, from_worker, from,
        rest_ps);
  }
  // rest_ps: what the clause adds when the member has returned.
  void ran(task_run& r, std::uint16_t from_worker, std::uint64_t from, std::uint64_t rest_ps) {
    if (r.submitted_ps == 0) r.submitter = from_worker, r.submitted_ps = from;
    r.from_worker = from_worker;
    r.from_ps = from;
    r.to_worker = here();
    r.to_ps = now() + rest_ps;
    r.ran = true;
    if (++done_ % report_every_ == 0)
      tell_(std::min(1.0, static_cast<double>(done_) / static_cast<double>(script_.tasks())));
  }

  [[nodiscard]] bool reduces(std::uint32_t t) const noexcept {
    for (std::uint32_t i = first_[t]; i < first_[t + 1]; ++i)
      if ((accesses_[i].handle_and_kind & 63) == detail::kind_reduce) return true;
    return false;
  }

  // t: none is the main program.
  void follow(std::span<const step> steps, std::uint32_t t) {
    for (const step& s : steps) {
      if (t != none)
        charge(s.before);
      else if (opt_.keep_gaps)
        compute(static_cast<double>(s.before) / opt_.speed);
      switch (s.kind) {
      case step::what::submit:
        if (t == none) out_.tasks[s.which].own = std::exchange(own_, 0);
        submit(s.which, t);
        break;
      case step::what::wait_children: wait(t, trace::wait_reason::children, none, [this] { rt_.wait(); }); break;
      case step::what::wait_all: wait(t, trace::wait_reason::all, none, [this] { rt_.wait(); }); break;
      case step::what::strand: follow_strand(s.which, t); break;
      case step::what::wait_handle:
        wait(t, trace::wait_reason::handle, s.which, [this, &s] { rt_.wait(*handles_[s.which]); });
        break;
      }
    }
  }

  // --- forks

  void follow_strand(std::uint32_t s, std::uint32_t t) {
    const std::uint64_t from = now();
    std::uint64_t& last = last_[stack_of(t)] = from;
    strands_.follow(s, t, *this);
    joins(t, last, now());
    if (t == none) out_.stays.push_back({none, 0, ns_of(from), ns_of(now()), true});
  }
  [[nodiscard]] std::size_t stack_of(std::uint32_t t) const noexcept {
    return std::min<std::size_t>(t, file_.tasks.size());
  }
  [[nodiscard]] static ns ns_of(std::uint64_t ps) noexcept { return static_cast<ns>(ps / 1000); }
  void computes(std::uint32_t t, bool elsewhere, double time) override {
    if (time <= 0) return;
    const std::uint64_t from = now();
    weft::charge(time / opt_.speed);
    if (elsewhere) return stays(t, from, now());
    const std::size_t stack = stack_of(t);
    out_.own_in_strands[stack] += static_cast<double>(now() - from) * 1e-3;
    joins(t, std::exchange(last_[stack], now()), from);
  }
  void submits(std::uint32_t t, std::uint32_t which) override { submit(which, t, true); }
  void waits(std::uint32_t t, trace::step_kind kind, std::uint32_t handle) override {
    if (kind == trace::step_kind::waits_handle) {
      if (handle != none) rt_.wait(*handles_[handle]);
    } else {
      rt_.wait();
    }
    static_cast<void>(t);
  }
  // The body of t was at work until `from`, and is again at `to`: in between it waited for a branch, unless it only
  // forked.
  void joins(std::uint32_t t, std::uint64_t from, std::uint64_t to) {
    constexpr std::uint64_t forking_ps = 1'000'000;
    if (to > from + forking_ps)
      out_.waits.push_back(
          {t, trace::wait_reason::join, none, here(), here(), ns_of(from), ns_of(to), t == none ? 0 : -1});
  }
  // A branch on this worker has computed.
  void stays(std::uint32_t t, std::uint64_t from, std::uint64_t to) {
    const std::uint16_t w = here();
    if (w >= newest_stay_.size()) newest_stay_.resize(w + 1, SIZE_MAX);
    constexpr ns between = 500;  // from one part to the next: forking
    if (std::size_t& s = newest_stay_[w];
        s != SIZE_MAX && out_.stays[s].task == t && ns_of(from) - out_.stays[s].to_ns <= between) {
      out_.stays[s].to_ns = ns_of(to);
    } else {
      s = out_.stays.size();
      out_.stays.push_back({t, w, ns_of(from), ns_of(to), false});
    }
  }

  // --- ordered sections

  // in_strand: who submits it is in a strand, which shows that it waits.
  void run_section(std::uint32_t t, std::uint32_t by, bool in_strand) {
    const std::uint32_t s = sections_.of(t);
    if (file_.sections[s].begins != t) return;  // a section makes its own helpers
    out_.tasks[t].submitter = here();
    out_.tasks[t].submitted_ps = now();
    first_of_[s] = {};
    const auto run = [this, s] { sections_.run(rt_, s, *this); };
    in_strand ? run() : wait(by, trace::wait_reason::event, none, run);
  }
  // The first to take part is the task that it began with, as long as it is on that stack; others are beside.
  void body_computes(std::uint32_t section, double time) override {
    const std::uint32_t t = file_.sections[section].begins;
    const detail::record* const on = detail::body_around(detail::self()->current);
    task_run& r = out_.tasks[t];
    const std::uint64_t from = now();
    if (!r.ran) {
      r.ran = true;
      r.from_worker = r.to_worker = here();
      r.from_ps = r.to_ps = from;
      first_of_[section] = on;
    }
    if (time > 0) weft::charge(time / opt_.speed);
    if (first_of_[section] != on || r.to_worker != here()) return stays(t, from, now());
    r.to_ps = now();
    out_.own_in_strands[t] += static_cast<double>(now() - from) * 1e-3;
  }
  void body_submits(std::uint32_t section, std::uint32_t task) override {
    submit(task, file_.sections[section].begins);
  }
  void body_waits(const trace::wait& w) override {
    if (w.why == trace::wait_reason::handle && w.handle != none)
      rt_.wait(*handles_[w.handle]);
    else if (w.why == trace::wait_reason::children || w.why == trace::wait_reason::all)
      rt_.wait();
  }

  // The main program does.
  void compute(double time) {
    rt_.charge(time);
    own_ += std::llround(time);
  }

  template <class Call> void wait(std::uint32_t t, trace::wait_reason why, std::uint32_t handle, const Call& call) {
    const std::uint64_t from = now();
    const std::uint16_t from_worker = here();
    call();
    const std::uint64_t to = now();
    if (to == from) {
      if (t == none) out_.passed.push_back({t, why, handle, static_cast<ns>(to / 1000), std::exchange(own_, 0)});
      return;
    }
    out_.waits.push_back({t, why, handle, from_worker, here(), static_cast<ns>(from / 1000), static_cast<ns>(to / 1000),
                          t == none ? std::exchange(own_, 0) : -1});
  }

  // by: none is the main program. A body waits where what it submits runs first: called, or as its stack is set aside.
  void submit(std::uint32_t t, std::uint32_t by, bool in_strand = false) {
    if (sections_.of(t) != none) return run_section(t, by, in_strand);
    if (!held_.any()) return submit_now(t, by);
    if (!held_.may(t, accesses_of(t))) return;
    submit_now(t, by);
    for (std::uint32_t next = held_.take(); next != none; next = held_.take()) submit_now(next, by);
  }
  [[nodiscard]] std::span<const trace::access> accesses_of(std::uint32_t t) const noexcept {
    return std::span(file_.accesses).subspan(first_[t], first_[t + 1] - first_[t]);
  }
  void submit_now(std::uint32_t t, std::uint32_t by) {
    task_run& x = out_.tasks[t];
    x.submitter = here();
    x.submitted_ps = now();
    const std::uint64_t moves = by != none ? detail::peek(detail::self()->moves) : 0;
    x.in_submission = true;
    if (teams_.is_team(t))
      rt_.submit(clauses(t), teams_.clause(t), [this, t](team_context& c) { member(t, c); });
    else
      rt_.submit(clauses(t), [this, t] { body(t); });
    x.in_submission = false;
    const bool gave_way = by != none && x.from_ps != 0 && detail::peek(detail::self()->moves) != moves;
    if (x.is_call || gave_way)
      out_.waits.push_back({by, trace::wait_reason::spawn, none, x.submitter, here(), static_cast<ns>(x.from_ps / 1000),
                            static_cast<ns>(now() / 1000)});
  }

  [[nodiscard]] detail::recorded_clause clauses(std::uint32_t t) {
    const trace::task& x = file_.tasks[t];
    unsigned exclusives = 0;
    bool plain = !x.priority && x.pin < 0 && !x.subtasks;
    for (std::uint32_t i = first_[t]; i < first_[t + 1]; ++i) {
      const auto kind = static_cast<std::uint8_t>(accesses_[i].handle_and_kind & 63);
      if (kind == detail::kind_resource) exclusives += 2;
      if ((kind & detail::kind_add) == detail::kind_add) ++exclusives;
      if (kind == detail::kind_reduce) plain = false;
    }
    return {.accesses = accesses_.data() + first_[t],
            .count = first_[t + 1] - first_[t],
            .name = x.name == none ? nullptr : file_.names[x.name].c_str(),
            .pin = pin(x),
            .cost_ps = teams_.is_team(t) ? (rests_in_clause(t) ? team_rest_ps(t) : 0)
                       : moves_data(t)   ? rest_ps(t)
                                         : 0,
            .exclusives = static_cast<std::uint8_t>(std::min(exclusives, 2u)),
            .urgent = x.priority,
            .subtasks = x.subtasks,
            .plain = plain && exclusives == 0,
            .near = near(x)};
  }

  // The node is all that is known of its hints, so a machine with fewer nodes takes the number modulo its own.
  [[nodiscard]] static std::uint8_t near(const trace::task& x) noexcept {
    return x.near == trace::unhinted      ? std::uint8_t{0}
           : x.near == trace::spans_nodes ? detail::record::near_spans
                                          : static_cast<std::uint8_t>(x.near + 1);
  }

  [[nodiscard]] std::uint16_t pin(const trace::task& x) {
    if (x.pin < 0) return detail::record::unpinned;
    if (static_cast<unsigned>(x.pin) >= rt_.workers()) ++moved_pins_;
    return static_cast<std::uint16_t>(static_cast<unsigned>(x.pin) % rt_.workers());
  }

  // --- the runtime's own tasks

  struct reduction : dry_reduction {
    reduction(replay_run& r, std::uint32_t h) : dry_reduction(&apply_of), run(r), handle(h) {}
    static void apply_of(detail::handle_state& h) {
      auto& self = static_cast<reduction&>(reinterpret_cast<handle_base&>(h));
      self.run.apply(self);
    }
    replay_run& run;
    std::uint32_t handle;
    std::size_t applied = 0;
  };

  // As long as it took the time before; a group that was not there then - it was split otherwise - as the last one.
  void apply(reduction& r) {
    const std::vector<std::uint32_t>& before = script_.applied(r.handle);
    if (before.empty()) return;
    const bool known = r.applied < before.size();
    const std::uint32_t t = before[std::min(r.applied++, before.size() - 1)];
    const std::uint64_t from = now();
    const std::uint16_t worker = here();
    charge(script_.rest(t));
    if (known)
      out_.tasks[t] = {.submitted_ps = from,
                       .from_ps = from,
                       .to_ps = now(),
                       .submitter = worker,
                       .from_worker = worker,
                       .to_worker = here(),
                       .ran = true};
  }

  const trace::file& file_;
  const script& script_;
  const replay_options& opt_;
  const std::function<void(double)>& tell_;
  replayed out_;
  sim::strands strands_;
  sim::sections sections_;
  std::map<std::uint32_t, const detail::record*> first_of_;  // of a section that runs: who began it
  std::vector<std::uint64_t> last_;  // of each task, and the main program: when its own body last computed in forks
  std::vector<std::size_t> newest_stay_;  // of each worker
  team_plan teams_;
  held_back held_;
  runtime rt_;  // below what bodies write to, above the handles, which must go first
  std::deque<handle<void>> plain_;
  std::deque<resource> resources_;
  std::deque<reduction> reductions_;
  std::vector<handle_base*> handles_;
  std::vector<detail::access> accesses_;
  std::vector<std::uint32_t> first_;  // of task t: accesses_[first_[t]] to before accesses_[first_[t + 1]]
  ns own_ = 0;                        // what the main program computed since its last submission or wait
  std::uint64_t start_ps_ = 0;
  std::uint64_t done_ = 0;
  std::uint64_t report_every_;
  std::uint64_t moved_pins_ = 0;
};

// Modelled time is a number of picoseconds. On one worker all bodies come one after the other, and then the runtime's
// own time is on top.
void refuse_endless(const trace::file& f, const script& s, const replay_options& opt) {
  constexpr double picoseconds_max = 0x1p62;
  double all = 0;
  for (std::size_t t = 0; t <= f.tasks.size(); ++t) {
    for (const step& x : s.of(t)) all += static_cast<double>(x.before);
    if (t < f.tasks.size()) all += static_cast<double>(s.rest(t));
  }
  for (const trace::strand_step& x : f.steps) all += static_cast<double>(x.own_ps) * 1e-3;
  for (const trace::pass& x : f.passes) all += static_cast<double>(x.ps) * 1e-3;
  for (const trace::body& x : f.bodies) all += static_cast<double>(x.own_ps) * 1e-3;
  if (all * 1e3 / opt.speed <= picoseconds_max) return;
  throw weft::error(f.path + ": its bodies would take " + std::to_string(std::llround(all / opt.speed / 86400e9)) +
                    " days of modelled time, and that ends after 53; choose a larger --speed");
}

}  // namespace

replayed replay(const trace::file& f, const script& s, const replay_options& opt,
                const std::function<void(double)>& tell) {
  refuse_endless(f, s, opt);
  return replay_run(f, s, opt, tell).run();
}

}  // namespace weft::tool::sim

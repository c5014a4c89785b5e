// See script.hpp.
#include "script.hpp"

#include <algorithm>
#include <array>

#include "weft/error.hpp"

namespace weft::tool::sim {

namespace {

constexpr const char* apply_name = "apply reduction";  // of the runtime's own tasks, as the engine names them

// A step with the moment at which it was taken.
struct moment {
  ns time;
  step what;
  ns own = -1;  // what the main program computed before it, if the trace says so
  // Of one nanosecond: who waits has submitted before.
  [[nodiscard]] bool operator<(const moment& o) const noexcept {
    return time != o.time ? time < o.time : (what.kind == step::what::submit) > (o.what.kind == step::what::submit);
  }
};

void require_usable(const trace::file& f) {
  if (f.lost > 0)
    throw weft::error(f.path + ": " + std::to_string(f.lost) +
                      " records of this run were overwritten, so tasks and what orders them are missing; record it "
                      "again with more memory (WEFT_TRACE_MIB)");
  const std::string schedule = f.about("schedule");
  if (!schedule.empty() && schedule != "time")
    throw weft::error(f.path + ": recorded on a " + schedule +
                      " schedule, where times mean nothing; record it again without WEFT_SCHEDULE");
}

}  // namespace

class script_builder {
 public:
  script_builder(const trace::file& f, script& out) : file_(f), out_(out), pieces_(report::make_pieces(f)) {}

  void build() {
    find_natures();
    find_applied();
    find_strands();
    const std::size_t n = file_.tasks.size();
    children_.assign(n + 2, 0);
    for (std::size_t t = 0; t < n; ++t)
      if (follows(t)) ++children_[parent_of(t) + 1];
    for (std::size_t i = 1; i < children_.size(); ++i) children_[i] += children_[i - 1];
    below_.resize(children_.back());
    std::vector<std::uint32_t> next(children_.begin(), children_.end() - 1);
    for (std::uint32_t t = 0; t < n; ++t)
      if (follows(t)) below_[next[parent_of(t)]++] = t;
    out_.tasks_ = below_.size();
    if (out_.tasks_ == 0 && file_.strands.empty())
      throw weft::error(file_.path + ": no task ran, so there is nothing to replay");
    out_.steps_.reserve(below_.size());
    for (std::size_t t = 0; t <= n; ++t) add(t);
    out_.first_.push_back(static_cast<std::uint32_t>(out_.steps_.size()));
    say_what_is_missing();
  }

 private:
  [[nodiscard]] std::size_t parent_of(std::size_t t) const {
    return file_.tasks[t].parent == none ? file_.tasks.size() : file_.tasks[t].parent;
  }
  [[nodiscard]] bool follows(std::size_t t) const { return file_.tasks[t].ran() && !own_[t]; }

  void find_natures() {
    out_.natures_.assign(file_.handles.size(), nature::plain);
    out_.units_.assign(file_.handles.size(), 0);
    for (const trace::access& a : file_.accesses) {
      const std::string& kind = file_.kinds[a.kind];
      if (kind == "reduce") out_.natures_[a.handle] = nature::reduction;
      if (kind != "resource") continue;
      out_.natures_[a.handle] = nature::resource;
      const std::int64_t units = std::max<std::int64_t>({file_.handles[a.handle].units, a.units, 1});
      out_.units_[a.handle] =
          std::max(out_.units_[a.handle], static_cast<std::uint32_t>(std::min<std::int64_t>(units, UINT32_MAX)));
    }
  }

  // One write of a handle with reduces, by that name.
  void find_applied() {
    own_.assign(file_.tasks.size(), false);
    out_.applied_.resize(file_.handles.size());
    for (std::size_t t = 0; t < file_.helps.size(); ++t) own_[t] = file_.helps[t] != none;  // a pipeline makes its own
    for (std::uint32_t t = 0; t < file_.crews.size(); ++t)                                  // and so does a section
      if (file_.crews[t] != none && file_.sections[file_.crews[t]].is_known)
        own_[t] = file_.sections[file_.crews[t]].begins != t;
    for (const trace::access& a : file_.accesses) {
      const trace::task& t = file_.tasks[a.task];
      if (out_.natures_[a.handle] != nature::reduction || t.name == none || file_.names[t.name] != apply_name) continue;
      own_[a.task] = true;
      out_.applied_[a.handle].push_back(a.task);
    }
  }

  // What is in a strand is a step of that.
  void find_strands() {
    in_strand_.assign(file_.tasks.size(), false);
    body_strand_.assign(file_.tasks.size(), none);
    for (const trace::strand_step& s : file_.steps)
      if (s.kind == trace::step_kind::submits && s.which >= 0 && s.which != none)
        in_strand_[static_cast<std::size_t>(s.which)] = true;
    for (std::uint32_t s = 0; s < file_.strands.size(); ++s) {
      const trace::strand& x = file_.strands[s];
      if (x.first == x.last) continue;
      if (x.of == trace::strand_of::program) program_strands_.push_back(s);
      if (x.of == trace::strand_of::body && x.task != none) body_strand_[x.task] = s;
    }
    for (const trace::stay& s : file_.stays)
      if (s.is_program) program_stays_.emplace_back(s.from_ns, s.to_ns);
    std::sort(program_stays_.begin(), program_stays_.end());
  }
  // Whether what stack t did then is in a strand.
  [[nodiscard]] bool is_in_strand(std::size_t t, ns time) const {
    if (t != file_.tasks.size()) return body_strand_[t] != none && time >= file_.strands[body_strand_[t]].began_ns;
    auto at = std::upper_bound(program_stays_.begin(), program_stays_.end(), std::pair<ns, ns>(time, INT64_MAX));
    return at != program_stays_.begin() && time <= (--at)->second;
  }
  void add_strands(std::size_t t) {
    const auto add = [this](std::uint32_t s) {
      moments_.push_back({file_.strands[s].began_ns, {step::what::strand, s, 0}, file_.strands[s].own_ns});
    };
    if (t == file_.tasks.size())
      for (const std::uint32_t s : program_strands_) add(s);
    else if (body_strand_[t] != none)
      add(body_strand_[t]);
  }

  // The stack's own time at a moment: what it computed until then.
  class own_clock {
   public:
    explicit own_clock(std::span<const report::piece> all) : all_(all) {}
    // Moments in order.
    [[nodiscard]] ns at(ns time) {
      while (!all_.empty() && time > all_.front().to) {
        before_ += all_.front().length();
        all_ = all_.subspan(1);
      }
      return before_ + (all_.empty() ? 0 : std::max<ns>(0, time - all_.front().from));
    }
    [[nodiscard]] ns end() const {
      ns sum = before_;
      for (const report::piece& p : all_) sum += p.length();
      return sum;
    }

   private:
    std::span<const report::piece> all_;
    ns before_ = 0;
  };

  // t: a task, or the number of tasks for the main program.
  void add(std::size_t t) {
    out_.first_.push_back(static_cast<std::uint32_t>(out_.steps_.size()));
    moments_.clear();
    for (std::uint32_t i = children_[t]; i < children_[t + 1]; ++i)
      if (!in_strand_[below_[i]])
        moments_.push_back(
            {file_.tasks[below_[i]].submitted_ns, {step::what::submit, below_[i], 0}, file_.tasks[below_[i]].own_ns});
    const std::size_t submitted = moments_.size();
    add_waits(t == file_.tasks.size() ? none : static_cast<std::uint32_t>(t));
    add_strands(t);
    if (moments_.size() != submitted) std::stable_sort(moments_.begin(), moments_.end());
    own_clock clock(pieces_.of(t));
    ns last = 0;
    for (moment& m : moments_) {
      const ns now = std::max(last, clock.at(m.time));
      m.what.before = m.own >= 0 ? m.own : now - last;
      last = now;
      out_.steps_.push_back(m.what);
    }
    const bool goes_on = t == file_.tasks.size() || body_strand_[t] == none;  // else the rest is in its strand
    out_.rest_.push_back(goes_on ? std::max<ns>(0, clock.end() - last) : 0);
  }

  void add_waits(std::uint32_t stack) {
    for (; wait_ < file_.waits.size() && file_.waits[wait_].task == stack; ++wait_)
      add_wait(stack, file_.waits[wait_].why, file_.waits[wait_].handle, file_.waits[wait_].from_ns,
               file_.waits[wait_].own_ns);
    for (; passed_ < file_.passed.size() && file_.passed[passed_].task == stack; ++passed_)
      add_wait(stack, file_.passed[passed_].why, file_.passed[passed_].handle, file_.passed[passed_].time_ns,
               file_.passed[passed_].own_ns);
  }

  void add_wait(std::uint32_t stack, trace::wait_reason why, std::uint32_t handle, ns time, ns own) {
    using why_t = trace::wait_reason;
    if (why == why_t::window) return;  // where there is room is the modelled machine's affair
    if (why == why_t::event || why == why_t::join || why == why_t::barrier)
      return;                         // what ends it is unknown: the body goes on
    if (why == why_t::spawn) return;  // who runs first is up to the policy
    if (why == why_t::handle && handle == none) return;
    if (is_in_strand(stack == none ? file_.tasks.size() : stack, time)) return;
    const auto kind = why == why_t::handle ? step::what::wait_handle
                      : stack == none      ? step::what::wait_all
                                           : step::what::wait_children;
    moments_.push_back({time, {kind, handle, 0}, own});
  }

  void note(std::uint64_t count, const char* what) {
    if (count != 0) out_.notes_.push_back(std::to_string(count) + " " + what);
  }

  void say_what_is_missing() {
    std::uint64_t not_run = 0, outside = 0, failed = 0, unknown = 0;
    for (const trace::task& t : file_.tasks) {
      not_run += t.ran() ? 0 : 1;
      outside += t.parent == none && t.submitter == none ? 1 : 0;
      failed += t.result == trace::outcome::failed || t.result == trace::outcome::skipped ? 1 : 0;
    }
    for (const trace::kind_flags& k : file_.flags) unknown += k.known ? 0 : 1;
    note(not_run, "tasks had not ended when the trace was written and are left out");
    note(outside, "tasks came from threads outside the runtime; here the main program submits them");
    std::uint64_t branches = 0, strands = 0;
    for (const trace::strand_step& s : file_.steps)
      branches += s.kind == trace::step_kind::taken && s.which < 0 ? 1 : 0;
    for (const trace::strand& s : file_.strands) strands += s.first == s.last ? 1 : 0;
    note(branches, "branches of forks ran elsewhere, and what they did is not known; here they take no time");
    note(strands, "bodies forked more than there was memory for; here what they forked takes no time");
    note(failed, "tasks failed or were skipped; here they end as any other, after the time they took");
    note(unknown, "access types of the program's own are in a trace too old to say what they are; taken to exclude "
                  "each other");
    if (file_.format < 2)
      out_.notes_.emplace_back("the trace is of format 1: it has no priorities, pins and subtasks, and no waits that "
                               "returned at once; record it again to have them");
  }

  const trace::file& file_;
  script& out_;
  const report::pieces pieces_;
  std::vector<std::uint32_t> children_, below_;   // of stack t: below_[children_[t]] to before below_[children_[t + 1]]
  std::vector<bool> own_;                         // of each task: the runtime's own
  std::vector<bool> in_strand_;                   // of each task: its submission is a step of a strand
  std::vector<std::uint32_t> body_strand_;        // of each task, none: it does not fork
  std::vector<std::uint32_t> program_strands_;    // in the order in which they began
  std::vector<std::pair<ns, ns>> program_stays_;  // from when until when
  std::vector<moment> moments_;
  std::size_t wait_ = 0, passed_ = 0;
};

script::script(const trace::file& f) {
  require_usable(f);
  script_builder(f, *this).build();
}

void script::shorten(std::size_t t, ns by) {
  ns whole = rest_[t];
  for (const step& s : of(t)) whole += s.before;
  if (whole <= 0 || by <= 0) return;
  const double part = static_cast<double>(std::max<ns>(0, whole - by)) / static_cast<double>(whole);
  const auto less = [part](ns& x) { x = static_cast<ns>(static_cast<double>(x) * part); };
  less(rest_[t]);
  for (std::uint32_t i = first_[t]; i < first_[t + 1]; ++i) less(steps_[i].before);
}

}  // namespace weft::tool::sim

#include "reader_strands.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "../output.hpp"
#include "checks.hpp"

namespace weft::tool::trace {

namespace {

constexpr std::string_view of_text[] = {"body", "branch", "program", "pass"};
constexpr std::string_view step_text[] = {"fork",      "join",         "taken",   "over",    "loop",
                                          "look",      "looped",       "end",     "submits", "waits children",
                                          "waits all", "waits handle", "pipeline"};

template <class Enum, std::size_t N> Enum named(const rows& r, int column, const std::string_view (&texts)[N]) {
  const std::string_view found = r.text(column);
  for (std::size_t i = 0; i < N; ++i)
    if (found == texts[i]) return static_cast<Enum>(i);
  r.fail("'" + printable(found, 40) + "' is no kind of strand or step");
}

// The steps of one strand, as they come.
class nesting {
 public:
  // Whether k may follow.
  [[nodiscard]] bool takes(step_kind k) {
    if (ended_) return false;
    switch (k) {
    case step_kind::fork: open_.push_back('f'); return true;
    case step_kind::join:
    case step_kind::taken: return !open_.empty() && std::exchange(open_.back(), 's') == 'f';
    case step_kind::over: return closes('s');
    case step_kind::loop: open_.push_back('l'); return true;
    case step_kind::look: return !open_.empty() && open_.back() == 'l';
    case step_kind::looped: return closes('l');
    case step_kind::end: ended_ = true; return open_.empty();
    default: return true;
    }
  }
  [[nodiscard]] bool ended() const { return ended_; }

 private:
  bool closes(char what) {
    if (open_.empty() || open_.back() != what) return false;
    open_.pop_back();
    return true;
  }
  std::string open_;
  bool ended_ = false;
};

class strand_reader {
 public:
  strand_reader(database& db, const strand_references& of, file& f) : db_(db), of_(of), out_(f) {}

  void read() {
    read_strands();
    read_steps();
    read_stays();
  }

 private:
  [[nodiscard]] index strand(const rows& r, int column) {
    const std::int64_t id = r.integer(column);
    if (id >= 1 && id <= static_cast<std::int64_t>(out_.strands.size())) return static_cast<index>(id - 1);
    r.fail("strand " + std::to_string(id) + " does not exist; the file is damaged, record the run again");
  }

  void read_strands() {
    for (rows r(db_, "strands", "id, task, of, began_ns, own_ns"); r.next();) {
      trace::strand s{};
      if (r.integer(0) != static_cast<std::int64_t>(out_.strands.size()) + 1 || out_.strands.size() == none - 1)
        r.fail("strand " + std::to_string(r.integer(0)) + " is not the next one; it is no trace of Weft");
      s.of = named<strand_of>(r, 2, of_text);
      s.task = r.null(1) ? none : of_.task.find(r.integer(1));
      if (s.task == none && !r.null(1) && out_.lost == 0) r.fail("its task does not exist; the file is damaged");
      s.began_ns = r.time(3);
      s.own_ns = r.count_or(4, time_max, -1);
      out_.strands.push_back(s);
    }
  }

  void read_steps() {
    index of = none;
    nesting state;
    const auto over = [&](const rows& r) {
      if (of == none) return;
      out_.strands[of].last = static_cast<index>(out_.steps.size());
      if (!state.ended()) spoilt(r, of);
    };
    rows r(db_, "steps", "strand, position, step, own_ps, which");
    while (r.next()) {
      const index now = strand(r, 0);
      if (now != of) {
        over(r);
        if (of != none && now < of) r.fail("the steps of a strand are in several places; it is no trace of Weft");
        of = now;
        state = nesting();
        out_.strands[of].first = static_cast<index>(out_.steps.size());
      }
      strand_step s{};
      s.kind = named<step_kind>(r, 2, step_text);
      s.own_ps = r.count_or(3, ps_max, 0);
      if (!state.takes(s.kind)) spoilt(r, of);
      s.which = which(r, s.kind);
      out_.steps.push_back(s);
    }
    over(r);
    for (trace::strand& s : out_.strands)
      if (!s.is_whole) s.first = s.last = 0;
  }

  // Steps of this strand were lost.
  void spoilt(const rows& r, index of) {
    if (out_.lost == 0) r.fail("this step does not fit those before it; the file is damaged, record the run again");
    out_.strands[of].is_whole = false;
  }

  [[nodiscard]] std::int64_t which(const rows& r, step_kind k) {
    if (r.null(4)) return k == step_kind::loop || k == step_kind::look ? 0 : -1;
    switch (k) {
    case step_kind::taken: {
      const index branch = strand(r, 4);
      if (out_.strands[branch].of != strand_of::branch || out_.strands[branch].is_taken)
        r.fail("strand " + std::to_string(branch + 1) + " is no branch of this fork; the file is damaged");
      out_.strands[branch].is_taken = true;
      return branch;
    }
    case step_kind::submits: return of_.task.find(r.integer(4));
    case step_kind::waits_handle: return of_.handle.find(r.integer(4));
    case step_kind::loop:
    case step_kind::look: return r.count_or(4, INT64_MAX, 0);
    case step_kind::pipeline: return pipeline(r);
    default: return -1;
    }
  }

  [[nodiscard]] std::int64_t pipeline(const rows& r) {
    const std::int64_t id = r.integer(4);
    if (id < 1 || id > static_cast<std::int64_t>(out_.pipelines.size()) ||
        std::exchange(out_.pipelines[static_cast<std::size_t>(id - 1)].is_known, true))
      r.fail("pipeline " + std::to_string(id) + " is not called here; the file is damaged");
    return id - 1;
  }

  void read_stays() {
    for (rows r(db_, "stays", "strand, worker, from_ns, to_ns"); r.next();) {
      trace::stay s{};
      const trace::strand& of = out_.strands[strand(r, 0)];
      s.task = of.task;
      s.is_program = of.of == strand_of::program;
      s.worker = of_.worker.find(r.integer(1));
      if (s.worker == none) r.fail("its worker does not exist; the file is damaged");
      s.from_ns = r.time(2);
      s.to_ns = r.time_after(3, s.from_ns);
      out_.stays.push_back(s);
    }
  }

  database& db_;
  const strand_references& of_;
  file& out_;
};

}  // namespace

void read_strands(database& db, const strand_references& of, file& f) { strand_reader(db, of, f).read(); }

}  // namespace weft::tool::trace

// See grain.hpp. Stacks are walked in the order of their submissions; versions are given anew at the end, because a
// merged task registers its accesses where the first of its group did.
#include "grain.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <unordered_map>

#include "weft/clause.hpp"
#include "weft/error.hpp"

namespace weft::tool::sim {

grain grain::parse(const std::string& text) {
  grain g;
  g.split = text.starts_with('/');
  const char* const from = text.data() + (g.split ? 1 : 0);
  const char* const end = text.data() + text.size();
  const auto [stop, bad] = std::from_chars(from, end, g.factor);
  if (bad != std::errc{} || stop != end || g.factor == 0 || g.factor > 100'000)
    throw weft::error("grain \"" + text +
                      "\" cannot be: 4 merges tasks by four, /4 splits each in four, 1 changes none");
  if (g.factor == 1) g.split = false;
  return g;
}

namespace {

struct use {
  std::uint32_t handle;
  std::uint32_t kind;  // in the new file's kinds
  std::int64_t units;
};

// A task to be, in the order of submission.
struct planned {
  std::uint32_t of;  // the first task it is made of
  ns time;           // of its body
  std::vector<use> uses;
  std::uint32_t members = 1;
  ns own = -1;  // of the main program, before all of its members
};

class regrainer {
 public:
  regrainer(const trace::file& f, const script& s, grain g) : old_(f), script_(s), grain_(g) {
    first_.assign(f.tasks.size() + 1, 0);
    for (const trace::access& a : f.accesses) ++first_[a.task + 1];
    for (std::size_t i = 1; i < first_.size(); ++i) first_[i] += first_[i - 1];
    new_of_.assign(f.tasks.size(), none);
  }

  trace::file run() {
    out_.path = old_.path;
    out_.meta = old_.meta;
    out_.format = std::max<std::int64_t>(old_.format, 2);
    out_.names = old_.names;
    out_.kinds = old_.kinds;
    out_.flags = old_.flags;
    out_.handles = old_.handles;
    out_.workers = old_.workers;
    out_.teams = old_.teams;
    for (std::size_t k = 0; k < out_.kinds.size(); ++k)
      if (out_.kinds[k] == "write") write_kind_ = static_cast<std::uint32_t>(k);
    plan();
    make_tasks();
    give_versions();
    move_waits();
    return std::move(out_);
  }

 private:
  // What a stack may add to while nothing stands in the way.
  struct group {
    std::size_t at = 0;  // in plan_
    std::uint64_t begun = 0;
  };
  // Of one kind, to one handle: the latest, whose it was, and the latest that was another's.
  struct last_use {
    std::uint32_t kind;
    std::size_t owner = SIZE_MAX;  // in plan_
    std::uint64_t at = 0, before = 0;
  };

  // Of a list of what each task helps with, which may be empty.
  [[nodiscard]] static bool is_in(const std::vector<std::uint32_t>& all, std::uint32_t t) noexcept {
    return t < all.size() && all[t] != none;
  }
  // Teams and their members stay as they are: their grain is their width. So do sections: what they call is theirs.
  [[nodiscard]] bool leaf(std::uint32_t t) const {
    return script_.of(t).empty() && old_.tasks[t].rank < 0 && !is_in(old_.crews, t) &&
           !std::ranges::binary_search(old_.teams, t, {}, &trace::team::task);
  }

  // Tasks by number are tasks by time of submission, so groups of different stacks grow side by side.
  void plan() {
    find_submitted();
    for (const std::uint32_t t : order_) {
      if (grain_.factor == 1 || !leaf(t) || epoch_[t] == 0)
        add(t, 1, script_.rest(t));
      else if (grain_.split)
        for (unsigned i = 0; i < grain_.factor; ++i) add(t, grain_.factor, share(script_.rest(t), i));
      else
        join_or_add(t);
    }
  }

  [[nodiscard]] ns share(ns whole, unsigned i) const {
    const ns k = grain_.factor;
    return whole / k + (static_cast<ns>(i) < whole % k ? 1 : 0);
  }

  // Which tasks there are, and in which stretch between two waits of its stack each came.
  void find_submitted() {
    epoch_.assign(old_.tasks.size(), 0);
    std::uint64_t epoch = 0;
    for (std::size_t t = 0; t <= old_.tasks.size(); ++t) {
      ++epoch;
      for (const step& s : script_.of(t)) {
        if (s.kind != step::what::submit) {
          ++epoch;
          continue;
        }
        epoch_[s.which] = epoch;
        order_.push_back(s.which);
      }
    }
    // What forks submit stays as it is, and so do the runtime's own tasks, and who helps a pipeline or a section.
    for (const trace::strand_step& s : old_.steps)
      if (s.kind == trace::step_kind::submits && s.which >= 0 && s.which != none)
        order_.push_back(static_cast<std::uint32_t>(s.which));
    for (std::size_t h = 0; h < old_.handles.size(); ++h)
      order_.insert(order_.end(), script_.applied(h).begin(), script_.applied(h).end());
    for (std::uint32_t t = 0; t < old_.tasks.size(); ++t)
      if (is_in(old_.helps, t) ||
          (is_in(old_.crews, t) && old_.sections[old_.crews[t]].is_known && old_.sections[old_.crews[t]].begins != t))
        order_.push_back(t);
    std::sort(order_.begin(), order_.end());
  }

  void add(std::uint32_t t, unsigned of, ns time) {
    const std::size_t at = plan_.size();
    const ns own = old_.tasks[t].own_ns;  // of several parts, it is before the first
    plan_.push_back({t, time, {}, 1, new_of_[t] == none ? own : std::min<ns>(own, 0)});
    if (new_of_[t] == none) new_of_[t] = static_cast<std::uint32_t>(at);
    ++position_;
    for (std::uint32_t i = first_[t]; i < first_[t + 1]; ++i) {
      const trace::access& a = old_.accesses[i];
      if (already(plan_.back().uses, a.handle)) continue;
      const use u{a.handle, of > 1 ? part_kind(t, a) : a.kind, a.units};
      plan_.back().uses.push_back(u);
      note_use(u, at);
    }
  }

  static bool already(const std::vector<use>& all, std::uint32_t handle) {
    return std::ranges::any_of(all, [handle](const use& u) { return u.handle == handle; });
  }

  // Parts may run side by side; the next task on the handle, and its parts, wait for all of them. That is an access
  // type of its own, and for neighbours in the handle's order not the same.
  std::uint32_t part_kind(std::uint32_t t, const trace::access& a) {
    const trace::kind_flags k = old_.flags[a.kind];
    if (k.commutative || a.next_version == trace::no_version) return a.kind;
    auto [at, fresh] = parts_of_.try_emplace(a.handle, parts{t, 0});
    if (!fresh && at->second.task != t) at->second = {t, 1 - at->second.turn};
    std::uint32_t& kind = part_kinds_[at->second.turn];
    if (kind == none) {
      kind = static_cast<std::uint32_t>(out_.kinds.size());
      out_.kinds.push_back("user " + std::to_string(detail::user_types_max - at->second.turn));
      out_.flags.push_back({false, true, false, true});
    }
    return kind;
  }

  void note_use(const use& u, std::size_t owner) {
    std::vector<last_use>& all = last_[u.handle];
    auto same = std::ranges::find_if(all, [&](const last_use& l) { return l.kind == u.kind; });
    if (same == all.end()) same = all.insert(all.end(), {u.kind});
    if (same->owner != owner) same->before = same->at;
    same->owner = owner;
    same->at = position_;
  }

  // Whether an access may move up to where that group stands. What the group itself did since stands there, too.
  [[nodiscard]] bool free_since(const group& g, const trace::access& a) const {
    const auto found = last_.find(a.handle);
    if (found == last_.end() || a.next_version == trace::no_version) return true;
    return std::ranges::all_of(found->second, [&](const last_use& l) {
      const bool together = l.kind == a.kind && old_.flags[a.kind].commutative;
      return together || (l.owner == g.at ? l.before : l.at) < g.begun;
    });
  }

  void join_or_add(std::uint32_t t) {
    const trace::task& x = old_.tasks[t];
    const auto key = std::tuple(epoch_[t], x.name, x.priority, x.subtasks, x.pin);
    const auto open = groups_.find(key);
    if (open != groups_.end() && may_join(open->second, t)) return join(open->second, t);
    add(t, 1, script_.rest(t));
    groups_[key] = {plan_.size() - 1, position_};
  }

  [[nodiscard]] bool may_join(const group& g, std::uint32_t t) const {
    if (plan_[g.at].members >= grain_.factor) return false;
    for (std::uint32_t i = first_[t]; i < first_[t + 1]; ++i)
      if (!free_since(g, old_.accesses[i])) return false;
    return true;
  }

  void join(const group& g, std::uint32_t t) {
    planned& p = plan_[g.at];
    ++p.members;
    p.time += script_.rest(t);
    p.own = p.own < 0 || old_.tasks[t].own_ns < 0 ? -1 : p.own + old_.tasks[t].own_ns;
    new_of_[t] = static_cast<std::uint32_t>(g.at);
    ++position_;
    for (std::uint32_t i = first_[t]; i < first_[t + 1]; ++i) {
      const trace::access& a = old_.accesses[i];
      const auto same = std::ranges::find_if(p.uses, [&](const use& u) { return u.handle == a.handle; });
      if (same == p.uses.end()) {
        p.uses.push_back({a.handle, a.kind, a.units});
        note_use(p.uses.back(), g.at);
      } else {
        if (same->kind != a.kind) same->kind = stronger();
        same->units = std::max(same->units, a.units);
        note_use(*same, g.at);
      }
    }
  }

  // Two kinds of access to one handle in one task: a write may do all.
  std::uint32_t stronger() {
    if (write_kind_ == none) {
      write_kind_ = static_cast<std::uint32_t>(out_.kinds.size());
      out_.kinds.emplace_back("write");
      out_.flags.push_back(trace::standard_flags("write"));
    }
    return write_kind_;
  }

  void make_tasks() {
    for (std::uint32_t i = 0; i < plan_.size(); ++i) {
      const planned& p = plan_[i];
      trace::task x = old_.tasks[p.of];
      x.id = i + 1;
      if (x.parent != none) x.parent = new_of_[x.parent];
      x.own_ns = p.own;
      if (leaf(p.of)) x.finished_ns = x.started_ns + p.time;
      out_.tasks.push_back(x);
      std::int64_t position = 0;
      for (const use& u : p.uses)
        out_.accesses.push_back({i, u.handle, u.kind, position++, trace::no_version, trace::no_version, u.units});
      out_.duration_ns = std::max(out_.duration_ns, x.finished_ns);
    }
    for (trace::team& t : out_.teams) t.task = new_of_[t.task];
    make_strands();
    make_helpers();
  }

  template <class Index> void renumber(Index& which) const {
    if (which >= 0 && static_cast<std::uint64_t>(which) < new_of_.size())
      which = new_of_[static_cast<std::size_t>(which)];
  }
  void make_strands() {
    out_.strands = old_.strands;
    out_.steps = old_.steps;
    out_.stays = old_.stays;
    for (trace::strand& s : out_.strands) renumber(s.task);
    for (trace::stay& s : out_.stays) renumber(s.task);
    for (trace::strand_step& s : out_.steps)
      if (s.kind == trace::step_kind::submits) renumber(s.which);
  }
  void make_helpers() {
    out_.pipelines = old_.pipelines;
    out_.passes = old_.passes;
    out_.sections = old_.sections;
    out_.bodies = old_.bodies;
    out_.touches = old_.touches;
    out_.numbered = old_.numbered;
    for (trace::pipeline& p : out_.pipelines) renumber(p.task);
    for (trace::pass& p : out_.passes) renumber(p.task);
    for (trace::section& s : out_.sections) renumber(s.begins);
    for (trace::body& b : out_.bodies) renumber(b.task);
    const auto move = [this](const std::vector<std::uint32_t>& from, std::vector<std::uint32_t>& to) {
      if (from.empty()) return;
      to.assign(out_.tasks.size(), none);
      for (std::size_t t = 0; t < from.size(); ++t)
        if (from[t] != none && new_of_[t] != none) to[new_of_[t]] = from[t];
    };
    move(old_.helps, out_.helps);
    move(old_.crews, out_.crews);
  }

  // As the runtime does it: an access joins the group that is open if both are of the same kind and that kind commutes.
  void give_versions() {
    struct open_group {
      std::uint32_t kind = none;
      std::int64_t start = 0, count = 0;
      std::vector<std::size_t> members;
    };
    std::vector<open_group> groups(out_.handles.size());
    const auto close = [&](open_group& g) {
      for (const std::size_t m : g.members) out_.accesses[m].next_version = g.count;
      g.members.clear();
    };
    for (std::size_t i = 0; i < out_.accesses.size(); ++i) {
      trace::access& a = out_.accesses[i];
      if (out_.kinds[a.kind] == "resource") continue;
      open_group& g = groups[a.handle];
      if (g.kind != a.kind || !out_.flags[a.kind].commutative) {
        close(g);
        g.kind = a.kind;
        g.start = g.count;
      }
      a.version = g.start;
      g.members.push_back(i);
      ++g.count;
    }
    for (open_group& g : groups) close(g);
  }

  void move_waits() {
    for (trace::wait w : old_.waits) {
      if (w.task != none && (w.task = new_of_[w.task]) == none) continue;
      out_.waits.push_back(w);
    }
    for (trace::passed_wait w : old_.passed) {
      if (w.task != none && (w.task = new_of_[w.task]) == none) continue;
      out_.passed.push_back(w);
    }
  }

  struct parts {
    std::uint32_t task;
    unsigned turn;
  };

  const trace::file& old_;
  const script& script_;
  const grain grain_;
  trace::file out_;
  std::vector<std::uint32_t> first_;   // of task t: accesses first_[t] to before first_[t + 1]
  std::vector<std::uint32_t> order_;   // tasks in the order of their submission
  std::vector<std::uint64_t> epoch_;   // of each task: number of that stretch; 0: of the runtime's own
  std::vector<std::uint32_t> new_of_;  // of each task: the first it became, or became part of
  std::vector<planned> plan_;
  std::map<std::tuple<std::uint64_t, std::uint32_t, bool, bool, std::int32_t>, group> groups_;
  std::unordered_map<std::uint32_t, std::vector<last_use>> last_;
  std::unordered_map<std::uint32_t, parts> parts_of_;
  std::uint32_t part_kinds_[2] = {none, none};
  std::uint32_t write_kind_ = none;
  std::uint64_t position_ = 0;
};

}  // namespace

trace::file regrain(const trace::file& f, const script& s, grain g) { return regrainer(f, s, g).run(); }

}  // namespace weft::tool::sim

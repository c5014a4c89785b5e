// The longest chain (graph.hpp): one pass over the nodes, each when all its predecessors have their times.
#include "graph.hpp"

#include <algorithm>
#include <map>

namespace weft::tool::report {

namespace {

// From a node's end, or, `part`, from as far into a piece as the submission of the target's task.
struct edge {
  std::uint32_t from;
  std::uint32_t to_and_part;  // 2 * to + part: these are the largest arrays of a report
  [[nodiscard]] std::uint32_t to() const noexcept { return to_and_part / 2; }
  [[nodiscard]] bool part() const noexcept { return to_and_part % 2 != 0; }
};

class builder {
 public:
  builder(const trace::file& r, const pieces& p, const moments& m, const std::vector<std::uint32_t>& adds,
          const std::vector<bool>& holds)
      : run_(r), pieces_(p), moments_(m), adds_(adds), holds_(holds),
        first_moment_(static_cast<std::uint32_t>(p.all.size())), nodes_(first_moment_ + m.count),
        below_(r.tasks.size(), none) {
    for (const trace::task& t : r.tasks)
      if (t.parent != none && below_[t.parent] == none) below_[t.parent] = nodes_++;
    edges_.reserve(p.all.size() + 2 * r.accesses.size() + r.tasks.size());
    add_strands();
    add_submissions();
    add_versions();
    add_waits();
  }

  std::vector<edge> take() { return std::move(edges_); }
  [[nodiscard]] std::uint32_t nodes() const { return nodes_; }

 private:
  [[nodiscard]] bool ran(std::size_t t) const { return pieces_.first[t] != pieces_.first[t + 1]; }
  [[nodiscard]] std::uint32_t head(std::size_t t) const { return pieces_.first[t]; }
  [[nodiscard]] std::uint32_t tail(std::size_t t) const { return pieces_.first[t + 1] - 1; }
  // The node that says that t and all below it are done.
  [[nodiscard]] std::uint32_t whole(std::size_t t) const { return below_[t] != none ? below_[t] : tail(t); }
  void add(std::uint32_t from, std::uint32_t to, bool part = false) {
    edges_.push_back({from, 2 * to + (part ? 1u : 0u)});
  }

  void add_strands() {
    for (std::uint32_t i = 1; i < pieces_.all.size(); ++i)
      if (pieces_.all[i].task == pieces_.all[i - 1].task) add(i - 1, i);
    for (std::size_t t = 0; t < run_.tasks.size(); ++t) {
      if (!ran(t)) continue;
      if (below_[t] != none) add(tail(t), below_[t]);
      if (run_.tasks[t].parent != none) add(whole(t), below_[run_.tasks[t].parent]);
    }
  }

  void add_submissions() {
    for (std::size_t t = 0; t < run_.tasks.size(); ++t) {
      const trace::task& x = run_.tasks[t];
      if (!ran(t) || (x.parent == none && x.submitter == none)) continue;  // what other threads do is not known
      const std::uint32_t from = piece_at(pieces_, x.parent == none ? run_.tasks.size() : x.parent, x.submitted_ns);
      if (from != none) add(from, head(t), true);
    }
  }

  void add_versions() {
    for (std::size_t k = 0; k < run_.accesses.size(); ++k) {
      const std::uint32_t t = run_.accesses[k].task;
      if (!ran(t)) continue;
      if (moments_.needs[k] != none) add(first_moment_ + moments_.needs[k], head(t));
      if (moments_.brings[k] != none) add(holds_[t] ? whole(t) : tail(t), first_moment_ + moments_.brings[k]);
      if (adds_[k] != none && ran(adds_[k])) add(holds_[adds_[k]] ? whole(adds_[k]) : tail(adds_[k]), head(t));
    }
  }

  // Each task goes to the first wait that waited for it; later ones follow from that.
  void add_waits() {
    std::vector<std::uint32_t> everybody, resumed;  // pieces of any stack that began after such a wait
    for (std::uint32_t i = 0; i < pieces_.all.size(); ++i) {
      if (pieces_.all[i].wait == none) continue;
      const trace::wait_reason why = run_.waits[pieces_.all[i].wait].why;
      // The main program waits for children at the end of a finish: for all so far, as far as the trace can tell.
      const bool of_program = pieces_.all[i].task == none && why == trace::wait_reason::children;
      if (why == trace::wait_reason::all || of_program) everybody.push_back(i);
      if (why == trace::wait_reason::handle) resumed.push_back(i);
    }
    const auto from = [&](std::uint32_t i) { return run_.waits[pieces_.all[i].wait].from_ns; };
    std::sort(everybody.begin(), everybody.end(),
              [&](std::uint32_t a, std::uint32_t b) { return std::pair(from(a), a) < std::pair(from(b), b); });
    for (std::size_t t = 0; t < run_.tasks.size(); ++t) {
      if (!ran(t)) continue;
      add_wait_for_children(t);
      if (run_.tasks[t].parent != none) continue;
      const auto w = std::lower_bound(everybody.begin(), everybody.end(), run_.tasks[t].submitted_ns,
                                      [&](std::uint32_t i, ns time) { return from(i) < time; });
      if (w != everybody.end()) wait_for(t, *w);
    }
    add_waits_for_handles(resumed);
  }

  void add_wait_for_children(std::size_t t) {
    const std::uint32_t parent = run_.tasks[t].parent;
    if (parent == none) return;
    for (std::uint32_t i = head(parent); ran(parent) && i <= tail(parent); ++i) {
      const std::uint32_t wait = pieces_.all[i].wait;
      if (wait == none || run_.waits[wait].why != trace::wait_reason::children) continue;
      if (run_.waits[wait].from_ns < run_.tasks[t].submitted_ns) continue;
      return wait_for(t, i);
    }
  }

  // A wait that took no time waited for nobody: without this rule a task that was submitted in the same nanosecond
  // after it would seem to come before it. And nobody waits for what finished later.
  void wait_for(std::size_t t, std::uint32_t resumed) {
    const trace::wait& w = run_.waits[pieces_.all[resumed].wait];
    if (w.to_ns > w.from_ns && run_.tasks[t].finished_ns <= w.to_ns) add(whole(t), resumed);
  }

  // All accesses to the handle registered before the wait. One stack asks for each access once.
  void add_waits_for_handles(const std::vector<std::uint32_t>& resumed) {
    if (resumed.empty()) return;
    std::map<std::uint32_t, std::vector<std::uint32_t>> users;  // of the handles in question, by submission
    for (const std::uint32_t i : resumed) users[run_.waits[pieces_.all[i].wait].handle];
    for (const trace::access& a : run_.accesses)
      if (const auto u = users.find(a.handle); u != users.end()) u->second.push_back(a.task);
    const auto earlier = [&](std::uint32_t a, std::uint32_t b) {
      return std::pair(run_.tasks[a].submitted_ns, a) < std::pair(run_.tasks[b].submitted_ns, b);
    };
    for (auto& [handle, list] : users) std::sort(list.begin(), list.end(), earlier);
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> seen;  // stack and handle: so many users
    for (const std::uint32_t i : resumed) {
      const trace::wait& w = run_.waits[pieces_.all[i].wait];
      const std::vector<std::uint32_t>& list = users[w.handle];
      std::size_t& k = seen[{w.task, w.handle}];
      for (; k < list.size() && run_.tasks[list[k]].submitted_ns <= w.from_ns; ++k) {
        const std::uint32_t t = list[k];
        if (ran(t) && w.to_ns > w.from_ns && run_.tasks[t].finished_ns <= w.to_ns)
          add(holds_[t] ? whole(t) : tail(t), i);
      }
    }
  }

  const trace::file& run_;
  const pieces& pieces_;
  const moments& moments_;
  const std::vector<std::uint32_t>& adds_;
  const std::vector<bool>& holds_;
  std::uint32_t first_moment_;
  std::uint32_t nodes_;
  std::vector<std::uint32_t> below_;
  std::vector<edge> edges_;
};

// Kahn's algorithm. If nothing is free though nodes are left, the file contradicts itself: the left node that began
// earliest is taken as it is, so that a damaged file still gives a picture; `circles` counts how often.
class longest {
 public:
  longest(const trace::file& r, const pieces& p, std::vector<edge> edges, std::uint32_t nodes)
      : run_(r), pieces_(p), edges_(std::move(edges)), start_(nodes + 2, 0), waits_for_(nodes, 0), time_(nodes, 0),
        best_(nodes, none) {
    for (const edge& e : edges_) {
      ++start_[e.from + 2];
      ++waits_for_[e.to()];
    }
    for (std::size_t i = 2; i < start_.size(); ++i) start_[i] += start_[i - 1];
    out_.resize(edges_.size());
    for (std::uint32_t i = 0; i < edges_.size(); ++i) out_[start_[edges_[i].from + 1]++] = i;
  }

  chain find() {
    chain c;
    const auto nodes = static_cast<std::uint32_t>(time_.size());
    for (std::uint32_t n = 0; n < nodes; ++n)
      if (waits_for_[n] == 0) free_.push_back(n);
    std::vector<bool> done(nodes, false);
    std::size_t finished = 0;
    std::uint32_t scan = 0;
    while (finished < nodes) {
      if (next_ == free_.size()) {
        while (done[scan]) ++scan;
        free_.push_back(scan);
        ++c.circles;
      }
      const std::uint32_t n = free_[next_++];
      if (done[n]) continue;
      done[n] = true;
      ++finished;
      relax(n);
    }
    trace_back(c);
    return c;
  }

 private:
  [[nodiscard]] ns length(std::uint32_t n) const { return n < pieces_.all.size() ? least_length(pieces_, n) : 0; }

  [[nodiscard]] ns along(const edge& e) const {
    if (!e.part()) return length(e.from);
    const ns submitted = run_.tasks[pieces_.all[e.to()].task].submitted_ns;
    return std::clamp<ns>(submitted - pieces_.all[e.from].from, 0, length(e.from));
  }

  void relax(std::uint32_t n) {
    for (std::uint32_t i = start_[n]; i < start_[n + 1]; ++i) {
      const edge& e = edges_[out_[i]];
      const ns at = time_[n] + along(e);
      if (best_[e.to()] == none || at > time_[e.to()]) {
        time_[e.to()] = at;
        best_[e.to()] = out_[i];
      }
      if (--waits_for_[e.to()] == 0) free_.push_back(e.to());
    }
  }

  void trace_back(chain& c) const {
    if (pieces_.all.empty()) return;
    std::uint32_t n = 0;
    for (std::uint32_t i = 0; i < pieces_.all.size(); ++i)
      if (time_[i] + length(i) > time_[n] + length(n)) n = i;
    c.span = time_[n] + length(n);
    ns amount = length(n);
    // Bounded by the nodes: in a file that contradicts itself the way back may be a circle.
    for (std::size_t guard = 0; guard < time_.size(); ++guard) {
      if (n < pieces_.all.size() && (amount > 0 || pieces_.all[n].task != none)) c.steps.push_back({n, amount});
      if (best_[n] == none) break;
      const edge& e = edges_[best_[n]];
      amount = along(e);
      n = e.from;
    }
    std::reverse(c.steps.begin(), c.steps.end());
  }

  const trace::file& run_;
  const pieces& pieces_;
  std::vector<edge> edges_;
  std::vector<std::uint32_t> start_, out_, waits_for_;
  std::vector<ns> time_;
  std::vector<std::uint32_t> best_;  // the edge that gave the node its time
  std::vector<std::uint32_t> free_;
  std::size_t next_ = 0;
};

}  // namespace

chain longest_chain(const trace::file& r, const pieces& p, const moments& m, const std::vector<std::uint32_t>& adds,
                    const std::vector<bool>& holds) {
  builder b(r, p, m, adds, holds);
  const std::uint32_t nodes = b.nodes();
  return longest(r, p, b.take(), nodes).find();
}

}  // namespace weft::tool::report

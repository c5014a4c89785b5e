// A run of a graph (weft/graph.hpp) as the scheduler meets it. The run is a task like others, with the accesses of all
// nodes together; its body makes the nodes without predecessors ready. A node that is done counts down its successors,
// and whoever brings a count to 0 sets it back at once, for the next run, and goes on with that node: the first of them
// next on the same worker, the others into its deque. Nothing is registered, allocated or locked on the way.
// The run is done when its sinks are, and what nodes have submitted. Protocol and proof: graphs.md.
#pragma once
#include <cstddef>
#include <cstdint>

#include "base/assert.hpp"
#include "base/atomic.hpp"
#include "base/prefetch.hpp"
#include "sched/balance/tempo.hpp"
#include "sched/place/placement.hpp"
#include "sched/queues/deque.hpp"
#include "sched/replay/graph_state.hpp"
#include "sched/replay/ordering.hpp"
#include "sched/workers/children.hpp"

namespace weft::sched {

using detail::graph_node;
using detail::graph_state;

// The count of one node.
template <class M> struct countdown {
  // A predecessor of x is done. Returns whether it was the last one; then x is the caller's, and its count stands as at
  // rest. Order: acq_rel, so that what all predecessors did comes before x. Who reads 1 is the last: the others have
  // counted, and no other run begins before x is done. So the last one, and a single one, changes nothing that others
  // write at the same time, and needs no read-modify-write.
  [[nodiscard, gnu::always_inline]] static bool arrives(graph_node& x) noexcept {
    if (x.predecessors == 1) return true;
    if (M::load(x.missing, base::acquire) != 1 && M::fetch_sub(x.missing, 1u, base::acq_rel) != 1) return false;
    M::store(x.missing, x.predecessors, base::relaxed);  // published by what makes x's successors ready
    return true;
  }
};

template <class M> class graphs {
 public:
  using record = detail::record;

  graphs(placement<M>& placement, ordering<M>& order, tempo<M>& tempo)
      : placement_(placement), ordering_(order), tempo_(tempo) {}

  // The body of `run` has begun on w. Who: that body; no other run of g is under way, as both write its handle.
  void begin(worker<M>& w, record& run, graph_state& g) {
    WEFT_ASSERT(w.current == &run && run.state == detail::record_state::running && run.subtasks);
    run.has_waited = true;  // how long this takes says nothing about bodies
    if (g.nodes.empty()) return;
    introduce(g);
    record& root = g.root;
    root.parent = &run;
    root.order = children<M>::added(run);
    root.exclusives = run.exclusives;
    root.name = run.name;
    root.trace_id() = run.trace_id();
    root.has_children = true;
    M::store(root.pending, g.sinks, base::relaxed);  // published with the first node
    for (const graph_state::about& a : g.nodes) {
      M::declares(a.node->task, a.cost_ps);
      ordering_.submitted(a.node->task);
    }
    for (auto at = g.roots.rbegin(); at != g.roots.rend(); ++at) placement_.place(w, &(*at)->task);
  }

  // Nodes lie in the order in which they were recorded, which is about that in which they run: what comes some nodes on
  // is asked for before it is needed. The distance is a whole number of nodes of two, three and four lines, and for
  // others a guess; it is more than the successors of a node are usually away. Of graphs that no cache holds a node of
  // a stencil takes 13.3 ns with it and 34 without (4 wide), 16 and 20 (32 wide), a node of a chain 6.1 and 6.8.
  [[gnu::always_inline]] static void fetch_ahead(const record& r) noexcept {
    constexpr std::size_t ahead = 72 * 256;
    base::will_write(reinterpret_cast<const std::byte*>(&r) - graph_node::before_task + ahead);
  }
  // n, whose body has returned on w, is done for its successors. Returns what runs next.
  [[nodiscard, gnu::always_inline]] record* release(worker<M>& w, graph_node& n) {
    record* follower = nullptr;
    bool queued = false;
    graph_node* const* at = n.successors;
    for (std::uintptr_t last = at == nullptr; last == 0; ++at) {
      const auto bits = reinterpret_cast<std::uintptr_t>(*at);
      last = bits & 1;
      graph_node& s = *reinterpret_cast<graph_node*>(bits & ~std::uintptr_t{1});
      if (!countdown<M>::arrives(s)) continue;
      record& x = s.task;
      // As in readiness.hpp: of several the first that may; others lie in the deque only where any thief may have them.
      const bool may = follower == nullptr || (x.plain && placement_.own_only());
      if (!may || !placement_.follows(w, x)) {
        placement_.place(w, &x);
        continue;
      }
      placement_.tell_ready(w, x);
      transition(x, detail::record_state::blocked, detail::record_state::ready);
      if (follower == nullptr) {
        follower = &x;
      } else {
        placement_.keep(w, &x);
        queued = true;
      }
    }
    if (queued && !tempo_.tiny()) placement_.keep_within_reach(w);
    return follower;
  }
  // What w goes on with behind a node that has made nothing ready: the newest in its deque. Only while bodies are tiny;
  // longer ones go by the search, which also thinks of others.
  [[nodiscard, gnu::always_inline]] record* newest(worker<M>& w) noexcept {
    return placement_.own_only() && tempo_.tiny() ? deque<M>::pop(w) : nullptr;
  }
  // r, which was to follow on w, waits until w has looked elsewhere. A tiny one is not shown to thieves meanwhile: a
  // chain of such would go from one to the other.
  void put_off(worker<M>& w, record* r) {
    if (placement_.own_only() && r->pin == record::unpinned && tempo_.tiny())
      placement_.keep(w, r);
    else
      placement_.put_off(w, r);
  }
  void release_all(worker<M>& w, graph_node& n) {
    if (record* x = release(w, n)) placement_.place(w, x);
  }

  // n, which has submitted tasks, is to count in its graph until they are done. Who: its worker, before n's successors
  // know that it is done.
  void holds(graph_node& n) noexcept {
    if (n.successors != nullptr) children<M>::added_elsewhere(*n.task.parent);
  }
  // All of r is done, and of its children. Who: whoever ends it, before it counts down its parent.
  static void rests(record& r) noexcept {
    if (r.kind != detail::record_kind::node) return;  // the root
    r.has_children = r.has_waited = false;
    r.running.children = 0;
    transition(r, detail::record_state::draining, detail::record_state::blocked);
    M::store(r.pending, detail::record::body_share, base::relaxed);
  }

 private:
  // A modelled machine is told of memory when it is new.
  static void introduce(graph_state& g) noexcept {
    if (g.is_known) return;
    g.is_known = true;
    M::fresh(&g.root, sizeof g.root);
    for (const graph_state::chunk& c : g.chunks) M::fresh(c.memory.get(), c.used * sizeof(graph_state::line));
  }

  placement<M>& placement_;
  ordering<M>& ordering_;
  tempo<M>& tempo_;
};

}  // namespace weft::sched

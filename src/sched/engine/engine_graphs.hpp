// Nodes of graphs that run again (graphs.hpp), step 5 and 6 of their lives: as those of a task, but what follows is
// counted down and not waited for.
#pragma once

namespace weft::sched {

template <machine::machine M> void engine<M>::run_graph(detail::record& r, detail::graph_state& g) {
  const visit v(*this);
  context_.recording.run_begins(r, g);
  admit_.graphs.begin(v.self(), r, g);
}

template <machine::machine M> void engine<M>::heal(detail::graph_state& g) {
  const visit v(*this);
  for (const detail::graph_state::use& u : g.uses) context_.failures.heal(*u.handle);
}

// r and what it makes ready, one after the other, until there is nothing more or somebody else's turn. May return on
// another worker than it was called on. Returns what is no node and runs next, or nullptr.
template <machine::machine M> detail::record* engine<M>::run_node(worker& w, detail::record* r) {
  for (worker* here = &w;;) {
    graphs<M>::fetch_ahead(*r);
    execute<true>(*here, r);
    here = static_cast<worker*>(current_worker());
    r = node_done(*here, r);
    const bool may_go_on = ++here->tick < detail::peek(here->tick_limit) && !context_.attention.called();
    if (!may_go_on) [[unlikely]] {
      if (r != nullptr) admit_.graphs.put_off(*here, r);
      return nullptr;
    }
    if (r == nullptr) r = admit_.graphs.newest(*here);
    if (r == nullptr || r->kind != detail::record_kind::node) return r;
  }
}

// Once the last sink is done the graph may run again, or be gone: r is not looked at after that.
template <machine::machine M> detail::record* engine<M>::node_done(worker& w, detail::record* r) {
  w.current = nullptr;
  if (r->has_children) [[unlikely]]
    return node_with_children_done(w, r);
  transition(*r, detail::record_state::running, detail::record_state::blocked);
  detail::graph_node& n = detail::graph_node::of(*r);
  if (n.successors != nullptr) [[likely]]
    return admit_.graphs.release(w, n);
  if (children<M>::ended(*r->parent)) wholly_done(w, r->parent);
  return nullptr;
}

template <machine::machine M> detail::record* engine<M>::node_with_children_done(worker& w, detail::record* r) {
  transition(*r, detail::record_state::running, detail::record_state::draining);
  detail::graph_node& n = detail::graph_node::of(*r);
  admit_.graphs.holds(n);
  detail::record* const follower = r->subtasks ? nullptr : admit_.graphs.release(w, n);
  if (children<M>::body_over(*r)) wholly_done(w, r);
  return follower;
}

// r has waited for its subtasks: a task with its accesses, a node with its successors.
template <machine::machine M> void engine<M>::release_behind(worker& w, detail::record& r) {
  if (r.kind == detail::record_kind::node) return admit_.graphs.release_all(w, detail::graph_node::of(r));
  woken list;
  access::settle<M>(r, list);
  if (r.exclusives != 0) context_.readiness.wait_ends();
  context_.readiness.all(w, list);
}

}  // namespace weft::sched

// The scope of a finish: a record that stands between a body and the tasks that are submitted in the scope, so that a
// wait for them is a wait for its children and for nobody else's. It lies on the stack of the body; where hooks are set
// the engine gives another in its place. Where it is waited for: src/sched/join/scopes.hpp.
#pragma once
#include "weft/detail/record.hpp"
#include "weft/detail/worker.hpp"

namespace weft::detail {

struct scope {
  record own;
  record* r = &own;
  light_scope* of = nullptr;  // that it is the record of

  scope() noexcept {}  // what of `own` matters open() sets
  scope(const scope&) = delete;
  scope& operator=(const scope&) = delete;
};

// Makes r the scope that the body on w is in; outer: that body, or nullptr.
[[gnu::always_inline]] inline void enclose(worker& w, record& r, const record* outer) noexcept {
  r.parent = w.current;
  r.running.waits_in = nullptr;
  r.running.ended_here = 0;
  r.access_count = 0;
  r.running.children = 0;
  r.kind = record_kind::scope;
  begin(r, record_state::running);
  r.urgent = r.subtasks = r.waits_exclusive = r.has_children = r.internal = r.plain = false;
  r.denied = 0;
  r.has_waited = r.is_call = false;
  r.near = 0;
  r.name = outer != nullptr ? outer->name : nullptr;
  r.exclusives = outer != nullptr ? outer->exclusives : 0;
  r.trace_id() = outer != nullptr ? outer->trace_id() : 0;
  poke(r.pending, record::body_share);
  w.current = &r;
}

// The slow halves. open: where hooks are set, or outside of tasks. close: returns when the children of s are done, and
// throws what they threw. Either way s is closed.
void open_slowly(worker& w, scope& s);
void close_slowly(worker& w, scope& s);

// Begins s, and ends it. A scope counts as a child of the body, one that ends on its stack; so it has a number among
// them. Who: a body on w, or the main thread between enter_forks and leave_forks.
[[gnu::always_inline]] inline void open(worker& w, scope& s) {
  if (is_set(w.hooked) || w.current == nullptr || peek(w.kept) != nullptr ||
      (w.current->running.children + 1) % record::renew_every == 0) [[unlikely]]
    return open_slowly(w, s);
  record& outer = *w.current;
  outer.has_children = true;
  s.own.order = outer.running.children++;
  enclose(w, s.own, &outer);
}
// The child that is newest on w, if it is a plain call: no accesses to settle, nobody to look at it, nothing else that
// is to come first. Then it is the caller's. As newest_child (src/sched/join/waits.hpp) and taken_back (branch.hpp).
// It is looked at only when it is out of reach of thieves: one that has it writes to it.
[[nodiscard, gnu::always_inline]] inline record* newest_call(worker& w, scope& s) noexcept {
  deque_owner& d = w.deque;
  const std::uint32_t bottom = peek(d.bottom), index = bottom - 1;
  if (is_set(w.hooked) || bottom == peek(d.split) || s.own.exclusives != 0 || *w.is_watched ||
      w.tick >= peek(w.tick_limit) || peek(*w.attention) != 0 ||
      reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) <= w.where->calls_end)
    return nullptr;
  poke(d.bottom, index);
  then();
  if (!lies_before(index, d.split)) [[likely]] {
    record* const x = peek(d.slots[index & d.mask]);
    if (x->parent == &s.own && x->kind == record_kind::task && x->plain && x->access_count == 0) [[likely]]
      return x;
  }
  poke_release(d.bottom, bottom);
  return nullptr;
}

// Whether the children of r are done, and all ended on its stack: then nobody else knows of r. A guess that may say no.
[[nodiscard, gnu::always_inline]] inline bool all_ended_here(const record& r) noexcept {
  return r.running.children == r.running.ended_here && peek(r.pending) == record::body_share;
}

// Runs x, a child of s. Returns false if it threw. Who: the body that s is of, on its stack.
[[gnu::always_inline]] inline bool call(place_of_body& at, scope& s, record& x) {
  worker& before = *at.on;
  ++before.tick;
  poke(before.tasks, peek(before.tasks) + 1);
  poke(before.body_name, x.name);
  transition_inline(x, record_state::ready, record_state::running);
  x.running.ended_here = 0;
  x.running.children = 0;
  x.is_call = true;
  before.current = &x;
  try {
    x.invoke(x, errand::run);
    worker& w = *at.on;
    const std::uint8_t c = x.size_class;
    if (!all_ended_here(x) || c == record_classes || w.free[c] == nullptr || w.free_count[c] == magazine::capacity)
        [[unlikely]] {
      w.engine->end_call(w, x, false);
    } else {
      transition_inline(x, record_state::running, record_state::free);
      w.free[c]->slot[w.free_count[c]++] = &x;
      ++s.own.running.ended_here;
    }
    w.current = &s.own;
    return true;
  } catch (...) {
    at.on->engine->end_call(*at.on, x, true);
    at.on->current = &s.own;
    return false;
  }
}

[[gnu::always_inline]] inline void close(place_of_body& at, scope& s) {
  bool quick = s.r == &s.own && s.own.parent != nullptr;
  while (!all_ended_here(s.own)) {
    record* const x = newest_call(*at.on, s);
    if (x == nullptr) [[unlikely]]
      return close_slowly(*at.on, s);
    quick = call(at, s, *x) && quick;
  }
  if (!quick) [[unlikely]]
    return close_slowly(*at.on, s);
  ++s.own.parent->running.ended_here;
  at.on->current = s.own.parent;
}

}  // namespace weft::detail

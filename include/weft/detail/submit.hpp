// From a submit() call to a filled record. All templates of the task model are here and below, and they do only what
// needs the types: place the closure, note the accesses, and build the function that later calls the body with its
// data. A task without accesses on a host worker never leaves this file: magazine, closure, deque.
#pragma once
#include <cstddef>
#include <cstdint>
#include <new>
#include <tuple>
#include <type_traits>
#include <utility>

#include "weft/detail/calling.hpp"
#include "weft/detail/clause_traits.hpp"
#include "weft/detail/graph_recording.hpp"
#include "weft/detail/record.hpp"
#include "weft/detail/worker.hpp"

namespace weft::detail {

template <class T, std::uint8_t Kind, std::uint8_t UserType>
void note(record&, access*& a, const access_clause<T, Kind, UserType>& c) noexcept {
  a->handle_and_kind = reinterpret_cast<std::uintptr_t>(&c.target.state()) | kind_bits(Kind, UserType);
  ++a;
}
template <class Range, std::uint8_t Kind, std::uint8_t UserType>
void note(record&, access*& a, const range_clause<Range, Kind, UserType>& c) noexcept {
  const access* end = a + c.count;
  for (auto&& element : c.handles)  // a range that has grown since it was counted must not run over the record
    if (a != end)
      (a++)->handle_and_kind =
          reinterpret_cast<std::uintptr_t>(&handle_in(element).state()) | kind_bits(Kind, UserType);
}
template <class R> void note(record&, access*& a, const reduce_clause<R>& c) noexcept {
  a->handle_and_kind = reinterpret_cast<std::uintptr_t>(&c.target.state()) | kind_bits(kind_reduce);
  ++a;
}
inline void note(record&, access*& a, const use_clause& c) noexcept {
  *a++ = {reinterpret_cast<std::uintptr_t>(&c.target.state()) | kind_bits(kind_resource), c.units};
}
template <class T, stretch_kind Kind> void note_stretches(const stream_clause<T, Kind>& c, matching*& at) noexcept {
  matching& m = *at++;
  m.stream = &c.from;
  m.takes = c.takes;
  m.x.size = (c.size < too_many_elements ? c.size : too_many_elements) & too_many_elements;
  m.x.kind = Kind;
  m.x.takes_all = c.takes == c.size;
}
template <class T, stretch_kind Kind, std::size_t Most>
void note_stretches(const streams_clause<T, Kind, Most>& c, matching*& at) noexcept {
  matching* next = at;
  for (std::size_t i = 0; i < c.count; ++i)
    note_stretches(stream_clause<T, Kind>{c.all[i].state(), c.size, c.takes}, next);
  at += Most;
}
template <class T> void note_stretches(const reuse_clause<T>& c, matching*& at) noexcept {
  note_stretches(stream_clause<T, stretch_kind::reuse>{c.from, c.size, c.size}, at);
  note_stretches(stream_clause<T, stretch_kind::push>{c.to, c.size, c.size}, at);
}
template <class Clause> void note_stretches(const Clause&, matching*&) noexcept {}
template <class Clause> void note_unless_stream(record& r, access*& a, const Clause& c) noexcept {
  if constexpr (access_traits<Clause>::stretches == 0) note(r, a, c);
}
inline void note(record& r, access*&, const name_clause& c) noexcept { r.name = c.text; }
inline void note(record& r, access*&, const cost_clause& c) noexcept { r.cost_ps = c.amount; }
inline void note(record& r, access*&, const priority_clause& c) noexcept { r.urgent = c.level > 0; }
inline void note(record& r, access*&, const pin_clause& c) noexcept { r.pin = c.worker; }
inline void note(record& r, access*&, const subtasks_clause&) noexcept { r.subtasks = true; }
inline void note(record&, access*&, const near_clause&) noexcept {}  // with the other hints
// It is done when its members are; who it is to have stands beside the body.
inline void note(record& r, access*&, const team_clause&) noexcept { r.subtasks = true; }
// An event counts as a child that is there from the beginning.
inline void note(record& r, access*&, const completes_clause&) noexcept {
  r.subtasks = r.has_children = true;
  poke(r.pending, record::body_share | record::body_bit | record::event_bit);
}
template <class Clause> void enter_tied(engine_base&, record&, const Clause&) noexcept {}
inline void enter_tied(engine_base& e, record& r, const completes_clause& c) {
  try {
    tie(e, c.target.state(), r);
  } catch (...) {
    r.invoke(r, errand::destroy);
    e.discard(&r);
    throw;
  }
  try {
    e.enter(&r);
  } catch (...) {
    untie(c.target.state());
    throw;
  }
}

// Owner only, host only. Cost: three predictable branches and two stores.
inline void push(worker& w, record* r) {
  deque_owner& d = w.deque;
  const std::uint32_t index = peek(d.bottom);
  if (peek(w.kept) != nullptr || index == d.limit) [[unlikely]]
    return w.engine->push_slow(w, r);
  poke(d.slots[index & d.mask], r);
  poke_release(d.bottom, index + 1);
  then();
  if (is_set(w.starved)) [[unlikely]]
    w.engine->share(w);
}

inline record* allocate(engine_base& e, worker* w, std::size_t bytes) {
  const std::uint8_t c = record_class(bytes);
  if (w == nullptr || w->engine != &e || is_set(w->hooked) || w->light != nullptr || c == record_classes ||
      w->free_count[c] == 0) [[unlikely]]
    return e.allocate(bytes);
  return w->free[c]->slot[--w->free_count[c]];
}
inline record* allocate(engine_base& e, std::size_t bytes, std::size_t) { return allocate(e, self(), bytes); }
inline void* closure_for(engine_base&, record& r, std::size_t) noexcept { return r.closure(); }

// The same for a body that says where it is, and so on which worker.
struct submitter {
  place_of_body& at;
  engine_base& engine;
  [[nodiscard]] std::uint8_t near(const near_clause* hints, std::size_t count) { return engine.near(hints, count); }
  void discard(record* r) noexcept { engine.discard(r); }
};
inline record* allocate(submitter& s, std::size_t bytes, std::size_t) { return allocate(s.engine, s.at.on, bytes); }
inline void* closure_for(submitter&, record& r, std::size_t) noexcept { return r.closure(); }

// Last step for a task without conditions on a host worker: count it, queue it.
inline bool enter_fast(engine_base& e, worker* w, record* r) {
  if (w == nullptr || w->creates_for != &e || is_set(w->hooked)) [[unlikely]]
    return false;
  record* const parent = w->current;
  if (parent == nullptr) {
    r->order = peek(w->created) + 1;
    poke(w->created, r->order);
  } else {  // as children::added (src/sched/workers/children.hpp)
    if ((parent->running.children + 1) % record::renew_every == 0) [[unlikely]]
      return false;
    parent->has_children = true;
    r->order = parent->running.children++;
  }
  r->parent = parent;
  transition_inline(*r, record_state::filling, record_state::ready);
  push(*w, r);
  return true;
}

// Sets everything in a record of `bytes` but its accesses and its closure, as for a task without further clauses.
// Nothing is read from it, and the size class, which it has already, is written with the rest: a record may come from
// another core's cache, and stores do not wait for it.
inline void prepare(record& r, void (*invoke)(record&, errand), std::size_t bytes, std::uint32_t accesses,
                    std::uint8_t exclusives, bool plain) noexcept {
  r.invoke = invoke;
  r.name = nullptr;
  r.cost_ps = 0;
  r.access_count = accesses;
  r.waiting.cursor = 0;
  r.pin = record::unpinned;
  r.kind = record_kind::task;
  begin(r, record_state::filling);
  r.size_class = record_class(bytes);
  r.exclusives = exclusives;
  r.urgent = false;
  r.subtasks = false;
  r.waits_exclusive = false;
  r.has_children = false;
  r.internal = false;
  r.plain = plain;
  r.denied = 0;
  r.has_waited = false;
  r.is_call = false;
  r.near = 0;
  poke(r.pending, record::body_share);
}

// What a task needs, as far as only its ranges tell.
struct range_needs {
  std::size_t accesses;
  std::size_t exclusives;
};
template <class Clause> void count_range(range_needs& n, const Clause& c) noexcept {
  if constexpr (access_traits<Clause>::is_range) {
    n.accesses += c.count;
    if (access_traits<Clause>::exclusive_range) n.exclusives += c.count;
  }
}
template <class Clause> void note_hint(near_clause*& at, const Clause& c) noexcept {
  if constexpr (std::is_same_v<Clause, near_clause>) *at++ = c;
}
template <class Clause> void note_team(team_clause& wish, const Clause& c) noexcept {
  if constexpr (std::is_same_v<Clause, team_clause>) wish = c;
}
template <class Clause> void note_count(std::uint32_t*& at, const Clause& c) noexcept {
  if constexpr (access_traits<Clause>::is_range) *at++ = static_cast<std::uint32_t>(c.count);
  if constexpr (access_traits<Clause>::is_numbered) *at++ = c.target.take_number();
}
[[noreturn]] void throw_too_wide(std::size_t accesses);  // weft::error

template <class Body, class... Clauses> struct builder {
  using list = clause_list<Clauses...>;
  using plain_body = std::remove_cvref_t<Body>;
  using kept = std::conditional_t<
      list::is_team, team_closure<plain_body, list::counts>,
      std::conditional_t<list::stretches != 0, stream_closure<plain_body, list::counts, list::stretches>,
                         closure<plain_body, list::counts>>>;
  static constexpr auto invoke_kept() noexcept {
    if constexpr (list::stretches != 0)
      return &invoke_streams<list::stretches, kept, Clauses...>;
    else if constexpr (list::is_team)
      return &invoke_team<kept, Clauses...>;
    else
      return &invoke<kept, Clauses...>;
  }

  static void submit(engine_base& e, Body&& body, const Clauses&... clauses) {
    static_assert(!asks_for_result<Clauses...>, "weft: returns() is a clause of runtime::submit alone");
    static_assert(
        !list::is_team || !list::is_numbered,
        "weft: the members of a team have one number between them; use weft::reduce, or team_context::reduce");
    static_assert(!list::is_team || list::stretches == 0,
                  "weft: a team has no streams of its own; pop in one task, hand the data on by a handle, and push in "
                  "another");
    static_assert(list::stretches <= stretches_max, "weft: a task names at most 16 stretches of streams");
    record* const r = make(e, invoke_kept(), static_cast<Body&&>(body), clauses...);
    if constexpr (list::accesses == 0 && list::ranges == 0 && list::stretches == 0 && !list::directed) {
      // Read anew: allocate() may have waited for room, and then this may be another thread.
      if (enter_fast(e, self(), r)) [[likely]]
        return;
    }
    if constexpr (list::events != 0)
      (enter_tied(e, *r, clauses), ...);
    else
      e.enter(r);
  }

  // Of a body that says where it is.
  static void submit(place_of_body& at, Body&& body, const Clauses&... clauses) {
    static_assert(!asks_for_result<Clauses...>, "weft: returns() is a clause of runtime::submit alone");
    if constexpr (list::accesses != 0 || list::ranges != 0 || list::stretches != 0 || list::directed ||
                  list::events != 0 || list::is_team) {
      submit(*at.on->engine, static_cast<Body&&>(body), clauses...);
    } else {
      submitter s{at, *at.on->engine};
      record* const r = make(s, invoke_kept(), static_cast<Body&&>(body), clauses...);
      if (!enter_fast(s.engine, at.on, r)) [[unlikely]]
        s.engine.enter(r);
    }
  }

  // As a node of a graph that is being recorded (weft/graph.hpp).
  static void submit(graph_recording& g, Body&& body, const Clauses&... clauses) {
    static_assert(!asks_for_result<Clauses...>, "weft: a graph runs again and a future has one value; let the task "
                                                "write a handle, or submit it by itself");
    static_assert(list::events == 0, "weft: a graph runs again and an event is over once; complete it from a task that "
                                     "is submitted, or wait for it in a body");
    static_assert(list::stretches == 0,
                  "weft: a graph runs again and the elements of a stream are matched once; submit "
                  "the task by itself, or hand the data on by a handle");
    static_assert(!list::uses, "weft: a graph holds no units of a resource; submit that task by itself");
    static_assert(!list::is_numbered,
                  "weft: a graph holds no repeatable reduction, whose tasks are numbered where they "
                  "are submitted; use weft::reduction, or submit that task by itself");
    constexpr auto destroy = std::is_trivially_destructible_v<kept> ? nullptr : &destroy_node<kept>;
    if constexpr (list::is_team)
      g.add(make(g, &invoke_team_node<kept, Clauses...>, static_cast<Body&&>(body), clauses...), destroy);
    else
      g.add(make(g, &invoke_node<kept, Clauses...>, static_cast<Body&&>(body), clauses...), destroy);
  }

 private:
  // A record filled in.
  template <class To> [[gnu::always_inline]] static inline record* make(To& e, void (*invoke)(record&, errand),
                                                                        Body&& body, const Clauses&... clauses) {
    if constexpr (list::stretches != 0)
      return make_with_streams(e, invoke, static_cast<Body&&>(body), clauses...);
    else
      return make_without(e, invoke, static_cast<Body&&>(body), clauses...);
  }
  template <class To> [[gnu::always_inline]] static inline record*
  make_without(To& e, void (*invoke)(record&, errand), Body&& body, const Clauses&... clauses) {
    static_assert(list::events <= 1, "weft: a task completes with one event; wait for the others in its body");
    static_assert(list::teams <= 1, "weft: a task is one team; say once how many workers it wants");
    static_assert(alignof(kept) <= 16, "weft: a body may not capture data aligned to more than 16 bytes by value");
    constexpr std::size_t bytes = sizeof(record) + list::accesses * sizeof(access) + sizeof(kept);
    static_assert(bytes <= task_bytes_max, "weft: capture large data by reference or through a handle");
    record* r = nullptr;
    if constexpr (list::ranges == 0) {
      r = allocate(e, bytes, sizeof(kept));
      prepare(*r, invoke, bytes, list::accesses, list::exclusives, list::plain);
    } else {
      range_needs n{list::accesses, list::exclusives};
      (count_range(n, clauses), ...);
      if (n.accesses > (task_bytes_max - bytes) / sizeof(access)) [[unlikely]]
        throw_too_wide(n.accesses);
      const std::size_t all_bytes = bytes + (n.accesses - list::accesses) * sizeof(access);
      r = allocate(e, all_bytes, sizeof(kept));
      prepare(*r, invoke, all_bytes, static_cast<std::uint32_t>(n.accesses),
              static_cast<std::uint8_t>(n.exclusives < 2 ? n.exclusives : 2), list::plain);
    }
    [[maybe_unused]] access* a = r->accesses();
    (note(*r, a, clauses), ...);
    finish(e, *r, static_cast<Body&&>(body), clauses...);
    return r;
  }
  template <class To> [[gnu::noinline]] static record* allocate_and_prepare(To& e, void (*invoke)(record&, errand),
                                                                            const range_needs& n, bool plain) {
    const std::size_t bytes = sizeof(record) + n.accesses * sizeof(access) + sizeof(kept);
    if (bytes > task_bytes_max) throw_too_wide(n.accesses);
    record* const r = allocate(e, bytes, sizeof(kept));
    prepare(*r, invoke, bytes, static_cast<std::uint32_t>(n.accesses),
            static_cast<std::uint8_t>(n.exclusives < 2 ? n.exclusives : 2), plain);
    return r;
  }
  // Its elements are matched first: how many accesses it has is known then.
  template <class To> [[gnu::noinline]] static record* make_with_streams(To& e, void (*invoke)(record&, errand),
                                                                         Body&& body, const Clauses&... clauses) {
    matching made[list::stretches];
    matching* at = made;
    (note_stretches(clauses, at), ...);
    range_needs n{list::accesses, list::exclusives};
    (count_range(n, clauses), ...);
    std::size_t entries = 0;
    if constexpr (list::stretches == 1)
      entries = match_one(made[0], &e);
    else
      entries = match(made, list::stretches, &e);
    record* r = nullptr;
    try {
      bool plain = list::plain;
      for (const matching& m : made) plain = plain && m.is_plain;
      if (list::ranges == 0 && entries == list::stretches) [[likely]] {
        constexpr std::size_t all = list::accesses + list::stretches;
        constexpr std::size_t bytes = sizeof(record) + all * sizeof(access) + sizeof(kept);
        r = allocate(e, bytes, sizeof(kept));
        prepare(*r, invoke, bytes, all, list::exclusives, plain);
      } else {
        n.accesses += entries;
        r = allocate_and_prepare(e, invoke, n, plain);
      }
      access* a = r->accesses();
      (note_unless_stream(*r, a, clauses), ...);
      // Behind the others: what a stage keeps from item to item is waited for first, so its list is in order of
      // submission, and not in that in which items come. Last what pushes, which is registered already.
      for (const bool pushes : {false, true})
        for (const matching& m : made) {
          if ((m.x.kind == stretch_kind::push) != pushes) continue;
          if (m.entries == 1)
            *a++ = m.only;
          else
            a = note_stretch(m.x, a);
        }
      finish(e, *r, static_cast<Body&&>(body), clauses...);
    } catch (...) {
      for (matching& m : made) unmatch(&m.x, 1);
      throw;
    }
    kept& k = *static_cast<kept*>(closure_for(e, *r, sizeof(kept)));
    for (std::size_t i = 0; i < list::stretches; ++i) k.stretches[i] = made[i].x;
    return r;
  }
  // Hints, the body, and what stands beside it.
  template <class To>
  [[gnu::always_inline]] static inline void finish(To& e, record& record_of, Body&& body, const Clauses&... clauses) {
    record* const r = &record_of;
    if constexpr (list::hints != 0) {
      near_clause hints[list::hints];
      near_clause* next = hints;
      (note_hint(next, clauses), ...);
      r->near = e.near(hints, list::hints) & 63;
    }
    place(e, *r, static_cast<Body&&>(body));
    if constexpr (list::is_team) (note_team(static_cast<kept*>(closure_for(e, *r, sizeof(kept)))->wish, clauses), ...);
    if constexpr (list::counts != 0) {
      std::uint32_t* at = static_cast<kept*>(closure_for(e, *r, sizeof(kept)))->counts;
      (note_count(at, clauses), ...);
    }
  }
  template <class To> static void place(To& e, record& r, Body&& body) {
    if constexpr (std::is_nothrow_constructible_v<plain_body, Body&&>) {
      new (closure_for(e, r, sizeof(kept))) kept(static_cast<Body&&>(body));
    } else {
      try {
        new (closure_for(e, r, sizeof(kept))) kept(static_cast<Body&&>(body));
      } catch (...) {
        e.discard(&r);
        throw;
      }
    }
  }
};

// A body, and what its task keeps for as long as it.
template <class Body, class Kept> struct keeping {
  template <class... Data>
    requires std::is_invocable_v<Body&, Data...>
  decltype(auto) operator()(Data&&... data) {
    return body(static_cast<Data&&>(data)...);
  }
  Body body;
  Kept kept;
};
template <class Clause> [[nodiscard]] auto kept_by(const Clause& c) noexcept {
  if constexpr (access_traits<Clause>::keeps)
    return std::tuple(c.kept());
  else
    return std::tuple<>();
}
template <class To, class Body, class... Clauses> void submit_with(To& e, Body&& body, const Clauses&... clauses) {
  if constexpr ((false || ... || access_traits<Clauses>::keeps)) {
    auto all = std::tuple_cat(kept_by(clauses)...);
    using whole = keeping<std::remove_cvref_t<Body>, decltype(all)>;
    builder<whole, Clauses...>::submit(e, whole{static_cast<Body&&>(body), std::move(all)}, clauses...);
  } else {
    builder<Body, Clauses...>::submit(e, static_cast<Body&&>(body), clauses...);
  }
}

// Rotates the body to the front: submit(c1, c2, body) becomes submit_with(e, body, c1, c2).
template <class... Done> struct rotate {
  template <class To, class Body> static void go(To& e, const Done&... done, Body&& body) {
    submit_with<To, Body>(e, static_cast<Body&&>(body), done...);
  }
  template <class To, class Next, class Second, class... Rest>
  static void go(To& e, const Done&... done, Next&& next, Second&& second, Rest&&... rest) {
    rotate<Done..., std::remove_cvref_t<Next>>::go(e, done..., next, static_cast<Second&&>(second),
                                                   static_cast<Rest&&>(rest)...);
  }
};

template <class To, class... Args> void submit(To& e, Args&&... clauses_and_body) {
  rotate<>::go(e, static_cast<Args&&>(clauses_and_body)...);
}

}  // namespace weft::detail

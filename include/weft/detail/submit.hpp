// From a submit() call to a filled record. All templates of the task model are here and they do only what needs the
// types: place the closure, note the accesses, and build the function that later calls the body with its data.
// A task without accesses on a host worker never leaves this file: magazine, closure, deque.
#pragma once
#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>

#include "weft/clause.hpp"
#include "weft/detail/graph_recording.hpp"
#include "weft/detail/record.hpp"
#include "weft/detail/worker.hpp"
#include "weft/event.hpp"
#include "weft/near.hpp"
#include "weft/range.hpp"
#include "weft/reduction.hpp"
#include "weft/resource.hpp"
#include "weft/team.hpp"

namespace weft::detail {

template <class Clause> struct access_traits {
  static constexpr bool is_access = false;
  static constexpr bool is_clause = false;
  static constexpr bool is_range = false;
  static constexpr bool is_numbered = false;  // its task keeps a number for it
  static constexpr bool exclusive_group = false;
  static constexpr bool plain = false;
};
template <> struct access_traits<name_clause> : access_traits<void> {
  static constexpr bool is_clause = true;
  static constexpr bool plain = true;
};
template <> struct access_traits<cost_clause> : access_traits<void> {
  static constexpr bool is_clause = true;
  static constexpr bool plain = true;
};
template <> struct access_traits<priority_clause> : access_traits<void> {
  static constexpr bool is_clause = true;
};
template <> struct access_traits<pin_clause> : access_traits<void> {
  static constexpr bool is_clause = true;
};
template <> struct access_traits<near_clause> : access_traits<void> {
  static constexpr bool is_clause = true;
  static constexpr bool plain = true;
};
template <> struct access_traits<subtasks_clause> : access_traits<void> {
  static constexpr bool is_clause = true;
};
template <> struct access_traits<completes_clause> : access_traits<void> {
  static constexpr bool is_clause = true;
};
template <> struct access_traits<team_clause> : access_traits<void> {
  static constexpr bool is_clause = true;
  static constexpr bool plain = true;
};
struct one_access : access_traits<void> {
  static constexpr bool is_access = true;
  static constexpr bool is_clause = true;
};
template <class T, std::uint8_t Kind, std::uint8_t UserType> struct access_traits<access_clause<T, Kind, UserType>>
    : one_access {
  static constexpr bool exclusive_group = (Kind & kind_add) == kind_add;
  static constexpr bool plain = !exclusive_group;
  using type = T;
  static constexpr std::uint8_t kind = Kind;
};

template <class Range, std::uint8_t Kind, std::uint8_t UserType>
struct access_traits<range_clause<Range, Kind, UserType>> : access_traits<void> {
  static constexpr bool is_clause = true;
  static constexpr bool is_range = true;
  static constexpr bool exclusive_range = (Kind & kind_add) == kind_add;
  static constexpr bool plain = !exclusive_range;
  using type = typename range_clause<Range, Kind, UserType>::value_type;
  static constexpr std::uint8_t kind = Kind;
};
template <> struct access_traits<use_clause> : one_access {
  static constexpr bool exclusive_group = true;
  using type = void;
};
template <class R> struct access_traits<reduce_clause<R>> : one_access {
  using reduction = R;
  static constexpr bool is_numbered = R::is_numbered;
};

// A handle's datum as the body may see it.
template <class T, std::uint8_t Kind> using datum =
    std::conditional_t<(Kind & kind_readonly) != 0, const std::remove_reference_t<T>&, std::remove_reference_t<T>&>;

// As above, for a range of handles.
template <class T, std::uint8_t Kind> using data_view =
    view<std::conditional_t<(Kind & kind_readonly) != 0, const std::remove_reference_t<T>, std::remove_reference_t<T>>>;

template <class... Clauses> struct clause_list {
  static constexpr std::uint32_t accesses = (0 + ... + (access_traits<Clauses>::is_access ? 1 : 0));  // without ranges
  static constexpr std::size_t ranges = (0 + ... + (access_traits<Clauses>::is_range ? 1 : 0));
  // Words that are kept beside the body: how many handles each range has, and numbers of reductions that have such.
  static constexpr std::size_t counts = ranges + (0 + ... + (access_traits<Clauses>::is_numbered ? 1 : 0));
  static constexpr int adds = (0 + ... + (access_traits<Clauses>::exclusive_group ? 1 : 0));
  // Units of a resource are never granted one by one, so a task that uses one counts as having several.
  static constexpr bool uses = (false || ... || std::is_same_v<Clauses, use_clause>);
  static constexpr std::uint8_t exclusives = adds > 2 || uses ? 2 : adds;
  // Nothing exclusive, no reduction, and nothing that says where or when: the short way of src/access/plain.hpp.
  static constexpr bool plain = (true && ... && access_traits<Clauses>::plain);
  static constexpr std::size_t hints = (0 + ... + (std::is_same_v<Clauses, near_clause> ? 1 : 0));
  static constexpr int teams = (0 + ... + (std::is_same_v<Clauses, team_clause> ? 1 : 0));
  static constexpr bool is_team = teams != 0;
  static constexpr bool is_numbered = (false || ... || access_traits<Clauses>::is_numbered);
  static constexpr int events = (0 + ... + (std::is_same_v<Clauses, completes_clause> ? 1 : 0));
  // Whether a clause fixes where or when the task runs or ends: that takes a runtime.
  static constexpr bool fixed =
      events != 0 ||
      (false || ... || (std::is_same_v<Clauses, priority_clause> || std::is_same_v<Clauses, pin_clause>));
  // Whether one says anything about it: then it does not simply go on the submitter's deque.
  static constexpr bool directed = fixed || hints != 0;
};

// Calls `body` with the data of the access clauses. The recursion consumes the clauses and collects the arguments;
// clauses that are no access, and handle<void>, contribute none. `counts`: as clause_list::counts says.
template <class... Rest> struct caller {
  template <class Body, class... Data> static void call(Body& body, access*, const std::uint32_t*, Data&&... data) {
    static_assert(std::is_invocable_v<Body&, Data...>,
                  "weft: the body must take the data of its access clauses in clause order: const T& for read, T& for "
                  "write, add and concurrent, weft::view<const T> or weft::view<T> for a range, nothing for "
                  "handle<void>; before them, in a team, weft::team_context&");
    static_cast<void>(body(static_cast<Data&&>(data)...));
  }
};
template <class Clause, class... Rest> struct caller<Clause, Rest...> {
  template <class Body, class... Data>
  static void call(Body& body, access* a, const std::uint32_t* counts, Data&&... data) {
    if constexpr (access_traits<Clause>::is_range) {
      call_with_view(body, a, counts, static_cast<Data&&>(data)...);
    } else if constexpr (!access_traits<Clause>::is_access) {
      caller<Rest...>::call(body, a, counts, static_cast<Data&&>(data)...);
    } else {
      call_with_datum(body, a, counts, static_cast<Data&&>(data)...);
    }
  }

 private:
  // state() is the first member of handle_base, which is the first base of handle<T>.
  [[nodiscard]] static handle_base& base_of(access* a) noexcept {
    return *reinterpret_cast<handle_base*>(a->handle_and_kind & handle_address_mask);
  }
  template <class Body, class... Data>
  static void call_with_view(Body& body, access* a, const std::uint32_t* counts, Data&&... data) {
    using T = typename access_traits<Clause>::type;
    if constexpr (std::is_void_v<T>) {
      caller<Rest...>::call(body, a + *counts, counts + 1, static_cast<Data&&>(data)...);
    } else {
      caller<Rest...>::call(body, a + *counts, counts + 1, static_cast<Data&&>(data)...,
                            data_view<T, access_traits<Clause>::kind>(a, *counts, std::is_reference_v<T>));
    }
  }
  template <class Body, class... Data>
  static void call_with_datum(Body& body, access* a, const std::uint32_t* counts, Data&&... data) {
    if constexpr (access_traits<Clause>::is_numbered) {
      using reduction = typename access_traits<Clause>::reduction;
      typename reduction::part part(static_cast<reduction&>(base_of(a)), *counts);
      caller<Rest...>::call(body, a + 1, counts + 1, static_cast<Data&&>(data)..., part.get());
    } else if constexpr (requires { typename access_traits<Clause>::reduction; }) {
      using reduction = typename access_traits<Clause>::reduction;
      typename reduction::part part(static_cast<reduction&>(base_of(a)));
      caller<Rest...>::call(body, a + 1, counts, static_cast<Data&&>(data)..., part.get());
    } else {
      using T = typename access_traits<Clause>::type;
      if constexpr (std::is_void_v<T>) {
        caller<Rest...>::call(body, a + 1, counts, static_cast<Data&&>(data)...);
      } else {
        datum<T, access_traits<Clause>::kind> d = static_cast<handle<T>&>(base_of(a)).unguarded();
        caller<Rest...>::call(body, a + 1, counts, static_cast<Data&&>(data)..., d);
      }
    }
  }
};
static_assert(std::is_standard_layout_v<handle_base>, "a handle and its state share one address");

// What a record keeps behind its accesses: the body, and what clause_list::counts says.
template <class Body, std::size_t Counts> struct closure {
  template <class From> explicit closure(From&& b) : body(static_cast<From&&>(b)) {}
  Body body;
  std::uint32_t counts[Counts];
};
template <class Body> struct closure<Body, 0> {
  template <class From> explicit closure(From&& b) : body(static_cast<From&&>(b)) {}
  Body body;
  static constexpr const std::uint32_t* counts = nullptr;
};

// The same of a team. Each member calls the body; the engine destroys it behind the last.
template <class Body, std::size_t Counts> struct team_closure : closure<Body, Counts> {
  using closure<Body, Counts>::closure;
  team_clause wish{1, 1};
};
template <class Closure> struct behind_accesses {
  [[nodiscard]] static Closure& of(record& r) noexcept { return *std::launder(static_cast<Closure*>(r.closure())); }
};
template <class Where, class... Clauses> void run_team(record& r) {
  self()->engine->run_team(r, Where::of(r).wish, [](record& task, team_context& member) {
    auto& shared = Where::of(task);
    caller<Clauses...>::call(shared.body, task.accesses(), shared.counts, member);
  });
}
template <class Closure, class... Clauses> void invoke_team(record& r, errand what) {
  using where = behind_accesses<Closure>;
  if (what == errand::destroy) return where::of(r).~Closure();
  run_team<where, Clauses...>(r);
}

template <class Closure, class... Clauses> void invoke(record& r, errand what) {
  struct at_end {
    Closure& c;
    bool destroys;
    ~at_end() {
      if (destroys) c.~Closure();
    }
  } guard{*std::launder(static_cast<Closure*>(r.closure())), what != errand::call};
  if (what != errand::destroy) caller<Clauses...>::call(guard.c.body, r.accesses(), guard.c.counts);
}

// Of a node of a graph, which runs again: whoever is done with a run destroys nothing. The graph does, by the other.
template <class Closure> struct before_node {
  [[nodiscard]] static Closure& of(record& r) noexcept {
    return *std::launder(static_cast<Closure*>(node_closure(r, sizeof(Closure))));
  }
};
template <class Closure, class... Clauses> void invoke_node(record& r, errand what) {
  Closure& c = before_node<Closure>::of(r);
  if (what != errand::destroy) caller<Clauses...>::call(c.body, r.accesses(), c.counts);
}
template <class Closure, class... Clauses> void invoke_team_node(record& r, errand what) {
  if (what == errand::destroy) return;
  if (r.state == record_state::running) return run_team<before_node<Closure>, Clauses...>(r);
  Closure& c = before_node<Closure>::of(r);  // a plain call, without a runtime
  team_context alone;
  caller<Clauses...>::call(c.body, r.accesses(), c.counts, alone);
}
template <class Closure> void destroy_node(record& r) { before_node<Closure>::of(r).~Closure(); }

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

// Owner only, host only. Cost: two predictable branches and two stores.
inline void push(worker& w, record* r) {
  deque_owner& d = w.deque;
  const std::uint32_t index = peek(d.bottom);
  if (index == d.limit) [[unlikely]]
    return w.engine->push_slow(w, r);
  poke(d.slots[index & d.mask], r);
  poke_release(d.bottom, index + 1);
  then();
  if (peek(w.starved) != 0) [[unlikely]]
    w.engine->share(w);
}

inline record* allocate(engine_base& e, worker* w, std::size_t bytes) {
  const std::uint8_t c = record_class(bytes);
  if (w == nullptr || w->engine != &e || w->hooked || c == record_classes || w->free_count[c] == 0) [[unlikely]]
    return e.allocate(bytes);
  return w->free[c]->slot[--w->free_count[c]];
}
inline record* allocate(engine_base& e, std::size_t bytes, std::size_t) { return allocate(e, self(), bytes); }
inline void* closure_for(engine_base&, record& r, std::size_t) noexcept { return r.closure(); }

// Last step for a task without conditions on a host worker: count it, queue it.
inline bool enter_fast(engine_base& e, worker* w, record* r) {
  if (w == nullptr || w->creates_for != &e || w->hooked) [[unlikely]]
    return false;
  record* const parent = w->current;
  if (parent == nullptr) {
    r->order = peek(w->created) + 1;
    poke(w->created, r->order);
  } else {  // as children::added (src/sched/children.hpp)
    if ((parent->children + 1) % record::renew_every == 0) [[unlikely]]
      return false;
    parent->has_children = true;
    r->order = parent->children++;
  }
  r->parent = parent;
  r->state = record_state::ready;
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
  r.cursor = 0;
  r.pin = record::unpinned;
  r.kind = record_kind::task;
  r.state = record_state::filling;
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
  using kept =
      std::conditional_t<list::is_team, team_closure<plain_body, list::counts>, closure<plain_body, list::counts>>;
  static constexpr auto invoke_kept() noexcept {
    if constexpr (list::is_team)
      return &invoke_team<kept, Clauses...>;
    else
      return &invoke<kept, Clauses...>;
  }

  static void submit(engine_base& e, Body&& body, const Clauses&... clauses) {
    static_assert(
        !list::is_team || !list::is_numbered,
        "weft: the members of a team have one number between them; use weft::reduce, or team_context::reduce");
    record* const r = make(e, invoke_kept(), static_cast<Body&&>(body), clauses...);
    if constexpr (list::accesses == 0 && list::ranges == 0 && !list::directed) {
      // Read anew: allocate() may have waited for room, and then this may be another thread.
      if (enter_fast(e, self(), r)) [[likely]]
        return;
    }
    if constexpr (list::events != 0)
      (enter_tied(e, *r, clauses), ...);
    else
      e.enter(r);
  }

  // As a node of a graph that is being recorded (weft/graph.hpp).
  static void submit(graph_recording& g, Body&& body, const Clauses&... clauses) {
    static_assert(list::events == 0, "weft: a graph runs again and an event is over once; complete it from a task that "
                                     "is submitted, or wait for it in a body");
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
    return r;
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

// Rotates the body to the front: submit(c1, c2, body) becomes builder<Body, C1, C2>::submit(e, body, c1, c2).
template <class... Done> struct rotate {
  template <class To, class Body> static void go(To& e, const Done&... done, Body&& body) {
    builder<Body, Done...>::submit(e, static_cast<Body&&>(body), done...);
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

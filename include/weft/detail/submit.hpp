// From a submit() call to a filled record. All templates of the task model are here and they do only what needs the
// types: place the closure, note the accesses, and build the function that later calls the body with its data.
// A task without accesses on a host worker never leaves this file: free list, closure, deque.
#pragma once
#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>

#include "weft/clause.hpp"
#include "weft/detail/record.hpp"
#include "weft/detail/worker.hpp"
#include "weft/reduction.hpp"
#include "weft/resource.hpp"

namespace weft::detail {

template <class Clause> struct access_traits {
  static constexpr bool is_access = false;
  static constexpr bool is_clause = false;
  static constexpr bool exclusive_group = false;
};
template <> struct access_traits<name_clause> : access_traits<void> {
  static constexpr bool is_clause = true;
};
template <> struct access_traits<cost_clause> : access_traits<void> {
  static constexpr bool is_clause = true;
};
template <> struct access_traits<priority_clause> : access_traits<void> {
  static constexpr bool is_clause = true;
};
template <> struct access_traits<pin_clause> : access_traits<void> {
  static constexpr bool is_clause = true;
};
template <> struct access_traits<subtasks_clause> : access_traits<void> {
  static constexpr bool is_clause = true;
};
template <class T, std::uint8_t Kind, std::uint8_t UserType> struct access_traits<access_clause<T, Kind, UserType>> {
  static constexpr bool is_access = true;
  static constexpr bool is_clause = true;
  static constexpr bool exclusive_group = (Kind & kind_add) == kind_add;
  using type = T;
  static constexpr std::uint8_t kind = Kind;
};

template <> struct access_traits<use_clause> {
  static constexpr bool is_access = true;
  static constexpr bool is_clause = true;
  static constexpr bool exclusive_group = true;
  using type = void;
};
template <class R> struct access_traits<reduce_clause<R>> {
  static constexpr bool is_access = true;
  static constexpr bool is_clause = true;
  static constexpr bool exclusive_group = false;
  using reduction = R;
};

// A handle's datum as the body may see it.
template <class T, std::uint8_t Kind> using datum =
    std::conditional_t<(Kind & kind_readonly) != 0, const std::remove_reference_t<T>&, std::remove_reference_t<T>&>;

template <class... Clauses> struct clause_list {
  static constexpr std::uint32_t accesses = (0 + ... + (access_traits<Clauses>::is_access ? 1 : 0));
  static constexpr int adds = (0 + ... + (access_traits<Clauses>::exclusive_group ? 1 : 0));
  // Units of a resource are never granted one by one, so a task that uses one counts as having several.
  static constexpr bool uses = (false || ... || std::is_same_v<Clauses, use_clause>);
  static constexpr std::uint8_t exclusives = adds > 2 || uses ? 2 : adds;
  // Whether a clause says where or when the task runs: then it does not simply go on the submitter's deque.
  static constexpr bool directed =
      (false || ... || (std::is_same_v<Clauses, priority_clause> || std::is_same_v<Clauses, pin_clause>));
};

// Calls `body` with the data of the access clauses. The recursion consumes the clauses and collects the arguments;
// clauses that are no access, and handle<void>, contribute none.
template <class... Rest> struct caller {
  template <class Body, class... Data> static void call(Body& body, access*, Data&&... data) {
    static_assert(std::is_invocable_v<Body&, Data...>,
                  "weft: the body must take the data of its access clauses in clause order: const T& for read, T& for "
                  "write, add and concurrent, nothing for handle<void>");
    static_cast<void>(body(static_cast<Data&&>(data)...));
  }
};
template <class Clause, class... Rest> struct caller<Clause, Rest...> {
  template <class Body, class... Data> static void call(Body& body, access* a, Data&&... data) {
    if constexpr (!access_traits<Clause>::is_access) {
      caller<Rest...>::call(body, a, static_cast<Data&&>(data)...);
    } else {
      call_with_datum(body, a, static_cast<Data&&>(data)...);
    }
  }

 private:
  // state() is the first member of handle_base, which is the first base of handle<T>.
  [[nodiscard]] static handle_base& base_of(access* a) noexcept {
    return *reinterpret_cast<handle_base*>(a->handle_and_kind & handle_address_mask);
  }
  template <class Body, class... Data> static void call_with_datum(Body& body, access* a, Data&&... data) {
    if constexpr (requires { typename access_traits<Clause>::reduction; }) {
      typename access_traits<Clause>::reduction::part part(
          static_cast<typename access_traits<Clause>::reduction&>(base_of(a)));
      caller<Rest...>::call(body, a + 1, static_cast<Data&&>(data)..., part.get());
    } else {
      using T = typename access_traits<Clause>::type;
      if constexpr (std::is_void_v<T>) {
        caller<Rest...>::call(body, a + 1, static_cast<Data&&>(data)...);
      } else {
        datum<T, access_traits<Clause>::kind> d = static_cast<handle<T>&>(base_of(a)).unguarded();
        caller<Rest...>::call(body, a + 1, static_cast<Data&&>(data)..., d);
      }
    }
  }
};
static_assert(std::is_standard_layout_v<handle_base>, "a handle and its state share one address");

template <class Body, class... Clauses> void invoke(record& r, bool run) {
  struct destroy {  // also when the body throws
    Body& body;
    ~destroy() { body.~Body(); }
  } guard{*std::launder(static_cast<Body*>(r.closure()))};
  if (run) caller<Clauses...>::call(guard.body, r.accesses());
}

template <class T, std::uint8_t Kind, std::uint8_t UserType>
void note(record&, access*& a, const access_clause<T, Kind, UserType>& c) noexcept {
  a->handle_and_kind = reinterpret_cast<std::uintptr_t>(&c.target.state()) | kind_bits(Kind, UserType);
  ++a;
}
template <class R> void note(record&, access*& a, const reduce_clause<R>& c) noexcept {
  a->handle_and_kind = reinterpret_cast<std::uintptr_t>(&c.target.state()) | kind_reduce;
  ++a;
}
inline void note(record&, access*& a, const use_clause& c) noexcept {
  *a++ = {reinterpret_cast<std::uintptr_t>(&c.target.state()) | kind_resource, c.units};
}
inline void note(record& r, access*&, const name_clause& c) noexcept { r.name = c.text; }
inline void note(record& r, access*&, const cost_clause& c) noexcept { r.cost_ps = c.picoseconds; }
inline void note(record& r, access*&, const priority_clause& c) noexcept { r.urgent = c.level > 0; }
inline void note(record& r, access*&, const pin_clause& c) noexcept { r.pin = c.worker; }
inline void note(record& r, access*&, const subtasks_clause&) noexcept { r.subtasks = true; }

// Owner only, host only. Cost: two predictable branches and three stores.
inline void push(worker& w, record* r) {
  deque_owner& d = w.deque;
  if (d.bottom == d.limit || peek(w.starved) != 0) [[unlikely]]
    return w.engine->push_slow(w, r);
  poke(d.slots[d.bottom & d.mask], r);
  ++d.bottom;
}

inline record* allocate(engine_base& e, worker* w, std::size_t bytes) {
  const std::uint8_t c = record_class(bytes);
  if (w == nullptr || w->engine != &e || w->hooked || c == record_classes || w->free[c] == nullptr) [[unlikely]]
    return e.allocate(bytes);
  record* r = w->free[c];
  w->free[c] = r->next;
  --w->free_count[c];
  return r;
}

// Last step for a task without conditions on a host worker, outside of any task: count it, queue it.
inline bool enter_fast(engine_base& e, worker* w, record* r) {
  if (w == nullptr || w->engine != &e || w->hooked || w->current != nullptr) [[unlikely]]
    return false;
  r->order = peek(w->created) + 1;
  poke(w->created, r->order);
  r->parent = nullptr;
  r->state = record_state::ready;
  come_in(*w);
  push(*w, r);
  go_out(*w);
  return true;
}

// Sets everything in a record but its accesses and its closure, as for a task without further clauses.
inline void prepare(record& r, void (*invoke)(record&, bool), std::uint32_t accesses,
                    std::uint8_t exclusives) noexcept {
  r.invoke = invoke;
  r.name = nullptr;
  r.cost_ps = 0;
  r.access_count = accesses;
  r.cursor = 0;
  r.pin = record::unpinned;
  r.kind = record_kind::task;
  r.exclusives = exclusives;
  r.urgent = false;
  r.subtasks = false;
  r.waits_exclusive = false;
  r.has_children = false;
  r.applies_reduction = false;
  r.reserved_ = 0;
  poke(r.pending, 1u);
}

template <class Body, class... Clauses> struct builder {
  static void submit(engine_base& e, Body&& body, const Clauses&... clauses) {
    using closure = std::remove_cvref_t<Body>;
    using list = clause_list<Clauses...>;
    static_assert((access_traits<Clauses>::is_clause && ...), "weft: every argument before the body must be a clause");
    static_assert(alignof(closure) <= 16, "weft: a body may not capture data aligned to more than 16 bytes by value");
    constexpr std::size_t bytes = sizeof(record) + list::accesses * sizeof(access) + sizeof(closure);
    static_assert(bytes <= task_bytes_max, "weft: capture large data by reference or through a handle");
    record* r = allocate(e, self(), bytes);
    prepare(*r, &invoke<closure, Clauses...>, list::accesses, list::exclusives);
    [[maybe_unused]] access* a = r->accesses();
    (note(*r, a, clauses), ...);
    if constexpr (std::is_nothrow_constructible_v<closure, Body&&>) {
      new (r->closure()) closure(static_cast<Body&&>(body));
    } else {
      try {
        new (r->closure()) closure(static_cast<Body&&>(body));
      } catch (...) {
        e.discard(r);
        throw;
      }
    }
    if constexpr (list::accesses == 0 && !list::directed) {
      // Read anew: allocate() may have waited for room, and then this may be another thread.
      if (enter_fast(e, self(), r)) [[likely]]
        return;
    }
    e.enter(r);
  }
};

// Rotates the body to the front: submit(c1, c2, body) becomes builder<Body, C1, C2>::submit(e, body, c1, c2).
template <class... Done> struct rotate {
  template <class Body> static void go(engine_base& e, const Done&... done, Body&& body) {
    builder<Body, Done...>::submit(e, static_cast<Body&&>(body), done...);
  }
  template <class Next, class Second, class... Rest>
  static void go(engine_base& e, const Done&... done, Next&& next, Second&& second, Rest&&... rest) {
    rotate<Done..., std::remove_cvref_t<Next>>::go(e, done..., next, static_cast<Second&&>(second),
                                                   static_cast<Rest&&>(rest)...);
  }
};

template <class... Args> void submit(engine_base& e, Args&&... clauses_and_body) {
  static_assert(sizeof...(Args) > 0, "weft: submit needs a body");
  rotate<>::go(e, static_cast<Args&&>(clauses_and_body)...);
}

}  // namespace weft::detail

// What a record keeps behind its accesses - the body and what stands beside it - and how the body is called with its
// data, once or as often as its task runs.
#pragma once
#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <type_traits>

#include "weft/detail/clause_traits.hpp"
#include "weft/detail/graph_recording.hpp"
#include "weft/detail/record.hpp"
#include "weft/detail/worker.hpp"

namespace weft::detail {

// What stands beside the body, as far as clauses have not had it: counts as clause_list says, and stretches of streams.
struct beside {
  const std::uint32_t* counts;
  const stretch* stretches;
  [[nodiscard]] beside behind_count() const noexcept { return {counts + 1, stretches}; }
};

// Calls `body` with the data of the access clauses. The recursion consumes the clauses and collects the arguments;
// clauses that are no access, and handle<void>, contribute none.
template <class... Rest> struct caller {
  template <class Body, class... Data> static void call(Body& body, access*, beside, Data&&... data) {
    static_assert(std::is_invocable_v<Body&, Data...>,
                  "weft: the body must take the data of its access clauses in clause order: const T& for read, T& for "
                  "write, add and concurrent, weft::view<const T> or weft::view<T> for a range, nothing for "
                  "handle<void>, std::span<T> for push, std::span<const T> for pop, std::span<const std::span<T>> "
                  "and std::span<const std::span<const T>> where these name an array of streams; before them, in a "
                  "team, "
                  "weft::team_context&");
    static_cast<void>(body(static_cast<Data&&>(data)...));
  }
};
template <class Clause, class... Rest> struct caller<Clause, Rest...> {
  template <class Body, class... Data> static void call(Body& body, access* a, beside at, Data&&... data) {
    if constexpr (access_traits<Clause>::is_array_of_streams) {
      call_with_spans(body, a, at, static_cast<Data&&>(data)...);
    } else if constexpr (access_traits<Clause>::stretches != 0) {
      call_with_span(body, a, at, static_cast<Data&&>(data)...);
    } else if constexpr (access_traits<Clause>::is_range) {
      call_with_view(body, a, at, static_cast<Data&&>(data)...);
    } else if constexpr (!access_traits<Clause>::is_access) {
      caller<Rest...>::call(body, a, at, static_cast<Data&&>(data)...);
    } else {
      call_with_datum(body, a, at, static_cast<Data&&>(data)...);
    }
  }

 private:
  // state() is the first member of handle_base, which is the first base of handle<T>.
  [[nodiscard]] static handle_base& base_of(access* a) noexcept {
    return *reinterpret_cast<handle_base*>(a->handle_and_kind & handle_address_mask);
  }
  // The last of its stretches is what the body sees; its accesses stand behind all others.
  template <class Body, class... Data> static void call_with_span(Body& body, access* a, beside at, Data&&... data) {
    constexpr std::size_t n = access_traits<Clause>::stretches;
    using element = typename access_traits<Clause>::element;
    const stretch& seen = at.stretches[n - 1];
    caller<Rest...>::call(body, a, {at.counts, at.stretches + n}, static_cast<Data&&>(data)...,
                          std::span<element>(reinterpret_cast<element*>(seen.data), seen.size));
  }
  template <class Body, class... Data> static void call_with_spans(Body& body, access* a, beside at, Data&&... data) {
    constexpr std::size_t most = access_traits<Clause>::stretches;
    using element = typename access_traits<Clause>::element;
    std::span<element> all[most];
    std::size_t count = 0;
    for (; count < most && at.stretches[count].kind != stretch_kind::none; ++count)
      all[count] = {reinterpret_cast<element*>(at.stretches[count].data), at.stretches[count].size};
    caller<Rest...>::call(body, a, {at.counts, at.stretches + most}, static_cast<Data&&>(data)...,
                          std::span<const std::span<element>>(all, count));
  }
  template <class Body, class... Data> static void call_with_view(Body& body, access* a, beside at, Data&&... data) {
    using T = typename access_traits<Clause>::type;
    if constexpr (std::is_void_v<T>) {
      caller<Rest...>::call(body, a + *at.counts, at.behind_count(), static_cast<Data&&>(data)...);
    } else {
      caller<Rest...>::call(body, a + *at.counts, at.behind_count(), static_cast<Data&&>(data)...,
                            data_view<T, access_traits<Clause>::kind>(a, *at.counts, std::is_reference_v<T>));
    }
  }
  template <class Body, class... Data> static void call_with_datum(Body& body, access* a, beside at, Data&&... data) {
    if constexpr (access_traits<Clause>::is_numbered) {
      using reduction = typename access_traits<Clause>::reduction;
      typename reduction::part part(static_cast<reduction&>(base_of(a)), *at.counts);
      caller<Rest...>::call(body, a + 1, at.behind_count(), static_cast<Data&&>(data)..., part.get());
      part.give_back();
    } else if constexpr (requires { typename access_traits<Clause>::reduction; }) {
      using reduction = typename access_traits<Clause>::reduction;
      typename reduction::part part(static_cast<reduction&>(base_of(a)));
      caller<Rest...>::call(body, a + 1, at, static_cast<Data&&>(data)..., part.get());
      part.give_back();
    } else {
      using T = typename access_traits<Clause>::type;
      if constexpr (std::is_void_v<T>) {
        caller<Rest...>::call(body, a + 1, at, static_cast<Data&&>(data)...);
      } else {
        datum<T, access_traits<Clause>::kind> d = static_cast<handle<T>&>(base_of(a)).unguarded();
        caller<Rest...>::call(body, a + 1, at, static_cast<Data&&>(data)..., d);
      }
    }
  }
};
static_assert(std::is_standard_layout_v<handle_base>, "a handle and its state share one address");

// What a record keeps behind its accesses: the body, and what clause_list::counts says.
template <class Body, std::size_t Counts> struct closure {
  template <class From> explicit closure(From&& b) : body(static_cast<From&&>(b)) {}
  [[nodiscard]] detail::beside beside() const noexcept { return {counts, nullptr}; }
  Body body;
  std::uint32_t counts[Counts];
};
template <class Body> struct closure<Body, 0> {
  template <class From> explicit closure(From&& b) : body(static_cast<From&&>(b)) {}
  [[nodiscard]] detail::beside beside() const noexcept { return {nullptr, nullptr}; }
  Body body;
};

// The same of a task that pushes to streams or pops.
template <class Body, std::size_t Counts, std::size_t Stretches> struct stream_closure : closure<Body, Counts> {
  using closure<Body, Counts>::closure;
  [[nodiscard]] detail::beside beside() const noexcept { return {closure<Body, Counts>::beside().counts, stretches}; }
  stretch stretches[Stretches];
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
    caller<Clauses...>::call(shared.body, task.accesses(), shared.beside(), member);
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
  if (what != errand::destroy) caller<Clauses...>::call(guard.c.body, r.accesses(), guard.c.beside());
}

// Whether r was refused before it was registered, by its submitter or by who creates: its accesses name nothing then.
[[nodiscard]] inline bool was_refused(record& r) noexcept {
  return r.state == record_state::filling ||
         (r.access_count != 0 && (r.accesses()[0].handle_and_kind & handle_address_mask) == 0);
}
template <std::size_t Stretches, class Closure, class... Clauses> void invoke_streams(record& r, errand what) {
  struct at_end {
    Closure& c;
    record& r;
    bool destroys;
    ~at_end() {
      if (!destroys) return;
      was_refused(r) ? unmatch(c.stretches, Stretches) : close_stretches(c.stretches, Stretches);
      c.~Closure();
    }
  } guard{*std::launder(static_cast<Closure*>(r.closure())), r, what != errand::call};
  if (what == errand::destroy) return;
  for (const stretch& x : guard.c.stretches)
    if (x.data == nullptr) {
      open_stretches(guard.c.stretches, Stretches);
      break;
    }
  caller<Clauses...>::call(guard.c.body, r.accesses(), guard.c.beside());
  for (const stretch& x : guard.c.stretches)
    if (x.gathered) {
      fill_stretches(guard.c.stretches, Stretches);
      break;
    }
}

// Of a node of a graph, which runs again: whoever is done with a run destroys nothing. The graph does, by the other.
template <class Closure> struct before_node {
  [[nodiscard]] static Closure& of(record& r) noexcept {
    return *std::launder(static_cast<Closure*>(node_closure(r, sizeof(Closure))));
  }
};
template <class Closure, class... Clauses> void invoke_node(record& r, errand what) {
  Closure& c = before_node<Closure>::of(r);
  if (what != errand::destroy) caller<Clauses...>::call(c.body, r.accesses(), c.beside());
}
template <class Closure, class... Clauses> void invoke_team_node(record& r, errand what) {
  if (what == errand::destroy) return;
  if (r.state == record_state::running) return run_team<before_node<Closure>, Clauses...>(r);
  Closure& c = before_node<Closure>::of(r);  // a plain call, without a runtime
  team_context alone;
  caller<Clauses...>::call(c.body, r.accesses(), c.beside(), alone);
}
template <class Closure> void destroy_node(record& r) { before_node<Closure>::of(r).~Closure(); }

}  // namespace weft::detail

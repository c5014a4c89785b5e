// Fork and join: two bodies that may run at the same time, and a return when both have.
//
//   int fib(weft::here& at, int n) {
//     if (n < 2) return n;
//     auto [a, b] = weft::fork_join(at, [n](weft::here& at) { return fib(at, n - 1); },
//                                       [n](weft::here& at) { return fib(at, n - 2); });
//     return a + b;
//   }
//
// The first body is called at once; the second lies on the stack meanwhile, where a worker that has nothing to do may
// take it. Nobody did, as a rule: then it is called as a function. So a fork costs about as much as three calls, and
// how often something is taken depends on how many starve, not on how many forks there are. Waits inside a body set it
// aside as in any task. With WEFT_SERIAL defined everything here is a plain call, and needs no runtime.
#pragma once
#include <type_traits>
#include <utility>

#include "weft/detail/branch.hpp"

namespace weft {

// Where a body is: hand it along, and a fork need not look for its worker, which is a quarter of what it costs.
// Good for as long as the body that got it, on whichever thread that goes on after a wait; for no other thread.
#ifdef WEFT_SERIAL
struct here {};
#else
using here = detail::place_of_body;
#endif

// The result of a branch that returns nothing, beside one that does.
struct nothing {};

namespace detail {

template <class Body> inline constexpr bool takes_here = std::is_invocable_v<Body&, here&>;
template <class Body> auto call_branch(here& at, Body& body) {
  if constexpr (takes_here<Body>) {
    if constexpr (std::is_void_v<decltype(body(at))>)
      return body(at), nothing{};
    else
      return body(at);
  } else {
    static_assert(std::is_invocable_v<Body&>, "weft: a branch takes nothing, or a weft::here&");
    static_cast<void>(at);
    if constexpr (std::is_void_v<decltype(body())>)
      return body(), nothing{};
    else
      return body();
  }
}
template <class Body> using branch_result = decltype(call_branch(std::declval<here&>(), std::declval<Body&>()));

template <class First, class Second> auto both(First&& a, Second&& b) {
  if constexpr (std::is_same_v<std::remove_cvref_t<First>, nothing> &&
                std::is_same_v<std::remove_cvref_t<Second>, nothing>)
    return;
  else
    return std::pair<std::remove_cvref_t<First>, std::remove_cvref_t<Second>>(std::move(a), std::move(b));
}

#ifndef WEFT_SERIAL

// Room for a result that is there only if somebody else ran the branch.
template <class Result> union result_room {
  result_room() {}
  ~result_room() {}
  Result value;
};

template <class Body> struct branch_of : branch {
  explicit branch_of(Body& b, record* parent_record) noexcept : body(b) {
    invoke = &run;
    parent = parent_record;
    pin = unpinned;
    kind = record_kind::branch;
    state = record_state::ready;
  }
  using result_type = branch_result<Body>;
  // errand::destroy: what the body has returned is not wanted.
  static void run(record& r, errand what) {
    branch_of& self = static_cast<branch_of&>(r);
    if (what == errand::destroy)
      self.result.value.~result_type();
    else
      new (&self.result.value) result_type(call_branch(*detail::self()->where, self.body));
  }
  [[nodiscard]] result_type taken_result() {
    struct at_end {
      result_type& value;
      ~at_end() { value.~result_type(); }
    } const guard{result.value};
    return std::move(result.value);
  }

  Body& body;
  result_room<result_type> result;
};

template <class First, class Second> auto fork_on(here& at, First& first, Second& second) {
  branch_of<Second> b(second, at.on->current);
  const offered as = offer(at, b);
  auto x = [&] {
    try {
      return call_branch(at, first);
    } catch (...) {
      if (!taken_back(at, as)) drop_slowly(*at.on, b);
      throw;
    }
  }();
  const bool is_mine = taken_back(at, as) || join_slowly(*at.on, b);
  if (is_mine) [[likely]]
    return both(std::move(x), call_branch(at, second));
  return both(std::move(x), b.taken_result());
}

// Calls f with the place of the body that calls.
template <class F> auto with_here(F f) {
  worker* w = self();
  if (w != nullptr && w->where != nullptr && w->where->on != nullptr) [[likely]]
    return f(*w->where);
  if (w == nullptr || w->where == nullptr) {
    here alone{&nobodys_worker};
    return f(alone);
  }
  const main_forks section(*w);
  return f(*w->where);
}

// Whether somebody who has nothing to do looks at the worker that `at` is on.
[[nodiscard]] inline bool somebody_starves(const here& at) noexcept { return peek(at.on->starved) != 0; }

#else

template <class F> auto with_here(F f) {
  here at;
  return f(at);
}
[[nodiscard]] inline bool somebody_starves(const here&) noexcept { return false; }

#endif
}  // namespace detail

// Calls `first` and `second`, which may run at the same time on two workers, and returns when both have. Each takes
// nothing or a weft::here&. Returns a pair of what they return, unless neither returns anything.
// Who: any thread. In a task, or on the thread that made a runtime, others may take the second; on a thread that no
// runtime knows the two run one after the other.
// On that thread, outside of tasks, it also starts a runtime that is paused, as a wait does.
// Cost: about that of three calls; nothing is allocated. Errors: rethrows what `first` threw, and then
// `second` may or may not have run; else what `second` threw. Tasks that a branch submits belong to the task that
// forked, or, when it is run elsewhere, to the branch, which then is over when they are.
template <class First, class Second> auto fork_join(here& at, First&& first, Second&& second) {
#ifdef WEFT_SERIAL
  auto x = detail::call_branch(at, first);
  return detail::both(std::move(x), detail::call_branch(at, second));
#else
  return detail::fork_on(at, first, second);
#endif
}
// The same where no weft::here is at hand.
template <class First, class Second> auto fork_join(First&& first, Second&& second) {
  return detail::with_here([&](here& at) { return fork_join(at, first, second); });
}

}  // namespace weft

// Async and finish: tasks without data between them, and a scope that is over when all of them are.
//
//   void sort(long* a, std::size_t n) {
//     if (n <= cutoff) return std::sort(a, a + n);
//     weft::finish([&] {
//       weft::async([=] { sort(a, n / 2); });
//       sort(a + n / 2, n - n / 2);
//     });
//     std::inplace_merge(a, a + n / 2, a + n);
//   }
//
// An async belongs to the innermost finish around it, also if a function called in between makes it, or to the task
// that it is in if there is none; and so do the asyncs of its body that are in no finish of their own (PufferFish
// §II-A). In a body, up to 64 asyncs of a finish that have no clauses and at most 48 bytes of captures lie on the
// stack, where others may take them; those that nobody takes are called when the body of the finish has returned, the
// last one first. They cost four times a fork (weft/fork_join.hpp). Every other async is a task with a record of its
// own, at a dozen times a fork. With WEFT_SERIAL defined all are plain calls, and need no runtime.
#pragma once
#include "weft/detail/language.hpp"  // before all others

#include <type_traits>
#include <utility>

#include "weft/cancellation.hpp"
#include "weft/fork_join.hpp"
#include "weft/near.hpp"
#include "weft/team.hpp"
#ifndef WEFT_SERIAL
#include "weft/detail/arguments.hpp"
#include "weft/detail/light_scope.hpp"
#include "weft/detail/scope.hpp"
#endif

namespace weft {
namespace detail {

// An async where there is no runtime; a team is one of a single member.
template <class Body> void call_alone(here& at, Body& body) {
  if constexpr (!std::is_invocable_v<Body&> && !std::is_invocable_v<Body&, here&> &&
                std::is_invocable_v<Body&, team_context&>) {
    team_context alone;
    static_cast<void>(body(alone));
  } else {
    static_cast<void>(call_branch(at, body));
  }
}

#ifndef WEFT_SERIAL

[[noreturn]] void throw_async_outside();  // weft::error

// Hands the body the place it is at, if it takes that first.
template <class Body> struct with_place {
  Body body;
  template <class... Data>
    requires(std::is_invocable_v<Body&, here&, Data...> || std::is_invocable_v<Body&, Data...>)
  void operator()(Data&&... data) {
    if constexpr (std::is_invocable_v<Body&, here&, Data...>)
      static_cast<void>(body(*self()->where, static_cast<Data&&>(data)...));
    else
      static_cast<void>(body(static_cast<Data&&>(data)...));
  }
};

// The last of the arguments is the body; the others go on as they are.
template <class... Done> struct async_rotate {
  template <class Body> static void go(here& at, const Done&... clauses, Body&& body) {
    using wrapped = with_place<std::remove_cvref_t<Body>>;
    if constexpr (sizeof...(Done) == 0 && kept_async::holds<std::remove_cvref_t<Body>>) {
      if (light_scope* const s = at.on->light; s != nullptr && (s->has_room() || borrow(at, *s))) [[likely]]
        return keep_async(at, *s, static_cast<Body&&>(body));
    }
    if (at.on->light != nullptr) open_light(*at.on);
    if (at.on->engine != nullptr) [[likely]]
      return submit_with<here, wrapped>(at, wrapped{static_cast<Body&&>(body)}, clauses...);
    if constexpr (clause_list<Done...>::accesses + clause_list<Done...>::ranges != 0 || clause_list<Done...>::fixed)
      throw_async_outside();
    else if (!lone_scope::skips())
      call_alone(at, body);
  }
  template <class Next, class Second, class... Rest>
  static void go(here& at, const Done&... done, Next&& next, Second&& second, Rest&&... rest) {
    async_rotate<Done..., std::remove_cvref_t<Next>>::go(at, done..., next, static_cast<Second&&>(second),
                                                         static_cast<Rest&&>(rest)...);
  }
};

template <class F> [[gnu::noinline]] auto finish_lightly(here& at, F& f) {
  light_scope s(*at.on);
  try {
    auto x = call_branch(at, f);
    if (!ended(at, s)) [[unlikely]]
      end_light(at, s, nullptr);
    return x;
  } catch (...) {
    end_light(at, s, std::current_exception());
    throw;
  }
}
template <class F> [[gnu::noinline]] auto finish_fully(here& at, F& f) {
  if (at.on->engine == nullptr) [[unlikely]]
    return call_branch(at, f);
  const behind_full_scope around(at);
  scope s;
  open(*at.on, s);
  try {
    auto x = call_branch(at, f);
    close(at, s);
    return x;
  } catch (...) {
    if (at.on->current == s.r) close_slowly(*at.on, s);  // what a child threw comes before what the body did
    throw;
  }
}
// Apart, so that the one has not the other's room on its stack.
template <class F> auto finish_on(here& at, F& f) {
  return may_be_light(at) ? finish_lightly(at, f) : finish_fully(at, f);
}

#else

template <class Last> void call_last(here& at, Last& body) {
  if (!lone_scope::skips()) call_alone(at, body);
}
template <class First, class Second, class... Rest> void call_last(here& at, First&, Second& second, Rest&... rest) {
  call_last(at, second, rest...);
}

#endif

// Where asyncs are calls.
template <class F> auto finish_alone(here& at, cancellation_state& by, F& f) {
  using result = decltype(call_branch(at, f));
  const lone_scope s(by);
  try {
    return call_branch(at, f);
  } catch (const cancelled_error&) {
    if constexpr (std::is_same_v<result, nothing>)
      if (peek_acquire(by.cancelled) != 0) return nothing{};
    if (!lone_scope::any_cancelled()) cancel(by, std::current_exception());
    throw;
  } catch (...) {
    cancel(by, std::current_exception());
    throw;
  }
}

template <class F> auto finish_on(here& at, cancellation_state& by, F& f) {
#ifndef WEFT_SERIAL
  if (at.on->engine != nullptr) [[likely]] {
    using result = decltype(call_branch(at, f));
    const behind_full_scope around(at);
    scope s;
    open(*at.on, s);
    cancel_scope open_scope(by, *s.r, *at.on->engine);
    try {
      auto x = call_branch(at, f);
      close_slowly(*at.on, s);
      return x;
    } catch (...) {
      if (at.on->current != s.r) throw;
      const bool quiet = gave_up(open_scope);
      close_slowly(*at.on, s);
      if constexpr (std::is_same_v<result, nothing>)
        if (quiet) return nothing{};
      throw;
    }
  }
#endif
  return finish_alone(at, by, f);
}

}  // namespace detail

// Calls f, which takes nothing or a weft::here&, and returns what it returns when all is done that was submitted in it:
// by weft::async, by runtime::submit, in bodies below it. The caller is set aside meanwhile, as in any wait.
// Who: any thread; on one that no runtime knows asyncs are calls, and so is this.
// Cost: of a call and a few stores; of each async in it some 8 ns, or 25 to 30 for one with a record. Errors: rethrows
// the first exception in program order: of the asyncs, in the order in which they were made, and behind them of f.
template <class F> auto finish(here& at, F&& f) {
#ifdef WEFT_SERIAL
  using result = detail::branch_result<std::remove_reference_t<F>>;
  if constexpr (std::is_same_v<result, nothing>)
    static_cast<void>(detail::call_branch(at, f));
  else
    return detail::call_branch(at, f);
#else
  using result = detail::branch_result<std::remove_reference_t<F>>;
  if constexpr (std::is_same_v<result, nothing>)
    static_cast<void>(detail::finish_on(at, f));
  else
    return detail::finish_on(at, f);
#endif
}
template <class F> auto finish(F&& f) {
  return detail::with_here([&](here& at) { return finish(at, f); });
}

// The same, and it can be cancelled (weft/cancellation.hpp): what is submitted in it is skipped from then on, and so is
// what was and has not begun. f itself is called in any case, and goes on to its end.
// If `by` is cancelled by cancel(), finish returns as ever, with what f returns; tasks that are skipped, or give up
// with a cancelled_error, are no errors. So does f that gives up, if it returns nothing; else there is no value to
// return, and the cancelled_error is thrown. If it is cancelled by an exception, that is rethrown: the first in program
// order among those that had begun. If only a finish around it is cancelled, and tasks of this one were skipped:
// cancelled_error. Cost: that of a finish, a lock, and a walk over the finishes and tasks around.
template <class F> auto finish(here& at, cancellation& by, F&& f) {
  using result = detail::branch_result<std::remove_reference_t<F>>;
  detail::cancellation_state& state = detail::cancellation_of::state(by);
  if constexpr (std::is_same_v<result, nothing>)
    static_cast<void>(detail::finish_on(at, state, f));
  else
    return detail::finish_on(at, state, f);
}
template <class F> auto finish(cancellation& by, F&& f) {
  return detail::with_here([&](here& at) { return finish(at, by, f); });
}

// Makes a task: clauses first, the body last, as in runtime::submit; the body may take a weft::here& before its data.
// Who: any thread. On one that no runtime knows the body is called at once. Cost, errors: as runtime::submit;
// weft::error if a task with accesses, a pin, a priority or an event is made where there is no runtime.
template <class... Args> void async(here& at, Args&&... clauses_and_body) {
#ifdef WEFT_SERIAL
  detail::call_last(at, clauses_and_body...);
#else
  using given = detail::arguments<Args...>;
  static_assert(given::has_body, "weft: async needs a body, and it comes last: weft::async([] {})");
  if constexpr (given::has_body) {
    static_assert(given::no_bare_handle, "weft: a handle alone does not say how the body uses it: write "
                                         "weft::read(h), weft::write(h), weft::add(h) or weft::concurrent(h)");
    static_assert(!given::no_bare_handle || given::all_clauses,
                  "weft: every argument before the body must be a clause");
    if constexpr (given::all_clauses) detail::async_rotate<>::go(at, static_cast<Args&&>(clauses_and_body)...);
  }
#endif
}
template <class First, class... Args>
  requires(!std::is_same_v<std::remove_cvref_t<First>, here>)
void async(First&& first, Args&&... rest) {
#ifdef WEFT_SERIAL
  here at;
  async(at, first, rest...);
#else
  detail::worker* w = detail::self();
  if (w != nullptr && w->where != nullptr) [[likely]] {
    here at{w};
    return async(at, static_cast<First&&>(first), static_cast<Args&&>(rest)...);
  }
  here alone{&detail::nobodys_worker()};
  async(alone, static_cast<First&&>(first), static_cast<Args&&>(rest)...);
#endif
}

}  // namespace weft

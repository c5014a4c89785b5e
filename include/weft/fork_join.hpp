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
// take it. Nobody did, as a rule: then it is called as a function. So a fork costs about half as much again as a call,
// and how often something is taken depends on how many starve, not on how many forks there are. Waits inside a body set
// it aside as in any task. With WEFT_SERIAL defined everything here is a plain call, and needs no runtime.
#pragma once
#include "weft/detail/language.hpp"  // before all others

#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>

#include "weft/cancellation.hpp"
#include "weft/detail/branch.hpp"

namespace weft {

// Where a body is: hand it along, and a fork need not look for its worker, which is a sixth of what it costs.
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

// How many parts of its work are not begun if a body is not: one, unless it says.
struct says_parts {};
template <class Body> [[nodiscard]] std::uint64_t parts_of(const Body& body) noexcept {
  if constexpr (std::is_base_of_v<says_parts, Body>)
    return body.parts();
  else
    return 1;
}
// A piece of what counts as a whole: none.
template <class F> struct piece : says_parts {
  explicit piece(F& of) noexcept : f(of) {}
  decltype(auto) operator()(here& at) { return f(at); }
  [[nodiscard]] static std::uint64_t parts() noexcept { return 0; }
  F& f;
};

template <class First, class Second> auto both(First&& a, Second&& b) {
  if constexpr (std::is_same_v<std::remove_cvref_t<First>, nothing> &&
                std::is_same_v<std::remove_cvref_t<Second>, nothing>)
    return;
  else
    return std::pair<std::remove_cvref_t<First>, std::remove_cvref_t<Second>>(std::move(a), std::move(b));
}

#ifndef WEFT_SERIAL

// Room for what is there only sometimes, or is filled in member by member.
template <class Value> union room_for {
  room_for() {}
  ~room_for() {}
  Value value;
};

// How a fork passes a body on: what fits registers by value, unless the program may look at it afterwards.
template <class Body> using bare = std::remove_cvref_t<Body>;
template <class Body> inline constexpr bool passed_by_value =
    std::is_class_v<bare<Body>> && sizeof(bare<Body>) <= 16 && std::is_trivially_copyable_v<bare<Body>> &&
    std::is_copy_constructible_v<bare<Body>> &&
    (!std::is_lvalue_reference_v<Body> || std::is_const_v<std::remove_reference_t<Body>>);
template <class Body> using passed =
    std::conditional_t<passed_by_value<Body>, std::remove_reference_t<Body>, std::remove_reference_t<Body>&>;

// Passed: the body, or a reference to it. Filled in by set(), and by nothing else: what is set when others may take
// it is not set twice.
template <class Passed> struct branch_of : branch {
  using body_type = std::remove_reference_t<Passed>;
  using result_type = branch_result<body_type>;
  static constexpr bool is_kept = !std::is_reference_v<Passed>;

  [[gnu::always_inline]] void set(body_type& b) noexcept {
    invoke = &run;
    if constexpr (is_kept)
      new (&held) std::remove_const_t<body_type>(b);
    else
      held = &b;
  }
  [[nodiscard]] body_type& body() noexcept {
    if constexpr (is_kept)
      return held;
    else
      return *held;
  }
  // errand::destroy: what the body has returned is not wanted.
  static void run(record& r, errand what) {
    branch_of& self = static_cast<branch_of&>(r);
    if (what == errand::destroy)
      self.result.value.~result_type();
    else if (what == errand::skip)
      count_not_begun(r.parent, parts_of(self.body()));
    else
      new (&self.result.value) result_type(call_branch(*detail::self()->where, self.body()));
  }
  [[nodiscard]] result_type taken_result() {
    struct at_end {
      result_type& value;
      ~at_end() { value.~result_type(); }
    } const guard{result.value};
    return std::move(result.value);
  }

  std::conditional_t<is_kept, std::remove_const_t<body_type>, body_type*> held;
  room_for<result_type> result;
};

template <class First, class Second> auto fork_on(here& at, First first, Second second) {
  room_for<branch_of<Second>> room;
  branch_of<Second>& b = room.value;
  b.set(second);
  if (const not_begun which = keep(at, b); which != not_begun::nothing) [[unlikely]]
    give_up_fork(at, b, which, parts_of(first), parts_of(b.body()));
  auto x = [&] {
    try {
      return call_branch(at, first);
    } catch (...) {
      drop_slowly(*at.on, b);
      throw;
    }
  }();
  const bool is_mine = taken_back(at, b) || join_slowly(*at.on, b);
  if (is_mine) [[likely]]
    return both(std::move(x), call_branch(at, b.body()));
  return both(std::move(x), b.taken_result());
}

// The place of the body that calls on w, or nullptr outside of tasks.
[[nodiscard, gnu::always_inline]] inline here* place_on(worker* w) noexcept {
  return w != nullptr && w->where != nullptr && w->where->on != nullptr ? w->where : nullptr;
}
// Calls f with a place outside of tasks.
template <class F> auto with_here_outside(worker* w, F f) {
  if (w == nullptr || w->where == nullptr) {
    here alone{&nobodys_worker()};
    return f(alone);
  }
  const main_forks section(*w);
  return f(*w->where);
}
template <class First, class Second> [[gnu::noinline]] auto fork_outside(worker* w, First first, Second second) {
  return with_here_outside(w, [&](here& at) { return fork_on<First, Second>(at, first, second); });
}
// Calls f with the place of the body that calls.
template <class F> auto with_here(F f) {
  worker* const w = self();
  if (here* const at = place_on(w)) [[likely]]
    return f(*at);
  return with_here_outside(w, f);
}

// Whether somebody who has nothing to do looks at the worker that `at` is on.
[[nodiscard]] inline bool somebody_starves(const here& at) noexcept { return peek(at.on->asked) != 0; }

// Whether the body at `at` is in a scope that is cancelled. Cost: a load while none of the runtime is.
[[nodiscard]] inline bool stopped(const here& at) noexcept { return peek(at.on->hooked) != 0 && is_stopped(*at.on); }
// The same at a look of a loop, which a trace may show: n iterations are left, and `begins` that it is the first.
[[nodiscard]] inline bool stopped_in_loop(const here& at, std::uint64_t n, bool begins) {
  return peek(at.on->hooked) != 0 && is_stopped_in_loop(*at.on, n, begins);
}
inline void loop_is_over(const here& at) {
  if (peek(at.on->hooked) != 0) [[unlikely]]
    end_loop_slowly(*at.on);
}
// So many parts are not begun: throws a cancelled_error; and the same without that.
[[noreturn]] inline void leave_off(const here& at, std::uint64_t parts) { give_up(*at.on, parts); }
inline void count_left_off(const here& at, std::uint64_t parts) noexcept { count_not_begun(at.on->current, parts); }

#else

template <class F> auto with_here(F f) {
  here at;
  return f(at);
}
[[nodiscard]] inline bool somebody_starves(const here&) noexcept { return false; }
[[nodiscard]] inline bool stopped(const here&) noexcept { return lone_scope::any_cancelled(); }
[[nodiscard]] inline bool stopped_in_loop(const here& at, std::uint64_t, bool) noexcept { return stopped(at); }
inline void loop_is_over(const here&) noexcept {}
[[noreturn]] inline void leave_off(const here&, std::uint64_t parts) {
  lone_scope::count(parts);
  throw cancelled_error();
}
inline void count_left_off(const here&, std::uint64_t parts) noexcept { lone_scope::count(parts); }

#endif
}  // namespace detail

// Calls `first` and `second`, which may run at the same time on two workers, and returns when both have. Each takes
// nothing or a weft::here&. Returns a pair of what they return, unless neither returns anything.
// Who: any thread. In a task, or on the thread that made a runtime, others may take the second; on a thread that no
// runtime knows the two run one after the other.
// On that thread, outside of tasks, it also starts a runtime that is paused, as a wait does.
// Cost: half that of a call, beside the calls; nothing is allocated. Errors: rethrows what `first` threw, and then
// `second` may or may not have run; else what `second` threw; a cancelled_error if one of the two has not begun because
// a finish around is cancelled (weft/cancellation.hpp). Tasks that a branch submits belong to the task that forked, or,
// when it is run elsewhere, to the branch, which then is over when they are.
template <class First, class Second> auto fork_join(here& at, First&& first, Second&& second) {
#ifdef WEFT_SERIAL
  auto x = detail::call_branch(at, first);
  return detail::both(std::move(x), detail::call_branch(at, second));
#else
  return detail::fork_on<detail::passed<First>, detail::passed<Second>>(at, first, second);
#endif
}
// The same where no weft::here is at hand.
template <class First, class Second> auto fork_join(First&& first, Second&& second) {
#ifdef WEFT_SERIAL
  here at;
  return fork_join(at, first, second);
#else
  using detail::passed;
  detail::worker* const w = detail::self();
  if (here* const at = detail::place_on(w)) [[likely]]
    return detail::fork_on<passed<First>, passed<Second>>(*at, first, second);
  return detail::fork_outside<passed<First>, passed<Second>>(w, first, second);
#endif
}

namespace detail {

template <class First, class Second> void fork_pieces(here& at, First first, Second second) {
  fork_join(at, piece(first), piece(second));
}
// Calls f, which does one thing by pieces: one part more that is not done if it is left off, or not begun.
template <class F> auto as_one_part(here& at, F f) {
  if (stopped(at)) [[unlikely]]
    leave_off(at, 1);
  try {
    return f();
  } catch (const cancelled_error&) {
    if (stopped(at)) count_left_off(at, 1);
    throw;
  }
}

}  // namespace detail
}  // namespace weft

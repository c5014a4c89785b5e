// Several bodies that may run at the same time, and a return when all have: the children of a node of a tree, say.
//
//   long count(weft::here& at, const node& n) {
//     long below[8];
//     weft::fork_each<8>(at, n.children, [&](weft::here& at, std::size_t i) { below[i] = count(at, n.child(i)); });
//     return std::accumulate(below, below + n.children, 1L);
//   }
//
// The same as forks within forks (weft/fork_join.hpp), and cheaper: all but the first are kept together, so that
// there is one look at the deque and at who starves for all of them. Loops with many iterations are for_each's, which
// finds the grain itself.
#pragma once
#include "weft/detail/language.hpp"  // before all others

#include <cstddef>

#include "weft/fork_join.hpp"

namespace weft {
namespace detail {

template <class F> decltype(auto) call_numbered(here& at, F& f, std::size_t i) {
  if constexpr (std::is_invocable_v<F&, here&, std::size_t>) {
    return f(at, i);
  } else {
    static_assert(std::is_invocable_v<F&, std::size_t>, "weft: a body takes its number, or a weft::here& and that");
    return f(i);
  }
}

#ifndef WEFT_SERIAL

[[noreturn]] void throw_too_many_bodies(std::size_t n, std::size_t most);

// Body `number` of a fork of several. F: the function, or a reference to it.
template <class F> struct numbered {
  decltype(auto) operator()(here& at) { return call_numbered(at, f, number); }
  F f;
  std::size_t number;
};

template <class F> using numbered_branch = room_for<branch_of<numbered<F>>>;

template <class F> void drop_each(here& at, numbered_branch<F>* rooms, std::size_t n) noexcept {
  while (n != 0) drop_slowly(*at.on, rooms[--n].value);
}
// Bodies n to 1 go in this order, so that they come back in the other one. Here where the worker is hooked.
template <class F> [[gnu::noinline]] void offer_each_slowly(here& at, numbered_branch<F>* rooms, F f, std::size_t n) {
  std::size_t k = 0;
  try {
    for (; k < n; ++k) {
      numbered<F> body{f, n - k};
      rooms[k].value.set(body);
      if (fork_slowly(*at.on, rooms[k].value) != not_begun::nothing) give_up(*at.on, n - k + 1);
    }
  } catch (...) {
    drop_each(at, rooms, k);
    throw;
  }
}
// And here where it is not. hooked was looked at before and is not after: who cancels meanwhile sets `claimed`, too, so
// the joins come to the slow half.
template <std::size_t Most, class F>
[[gnu::always_inline]] inline void keep_each(worker& w, numbered_branch<F>* rooms, F f, std::size_t n) {
  branch* newest = peek(w.kept);
#pragma GCC unroll 16
  for (std::size_t k = 0; k < Most - 1; ++k) {
    if (k == n) break;
    numbered<F> body{f, n - k};
    rooms[k].value.set(body);
    poke(rooms[k].value.older, newest);
    newest = address_of(rooms[k].value);
  }
  poke_release(w.kept, newest);
  then();
}

// take() gets what the bodies return, in the order of their numbers, and is returned. By value, so that a sum may lie
// in a register.
template <std::size_t Most, class F, class Take> Take fork_each_on(here& at, std::size_t n, F f, Take take) {
  if (n > Most) [[unlikely]]
    throw_too_many_bodies(n, Most);
  if (n == 0) return take;
  numbered_branch<F> rooms[Most == 1 ? 1 : Most - 1];
  std::size_t left = 0;  // bodies that have not come back
  try {
    worker& w = *at.on;
    const bool is_hooked = peek(w.hooked) != 0;
    if (is_hooked) [[unlikely]] {
      offer_each_slowly<F>(at, rooms, f, n - 1);
    } else {
      keep_each<Most, F>(w, rooms, f, n - 1);
      if (peek(w.asked) != 0) [[unlikely]]
        w.engine->share(w);
    }
    left = n - 1;
    numbered<F> first{f, 0};
    take(call_branch(at, first));
    for (std::size_t i = 1; i < n; ++i) {
      left = n - 1 - i;
      branch_of<numbered<F>>& b = rooms[left].value;
      if (taken_back(at, b) || join_slowly(*at.on, b)) [[likely]] {
        if (peek(at.on->asked) != 0 && left != 0 && !is_hooked) [[unlikely]]
          at.on->engine->share(*at.on);  // the next look is behind this body
        numbered<F> next{f, i};
        take(call_branch(at, next));
      } else {
        take(b.taken_result());
      }
    }
  } catch (...) {
    drop_each(at, rooms, left);
    throw;
  }
  return take;
}

struct take_nothing {
  void operator()(nothing) const noexcept {}
  template <class X> void operator()(const X&) const noexcept {}
};
template <class Value, class Combine> struct combined {
  template <class X> void operator()(X&& x) { value = combine(std::move(value), std::forward<X>(x)); }
  Value value;
  Combine combine;
};

#endif
}  // namespace detail

// Calls f(at, i), or f(i), for each i from 0 to n - 1, at the same time as far as workers are free, and returns when
// all have returned. Where nobody takes any they are called in this order. n is at most Most; so many records, of 128
// bytes and more, lie on the stack. Who: any thread, as for fork_join. Cost: no more than a fork_join for each body
// but the first; nothing is allocated. Errors: weft::error if n is larger than Most; rethrows what the first body in
// order threw that is found to have thrown, and bodies that had not begun by then may not have run; a cancelled_error
// as fork_join.
template <std::size_t Most, class F> void fork_each(here& at, std::size_t n, F&& f) {
  static_assert(Most >= 1 && Most <= 256, "weft: bodies that are forked together lie on the stack; for more: for_each");
#ifdef WEFT_SERIAL
  for (std::size_t i = 0; i < n; ++i) detail::call_numbered(at, f, i);
#else
  detail::fork_each_on<Most, detail::passed<F>>(at, n, f, detail::take_nothing{});
#endif
}
// The same, and returns combine(... combine(combine(value, f(at, 0)), f(at, 1)) ..., f(at, n - 1)): the same bits
// whoever ran what.
template <std::size_t Most, class Value, class F, class Combine>
[[nodiscard]] Value fork_each(here& at, std::size_t n, Value value, F&& f, Combine combine) {
  static_assert(Most >= 1 && Most <= 256, "weft: bodies that are forked together lie on the stack; for more: reduce");
#ifdef WEFT_SERIAL
  for (std::size_t i = 0; i < n; ++i) value = combine(std::move(value), detail::call_numbered(at, f, i));
  return value;
#else
  using sum = detail::combined<Value, Combine>;
  return detail::fork_each_on<Most, detail::passed<F>>(at, n, f, sum{std::move(value), std::move(combine)}).value;
#endif
}
// Both where no weft::here is at hand.
template <std::size_t Most, class F> void fork_each(std::size_t n, F&& f) {
  detail::with_here([&](here& at) { fork_each<Most>(at, n, f); });
}
template <std::size_t Most, class Value, class F, class Combine>
[[nodiscard]] Value fork_each(std::size_t n, Value value, F&& f, Combine combine) {
  return detail::with_here([&](here& at) { return fork_each<Most>(at, n, std::move(value), f, combine); });
}

}  // namespace weft

// What is given to submit, looked at before anything is made of it.
#pragma once
#include <type_traits>

#include "weft/detail/submit.hpp"

namespace weft::detail {

template <class Arg> inline constexpr bool is_clause = access_traits<std::remove_cvref_t<Arg>>::is_clause;
template <class Arg> inline constexpr bool is_handle = std::is_base_of_v<handle_base, std::remove_cvref_t<Arg>>;
template <class... Args> struct arguments {
  static constexpr bool has_body = false;
};
template <class Body> struct arguments<Body> {
  static constexpr bool has_body = !is_clause<Body> && !is_handle<Body>;
  static constexpr bool no_bare_handle = true;
  static constexpr bool all_clauses = true;
};
template <class First, class... Rest> struct arguments<First, Rest...> {
  static constexpr bool has_body = arguments<Rest...>::has_body;
  static constexpr bool no_bare_handle = !is_handle<First> && arguments<Rest...>::no_bare_handle;
  static constexpr bool all_clauses = is_clause<First> && arguments<Rest...>::all_clauses;
};

// What runtime::submit and recorder::submit do: they assert first what their arguments are, so that a slip is told in
// words, and not below what the compiler met ten templates further down.
template <class To, class... Args> void submit_checked(To& to, Args&&... clauses_and_body) {
  using given = arguments<Args...>;
  static_assert(given::has_body,
                "weft: submit needs a body, and it comes last: rt.submit(weft::read(a), [](int x) {})");
  if constexpr (given::has_body) {
    static_assert(given::no_bare_handle, "weft: a handle alone does not say how the body uses it: write "
                                         "weft::read(h), weft::write(h), weft::add(h) or weft::concurrent(h)");
    static_assert(!given::no_bare_handle || given::all_clauses,
                  "weft: every argument before the body must be a clause");
    if constexpr (given::all_clauses) submit(to, static_cast<Args&&>(clauses_and_body)...);
  }
}

}  // namespace weft::detail

// What is given to submit, looked at before anything is made of it.
#pragma once
#include <type_traits>

#include "weft/detail/submit.hpp"

namespace weft::detail {

// What runtime::submit and recorder::submit assert about their arguments, so that a slip is told in words where it was
// made, and not below what the compiler met ten templates further down.
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

}  // namespace weft::detail

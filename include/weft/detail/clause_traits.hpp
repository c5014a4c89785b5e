// What the clauses of a task are, for the compiler: which name handles, elements of streams or only say something, and
// what all of them together need.
#pragma once
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "weft/clause.hpp"
#include "weft/event.hpp"
#include "weft/near.hpp"
#include "weft/range.hpp"
#include "weft/reduction.hpp"
#include "weft/resource.hpp"
#include "weft/stream.hpp"
#include "weft/team.hpp"

namespace weft::detail {

template <class Clause> struct access_traits {
  static constexpr bool is_access = false;
  static constexpr bool is_clause = false;
  static constexpr bool is_range = false;
  static constexpr std::size_t stretches = 0;  // of streams
  static constexpr bool is_array_of_streams = false;
  static constexpr bool is_numbered = false;  // its task keeps a number for it
  static constexpr bool keeps = false;        // its task keeps what its kept() gives
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
template <> struct access_traits<returns_clause> : access_traits<void> {
  static constexpr bool is_clause = true;
};
template <> struct access_traits<team_clause> : access_traits<void> {
  static constexpr bool is_clause = true;
  static constexpr bool plain = true;
};
template <class... Args> inline constexpr bool asks_for_result =
    (false || ... || std::is_same_v<std::remove_cvref_t<Args>, returns_clause>);
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

template <class T, stretch_kind Kind> struct access_traits<stream_clause<T, Kind>> : access_traits<void> {
  static constexpr bool is_clause = true;
  static constexpr bool plain = true;  // unless its stretch says otherwise
  static constexpr std::size_t stretches = 1;
  using element = std::conditional_t<Kind == stretch_kind::push, T, const T>;
};
template <class T, stretch_kind Kind, std::size_t Most> struct access_traits<streams_clause<T, Kind, Most>>
    : access_traits<stream_clause<T, Kind>> {
  static constexpr std::size_t stretches = Most;
  static constexpr bool is_array_of_streams = true;
};
template <class T> struct access_traits<reuse_clause<T>> : access_traits<void> {
  static constexpr bool is_clause = true;
  static constexpr bool plain = true;
  static constexpr std::size_t stretches = 2;  // what it takes, and what it pushes
  using element = T;
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
  static constexpr std::size_t stretches = (0 + ... + access_traits<Clauses>::stretches);
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

}  // namespace weft::detail

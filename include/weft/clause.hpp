// Clauses: what a task says about itself, in any order before its body. An access clause also hands the body its datum,
// in clause order and typed by the access, so a body cannot write what it declared as read:
//
//   rt.submit(weft::read(a), weft::add(sum), weft::named("dot"),
//             [](const tile& a, double& sum) { ... });
//
// Access clauses (SuperGlue §2.3). Tasks on one handle are ordered by submission, except within a group:
//   read        waits for earlier non-reads; reads run together                      body gets const T&
//   write       waits for every earlier access; may also read                        body gets T&
//   add         waits for earlier non-adds; adds run one at a time in any order      body gets T&
//   concurrent  waits for earlier non-concurrents; run together, you synchronise     body gets T&
// Naming one handle twice in a task is allowed only with the same kind, and then counts as one access.
// Clauses hold references: use them inside the call to submit, do not keep them.
#pragma once
#include "weft/detail/language.hpp"  // before all others

#include <cstddef>
#include <cstdint>

#include "weft/detail/record.hpp"
#include "weft/handle.hpp"

namespace weft {

namespace detail {

// An access kind is three flags, as SuperGlue's user-defined types are (§4.3); they fit the low bits of a handle
// address.
inline constexpr std::uint8_t kind_readonly = 1;
inline constexpr std::uint8_t kind_commutative = 2;  // accesses of this kind in a row may run in any order
inline constexpr std::uint8_t kind_exclusive = 4;    // but not at the same time
inline constexpr std::uint8_t kind_repeated = 8;     // the same handle again: gives its datum, counts for nothing
inline constexpr std::uint8_t kind_read = kind_readonly | kind_commutative;
inline constexpr std::uint8_t kind_write = kind_exclusive;
inline constexpr std::uint8_t kind_add = kind_commutative | kind_exclusive;
inline constexpr std::uint8_t kind_concurrent = kind_commutative;
inline constexpr std::uint8_t kind_resource = 32;  // units of a resource; the entry's `required` says how many
// Of buffers of streams (weft/stream.hpp): their versions are fixed where elements are matched, before registration.
inline constexpr std::uint8_t kind_fill = 32 | kind_commutative;
inline constexpr std::uint8_t kind_take = 32 | kind_read;
inline constexpr std::uint8_t kind_take_over = 32 | kind_write;
inline constexpr std::uint8_t kind_reduce = kind_commutative | 16;  // whoever comes after a group of these applies it

template <class T, std::uint8_t Kind, std::uint8_t UserType = 0> struct access_clause {
  handle<T>& target;
};
inline constexpr unsigned user_types_max = 24;  // what is left of the byte in which a handle keeps its group
inline constexpr std::uint8_t group_user = 64;

// What tells groups of accesses apart: the kind, and for types of the user's own their number too. The flags stay the
// low three bits.
[[nodiscard]] constexpr std::uint8_t group_number(std::uint8_t kind, std::uint8_t user_type) noexcept {
  return user_type == 0 ? kind : static_cast<std::uint8_t>(group_user + (user_type - 1) * 8 + kind);
}
static_assert(group_user + (user_types_max - 1) * 8 + 7 <= 255);
// What an access carries beside the address of its handle (detail::access).
[[nodiscard]] constexpr std::uintptr_t kind_bits(std::uint8_t kind, std::uint8_t user_type = 0) noexcept {
  return kind | std::uintptr_t{group_number(kind, user_type)} << (8 * sizeof(std::uintptr_t) - 8);
}

struct name_clause {
  const char* text;
};
struct cost_clause {
  std::uint64_t amount;  // as record::cost_ps
};
struct priority_clause {
  int level;
};
struct pin_clause {
  std::uint16_t worker;
};
struct subtasks_clause {};
struct returns_clause {};                             // weft/future.hpp
[[noreturn]] void throw_no_such_priority(int level);  // weft::error

}  // namespace detail

template <class T> [[nodiscard]] auto read(handle<T>& h) noexcept {
  return detail::access_clause<T, detail::kind_read>{h};
}
template <class T> [[nodiscard]] auto write(handle<T>& h) noexcept {
  return detail::access_clause<T, detail::kind_write>{h};
}
template <class T> [[nodiscard]] auto add(handle<T>& h) noexcept {
  return detail::access_clause<T, detail::kind_add>{h};
}
template <class T> [[nodiscard]] auto concurrent(handle<T>& h) noexcept {
  return detail::access_clause<T, detail::kind_concurrent>{h};
}

// Access types of your own (SuperGlue §4.3), from three flags:
//   commutative  accesses of this type in a row may run in any order; without it, in order of submission
//   exclusive    but not at the same time; without it, they may overlap (only with commutative)
//   readonly     the body gets const T&
// Two types never share a row: `number` tells them apart, also when their flags are the same.
//
//   using scale = weft::access_type<1, weft::commutative | weft::exclusive>;
//   rt.submit(weft::with_access<scale>(x), [](double& x) { x *= 2; });
inline constexpr unsigned readonly = detail::kind_readonly;
inline constexpr unsigned commutative = detail::kind_commutative;
inline constexpr unsigned exclusive = detail::kind_exclusive;
template <unsigned Number, unsigned Flags> struct access_type {
  static_assert(Number >= 1 && Number <= detail::user_types_max, "weft: access types are numbered 1 to 24");
  static_assert(Flags <= 7, "weft: an access type has the flags readonly, commutative, exclusive");
  static_assert((Flags & commutative) != 0 || (Flags & exclusive) != 0,
                "weft: an access type that keeps order is exclusive; say so");
  static constexpr std::uint8_t number = Number;
  static constexpr std::uint8_t flags = Flags;
};
template <class Type, class T> [[nodiscard]] auto with_access(handle<T>& h) noexcept {
  return detail::access_clause<T, Type::flags, Type::number>{h};
}

// The task's name in reports. `text` must outlive the program's use of it (a literal does).
[[nodiscard]] inline detail::name_clause named(const char* text) noexcept { return {text}; }

// Two levels, 0 and 1: a ready task of level 1 is taken before those of level 0, oldest first, by any worker that
// becomes free. No body is interrupted, and no order is promised beyond that; order is what accesses are for.
// Errors: weft::error for any other level, because there is none, and 2 would not come before 1.
[[nodiscard]] inline detail::priority_clause priority(int level) {
  if (level != 0 && level != 1) [[unlikely]]
    detail::throw_no_such_priority(level);
  return {level};
}

// The worker that must run the body, 0 to workers()-1; worker 0 is the thread that made the runtime, and runs tasks
// only while it waits. Errors: submit throws weft::error if there is no such worker.
[[nodiscard]] inline detail::pin_clause pin(unsigned worker) noexcept {
  return {static_cast<std::uint16_t>(worker < 0xfffe ? worker : 0xfffe)};
}

// The task counts as done - its versions advance - only when the tasks that its body submits are done too (SuperGlue
// §4, Subtasks). Nothing blocks: the worker goes on meanwhile. Without it, successors may run before the children.
[[nodiscard]] inline detail::subtasks_clause subtasks() noexcept { return {}; }

// How long the body takes on a modelled machine, in nanoseconds of one of its cores. Real machines ignore it. Without
// this clause a body costs the model's default (1 us on machine "virtual").
[[nodiscard]] inline detail::cost_clause cost(double nanoseconds) noexcept {
  return {nanoseconds > 0 ? static_cast<std::uint64_t>(nanoseconds * 1000.0 + 0.5) : 0};
}
// The same in cycles, whose length is the machine file's. In both cases the data of the task's handles (handle::bytes)
// moves meanwhile, and the body ends when both are done: a roofline.
[[nodiscard]] inline detail::cost_clause cycles(double n) noexcept {
  return {n > 0 ? static_cast<std::uint64_t>(n * 1000.0 + 0.5) | detail::record::cycles_bit : 0};
}

}  // namespace weft

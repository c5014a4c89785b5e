// A finish as most of them are: its asyncs are few, small and without clauses, and nobody takes one. It has no record;
// its asyncs lie on the stack of the body, kept as the branches of forks are (branch.hpp), and its end calls them as
// functions. What else is submitted in it needs a scope with a record (scope.hpp), which is opened then.
// Why that is the same: src/sched/join/branches.md, "Light scopes".
#pragma once
#include <cstddef>
#include <cstdint>
#include <exception>
#include <new>
#include <type_traits>

#include "weft/detail/branch.hpp"
#include "weft/detail/scope.hpp"
#include "weft/fork_join.hpp"

namespace weft::detail {

// An async that a light scope keeps. What a branch calls is its own; where that is called inline the place is at hand.
struct kept_async : branch {
  static constexpr std::size_t room = 48;

  template <class Body> static constexpr bool holds =
      sizeof(Body) <= room && alignof(Body) <= 16 && (std::is_invocable_v<Body&> || std::is_invocable_v<Body&, here&>);

  template <class Body> [[gnu::always_inline]] void set(Body&& body_of) {
    new (body) std::remove_cvref_t<Body>(static_cast<Body&&>(body_of));
    invoke = &run;
    call = &call_body<std::remove_cvref_t<Body>>;
  }
  static void run(record& r, errand what);

  void (*call)(here* at, kept_async& self);  // and destroys the body; at = nullptr: nothing else
  alignas(16) std::byte body[room];

 private:
  template <class Body> static void call_body(here* at, kept_async& self) {
    struct at_end {
      Body& of;
      ~at_end() { of.~Body(); }
    } const guard{*std::launder(reinterpret_cast<Body*>(self.body))};
    if (at != nullptr) [[likely]]
      static_cast<void>(call_branch(*at, guard.of));
  }
};

// On the stack of the body. While it is the innermost, and has no record, its worker's `light` is this.
// It has room for four asyncs, since where finishes are nested deeply the stack is what they cost; for more it borrows
// records, a chain of them. Not for any number: a thief walks over what is kept.
struct light_scope {
  enum class phase : std::uint8_t { body, asyncs, over };  // what is called; then nothing is left
  static constexpr std::uint32_t own_rooms = 4, rooms_in_record = 3, most = own_rooms + 20 * rooms_in_record;
  static constexpr std::uint32_t closed = ~std::uint32_t{0};  // as `used`: no more are kept
  static constexpr std::size_t borrowed_bytes = sizeof(record) + rooms_in_record * sizeof(kept_async);

  explicit light_scope(worker& w) noexcept : outer(w.light) { w.light = this; }
  light_scope(const light_scope&) = delete;
  light_scope& operator=(const light_scope&) = delete;

  light_scope* const outer;
  std::uint32_t used = 0;           // asyncs kept
  std::uint32_t rooms = own_rooms;  // with those of borrowed records
  phase now = phase::body;
  bool is_open = false;      // `full` is: the record of what was submitted beside what is kept, by the body or an async
  bool has_skipped = false;  // an async that was not to begin
  std::uint32_t left;        // of the asyncs: how many have not come back
  room_for<scope> full;
  record* borrowed = nullptr;  // the newest of them
  room_for<kept_async> own[own_rooms];

  [[nodiscard]] bool has_room() const noexcept { return used < rooms; }
  [[nodiscard]] bool is_open_by_async() const noexcept { return is_open && now == phase::asyncs; }
  // One of its own, or in the record that was borrowed last.
  [[nodiscard]] kept_async& async(std::uint32_t n) noexcept {
    if (n < own_rooms) [[likely]]
      return own[n].value;
    return reinterpret_cast<kept_async*>(borrowed + 1)[(n - own_rooms) % rooms_in_record];
  }
};
static_assert(record_class(light_scope::borrowed_bytes) < record_classes);

// The slow halves. Who: the body that is at `at`.
// s has no room left: it gets some more, or returns false if no more asyncs are to be kept.
[[nodiscard]] bool borrow(here& at, light_scope& s);
// No more than n asyncs are left of s: what it needs no more of what it has borrowed goes back.
void give_back(here& at, light_scope& s, std::uint32_t n) noexcept;
// The end of what was submitted in the record that s has; throws what that threw.
void close_full(here& at, light_scope& s);
// b, which is of s, is not to begin, because a scope around is cancelled.
[[gnu::cold]] void skip_async(here& at, light_scope& s, kept_async& b);
// The end of s where it has a record, or an async was taken, or e was thrown by the body, or by the async that was
// called last, and is handled now. Throws what comes first in program order; returns if that is e.
[[gnu::cold]] void end_light(here& at, light_scope& s, const std::exception_ptr& e);

// Whether a finish at `at` may begin as one. Not where each task is to be seen, nor outside of tasks; nor on a stack
// that is half used, or in a body that holds what its asyncs may need: there they are called by no wait either.
[[nodiscard, gnu::always_inline]] inline bool may_be_light(const here& at) noexcept {
  const worker& w = *at.on;
  return !is_set(w.hooked) && w.current != nullptr && w.current->exclusives == 0 &&
         reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) > at.calls_end;
}

// Keeps an async of s, which has room. Who: the body that is at `at`, in s. Errors: what copying the body throws.
template <class Body> [[gnu::always_inline]] inline void keep_async(here& at, light_scope& s, Body&& body) {
  kept_async& b = s.async(s.used);
  b.set(static_cast<Body&&>(body));
  if (keep(at, b) != not_begun::both) [[likely]]
    ++s.used;
  else
    skip_async(at, s, b);
}

// Calls what s keeps, newest first. Returns false if something is for end_light. Who: the body that is at `at`.
[[nodiscard, gnu::always_inline]] inline bool ended(here& at, light_scope& s) {
  if (s.is_open) [[unlikely]] {
    if (s.used != 0) return false;
    close_full(at, s);
  }
  std::uint32_t n = s.used;
  s.left = n;
  s.used = light_scope::closed;
  s.now = light_scope::phase::asyncs;
  while (n != 0) {
    if (s.rooms != light_scope::own_rooms) [[unlikely]]
      give_back(at, s, n);
    kept_async& b = s.async(--n);
    if (!taken_back(at, b)) [[unlikely]]
      return false;
    s.left = n;
    if (n != 0 && is_set(at.on->asked)) [[unlikely]]
      at.on->engine->share(*at.on);  // the next look is behind this body
    b.call(&at, b);
    if (s.is_open) [[unlikely]]
      return false;
  }
  at.on->light = s.outer;
  s.now = light_scope::phase::over;
  if (s.rooms != light_scope::own_rooms) [[unlikely]]
    give_back(at, s, 0);
  return true;
}

// While a scope with a record is the innermost.
class behind_full_scope {
 public:
  explicit behind_full_scope(here& at) noexcept : at_(at), outer_(at.on->light) { at.on->light = nullptr; }
  ~behind_full_scope() { at_.on->light = outer_; }
  behind_full_scope(const behind_full_scope&) = delete;
  behind_full_scope& operator=(const behind_full_scope&) = delete;

 private:
  here& at_;
  light_scope* const outer_;
};

}  // namespace weft::detail

// Tasks of several cores (TAO §3): a body that some workers call at the same time, each as one member of a team.
//
//   rt.submit(weft::team(4), weft::write(a), [](weft::team_context& t, matrix& a) {
//     t.for_each(0, a.rows(), [&](int i) { scale(a.row(i)); });
//     t.barrier();
//     const double norm = t.reduce(part_of(a, t.rank(), t.width()), std::plus<>());
//     ...
//   });
//
// team(n) is a clause like others and goes with all of them. When a worker takes the task it gathers n - 1 others that
// sit close to it: those of the smallest place with so many workers, in blocks of n, so that teams of one width do not
// overlap (TAO §3.2). Each enters when it has ended what it is at, before it takes anything else, and leaves when its
// body returns. The task is done, and its versions advance, when the last has left and all tasks that members submitted
// are done. What members use of handles is theirs together: between them a barrier is the only order.
// A width greater than the number of workers is rounded to that. With one worker a team is a plain task.
//
// No member ever holds on to a worker: one that waits long in a barrier is set aside like a body in any other wait, and
// its worker does something else. So teams of all widths may cross in any order, and a member may wait for tasks, also
// for other teams. Protocol and proof: src/sched/teams/teams.md.
#pragma once
#include "weft/detail/language.hpp"  // before all others

#include <cstdint>
#include <type_traits>
#include <utility>

#include "weft/detail/team.hpp"
#include "weft/error.hpp"

namespace weft {

class team_graph;

// What the other members get where a member has thrown: at their next barrier or collective step. The task fails with
// what was thrown, not with this.
struct team_error : error {
  using error::error;
};

namespace detail {

#ifdef WEFT_SERIAL
// There each team has one member, which meets nobody.
[[noreturn]] inline void throw_bad_team(std::uint64_t, std::uint64_t) {
  throw error("weft: a team needs at least 1 worker, and at least no more than at most");
}
[[noreturn]] inline void throw_team_failed(const team_state&) { throw team_error("weft: a team has failed"); }
[[noreturn]] inline void throw_member_gone(const team_state&, unsigned) { throw error("weft: a member has left"); }
[[nodiscard]] inline bool team_barrier(team_state&) { return true; }
[[nodiscard]] inline std::uint64_t team_take(team_state&, std::uint64_t count, std::uint64_t, bool, std::uint64_t&) {
  return count;
}
[[nodiscard]] inline std::uint32_t team_unit(team_state&, const unit_order&, std::uint32_t) { return units_over; }
#else
[[noreturn]] void throw_bad_team(std::uint64_t least, std::uint64_t most);  // weft::error
[[noreturn]] void throw_team_failed(const team_state& t);                   // team_error
[[noreturn]] void throw_member_gone(const team_state& t, unsigned rank);    // weft::error
// Returns whether no member had thrown when the last one came: the same for all.
[[nodiscard]] bool team_barrier(team_state& t);
// Hands out the next of the iterations [next, count) of a loop: at least `least` of them, or a width-th of half of what
// is left. Returns the first, or count when there are none; `taken`: how many.
[[nodiscard]] std::uint64_t team_take(team_state& t, std::uint64_t count, std::uint64_t least, bool guided,
                                      std::uint64_t& taken);
// The caller's unit `done` is done, or it has none (no_unit), or it has thrown (unit_threw). Returns the next that is
// ready, and waits for one if others are at units that it comes after; units_over when all are done, units_failed when
// one has thrown.
[[nodiscard]] std::uint32_t team_unit(team_state& t, const unit_order& order, std::uint32_t done);
#endif

}  // namespace detail

// So many workers. Errors: weft::error for 0.
[[nodiscard]] inline detail::team_clause team(unsigned width) {
  if (width == 0) [[unlikely]]
    detail::throw_bad_team(width, width);
  const auto w = static_cast<std::uint16_t>(width < 0xffff ? width : 0xffff);
  return {w, w};
}
// At least `least` workers and at most `most`: the policy says how many (policy::width); the most, by default. Errors:
// weft::error for 0, and where least is more than most.
[[nodiscard]] inline detail::team_clause team(unsigned least, unsigned most) {
  if (least == 0 || most < least) [[unlikely]]
    detail::throw_bad_team(least, most);
  return {static_cast<std::uint16_t>(least < 0xffff ? least : 0xffff),
          static_cast<std::uint16_t>(most < 0xffff ? most : 0xffff)};
}

struct learned_width {};
inline constexpr learned_width learned{};
// As many workers as have proved best for tasks of this name and size (sized()), or of this body where they have no
// name; team(2, 8).learned() does so within bounds. Each width - the powers of two, the sizes of the places of the
// machine - is tried twice; then the one is taken that took the shortest time from entry to last exit, or, while other
// tasks wait on the worker that takes this one and fewer than a quarter of all sleep, the one whose members spent the
// least time in sum. Now and then another is tried again, for about a fiftieth of the time at most, and what was long
// ago counts little. So a load that changes is followed. Cost: three looks at the clock, and a lock
// which nobody waits for.
[[nodiscard]] inline detail::team_clause team(learned_width) noexcept { return {1, 0xffff, false, true}; }

// How team_context::for_each gives iterations to members.
struct loop_schedule {
  enum class kind : std::uint8_t { even, dynamic, guided };
  kind how = kind::even;
  std::uint64_t chunk = 1;
};
// A block for each member, of equal length. The default, and the only one that does not wait for the others.
[[nodiscard]] constexpr loop_schedule even_blocks() noexcept { return {}; }
// Who is free takes the next `chunk` iterations.
[[nodiscard]] constexpr loop_schedule dynamic(std::uint64_t chunk = 1) noexcept {
  return {loop_schedule::kind::dynamic, chunk != 0 ? chunk : 1};
}
// Who is free takes half of its share of what is left, and at least `chunk`.
[[nodiscard]] constexpr loop_schedule guided(std::uint64_t chunk = 1) noexcept {
  return {loop_schedule::kind::guided, chunk != 0 ? chunk : 1};
}

namespace detail {
[[nodiscard]] team_state* state_of(const team_context& t) noexcept;  // nullptr: alone
}

// A member's view of its team: the first argument of a team task's body. Who: that member, in its body; it stays valid
// when the body goes on elsewhere after a wait. Barriers and collective steps are called by all members, in the same
// order. A member that has left counts as having come to each barrier after.
class team_context {
 public:
  // Alone: a team of one.
  team_context() = default;
  team_context(detail::team_state& team, unsigned rank) noexcept : team_(&team), rank_(rank) {}
  team_context(const team_context&) = delete;
  team_context& operator=(const team_context&) = delete;

  // 0 to width() - 1.
  [[nodiscard]] unsigned rank() const noexcept { return rank_; }
  [[nodiscard]] unsigned width() const noexcept { return team_ != nullptr ? team_->width : 1; }

  // Returns when all members have called it, or left. What they did before comes before what any does after. Cost: the
  // line of a word there and one back; a member that waits longer than it takes to wake one is set aside. Errors:
  // team_error if a member has thrown.
  void barrier() {
    if (team_ != nullptr && !detail::team_barrier(*team_)) [[unlikely]]
      detail::throw_team_failed(*team_);
  }

  // body(i) for all i in [from, to), each once, by this member or another: all members call it with the same arguments.
  // Even blocks: returns when this member's block is done; otherwise when all are. Errors: what body throws; team_error
  // as barrier().
  template <class From, class To, class Body>
  void for_each(From from, To to, Body&& body, loop_schedule how = even_blocks()) {
    using index = std::common_type_t<From, To>;
    static_assert(std::is_integral_v<index>, "weft: a team's for_each goes over integers");
    const auto first = static_cast<index>(from);
    const std::uint64_t n = first < static_cast<index>(to)
                                ? static_cast<std::uint64_t>(static_cast<index>(to)) - static_cast<std::uint64_t>(first)
                                : 0;
    const auto run = [&](std::uint64_t begin, std::uint64_t end) {
      for (; begin < end; ++begin) body(static_cast<index>(static_cast<std::uint64_t>(first) + begin));
    };
    if (team_ == nullptr) return run(0, n);
    if (how.how == loop_schedule::kind::even) return run(part(n, rank_), part(n, rank_ + 1));
    const bool is_guided = how.how == loop_schedule::kind::guided;
    std::uint64_t taken = 0;
    for (std::uint64_t at; (at = detail::team_take(*team_, n, how.chunk, is_guided, taken)) < n;) run(at, at + taken);
    barrier();
  }

  // What all members give, combined by op in the order of ranks; all get the same. Cost: two barriers. Errors: as
  // barrier(); what op throws; weft::error if a member has left, so that there is nothing of it.
  template <class T, class Op> [[nodiscard]] T reduce(const T& mine, Op op) {
    return collective(mine, [&] { return combined<T>(width(), op); });
  }
  // The same of the members up to this one.
  template <class T, class Op> [[nodiscard]] T scan(const T& mine, Op op) {
    return collective(mine, [&] { return combined<T>(rank_ + 1, op); });
  }
  // What the member of rank `from` gives. Errors: weft::error if there is none of that rank.
  template <class T> [[nodiscard]] T broadcast(const T& mine, unsigned from = 0) {
    if (from >= width()) [[unlikely]]
      throw error("weft: broadcast from a rank that the team does not have");
    return collective(mine, [&] { return shown<T>(from); });
  }

 private:
  friend detail::team_state* detail::state_of(const team_context& t) noexcept;

  // Where block `i` of width() begins, of n.
  [[nodiscard]] std::uint64_t part(std::uint64_t n, std::uint64_t i) const noexcept {
    const std::uint64_t w = team_->width;
    return n / w * i + (n % w < i ? n % w : i);
  }
  // Between its two barriers each member may read what the others show.
  template <class T, class Read> [[nodiscard]] T collective(const T& mine, Read read) {
    if (team_ == nullptr) return mine;
    team_->shown[rank_] = &mine;
    barrier();
    T result = [&] {
      try {
        return read();
      } catch (...) {
        static_cast<void>(detail::team_barrier(*team_));  // the others read what is on this stack
        throw;
      }
    }();
    barrier();
    return result;
  }
  template <class T> [[nodiscard]] const T& shown(unsigned rank) const {
    if (team_->shown[rank] == nullptr) [[unlikely]]
      detail::throw_member_gone(*team_, rank);
    return *static_cast<const T*>(team_->shown[rank]);
  }
  template <class T, class Op> [[nodiscard]] T combined(unsigned ranks, Op& op) const {
    T all = shown<T>(0);
    for (unsigned i = 1; i < ranks; ++i) all = op(std::move(all), shown<T>(i));
    return all;
  }

  friend class team_graph;
  detail::team_state* team_ = nullptr;
  unsigned rank_ = 0;
};

inline detail::team_state* detail::state_of(const team_context& t) noexcept { return t.team_; }

}  // namespace weft

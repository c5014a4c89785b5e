// The second half of a fork, while others may take it: a record on the stack of the body that forked, and in its
// worker's deque. As a rule nobody does; then the body takes it back and calls it as a function. Nothing is allocated,
// and the owner passes no fence and no locked operation. Who else runs it, and how: src/sched/join/branches.md.
#pragma once
#include <cstdint>

#include "weft/detail/record.hpp"
#include "weft/detail/worker.hpp"

namespace weft::detail {

struct branch : record {
  // 0, or `over`, or the record of the body's stack, which waits here. Whoever comes second sees to the other.
  cell<std::uintptr_t> meeting;
  void* thrown;  // room for an exception_ptr; whoever runs the branch elsewhere fills it, and the join empties it
  // The next older one of those that the worker keeps, or nullptr. A thief that moves the branch to the deque says so
  // here (gone()).
  cell<branch*> older;

  static constexpr std::uintptr_t over = 1;
  [[nodiscard]] static branch* gone() noexcept { return reinterpret_cast<branch*>(std::uintptr_t{1}); }
};
static_assert(sizeof(void*) == 8);

// What of a fork is not to begin, because the scope it is in is cancelled. first: the other one a thief has.
enum class not_begun : std::uint8_t { nothing, first, both };

// The slow halves: of offering b, and of taking it back. join returns whether the caller is to run b, on the worker it
// is on then; if not, b is over, and what it threw is thrown; a cancelled_error if b has not begun and is not to. drop,
// in the handler of what the first body threw: b is not wanted any more, and the scope it is in is cancelled by that
// exception.
[[nodiscard]] not_begun fork_slowly(worker& w, branch& b);
[[nodiscard]] bool join_slowly(worker& w, branch& b);
void drop_slowly(worker& w, branch& b) noexcept;

// For whoever finds worker::hooked set. is_stopped: the body on w is in a cancelled scope, so no more parts are to
// begin. give_up: `parts` of them are not begun; throws a cancelled_error. give_up_fork: the same for a fork whose
// bodies have so many. count_not_begun: the same for what is in `in`, and throws nothing.
[[nodiscard]] bool is_stopped(const worker& w) noexcept;
[[nodiscard]] bool is_stopped_in_loop(worker& w, std::uint64_t left, bool begins);
void end_loop_slowly(worker& w);
[[noreturn]] void give_up(const worker& w, std::uint64_t parts);
[[noreturn]] void give_up_fork(place_of_body& at, branch& b, not_begun which, std::uint64_t of_first,
                               std::uint64_t of_b);
void count_not_begun(const record* in, std::uint64_t parts) noexcept;

// What a fork needs again after the call, the compiler would keep over the call: in a register that each fork saves and
// restores. So it may not know what this returns.
[[nodiscard, gnu::always_inline]] inline branch* address_of(branch& b) noexcept {
  branch* at = &b;
#if defined(__x86_64__) && defined(__LP64__)
  asm("leaq %1, %0" : "=r"(at) : "m"(b));
#endif
  return at;
}

// What of b is the same for all that others may take, but for the body that forked: that is `of`. A branch that is
// kept has none of this. Who: whoever puts b where others may take it.
inline void make_ready(branch& b, record* of) noexcept {
  b.parent = of;
  b.pin = record::unpinned;
  b.kind = record_kind::branch;
  b.trace_id() = 0;
  begin(b, record_state::ready);
  b.meeting.raw = 0;
}

// b is kept, and its worker is to see to something: thieves starve, and some of what is kept is put within their reach;
// or it is hooked, and the slow half offers b. Who: the body that is at `at`.
[[nodiscard]] not_begun heed(place_of_body& at, branch& b);

// Keeps b, the newest of its worker's, which thieves come to when they have nothing else (src/sched/join/branches.md).
// Who: the body that is at `at`. Order: starved and hooked come after b is in the list (deque.md, "Nothing is left
// behind").
[[nodiscard, gnu::always_inline]] inline not_begun keep(place_of_body& at, branch& b) {
  worker& w = *at.on;
  poke(b.older, peek(w.kept));
  poke_release(w.kept, address_of(b));
  then();
  if (any_of(w.asked, w.hooked)) [[unlikely]]
    return heed(at, b);
  return not_begun::nothing;
}

// What was taken from what w keeps, which is claimed, is there again.
[[gnu::cold]] void keep_again(worker& w, branch& b) noexcept;

// Whether b is still the newest that its worker keeps; then it is the caller's. Who: the body that forked. If it
// has moved to another worker meanwhile, b went to the deque before.
[[nodiscard, gnu::always_inline]] inline bool taken_back(place_of_body& at, branch& b) noexcept {
  worker& w = *at.on;
  if (is_other(w.kept, address_of(b))) [[unlikely]]
    return false;
  poke(w.kept, peek(b.older));
  then();
  if (!is_set(w.claimed)) [[likely]]
    return true;
  keep_again(w, b);
  return false;
}

// What a thread is on that no runtime knows: a worker that has no engine, and runs every branch itself. The thread's
// own.
[[nodiscard]] worker& nobodys_worker() noexcept;

// Around the forks of the main thread that are in no task: for as long it is a worker like all, and thieves leave what
// it has to it.
class main_forks {
 public:
  explicit main_forks(worker& w) : worker_(w) { w.engine->enter_forks(w); }
  ~main_forks() { worker_.engine->leave_forks(worker_); }
  main_forks(const main_forks&) = delete;
  main_forks& operator=(const main_forks&) = delete;

 private:
  worker& worker_;
};

}  // namespace weft::detail

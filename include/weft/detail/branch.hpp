// The second half of a fork, while others may take it: a record on the stack of the body that forked, and in its
// worker's deque. As a rule nobody does; then the body takes it back and calls it as a function. Nothing is allocated,
// and the owner passes no fence and no locked operation. Who else runs it, and how the two meet: src/sched/branches.md.
#pragma once
#include <cstdint>

#include "weft/detail/record.hpp"
#include "weft/detail/worker.hpp"

namespace weft::detail {

struct branch : record {
  // 0, or `over`, or the record of the body's stack, which waits here. Whoever comes second sees to the other.
  cell<std::uintptr_t> meeting;
  void* thrown;  // room for an exception_ptr; whoever runs the branch elsewhere fills it, and the join empties it

  static constexpr std::uintptr_t over = 1;
};
static_assert(sizeof(void*) == 8);

// The slow halves: of offering b, and of taking it back. fork returns false if neither body is to begin, because the
// scope they are in is cancelled. join returns whether the caller is to run b, on the worker it is on then; if not, b
// is over, and what it threw is thrown; a cancelled_error if b has not begun and is not to. drop, in the handler of
// what the first body threw: b is not wanted any more, and the scope it is in is cancelled by that exception.
[[nodiscard]] bool fork_slowly(worker& w, branch& b);
[[nodiscard]] bool join_slowly(worker& w, branch& b);
void drop_slowly(worker& w, branch& b) noexcept;

// For whoever finds worker::hooked set. is_stopped: the body on w is in a cancelled scope, so no more parts are to
// begin. give_up: `parts` of them are not begun; throws a cancelled_error. count_not_begun: the same for what is in
// `in`, and throws nothing.
[[nodiscard]] bool is_stopped(const worker& w) noexcept;
[[noreturn]] void give_up(const worker& w, std::uint64_t parts);
void count_not_begun(const record* in, std::uint64_t parts) noexcept;

// What a fork needs again after the call, the compiler would keep together with what is worked out of it, over the
// call: in registers that each fork saves and restores. So it may not know what these return.
[[nodiscard, gnu::always_inline]] inline std::uint32_t one_below(std::uint32_t end) noexcept {
  std::uint32_t index = end;
#if defined(__x86_64__) && defined(__LP64__)
  asm("leal -1(%q1), %0" : "=r"(index) : "r"(end));
#else
  asm("" : "+r"(index));
  --index;
#endif
  return index;
}
[[nodiscard, gnu::always_inline]] inline record* address_of(branch& b) noexcept {
  record* r = &b;
#if defined(__x86_64__) && defined(__LP64__)
  asm("leaq %1, %0" : "=r"(r) : "m"(b));
#endif
  return r;
}

// Where a branch lies that was offered. The owner remembers it between offering and taking back: so each reads and
// writes the end of the deque once, and what one writes the next need not wait for.
struct offered {
  std::uint64_t moves;                                       // of the worker at the time; or one of these
  std::uint32_t end;                                         // of the deque, with the branch
  static constexpr std::uint64_t never = ~std::uint64_t{0};  // the slow half has it
  static constexpr std::uint64_t stopped = never - 1;        // nobody has it, and neither body may begin
};

// b was offered, and its worker is to see to something: thieves starve, or it is hooked; then the branch is taken back
// and offered by the slow half. Who: the body that is at `at`.
[[nodiscard]] offered heed(place_of_body& at, branch& b, offered as);
// The same where the deque is full.
[[nodiscard]] offered offer_slowly(worker& w, branch& b);

// Offers b to thieves; may_not_begin() is called if neither body may begin, and does not return. Who: the body that is
// at `at`. Errors: std::bad_alloc when the deque must grow and cannot.
// Order: who cancels sets hooked, then changes moves. So a branch that is offered unseen had the old number, and its
// body comes to the slow half when it is back. starved and hooked come after the push (deque.md, "Nothing is left
// behind").
template <class MayNot>
[[nodiscard, gnu::always_inline]] inline offered offer(place_of_body& at, branch& b, MayNot may_not_begin) {
  worker& w = *at.on;
  deque_owner& d = w.deque;
  offered as{peek_acquire(w.moves), 0};
  const std::uint32_t index = peek(d.bottom);
  if (index == d.limit) [[unlikely]] {
    as = offer_slowly(w, b);
    if (as.moves == offered::stopped) may_not_begin();
    return as;
  }
  as.end = index + 1;
  poke(d.slots[index & d.mask], address_of(b));
  poke_release(d.bottom, as.end);
  then();
  if (any_of(w.starved, w.hooked)) [[unlikely]] {
    as = heed(at, b, as);
    if (as.moves == offered::stopped) may_not_begin();
  }
  return as;
}

// Whether what was offered is still the newest that its worker has for itself; then it is the caller's. Who: the body
// that offered it. While its stack is not set aside none but thieves take anything below what the body itself has put
// into the deque, so what is at that index then is the branch, or was. bottom is read as the plain word that it is for
// its only writer.
[[nodiscard, gnu::always_inline]] inline bool taken_back(place_of_body& at, offered as) noexcept {
  worker& w = *at.on;
  if (is_other(w.moves, as.moves)) [[unlikely]]
    return false;
  deque_owner& d = w.deque;
  if (d.bottom.raw != as.end) [[unlikely]]
    return false;
  const std::uint32_t index = one_below(as.end);
  poke(d.bottom, index);
  then();
  if (!lies_before(index, d.split)) [[likely]]
    return true;
  poke(d.bottom, as.end);
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

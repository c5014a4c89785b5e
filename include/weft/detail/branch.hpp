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

// The slow halves: of offering b, and of taking it back. join returns whether the caller is to run b, on the worker it
// is on then; if not, b is over, and what it threw is thrown. drop: the same for one that is not wanted any more.
void fork_slowly(worker& w, branch& b);
[[nodiscard]] bool join_slowly(worker& w, branch& b);
void drop_slowly(worker& w, branch& b) noexcept;

// Of the two words that a fork needs again after the call, index and address, the compiler would keep what is worked
// out of them, too, over the call: in registers that each fork saves and restores. So it may not know what these
// return.
[[nodiscard, gnu::always_inline]] inline std::uint32_t anew(std::uint32_t index) noexcept {
  asm("" : "+r"(index));
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
  std::uint64_t moves;  // of the stack at the time; `never`: the slow half has it
  std::uint32_t index;
  static constexpr std::uint64_t never = ~std::uint64_t{0};
};

// Offers b to thieves. Who: the body that is at `at`. Errors: std::bad_alloc when the deque must grow and cannot.
[[nodiscard, gnu::always_inline]] inline offered offer(place_of_body& at, branch& b) {
  worker& w = *at.on;
  deque_owner& d = w.deque;
  const std::uint32_t index = peek(d.bottom);
  if (w.hooked || index == d.limit) [[unlikely]] {
    fork_slowly(w, b);
    return {offered::never, 0};
  }
  poke(d.slots[index & d.mask], address_of(b));
  poke_release(d.bottom, index + 1);
  then();
  if (peek(w.starved) != 0) [[unlikely]]
    w.engine->share(w);
  return {at.moves, index};
}

// Whether what was offered is still the newest that its worker has for itself; then it is the caller's. Who: the body
// that offered it. While its stack is not set aside none but thieves take anything below what the body itself has put
// into the deque, so what is at that index then is the branch, or was.
[[nodiscard, gnu::always_inline]] inline bool taken_back(place_of_body& at, offered as) noexcept {
  if (at.moves != as.moves) [[unlikely]]
    return false;
  deque_owner& d = at.on->deque;
  const std::uint32_t end = anew(as.index) + 1;
  if (peek(d.bottom) != end) [[unlikely]]
    return false;
  poke(d.bottom, as.index);
  then();
  if (static_cast<std::int32_t>(as.index - peek(d.split)) >= 0) [[likely]]
    return true;
  poke(d.bottom, end);
  return false;
}

// What a thread is on that no runtime knows: a worker that has no engine, and runs every branch itself.
extern worker nobodys_worker;

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

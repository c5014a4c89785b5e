// The phases of a record, and which follows which. A record is in exactly one: in a magazine, being filled in, handed
// over, listed for a condition, in a queue, running, or waiting for its children. Every change goes through
// transition() (record.hpp), so that a record which is in two places at once is found where it happens and not where
// it crashes.
//
//   free ──> filling ──> blocked ──> ready ──> running ──> draining ──> free
//
//   filling -> requested -> filling   created by another worker (src/sched/admit/creation.hpp)
//   filling -> ready                  nothing to wait for
//   filling -> free                   discarded, or refused
//   blocked -> blocked                the next condition
//   ready -> ready                    taken from a queue and put back: a pause, another worker's turn
//   ready -> blocked                  chosen to run, and its handle is taken (src/sched/replay/ordering.hpp)
//   running -> free                   no children
//   running, draining -> blocked      a node of a graph, which rests until the next run and is not freed
//
// Beside tasks some records stand for something else and have a part of that life. They lie in memory that is no pool's
// and begin where their part begins: a branch is ready, a scope is running, what stands for a stack that waits is
// filled in by that stack, and goes to a list or to a queue. The body of a task that is set aside goes on being
// running: what is queued meanwhile is the record of its stack.
//
// Who changes the phase says which it was. That is one comparison, and who is wrong about it is found at that place: a
// task that was freed while it waits, or is run a second time. The library compares in every build. The headers, where
// an owner submits, calls and frees without the library, compare in builds without NDEBUG: there it would be
// 3 instructions of the 227 that a task without accesses takes.
#pragma once
#include <cstdint>

namespace weft::detail {

// Those that are asked for together stand side by side, so that one comparison tells.
enum class record_state : std::uint8_t { free, requested, ready, blocked, filling, running, draining };
inline constexpr unsigned record_state_count = 7;

// Some of them.
struct record_states {
  std::uint32_t bits;
  constexpr record_states(record_state one, auto... more) noexcept : bits((bit(one) | ... | bit(more))) {}
  [[nodiscard]] constexpr bool has(record_state s) const noexcept {
    const unsigned first = __builtin_ctz(bits), last = 31 - __builtin_clz(bits), i = static_cast<unsigned>(s);
    if (bits != (2u << last) - (1u << first)) return (bits & bit(s)) != 0;
    return last + 1 == record_state_count ? i >= first : i - first <= last - first;
  }
  [[nodiscard]] constexpr bool are_in(record_states all) const noexcept { return (bits & ~all.bits) == 0; }

 private:
  [[nodiscard]] static constexpr std::uint32_t bit(record_state s) noexcept { return 1u << static_cast<unsigned>(s); }
};

// The table: from which phases a record may come to that one.
[[nodiscard]] constexpr record_states may_precede(record_state to) noexcept {
  using enum record_state;
  switch (to) {
  case filling: return {free, requested};
  case requested: return filling;
  case blocked: return {ready, blocked, filling, running, draining};
  case ready: return {ready, blocked, filling};
  case running: return ready;
  case draining: return running;
  case free: break;
  }
  return {filling, running, draining};
}
// In which phases a record may be when it is made, or taken from a magazine.
[[nodiscard]] constexpr record_states may_be_first() noexcept {
  using enum record_state;
  return {free, filling, ready, running};
}

struct record;

// The phase of one record. It can be read as what it is, and nobody writes it but its friends (record.hpp).
class record_phase {
 public:
  record_phase() noexcept = default;  // of a zeroed record: free
  constexpr operator record_state() const noexcept { return is_; }

 private:
  friend void begin(record& r, record_state first) noexcept;
  friend void transition(record& r, record_states from, record_state to, const char* file, int line) noexcept;
  friend void transition_inline(record& r, record_state from, record_state to) noexcept;
  record_state is_;
};
static_assert(record_state{} == record_state::free);

}  // namespace weft::detail

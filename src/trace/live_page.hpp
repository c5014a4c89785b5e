// The counters of a running program as who looks from outside finds them (`weft top`): the layout of a live page. That
// is shared memory, a memfd: it has no name in any folder, a reader opens it as /proc/PID/fd/N, so the system decides
// who may look, and nothing is left of it when the program ends, however that is.
//
// The counters are not kept here. They lie with their workers, and cost these what they cost without a reader. Who
// looks asks; a thread of the program, which sleeps otherwise, writes down what they are at that moment, and answers:
//
//   reader                                              program
//   flock(page): one reader at a time                   sleeps on `asked` while asked == answered
//   asked += 1 (release), wakes `asked`                 asked is other: acquires it, writes head and rows,
//   sleeps on `answered` while answered != asked        answered = what it saw in asked (release), wakes `answered`
//   answered == asked: acquires it, reads
//
// A reader that dies lets the lock go. A process that fork() made has the page, too, but not the thread: `process`
// says whose it is. `over` is set when the runtime ends; who dies instead is gone from /proc.
// Layout: one live_head, then `rows` live_rows, each number as this computer has it. Of another version only what is
// before `process` may be looked at. The file has the seals against shrinking and growing before anybody can find it.
#pragma once
#include <cstddef>
#include <cstdint>

#include "weft/detail/cell.hpp"

namespace weft::trace {

inline constexpr char live_name[] = "weft-top";  // so /proc/PID/fd/N is a link to "/memfd:weft-top (deleted)"
inline constexpr std::uint64_t live_magic = 0x45'56'49'4c'54'46'45'57;  // "WEFTLIVE" where the low byte comes first
inline constexpr std::uint32_t live_version = 1;
inline constexpr std::size_t live_text = 64;  // bytes of a text, its end included: longer ones are cut

struct live_head {
  detail::cell<std::uint64_t> magic;  // stored last, when all before `now_ns` is there
  std::uint32_t version;
  std::uint32_t bytes;      // of all
  std::uint32_t row_bytes;  // of one row
  std::uint32_t rows;       // workers, and the reserve
  std::int32_t process;     // its number as it knows it itself
  std::uint32_t runtime;    // the first of the process is 1
  detail::cell<std::uint32_t> asked;
  detail::cell<std::uint32_t> answered;
  detail::cell<std::uint32_t> over;
  std::uint32_t unused;
  std::uint64_t began_ns;   // when the runtime was made, on the clock that now_ns is of: CLOCK_MONOTONIC
  char library[live_text];  // its version
  char program[live_text];
  char policy[live_text];
  // From here on, and the rows: what an answer says.
  std::uint64_t now_ns;
  std::uint64_t live;  // tasks that are submitted and not done, children not counted
};

// What a worker is.
enum class live_role : std::uint32_t { ordinary, reserve, creator };
// What it does: the places of its sums.
enum class live_does : std::uint32_t { busy, searching, asleep, outside };
inline constexpr std::size_t live_does_count = 4;

struct live_row {
  std::uint32_t worker;
  live_role role;
  live_does does;
  std::uint32_t queued;     // tasks in its deque
  std::uint64_t tasks;      // begun, since the runtime was made, as all that follow
  std::uint64_t called;     // of these, those that were calls where they were submitted
  std::uint64_t steals;     // tasks that it took from others
  std::uint64_t elsewhere;  // branches of others' forks that it ran
  std::uint64_t sleeps;     // times that it went to sleep
  std::uint64_t suspends;   // waits for which a stack was set aside on it
  std::uint64_t spent_ns[live_does_count];
  std::uint64_t body_ns;  // the body that began last goes on since then, at least; 0: none does, or it has just begun
  char body[live_text];   // its name, and "" without one
};

static_assert(sizeof(live_head) % 8 == 0 && sizeof(live_row) % 8 == 0);
static_assert(offsetof(live_head, process) == 24 && offsetof(live_head, asked) == 32, "what all versions have");

}  // namespace weft::trace

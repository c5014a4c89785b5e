// Every limit of the runtime: its name, its unit, its reason.
#pragma once
#include <cstddef>
#include <cstdint>

namespace weft::base {

inline constexpr unsigned workers_max = 1024;        // worker ids are 16 bits; the sleep bitmap is workers/64 words
inline constexpr std::size_t window_tasks_min = 64;  // one batch of records, the unit the pool hands out
inline constexpr std::size_t window_tasks_max = std::size_t{1} << 40;  // beyond any memory; sums of it do not overflow
inline constexpr std::size_t stack_kib_min = 64;                       // a body that calls printf needs about 16
inline constexpr std::size_t stack_kib_max = std::size_t{1} << 22;     // 4 GiB: address space for 32,768 such stacks
inline constexpr std::uint32_t wished_stacks_max =
    4096;  // beyond it stacks are made for waits alone: 16 KiB or so each
inline constexpr std::uint32_t deque_capacity_first = 256;  // slots; doubles when full
// All of a deque can be shared, which its word says in 16 bits (sched/queues/shared_part.hpp); the rest overflows.
inline constexpr std::uint32_t deque_capacity_max = 1u << 15;
inline constexpr std::uint32_t steal_max = 128;  // tasks at once: to read more slots takes longer than a second steal
inline constexpr std::uint32_t pushed_max =
    16;  // to one worker, not yet taken in: more is better kept near whom it has
inline constexpr std::uint32_t pool_batch_records = 64;  // records per hand-over between a worker and the shared pool
inline constexpr unsigned stack_tries_max = 1u << 14;    // some 50 ms: whoever has one to give back does so by then
inline constexpr std::size_t idle_stacks_max = 16;       // that a worker of a real machine keeps for itself
inline constexpr std::uint64_t search_ns = 25'000;       // an idle worker looks for work this long, two wake-ups' worth
// Modelled machines have no thief that pulls from the main thread in a long stretch of the program (sched/deque.md).
inline constexpr unsigned pulling_workers_min = 9;
inline constexpr unsigned turns_min = 4;                         // of the better way before the other is tried,
inline constexpr unsigned turns_max = 64;                        // and after it has lost again and again
inline constexpr std::uint32_t requests_max = 4096;              // of the main thread, not created: the first window
inline constexpr std::uint64_t mean_body_max_ns = 2000;          // a longer body counts as this
inline constexpr std::uint64_t patience_ns = 20'000'000;         // at options::window: so often, whether anything moves
inline constexpr std::uint64_t patience_busy_ns = 1'000'000;     // cores that did more than this meanwhile compute
inline constexpr std::uint64_t patience_look_ns = 25'000;        // ... and this for each thread that looks in vain
inline constexpr std::uint64_t patience_alone_ns = 200'000'000;  // the same where others move: long beside a time slice
inline constexpr unsigned denials_max = 3;  // times told in vain before a task with several adds reserves; two bits
// A member of a team whose members keep their cores: longer than any step of a team should be, and bounded, so that
// teams that wait for each other in a circle go on.
inline constexpr std::uint64_t awake_patience_ps = 1'000'000'000'000;
inline constexpr std::uint64_t pipeline_look_items = 64;     // between two looks at whether several gain anything
inline constexpr std::uint32_t pipeline_helpers_max = 64;    // and workers: their records stay until all are done
inline constexpr std::uint32_t relax_before_yield = 64;      // spins on a lock before the holder may need our core
inline constexpr std::uint32_t search_pauses_max = 64;       // between two looks of a search, about 1 us
inline constexpr std::uint64_t idle_yields_max = 1'000'000;  // in a row in virtual time: bodies that never end
inline constexpr std::uint64_t array_bytes_max = std::uint64_t{1} << 46;  // more than addresses of a process; sums fit
inline constexpr unsigned laid_ranges_max = 16'384;  // of an array; Linux gives a process 65,530 ranges for everything
inline constexpr std::uint64_t standstill_ns = 2'000'000'000;  // nothing moves and a thread waits: told after so long

static_assert(workers_max <= 0xffff);
static_assert(pool_batch_records <= window_tasks_min);
static_assert((deque_capacity_first & (deque_capacity_first - 1)) == 0);
static_assert((deque_capacity_max & (deque_capacity_max - 1)) == 0);

}  // namespace weft::base

// The machine contract: everything the scheduler needs from the world below it, and the first of the two seams.
// `host` is real threads and real time; `virtual_machine` is fibers on one thread and virtual time. All of src/access,
// src/task and src/sched is templates over a Machine, instantiated once for each in src/runtime; nothing else differs.
//
// Shared words are detail::cell. The operations are static, so that a call site reads M::load(w.shared, acquire):
//   load store exchange compare_exchange fetch_add fetch_or fetch_and, each with its order
//   relax(spin)     one step of a waiting loop; `spin` counts the steps so far
// The rest is asked of the machine object:
//   start(...)        makes workers 1..n-1, each calls entry(engine, id); the caller is worker 0. The arguments beside
//                     these differ, so src/runtime makes this call
//   join()            returns when all entries have returned
//   now_ps()          the calling worker's clock
//   park(id)          sleeps until wake(id); a wake before the park makes it return at once. Only worker `id` parks.
//   wake(id)          who: any worker, and on the host any thread
//   jump(id, from, to, after)  switches the calling worker from one fiber to another, then runs after() on the latter
//   charge(ps)        the running body took so long; nothing on real machines
//   end_body(record)  the body has returned
//   forked()          whether the workers were lost because this is a child of the process that made them
//   foreign_threads   whether threads outside the runtime may call in; these then block() and are signal()ed
//   block_for(word, ns), start_one(id), busy_ns(), barrier_everywhere()   what a submitter at a full window, the
//   reserve
//                     (sched/engine_room.hpp) and who waits from outside need of threads; empty where there are none
#pragma once
#include <concepts>
#include <cstdint>

#include "base/atomic.hpp"
#include "machine/fiber.hpp"
#include "weft/detail/worker.hpp"

namespace weft::machine {

using base::order;
using detail::cell;

template <class M>
concept machine = requires(M m, cell<std::uint64_t> c, std::uint64_t v, unsigned id, fiber& f, const detail::record& r,
                           fiber::action* after, order o) {
  { M::load(c, o) } -> std::same_as<std::uint64_t>;
  M::store(c, v, o);
  { M::exchange(c, v, o) } -> std::same_as<std::uint64_t>;
  { M::compare_exchange(c, v, v, o) } -> std::same_as<bool>;
  { M::fetch_add(c, v, o) } -> std::same_as<std::uint64_t>;
  { M::fetch_or(c, v, o) } -> std::same_as<std::uint64_t>;
  { M::fetch_and(c, v, o) } -> std::same_as<std::uint64_t>;
  M::relax(1u);
  { M::foreign_threads } -> std::convertible_to<bool>;
  { m.now_ps() } -> std::same_as<std::uint64_t>;
  m.join();
  { m.forked() } -> std::same_as<bool>;
  m.park(id);
  m.wake(id);
  m.jump(id, f, f, after);
  m.charge(v);
  m.end_body(r);
};

}  // namespace weft::machine

// The machine contract: everything the scheduler needs from the world below it, and the first of the two seams.
// `host` is real threads and real time; `virtual_machine` is fibers on one thread and virtual time. All of src/access,
// src/task and src/sched is templates over a Machine, instantiated once for each in src/runtime; nothing else differs.
//
// Shared words are detail::cell. The operations are static, so that a call site reads M::load(w.shared, acquire):
//   load store exchange compare_exchange fetch_add fetch_or fetch_and, each with its order
//   relax(spin)     one step of a waiting loop; `spin` counts the steps so far
//   search_pause(spin, until)   the same in a search for work, which ends at `until` at the latest
// and, for machines that model what real ones have anyway, empty on those:
//   work(step, about)           the scheduler's own instructions in a step of a task's life
//   took_from(worker)           the caller has taken a task from that one
//   touch(address, bytes, writes)   memory that is no cell is used; fresh(address, bytes): it is new;
//                               fresh_unless(word, value, address, bytes): if the word, of no lock yet, is another
//   between_steps()             of the owner of a deque, or a thief in its name (sched/queues/deque.md): for tests
//   give_way()                  a body lets others go first
//   meets_stranger()            a thread calls in that is no worker and did not make the runtime; returns if it may
//   declares(record, ps)        the body is to cost that, once more; 0: the default
//   exchange_near(near, word, value, order)   exchange() of a word that belongs to `near`
// And where a modelled machine needs something else than a real one:
//   unseen            load, store, fetch_add, fetch_or, fetch_and for who is no core of it: they take no time
//   section(lock)     the lock is held until this ends. No other operation of the machine's may happen meanwhile
//   stand_ins         records on the stacks of bodies, as others see them (stand_ins.hpp)
//   by_word<T, Bits>  a T for each word of the program's memory (by_word.hpp)
//   call(machine)     the program calls in, and goes on by itself when this ends
// The rest is asked of the machine object:
//   start(...)        makes workers 1..n-1, each calls entry(engine, id); the caller is worker 0. The arguments beside
//                     these differ, so src/runtime makes this call
//   join()            returns when all entries have returned
//   dismiss()         in place of all that: no entry is called
//   now_ps()          the calling worker's clock
//   program_now_ps()  the same for who has not called in: with what the program has computed since it went on by itself
//   park(id)          sleeps until wake(id); a wake before the park makes it return at once. Only worker `id` parks.
//   doze(id)          the same, but an alarm may end it, too: who looks for what there is to do when it goes on
//   wake(id)          who: any worker, and on the host any thread
//   alarm(ps), rang(id)   on a modelled machine a worker that dozes goes on by itself at that time, and is told so
//   settle()          who: worker 0's thread, when it begins to run tasks, and so takes a core of its own
//   jump(id, from, to, after)  switches the calling worker from one fiber to another, then runs after() on the latter
//   charge(ps, uses)  the running body took so long and moved these data; nothing on real machines
//   renew_data(handle)  the datum behind it is other memory from now on: laid as the handle says, or else the caller's
//   require_whole()   throws weft::error if what the machine says of times is wrong, once
//   begin_body(record), end_body(record)   the body is called, has returned; end_member(member, task, width): that of
//                     one member of a team, before end_body(member)
//   enter_runtime(), leave_runtime()       the program calls in, and goes on by itself
//   seat(id, worker), set_program_stack(fiber), stack(id, of_thread)   who worker `id` is, and which fiber it begins on
//   cpu_of(id), usable_cpus(), on_cpus   the CPU that belongs to worker `id`, -1: none does; of how many the workers
//                     may have any; and for a while the caller runs on some CPUs and no other (weft/guest.hpp)
//   counts()          what the machine counts about itself
//   name()            as options::machine says it
//   forked()          whether the workers were lost because this is a child of the process that made them: a load, for
//                     each call that submits or waits asks
//   block(word), block_for(word, ns), signal(word), start_one(id), start_helper(run, argument), bring_reserve(here),
//   stay, busy_ns(), reserve_busy_ns(), barrier_everywhere()
//                     what a submitter at a full window, the reserve (sched/admit/reserve.hpp), the watch
//                     (sched/join/watch.hpp) and who waits from outside need of threads; empty where there are none
//
// What is offered on one kind of machines only, the scheduler asks for by name. Nobody above asks which machine it is
// on: a machine may offer any of these. All but offers_barrier() are known when the code is compiled, so an answer
// costs nothing.
//   inline_self()       the calling thread's worker, if a call of its need not be told to the machine; else nullptr
//   sees_calls()        it must see each call, also what the inline path would answer itself
//   admits_strangers()  threads outside the runtime may call in; these then block() and are signal()ed
//   has_helpers()       start_helper() makes a thread
//   has_alarms()        alarm() does something
//   keeps_order()       the order of all tasks may be written down or decided (sched/replay/order.hpp)
//   takes_charges()     charge() does something
//   offers_barrier()    handing over tasks may rely on barrier_everywhere()
//   reserves()          workers beyond those asked for, which take the place of those that block
//   idle_stacks_max()   how many stacks a worker keeps for itself
#pragma once
#include <concepts>
#include <cstdint>
#include <span>

#include "base/atomic.hpp"
#include "machine/fiber.hpp"
#include "model/machine.hpp"
#include "weft/counts.hpp"
#include "weft/data_use.hpp"
#include "weft/detail/worker.hpp"

namespace weft::machine {

using base::order;
using detail::cell;

// What a modelled machine counts; 0 on real ones.
struct machine_counts {
  std::uint64_t transfers = 0;       // cache lines that moved between cores
  std::uint64_t fetches = 0;         // cache lines of the scheduler's that came from memory
  std::uint64_t line_waits_ps = 0;   // time cores spent behind others who wanted the same line
  std::uint64_t events = 0;          // turns given to a core
  std::uint64_t cached_bytes = 0;    // data of bodies that came from caches,
  std::uint64_t shared_bytes = 0;    // of these, from caches of several cores,
  std::uint64_t modified_bytes = 0;  // and from those of other cores, which had written them;
  std::uint64_t local_bytes = 0;     // from the core's own memory node,
  std::uint64_t remote_bytes = 0;    // and from others
  std::uint64_t written_back_bytes = 0;
  std::uint64_t bandwidth_ps = 0;  // time that bodies spent waiting for shared bandwidth,
  std::uint64_t units_ps = 0;      // and for units that siblings used
  joules energy{};
};

template <class M>
concept machine = requires(M m, cell<std::uint8_t> lock, cell<std::uint64_t> c, std::uint64_t v, unsigned id, fiber& f,
                           detail::record& r, fiber::action* after, order o, std::span<const data_use> uses,
                           detail::handle_state& h) {
  { M::load(c, o) } -> std::same_as<std::uint64_t>;
  M::store(c, v, o);
  { M::exchange(c, v, o) } -> std::same_as<std::uint64_t>;
  { M::compare_exchange(c, v, v, o) } -> std::same_as<bool>;
  { M::fetch_add(c, v, o) } -> std::same_as<std::uint64_t>;
  { M::fetch_or(c, v, o) } -> std::same_as<std::uint64_t>;
  { M::fetch_and(c, v, o) } -> std::same_as<std::uint64_t>;
  M::relax(1u);
  M::search_pause(1u, v);
  M::work(model::step::run);
  M::touch(&c, id, true);
  M::took_from(id);
  M::fresh(&c, id);
  M::fresh_unless(id, id, &c, id);
  M::between_steps();
  M::give_way();
  M::meets_stranger();
  M::declares(r, v);
  M::unseen::load(c, o);
  M::unseen::fetch_add(c, v, o);
  M::unseen::fetch_or(c, v, o);
  M::unseen::fetch_and(c, v, o);
  { typename M::section(lock) };
  { typename M::call(m) };
  { M::inline_self() } -> std::same_as<detail::worker*>;
  { M::sees_calls() } -> std::same_as<bool>;
  { M::admits_strangers() } -> std::same_as<bool>;
  { M::has_helpers() } -> std::same_as<bool>;
  { M::has_alarms() } -> std::same_as<bool>;
  { M::keeps_order() } -> std::same_as<bool>;
  { M::takes_charges() } -> std::same_as<bool>;
  { M::offers_barrier() } -> std::same_as<bool>;
  { M::reserves() } -> std::same_as<unsigned>;
  { M::idle_stacks_max() } -> std::same_as<std::size_t>;
  { m.stack(id, f) } -> std::same_as<fiber&>;
  { m.now_ps() } -> std::same_as<std::uint64_t>;
  { m.program_now_ps() } -> std::same_as<std::uint64_t>;
  m.join();
  m.dismiss();
  { m.forked() } -> std::same_as<bool>;
  m.park(id);
  m.doze(id);
  m.wake(id);
  m.alarm(v);
  { m.rang(id) } -> std::same_as<bool>;
  m.settle();
  m.jump(id, f, f, after);
  m.charge(v);
  m.charge(v, uses);
  m.renew_data(h);
  m.require_whole();
  m.begin_body(r);
  m.end_body(r);
  m.end_member(r, r, id);
  m.enter_runtime();
  m.leave_runtime();
  { m.counts() } -> std::same_as<machine_counts>;
  { m.name() } -> std::same_as<const char*>;
};

}  // namespace weft::machine

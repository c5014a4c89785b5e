// Another runtime inside a team task - an OpenMP region, a threaded BLAS, an arena of oneTBB - on exactly the team's
// cores, while the team's workers sleep (TAO §3.1: an assembly may have any scheduler inside).
//
//   rt.submit(weft::team(2), weft::write(a), [](weft::team_context& t, matrix& a) {
//     weft::guest(t, [&](weft::guest_context& g) { other_runtime(a, g.threads()); });
//   });
//
// All members call it, as they call a barrier. When all have come, the workers of the team are held, one after the
// other as each ends what it is at; then the body of one call is run, on one of these workers. Its thread may run on
// the cores of all of them and on no other, and so may threads that it makes. The others sleep in the kernel until it
// returns. So two guests never share a core, nor does a guest share one with tasks. Proof: src/sched/place/gang.md.
//
// Threads that another runtime made earlier keep the cores they had then. weft/openmp.hpp, weft/onetbb.hpp and
// weft/openblas.hpp put them where they belong; a body that uses others does so itself, with bind().
#pragma once
#include "weft/detail/language.hpp"  // before all others

#include <exception>
#include <utility>

#include "weft/detail/guest.hpp"
#include "weft/team.hpp"

namespace weft {

namespace detail {

#ifdef WEFT_SERIAL
// There a team is alone, and so is its guest.
inline void bind_thread(int) noexcept {}
inline void throw_guest_end(const team_state&, guest_end) {}
#else
void bind_thread(int cpu) noexcept;                                        // the calling one, to that CPU
[[noreturn]] void throw_guest_end(const team_state& t, guest_end reason);  // team_error, weft::error
void team_guest(team_state* t, guest_call& c);                             // nullptr: alone
// How many of a guest's threads are somewhere.
void one_comes(cell<unsigned>& inside) noexcept;
void one_leaves(cell<unsigned>& inside) noexcept;
void await_none(cell<unsigned>& inside) noexcept;  // gives the core away while it looks
#endif

}  // namespace detail

// What a guest may use: the argument of its body. Who: the thread that the body runs on, until it returns; cpu() and
// bind() any thread meanwhile.
class guest_context {
 public:
  explicit guest_context(detail::guest_crew& crew) noexcept : crew_(crew) {}
  guest_context(const guest_context&) = delete;
  guest_context& operator=(const guest_context&) = delete;

  // How many threads the guest may have at once, its body's own included: one for each core that is held. Fewer than
  // the team has members if the main thread is one of them and busy with other code. With more workers than cores, or
  // workers that are not bound, its share of the cores. On a modelled machine 1: its cores are no threads.
  [[nodiscard]] unsigned threads() const noexcept { return crew_.threads; }
  // The CPU of thread i < threads(), as the system numbers them; that of thread 0 is where the body began. -1: workers
  // are not bound, and neither should the guest's threads be.
  [[nodiscard]] int cpu(unsigned i) const noexcept { return crew_.cpus != nullptr ? crew_.cpus[i] : -1; }
  // Binds the calling thread to cpu(i); nothing if that is -1. Cost: a system call. The body's own thread is put back
  // when the body returns; others stay there until they are bound anew.
  void bind(unsigned i) const noexcept {
    if (cpu(i) >= 0) detail::bind_thread(cpu(i));
  }
  // f(i) for all i < threads(), at the same time: on the workers that are held, the calling one with i = 0. For code
  // that wants to be given its threads. f must not throw (the program ends), wait by the runtime, or call this. Returns
  // when all have. Cost: a line to each worker and back if it was called in the last 50 us, else a wake.
  template <class F> void at_once(F&& f) const {
    if (crew_.at_once == nullptr) return static_cast<void>(f(0u));
    crew_.at_once(
        crew_, [](void* body, unsigned i) { (*static_cast<std::remove_reference_t<F>*>(body))(i); },
        const_cast<void*>(static_cast<const void*>(&f)));
  }

 private:
  detail::guest_crew& crew_;
};

// Calls f(context) once, of the member that comes last, with the workers of the team held; returns when it has
// returned. f must not wait by the runtime: what it waits for may need the workers that are held for it. Who: all
// members of t, in the same order as barriers. Cost: a wake of each worker and, if its next task had begun, the rest of
// that; two system calls for the cores of the thread. docs/guide/39-guests.md has figures. Errors: what f throws, in
// the member whose f it was, and team_error in the others; team_error if a member has thrown before; weft::error if one
// has left.
template <class F> void guest(team_context& t, F&& f) {
  detail::guest_call c{[](void* body, guest_context& self) { (*static_cast<std::remove_reference_t<F>*>(body))(self); },
                       const_cast<void*>(static_cast<const void*>(&f)), nullptr, detail::guest_end::was_here};
  detail::team_state* const team = detail::state_of(t);
#ifdef WEFT_SERIAL
  static_cast<void>(team);
  detail::guest_crew alone;
  guest_context self(alone);
  c.run(c.body, self);
#else
  detail::team_guest(team, c);
  if (c.end != detail::guest_end::was_here) [[unlikely]]
    detail::throw_guest_end(*team, c.end);
#endif
}

}  // namespace weft

// oneTBB inside a team (weft/guest.hpp): an arena of exactly the team's cores.
//
//   rt.submit(weft::team(2), weft::write(a), [](weft::team_context& t, std::vector<int>& a) {
//     weft::onetbb_guest(t, [&](weft::guest_context&) { tbb::parallel_sort(a); });
//   });
//
// oneTBB has one set of threads for the whole process, which go from arena to arena, and come when they can: an arena
// may have fewer than it asks for. Those that come are bound to the guest's CPUs while they are in its arena, and put
// back when they leave; the guest ends when all have left.
#pragma once
#include "weft/detail/language.hpp"  // before all others

#if !__has_include(<oneapi/tbb/task_arena.h>)
#error "weft/onetbb.hpp needs oneTBB: Debian's package is libtbb-dev"
#endif
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/spin_mutex.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_scheduler_observer.h>
#include <sched.h>

#include <cstddef>
#include <vector>

#include "weft/detail/cell.hpp"
#include "weft/guest.hpp"

namespace weft {

namespace detail {

// oneTBB asks once how many CPUs there are, and takes the mask of the process's first thread for it. While a runtime
// runs that thread may be bound for a moment, and oneTBB would have no threads for ever. So it asks before main()
// begins.
inline const int onetbb_cpus = tbb::info::default_concurrency();

// Binds each thread of an arena to the CPU of its slot, and puts it back. Threads that TBB made in a guest are put back
// to what they were made with.
class onetbb_places : public tbb::task_scheduler_observer {
 public:
  onetbb_places(tbb::task_arena& arena, const guest_context& g)
      : tbb::task_scheduler_observer(arena), guest_(g), before_(g.threads()) {
    observe(true);
  }
  // Returns when no other thread is in the arena. Who: outside of it.
  void await_empty() noexcept {
    await_none(inside_);
    observe(false);
  }
  void on_scheduler_entry(bool) override {
    one_comes(inside_);
    const std::size_t slot = slot_here();
    static_cast<void>(sched_getaffinity(0, sizeof before_[slot], &before_[slot]));
    guest_.bind(static_cast<unsigned>(slot));
  }
  void on_scheduler_exit(bool) override {
    const std::size_t slot = slot_here();
    if (guest_.cpu(0) >= 0) static_cast<void>(sched_setaffinity(0, sizeof before_[slot], &before_[slot]));
    one_leaves(inside_);
  }

 private:
  [[nodiscard]] static std::size_t slot_here() noexcept {
    return static_cast<std::size_t>(tbb::this_task_arena::current_thread_index());
  }
  const guest_context& guest_;
  std::vector<cpu_set_t> before_;  // by slot
  cell<unsigned> inside_;
};

// An arena of so many threads, for the time of a guest. It is kept for the next one, and never destroyed: oneTBB 2021.8
// can hang where arenas are made and destroyed again and again (oneTBB issue 1281; a thread of its goes round in a list
// of arenas that has changed). So a process has as many arenas of a size as it had guests of it at a time.
class onetbb_arena {
 public:
  explicit onetbb_arena(unsigned threads) : size_(threads) {
    {
      const tbb::spin_mutex::scoped_lock guard(kept().lock);
      if (kept().of_size.size() <= threads) kept().of_size.resize(threads + 1);
      std::vector<tbb::task_arena*>& idle = kept().of_size[threads];
      if (!idle.empty()) {
        arena_ = idle.back();
        idle.pop_back();
        return;
      }
      ++kept().made;
      idle.reserve(kept().made);
    }
    arena_ = new tbb::task_arena(static_cast<int>(threads));
  }
  ~onetbb_arena() {
    const tbb::spin_mutex::scoped_lock guard(kept().lock);
    kept().of_size[size_].push_back(arena_);  // there is room
  }
  onetbb_arena(const onetbb_arena&) = delete;
  onetbb_arena& operator=(const onetbb_arena&) = delete;
  [[nodiscard]] tbb::task_arena& get() const noexcept { return *arena_; }

 private:
  struct pool {
    tbb::spin_mutex lock;
    std::vector<std::vector<tbb::task_arena*>> of_size;
    std::size_t made = 0;
  };
  [[nodiscard]] static pool& kept() {
    static pool& all = *new pool;  // no destructor: threads of oneTBB may outlive what is static
    return all;
  }
  unsigned size_;
  tbb::task_arena* arena_ = nullptr;
};

}  // namespace detail

// As guest(t, f), with f in an arena of the guest's threads(). f may use all of oneTBB; what it begins it must also
// end. Cost: beside that of guest(), the first time of so many at once an arena, and until its threads have found that
// nothing is left in it.
template <class F> void onetbb_guest(team_context& t, F&& f) {
  guest(t, [&](guest_context& g) {
    const detail::onetbb_arena arena(g.threads());
    detail::onetbb_places places(arena.get(), g);
    struct at_end {
      detail::onetbb_places& places;
      ~at_end() { places.await_empty(); }
    } const all_have_left{places};
    arena.get().execute([&] { f(g); });
  });
}

}  // namespace weft

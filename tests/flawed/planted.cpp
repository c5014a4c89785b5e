// The whole scheduler on a deque that is broken on purpose, on disturbed modelled machines: within a few hundred seeds
// a task must run twice, be lost, trip an assertion or hang; with the real deque, in the same harness, nothing ever
// does. A flaw may end in anything, so each run is a process of its own. src/sched/queues/deque_model_test.cpp does the
// same to the deque alone, and faster; here it has the company that it has in a program.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <vector>

#include "machine/virtual/virtual.hpp"
#include "place/topology.hpp"
#include "replay.hpp"
#include "sched/engine/engine.hpp"
#include "weft/weft.hpp"

namespace weft {
namespace {

enum class flaw { none, thief_loads_and_stores, owner_does_not_look_again };

// A modelled machine of its own for the deque below: the engine's parts are found by the type of the machine.
struct with_flaw : machine::virtual_machine {
  using virtual_machine::virtual_machine;
  static inline flaw planted = flaw::none;  // of this process
};

using plain_deque = sched::deque<machine::virtual_machine>;
using base::acquire;
using base::release;
using detail::record;
using sched::shared_part;
using sched::steal_result;
using machine_ops = machine::virtual_machine;

}  // namespace

namespace sched {

template <> class deque<with_flaw> : public plain_deque {
 public:
  // A thief believes what it read: two of them, or a thief and the owner, may take the same task.
  template <class HowMany>
  static steal_result steal(detail::worker& victim, loot& out, HowMany how_many, bool insists = false) noexcept {
    if (with_flaw::planted != flaw::thief_loads_and_stores) return plain_deque::steal(victim, out, how_many, insists);
    const shared_part s = shared_part::of(machine_ops::load(victim.shared, acquire));
    if (s.size == 0) return steal_result::empty;
    detail::ring* r = machine_ops::load(victim.shared_ring, acquire);
    out.tasks[0] = machine_ops::load(r->slots()[s.top & r->mask], base::relaxed);
    out.count = 1;
    machine_ops::store(victim.shared, s.without_oldest(1).word(), release);
    if (s.size == 1) machine_ops::store(victim.starved, std::uint8_t{1}, release);
    return steal_result::taken;
  }
  using plain_deque::steal;

  // The owner takes the last shared task as if no thief could have come in between.
  [[nodiscard]] static record* pop(detail::worker& w, bool only_one = false) noexcept {
    const shared_part s = shared_part::of(machine_ops::load(w.shared, acquire));
    if (with_flaw::planted != flaw::owner_does_not_look_again || deque::has_private(w) || s.size != 1)
      return plain_deque::pop(w, only_one);
    record* last = machine_ops::load(w.deque.slots[s.top & w.deque.mask], base::relaxed);
    machine_ops::store(w.shared, s.without_oldest(1).word(), release);
    machine_ops::store(w.starved, std::uint8_t{1}, release);
    return last;
  }
};

}  // namespace sched

namespace {

// Some tasks from outside and some from inside, none of which may be lost or run twice.
bool all_run_once(const machine::virtual_machine::setup& setup) {
  using engine = sched::engine<with_flaw>;
  constexpr unsigned workers = 3;
  constexpr std::size_t stack = std::size_t{128} << 10;
  std::vector<int> ran(60);
  {
    engine e(sched::engine_setup{.workers_wanted = workers,
                                 .seed = setup.seed,
                                 .window_tasks = 1024,
                                 .stack_bytes = stack,
                                 .search_ns = base::search_ns,
                                 .deque_slots = 4},
             setup);
    e.the_machine().start(workers, &engine::worker_entry, &e, stack);
    e.open(place::tree(e.the_machine().places(), workers), sched::find_policy("random"));
    for (std::size_t i = 0; i < ran.size(); i += 3)
      detail::submit(e, [&ran, &e, i] {
        ++ran[i];
        for (std::size_t child : {i + 1, i + 2}) detail::submit(e, [&ran, child] { ++ran[child]; });
      });
    e.wait_all();
  }
  return std::all_of(ran.begin(), ran.end(), [](int times) { return times == 1; });
}

// Whether a process of its own that runs this seed ends well.
bool survives(flaw planted, std::uint64_t seed) {
  const machine::virtual_machine::setup setup{.seed = seed,
                                              .random_order = true,
                                              .by_priority = seed % 2 == 0,
                                              .length = 4000,
                                              .disturbed = {.stall = 24, .late_wake = 4, .lost_steal = 6}};
  const pid_t pid = ::fork();
  REQUIRE(pid >= 0);
  if (pid == 0) {
    ::dup2(::open("/dev/null", O_WRONLY), STDERR_FILENO);
    std::signal(SIGABRT, SIG_DFL);  // doctest's handlers would tell of a test that failed
    std::signal(SIGSEGV, SIG_DFL);
    ::alarm(planted == flaw::none ? 600 : sanitized ? 20 : 5);
    with_flaw::planted = planted;
    ::_exit(all_run_once(setup) ? 0 : 1);
  }
  int status = 0;
  REQUIRE(::waitpid(pid, &status, 0) == pid);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

std::uint64_t first_caught(flaw planted, std::uint64_t seeds) {
  std::uint64_t seed = 1;
  while (seed <= seeds && survives(planted, seed)) ++seed;
  return seed;
}

constexpr std::uint64_t seeds_max = sanitized ? 60 : 600;

}  // namespace

TEST_CASE("planted: with the real deque nothing is lost on a disturbed machine") {
  CHECK(first_caught(flaw::none, seeds_max) == seeds_max + 1);
}

TEST_CASE("planted: a thief without compare-exchange is caught") {
  const std::uint64_t seed = first_caught(flaw::thief_loads_and_stores, seeds_max);
  MESSAGE("caught at seed " << seed);
  CHECK(seed <= seeds_max);
}

TEST_CASE("planted: an owner that does not look again is caught") {
  const std::uint64_t seed = first_caught(flaw::owner_does_not_look_again, seeds_max);
  MESSAGE("caught at seed " << seed);
  CHECK(seed <= seeds_max);
}

}  // namespace weft

// The whole scheduler where others create, on disturbed modelled machines, with a look for a stall that asks only the
// queues that its worker has: the creator has no place where others find what it made, nor the central queue. So when
// it is the last to announce its sleep, and a worker has announced its own and not looked a last time, the program is
// told that nothing can run any more. Within some seeds that must happen; with the real look it never does. What comes
// after it may be anything, so each run is a process of its own.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <string>

#include "machine/virtual/virtual.hpp"
#include "replay.hpp"
#include "sched/engine/engine.hpp"
#include "weft/weft.hpp"

namespace weft {
namespace {

enum class look { at_all, at_its_own };
template <look Look> struct machine_that : machine::virtual_machine {
  using virtual_machine::virtual_machine;
};

}  // namespace

namespace sched {

template <> class everywhere<machine_that<look::at_its_own>> {
  using M = machine_that<look::at_its_own>;

 public:
  template <class Crew> void open(const Crew&) noexcept {}
  template <class Crew> [[nodiscard]] bool any(worker<M>& w, const Crew& all) noexcept {
    if (any_visible(w, false)) return true;
    for (const auto& other : all) {
      if (&*other == &w) continue;
      for (source<M>* s : other->sources)
        if (!s->is().shared && s->visible(*other)) return true;
    }
    return false;
  }
};

}  // namespace sched

namespace {

// Tasks from outside, with children and without, and a wait for each: each sees that all sleep but for the one that has
// just been told.
template <look Look> bool ends_well(const machine::virtual_machine::setup& setup, const char* policy) {
  using engine = sched::engine<machine_that<Look>>;
  constexpr unsigned workers = 3;
  constexpr std::size_t stack = std::size_t{128} << 10;
  int ran = 0;
  engine e(sched::engine_setup{.workers_wanted = workers,
                               .seed = setup.seed,
                               .window_tasks = 1024,
                               .stack_bytes = stack,
                               .search_ns = 0,
                               .decoupled = true},
           setup);
  e.the_machine().start(workers, &engine::worker_entry, &e, stack);
  e.open(place::tree(e.the_machine().places(), workers), sched::find_policy(policy));
  constexpr int rounds = 20;
  for (int i = 0; i < rounds; ++i) {
    detail::submit(e, [&ran] { ++ran; });
    if (i % 2 == 0) e.wait_all();
    detail::submit(e, [&ran, &e] {
      for (int child = 0; child < 2; ++child) detail::submit(e, [&ran] { ++ran; });
      e.wait_all();
    });
    e.wait_all();
  }
  return ran == 3 * rounds;
}

// Whether a process of its own that runs this seed ends well.
template <look Look> bool survives(std::uint64_t seed) {
  const machine::virtual_machine::setup setup{.seed = seed,
                                              .random_order = true,
                                              .by_priority = seed % 4 < 2,
                                              .length = 4000,
                                              .disturbed = {.stall = 24, .late_wake = 4}};
  const pid_t pid = ::fork();
  REQUIRE(pid >= 0);
  if (pid == 0) {
    ::dup2(::open("/dev/null", O_WRONLY), STDERR_FILENO);
    std::signal(SIGABRT, SIG_DFL);  // doctest's handlers would tell of a test that failed
    std::signal(SIGSEGV, SIG_DFL);
    ::alarm(Look == look::at_all ? 600 : sanitized ? 20 : 5);
    bool well = false;
    try {
      well = ends_well<Look>(setup, seed % 2 == 0 ? "local" : "central");
    } catch (const error&) {
    }
    ::_exit(well ? 0 : 1);
  }
  int status = 0;
  REQUIRE(::waitpid(pid, &status, 0) == pid);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

template <look Look> std::uint64_t first_caught(std::uint64_t seeds) {
  std::uint64_t seed = 1;
  while (seed <= seeds && survives<Look>(seed)) ++seed;
  return seed;
}

constexpr std::uint64_t seeds_max = sanitized ? 60 : 600;

}  // namespace

TEST_CASE("unseen queues: a look for a stall that asks everywhere finds none where there is none") {
  CHECK(first_caught<look::at_all>(seeds_max) == seeds_max + 1);
}

TEST_CASE("unseen queues: one that asks only what its own worker has is caught") {
  const std::uint64_t seed = first_caught<look::at_its_own>(seeds_max);
  MESSAGE("caught at seed " << seed);
  CHECK(seed <= seeds_max);
}

}  // namespace weft

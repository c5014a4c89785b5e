// The stacks that loops run on: one that was left is used again before a new one is made, by its worker first, and no
// worker hoards more than a few.
#include "sched/admit/stacks.hpp"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <set>
#include <string>
#include <vector>

#include "capture.hpp"
#include "sanitized.hpp"
#include "scheduler.hpp"

namespace weft::sched {
namespace {

using testing::notes;
constexpr std::size_t stack_bytes = std::size_t{64} << 10;

void never(void*) { WEFT_ASSERT(false); }

// No stack is entered, so they may go as they came.
template <class M> struct all_stacks {
  sched::stacks<M> stacks{stack_bytes, never, nullptr};
  worker<M> a, b;
};

template <class M> [[nodiscard]] std::vector<fiber*> take(all_stacks<M>& t, worker<M>& w, std::size_t n) {
  std::vector<fiber*> taken;
  for (std::size_t i = 0; i < n; ++i) taken.push_back(&t.stacks.take(w));
  return taken;
}

}  // namespace

TEST_CASE("stacks: the one that was left last is the next one taken") {
  all_stacks<notes> t;
  fiber* const first = &t.stacks.take(t.a);
  fiber* const second = &t.stacks.take(t.a);
  CHECK(first != second);
  t.stacks.leave(t.a, first);
  t.stacks.leave(t.a, second);
  CHECK(&t.stacks.take(t.a) == second);
  CHECK(&t.stacks.take(t.a) == first);
}

TEST_CASE("stacks: no two are the same while they are in use") {
  all_stacks<notes> t;
  const auto taken = take(t, t.a, 40);
  CHECK(std::set<fiber*>(taken.begin(), taken.end()).size() == 40);
}

TEST_CASE("stacks: a worker keeps a few, what is left beyond them is everybody's") {
  all_stacks<notes> t;
  const auto taken = take(t, t.a, base::idle_stacks_max + 3);
  for (fiber* f : taken) t.stacks.leave(t.a, f);
  CHECK(t.a.stacks.idle.size() == base::idle_stacks_max);
  std::set<fiber*> old(taken.begin(), taken.end());
  for (fiber* f : take(t, t.b, 3)) CHECK(old.erase(f) == 1);
  CHECK(old.erase(&t.stacks.take(t.b)) == 0);  // the rest is kept for a
  for (fiber* f : take(t, t.a, base::idle_stacks_max)) CHECK(old.erase(f) == 1);
  CHECK(old.empty());
}

TEST_CASE("stacks: on a modelled machine a worker keeps all: a lock would take time there") {
  all_stacks<testing::modelled_notes> t;
  const auto taken = take(t, t.a, base::idle_stacks_max + 3);
  for (fiber* f : taken) t.stacks.leave(t.a, f);
  CHECK(t.a.stacks.idle.size() == base::idle_stacks_max + 3);
}

TEST_CASE("stacks: a wait that no memory can be had for ends the program, and says of how much" *
          doctest::skip(sanitized)) {
  int status = 0;
  const std::string said = stderr_of([&status] {
    const pid_t child = ::fork();
    if (child == 0) {
      std::signal(SIGABRT, SIG_DFL);
      sched::stacks<notes> huge{std::size_t{1} << 50, never, nullptr};
      worker<notes> w;
      static_cast<void>(huge.take(w));
      ::_exit(0);
    }
    ::waitpid(child, &status, 0);
  });
  CHECK((WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT));
  CHECK(said.find("one more stack of 2199023255552 KiB beside the 0 that") != std::string::npos);
}

TEST_CASE("stacks: one that is put aside counts once it is taken, and once") {
  all_stacks<notes> t;
  for (unsigned i = 0; i + 1 < base::wished_stacks_max; ++i) {
    t.stacks.put_aside(t.a);
    CHECK(t.stacks.has_one_more(t.b));
    static_cast<void>(t.stacks.take(t.a));
  }
  CHECK(t.stacks.has_one_more(t.b));
  static_cast<void>(t.stacks.take(t.a));
  CHECK(!t.stacks.has_one_more(t.b));
}

TEST_CASE("stacks: who only wishes for one gets no more than so many, or one that is idle") {
  all_stacks<notes> t;
  const auto taken = take(t, t.a, base::wished_stacks_max - 1);
  CHECK(t.stacks.has_one_more(t.a));
  fiber& last = t.stacks.take(t.a);
  CHECK(!t.stacks.has_one_more(t.a));
  t.stacks.leave(t.a, &last);
  CHECK(t.stacks.has_one_more(t.a));
  CHECK(!t.stacks.has_one_more(t.b));
  fiber* const needed = &t.stacks.take(t.b);  // who needs one gets it
  CHECK(needed != &last);
}

}  // namespace weft::sched

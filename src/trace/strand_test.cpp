#include "trace/strand.hpp"

#include <doctest/doctest.h>

#include <string>

namespace weft::trace {
namespace {

constexpr std::uint64_t us = 1'000'000;

// "f3000 j.. o e": kinds, each with the computing before it in nanoseconds.
std::string told(const strand& s) {
  constexpr const char* names[] = {"fork", "join", "taken", "over", "loop", "look", "looped", "end", "submits"};
  std::string out;
  for (const strand::step& x : s.steps())
    out += (out.empty() ? "" : " ") + std::string(names[static_cast<unsigned>(x.kind)]) + " " +
           std::to_string(x.own_ps / 1000);
  return out;
}

// Who forks by a clock of its own, on which the runtime takes a tenth of a microsecond for each call but the last of a
// fork or a loop.
class forker {
 public:
  strand s{1, 7, strand_of::body, 0};
  std::uint64_t now = 0;

  void computes(std::uint64_t ps) { now += ps; }
  template <class Call> void call(const Call& what) {
    s.enters(now);
    what();
    now += us / 10;
    s.leaves(now);
  }
  void forks(std::uint32_t branch) {
    call([&] { s.forks(now, branch); });
  }
  void first_is_over() {
    call([&] { s.first_is_over(now); });
  }
  void second_is_over() {
    s.enters(now);
    s.second_is_over(now);
    s.leaves(now);
  }
  void elsewhere() {
    s.enters(now);
    s.first_is_over(now);
    now += 3 * us;
    s.second_ran_elsewhere(now);
    s.leaves(now);
  }
  void looks(std::uint64_t left, bool begins) {
    call([&] { s.looks_in_loop(now, left, begins); });
  }
  void loop_is_over() {
    s.enters(now);
    s.loop_is_over(now);
    s.leaves(now);
  }
  std::string ends() {
    s.enters(now);
    s.ends(now);
    return told(s);
  }
};

TEST_CASE("trace/strand: each step has the computing since the one before, without the runtime's own time") {
  forker f;
  f.computes(2 * us);
  f.forks(5);
  f.computes(3 * us);
  f.first_is_over();
  f.computes(4 * us);
  f.second_is_over();
  f.computes(5 * us);
  CHECK(f.ends() == "fork 2000 join 3000 over 4000 end 5000");
  CHECK(f.s.steps()[0].which == 5);
}

TEST_CASE("trace/strand: a fork below the grain is computing of the body around, with what it cost") {
  forker f;
  f.forks(5);
  f.computes(2 * us);
  f.forks(6);
  f.computes(us / 10);
  f.first_is_over();
  f.computes(us / 10);
  f.second_is_over();
  f.computes(us);
  f.first_is_over();
  f.second_is_over();
  CHECK(f.ends() == "fork 0 join 3400 over 0 end 0");
}

TEST_CASE("trace/strand: a short fork whose branch ran elsewhere, or that submits, stays") {
  forker f;
  f.forks(5);
  f.forks(6);
  f.elsewhere();
  f.first_is_over();
  f.second_is_over();
  CHECK(f.ends() == "fork 0 fork 0 taken 0 over 0 join 0 over 0 end 0");
  CHECK(f.s.steps()[2].which == 6);

  forker g;
  g.forks(5);
  g.call([&] { g.s.does(step_kind::submits, 9); });
  g.first_is_over();
  g.second_is_over();
  CHECK(g.ends() == "fork 0 submits 0 join 0 over 0 end 0");
}

TEST_CASE("trace/strand: a loop is told from look to look, also where it is divided") {
  forker f;
  f.looks(100, true);
  f.computes(4 * us);
  f.looks(96, false);
  f.forks(5);
  f.looks(48, true);
  f.computes(48 * us);
  f.loop_is_over();
  f.first_is_over();
  f.looks(48, true);
  f.computes(49 * us);
  f.loop_is_over();
  f.second_is_over();
  f.loop_is_over();
  CHECK(f.ends() == "loop 0 look 4000 fork 0 loop 0 looped 48000 join 0 loop 0 looped 49000 over 0 looped 0 end 0");
}

TEST_CASE("trace/strand: what a body throws leaves loops and forks that are ended for it") {
  forker f;
  f.forks(5);
  f.looks(10, true);
  f.computes(2 * us);
  f.first_is_over();
  f.second_is_over();
  CHECK(f.ends() == "fork 0 loop 0 looped 2000 join 0 over 0 end 0");

  forker g;
  g.forks(5);
  g.computes(2 * us);
  CHECK(g.ends() == "fork 0 join 2000 over 0 end 0");
}

TEST_CASE("trace/strand: a fork that does not begin is none") {
  forker f;
  f.computes(us);
  f.s.enters(f.now);
  f.s.forks(f.now, 5);
  f.s.undoes_fork();
  f.s.leaves(f.now);
  f.computes(us);
  CHECK(f.ends() == "end 2000");
}

TEST_CASE("trace/strand: too many steps are told more coarsely, and no time is lost") {
  forker f;
  f.forks(1);
  std::uint64_t forks = 0;
  for (; forks < 3 * strand::steps_max; ++forks) {
    f.forks(2);
    f.computes(forks % 4 == 0 ? 20 * us : us);
    f.first_is_over();
    f.second_is_over();
  }
  f.first_is_over();
  f.second_is_over();
  static_cast<void>(f.ends());
  CHECK(f.s.is_whole());
  CHECK(f.s.steps().size() < 3 * strand::steps_max);
  std::uint64_t own = 0, kept = 0;
  for (const strand::step& x : f.s.steps()) {
    own += x.own_ps;
    kept += x.kind == step_kind::fork ? 1 : 0;
  }
  // What is not own is what the forks cost that are kept, which are those with long bodies at least.
  CHECK(own + kept * 2 * us / 10 == f.now);
  CHECK(kept > forks / 4);
}

}  // namespace
}  // namespace weft::trace

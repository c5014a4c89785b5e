// The second halves of forks that somebody else takes: how they meet the body that forked, and what they leave it.
#include "sched/branches.hpp"

#include <doctest/doctest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "ground.hpp"
#include "weft/weft.hpp"

namespace weft::sched {
namespace {

// A branch on a stack, offered by a body whose record is `of`.
struct made : detail::branch {
  explicit made(detail::record* of = nullptr) noexcept {
    invoke = nullptr;
    parent = of;
    pin = unpinned;
    kind = detail::record_kind::branch;
    begin(*this, detail::record_state::ready);
  }
};

using M = machine::host;

// Where nothing is cancelled.
detail::offered offer(detail::place_of_body& at, detail::branch& b) {
  return detail::offer(at, b, [] { FAIL("a body may not begin"); });
}

}  // namespace

TEST_CASE("branches: one that is taken gets what a running task has, and a name from the body that forked") {
  detail::record body{};
  body.name = "sort";
  body.order = 7;
  made b(&body);
  branches<M>::begins(b);
  CHECK(std::string(b.name) == "sort");
  CHECK(b.order == 7);
  CHECK(detail::peek(b.pending) == detail::record::body_share);
  CHECK((b.access_count == 0 && b.exclusives == 0 && !b.has_children && !b.urgent && !b.subtasks && !b.has_waited));
  CHECK(b.declared_cost_ps(1) == 0);  // no duration of its own
  made alone;
  branches<M>::begins(alone);
  CHECK(alone.name == nullptr);
  CHECK(alone.order == 0);
}

TEST_CASE("branches: the newest in the deque is taken back, and nothing that is shared, covered or elsewhere") {
  M machine;
  ground::scheduler<M> s(machine, 2);
  s.open();
  detail::worker& w = s.all[1];
  detail::place_of_body& at = *w.where;
  detail::poke(w.hooked, std::uint8_t{0});
  detail::poke(w.starved, std::uint8_t{0});
  made a, b;
  const auto as = offer(at, a);
  CHECK(detail::taken_back(at, as));
  CHECK(!deque<M>::has_private(w));

  const auto below = offer(at, a), above = offer(at, b);
  CHECK(!detail::taken_back(at, below));  // b lies above it
  CHECK(detail::taken_back(at, above));
  CHECK(deque<M>::expose(w));
  CHECK(!detail::taken_back(at, below));
  CHECK(deque<M>::pop(w) == &a);  // it is there still

  detail::poke(w.starved, std::uint8_t{0});
  const auto again = offer(at, a);
  CHECK(deque<M>::pop(w) == &a);  // as a loop does while the body waits
  deque<M>::push(w, &b);
  detail::poke(w.moves, detail::peek(w.moves) + 1);
  CHECK(!detail::taken_back(at, again));  // the same place, another record
  CHECK(deque<M>::pop(w) == &b);
}

TEST_CASE("branches: a stack that was set aside, if only for a moment, takes nothing back the short way") {
  weft::runtime rt({.workers = 1});
  bool came_back = false;
  const auto moves = [](const weft::here& at) { return detail::peek(at.on->moves); };
  rt.submit([&] {
    weft::handle<int> h;
    const auto got = weft::fork_join(
        [&](weft::here& at) {
          const std::uint64_t before = moves(at);
          rt.submit(weft::write(h), [](int& x) { x = 3; });
          const int x = rt.get(h);
          came_back = moves(at) != before;
          return x;
        },
        [] { return 4; });
    CHECK(got == std::pair(3, 4));
  });
  rt.wait();
  CHECK(came_back);
}

TEST_CASE("branches: a worker that is hooked has them offered by the slow half") {
  detail::worker w;
  REQUIRE(detail::peek(w.hooked) == detail::hooked_always);
  detail::place_of_body at{&w};
  made a;
  const auto as = offer(at, a);  // no engine: nothing is offered
  CHECK(as.moves == detail::offered::never);
  CHECK(!detail::taken_back(at, as));
  CHECK(detail::join_slowly(w, a));  // so the caller runs it
  detail::drop_slowly(w, a);
}

TEST_CASE("branches: whoever comes second, the body or the branch, sees the other") {
  // On one modelled worker nobody takes anything; on two the second body is taken while the first runs, and ends before
  // it or after it.
  for (const double first : {1'000.0, 500'000.0})
    for (const bool fails : {false, true}) {
      weft::runtime rt({.workers = 2, .machine = "virtual"});
      const double from = rt.now_ns();
      std::vector<int> who;
      std::string said;
      try {
        weft::fork_join([&] { weft::charge(first), who.push_back(1); },
                        [&] {
                          weft::charge(100'000);
                          who.push_back(2);
                          if (fails) throw std::runtime_error("second");
                        });
      } catch (const std::runtime_error& e) {
        said = e.what();
      }
      CHECK(said == (fails ? "second" : ""));
      CHECK(who == (first < 100'000 ? std::vector{1, 2} : std::vector{2, 1}));
      if (first > 100'000) CHECK(rt.now_ns() - from < first + 10'000);
    }
}

}  // namespace weft::sched

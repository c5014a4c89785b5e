// Guests in the scheduler: what is made for one, who is held, and what is left of it. What programs see:
// tests/conformance/guests.cpp; the protocol: gang_test.cpp, gang_model_test.cpp.
#include "sched/teams/hosting.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <set>
#include <string>

#include "weft/runtime.hpp"

namespace weft::sched {

TEST_CASE("hosting: each worker of the team has a seat, a child of the member that came last") {
  for (const unsigned width : {1u, 2u, 5u}) {
    weft::runtime rt({.workers = 5, .machine = "virtual"});
    const detail::record* seat = nullptr;
    const detail::record* member = nullptr;
    rt.submit(weft::team(width), [&](team_context& t) {
      weft::guest(t, [&](guest_context&) {
        seat = detail::self()->current;
        member = seat->parent;
        if (t.width() > 1) CHECK((seat->internal && std::string(seat->name) == "guest"));
      });
      if (t.width() == 1) CHECK(detail::self()->current == seat);  // alone it is a call
    });
    rt.wait();
    CHECK(seat != nullptr);
    CHECK((member != nullptr) == (width > 1));
    CHECK(rt.statistics().tasks == (width > 1 ? 1 + width + width : 1));
  }
}

TEST_CASE("hosting: workers that are held are as long about it as the guest, and nobody else") {
  weft::runtime rt({.workers = 4, .machine = "virtual"});
  double other = 0;
  rt.submit(weft::team(2), weft::pin(0), [&](team_context& t) {
    weft::guest(t, [&](guest_context&) { weft::charge(1e6); });
    // Worker 1 was held: what is pinned to it begins after the guest.
  });
  rt.submit(weft::pin(3), weft::cost(1000), [&] { other = rt.now_ns(); });
  rt.wait();
  CHECK(other < 1e6);
  CHECK(rt.now_ns() >= 1e6);
}

TEST_CASE("hosting: gangs serve again") {
  weft::runtime rt({.workers = 3, .machine = "host"});
  std::atomic<int> here = 0;
  for (int k = 0; k < 300; ++k)
    rt.submit(weft::team(1 + k % 3), [&](team_context& t) { weft::guest(t, [&](guest_context&) { ++here; }); });
  rt.wait();
  CHECK(here == 300);
}

TEST_CASE("hosting: guests that come one after the other are served by one gang") {
  weft::runtime rt({.workers = 3, .machine = "virtual"});
  std::set<const void*> gangs;
  for (int k = 0; k < 20; ++k) {
    rt.submit(weft::team(2), [&](team_context& t) {
      weft::guest(t, [&](guest_context&) {
        gangs.insert(*static_cast<void**>(detail::self()->current->closure()));  // what a seat keeps first
      });
    });
    rt.wait();
  }
  CHECK(gangs.size() == 1);
}

}  // namespace weft::sched

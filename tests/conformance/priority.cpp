// Priority and what it must not do: an urgent task goes first, and it does not hide what else became ready with it.
#include <string>
#include <vector>

#include "replay.hpp"
#include "weft/weft.hpp"

namespace {

constexpr double body_ns = 100'000;

}  // namespace

// The worker that runs the urgent task had kept the plain one that became ready with it for itself, until its body was
// over: three bodies of time instead of two.
TEST_CASE("priority: what becomes ready beside an urgent task is run by whoever is free") {
  for (const weft::choice& policy : weft::policies()) {
    CAPTURE(std::string(policy.name));
    weft::runtime rt({.workers = 3, .machine = "virtual", .policy = policy.name});
    weft::handle<int> h;
    const double start = rt.now_ns();
    rt.submit(weft::write(h), weft::cost(body_ns), [](int& x) { x = 1; });
    rt.submit(weft::read(h), weft::priority(1), weft::cost(body_ns), [](const int&) {});
    rt.submit(weft::read(h), weft::cost(body_ns), [](const int&) {});
    rt.submit(weft::read(h), weft::cost(body_ns), [](const int&) {});
    rt.wait();
    CHECK(rt.now_ns() - start < 2.5 * body_ns);
  }
}

// The same for a worker that has tasks of its own when it meets an urgent one.
TEST_CASE("priority: a worker that takes an urgent task leaves its others within reach") {
  for (const weft::choice& policy : weft::policies()) {
    CAPTURE(std::string(policy.name));
    weft::runtime rt({.workers = 4, .machine = "virtual", .policy = policy.name});
    const double start = rt.now_ns();
    rt.submit([&rt] {
      for (int i = 0; i < 3; ++i) rt.submit(weft::cost(body_ns), [] {});
      rt.submit(weft::priority(1), weft::cost(body_ns), [] {});
    });
    rt.wait();
    CHECK(rt.now_ns() - start < 1.5 * body_ns);
  }
}

#include "weft/finish_scope.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <memory>

#include "weft/weft.hpp"

namespace {

using namespace weft;

TEST_CASE("finish_scope: waits for what was submitted in it, and for nothing before") {
  for (const char* machine : {"host", "virtual"}) {
    runtime rt({.workers = 2, .machine = machine});
    handle<int> late(0);
    std::atomic<int> inside{0}, nested{0};
    event may_end;
    rt.submit([&] {
      rt.submit(completes(may_end), write(late), [](int& x) { x = 1; });
      finish_scope outer;
      for (int i = 0; i < 20; ++i)
        rt.submit([&] {
          rt.submit([&] { ++nested; });
          ++inside;
        });
      {
        finish_scope inner;
        rt.submit([&] { inside += 100; });
        inner.close();
        CHECK(inside >= 100);
      }
      outer.close();
      CHECK(inside == 120);
      CHECK(nested == 20);
      CHECK_FALSE(late.idle());
      may_end.fulfil();
    });
    rt.wait();
    CHECK(rt.get(late) == 1);
  }
}

TEST_CASE("finish_scope: throws what a task threw, and is an error outside of a body") {
  runtime rt({.workers = 2});
  rt.submit([&] {
    finish_scope s;
    rt.submit([] { throw 5; });
    CHECK_THROWS_AS(s.close(), int);
    CHECK_THROWS_AS(s.close(), error);
  });
  CHECK_NOTHROW(rt.wait());
  CHECK_THROWS_AS(finish_scope(), error);
}

TEST_CASE("stay: a body goes on where it was, whatever it waits for") {
  stay();  // outside of tasks it does nothing
  runtime rt({.workers = 4});
  std::atomic<int> moved{0};
  for (int i = 0; i < 200; ++i)
    rt.submit([&] {
      stay();
      const int here = worker_id();
      for (int k = 0; k < 3; ++k) {
        event e;
        rt.submit([&] { e.fulfil(); });
        e.wait();
        if (worker_id() != here) ++moved;
      }
    });
  rt.wait();
  CHECK(moved == 0);
}

}  // namespace

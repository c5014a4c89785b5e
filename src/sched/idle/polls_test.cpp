// What is outside is asked by who has no work, by one at a time, and not any more once it was let go.
#include "sched/idle/polls.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "scheduler.hpp"
#include "weft/poll.hpp"
#include "weft/weft.hpp"

namespace weft::sched {
namespace {

struct outside {
  int asked = 0;
  bool finds = false;
  static bool look(void* self) {
    auto& o = *static_cast<outside*>(self);
    ++o.asked;
    return o.finds;
  }
};

}  // namespace

TEST_CASE("polls: asks who is set, and tells the worker to look again if something came") {
  poll_seat seat;
  polls<testing::modelled_notes> source(seat);
  worker<testing::modelled_notes> w;
  CHECK(source.take(w) == nullptr);
  outside o;
  seat.set(&outside::look, &o);
  CHECK(source.take(w) == nullptr);
  CHECK((o.asked == 1 && !w.look.has_own()));
  o.finds = true;
  CHECK(source.take(w) == nullptr);
  CHECK((o.asked == 2 && w.look.has_own()));
  CHECK(!source.visible(w));  // so nobody stays awake for it
  seat.set(nullptr, nullptr);
  CHECK(source.take(w) == nullptr);
  CHECK(o.asked == 2);
}

TEST_CASE("polls: one asks at a time, and who lets go knows that nobody does any more") {
  struct counted {
    int inside = 0;
    std::atomic<long> asked{0};
    static bool look(void* self) {
      auto& c = *static_cast<counted*>(self);
      CHECK(++c.inside == 1);
      ++c.asked;
      --c.inside;
      return false;
    }
  };
  poll_seat seat;
  auto c = std::make_unique<counted>();
  seat.set(&counted::look, c.get());
  std::vector<std::thread> all;
  detail::cell<bool> over{false};
  for (int i = 0; i < 3; ++i)
    all.emplace_back([&] {
      while (!detail::peek(over)) static_cast<void>(seat.ask());
    });
  while (!seat.ask()) {
    if (c->asked > 1000) break;
    std::this_thread::yield();
  }
  seat.set(nullptr, nullptr);
  c.reset();
  std::this_thread::yield();
  detail::poke(over, true);
  for (std::thread& t : all) t.join();
}

TEST_CASE("polls: a wait of the program fulfils an event by asking, with one worker and no other thread") {
  runtime rt({.workers = 1, .machine = "host"});
  struct device {
    event done;
    int looks = 0;
    static bool look(void* self) {
      auto& d = *static_cast<device*>(self);
      if (++d.looks != 1) return false;  // there is one before it sleeps, and there may be no second
      d.done.fulfil();
      return true;
    }
  } d;
  handle<int> x{0};
  poll_while_idle(rt, &device::look, &d);
  rt.submit(write(x), completes(d.done), [](int& v) { v = 1; });
  rt.submit(write(x), [](int& v) { v *= 7; });
  CHECK(rt.get(x) == 7);
  CHECK(d.looks >= 1);
  poll_while_idle(rt, nullptr, nullptr);
}

TEST_CASE("polls: a modelled machine has nobody outside, and says so") {
  runtime rt({.workers = 1, .machine = "virtual"});
  CHECK_THROWS_AS(poll_while_idle(rt, &outside::look, nullptr), error);
}

}  // namespace weft::sched

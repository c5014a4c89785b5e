// The reserve alone: it comes when an id is lent and goes when none is, no two threads have an id at once, and who
// waits for an id gets it. First one thread plays all parts, then there are real ones.
#include "sched/admit/reserve.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>
#include <vector>

#include "machine/host/host.hpp"

namespace weft::sched {
namespace {

constexpr unsigned ticks_between_looks = 64;

// Real shared words, but threads are the test's.
struct stage : machine::host {
  [[nodiscard]] bool start_one(unsigned) {
    ++started;
    if (thread_body) thread = std::thread(thread_body);
    return !refuses;
  }
  void bring_reserve(bool to_caller) noexcept { brought_to_caller = to_caller; }
  [[nodiscard]] static std::uint64_t reserve_busy_ns() noexcept { return 0; }
  int started = 0;
  bool refuses = false;
  bool brought_to_caller = false;
  std::function<void()> thread_body;
  std::thread thread;
};

using tested = reserve<stage>;
constexpr std::uint16_t nobody = tested::no_id;

struct crew {
  explicit crew(unsigned workers, bool for_main = false) {
    sleepers.open(workers, true);
    r.open(workers, shown, ticks, ticks_between_looks, for_main);
  }
  // Whether the thread of that id has been woken since last asked.
  [[nodiscard]] bool woken(unsigned id) { return stage::exchange(words[id], 0u, base::acquire) != 0; }
  void lend(unsigned id) { r.lend(static_cast<std::uint16_t>(id), words[id]); }
  void recall(unsigned id) { r.recall(static_cast<std::uint16_t>(id), words[id]); }
  void take_back(unsigned id) {
    r.take_back(
        static_cast<std::uint16_t>(id), words[id],
        [this] {
          return progress{tasks.load(), 0, 0};
        },
        [this] { return ++waits; });
  }
  stage machine;
  sleep<stage> sleepers;
  tested r{machine, sleepers};
  detail::cell<std::uint16_t> shown{nobody};
  detail::cell<unsigned> ticks{ticks_between_looks};
  std::vector<detail::cell<std::uint32_t>> words{8};
  std::atomic<std::uint64_t> tasks{0};
  int waits = 0;
};

}  // namespace

TEST_CASE("reserve: it is started when an id is lent, once, and shows that id in a turn") {
  crew c(2);
  CHECK(!c.r.is_wanted());
  CHECK(c.sleepers.all_asleep() == false);
  c.lend(1);
  c.lend(1);
  CHECK(c.machine.started == 1);
  CHECK(c.machine.brought_to_caller);
  CHECK(c.r.is_wanted());
  CHECK(!c.r.has_turn());
  REQUIRE(c.r.next_turn());
  CHECK(c.r.has_turn());
  CHECK(detail::peek(c.shown) == 1);
  CHECK(c.r.holds(1));
  c.r.rest();
  CHECK(!c.r.has_turn());
  CHECK(detail::peek(c.shown) == nobody);
}

TEST_CASE("reserve: who is let go on is woken when the body has ended, and at once if there is none") {
  crew c(2);
  c.lend(0);
  REQUIRE(c.r.next_turn());
  c.recall(0);
  CHECK(!c.woken(0));  // a body runs under its id
  CHECK(!c.r.has_turn());
  CHECK(detail::peek(c.ticks) == 1);  // no chain of tasks keeps the reserve from seeing that
  CHECK(!c.r.next_turn());
  SUBCASE("at the end of the turn, with the reserve away first") {
    REQUIRE(c.r.go_away());
    CHECK(!c.woken(0));
    c.r.release();
    c.r.block();
    CHECK(c.woken(0));
  }
  SUBCASE("or when the reserve rests") {
    c.r.rest();
    CHECK(c.woken(0));
  }
  SUBCASE("or when it goes on for another") {
    c.lend(1);
    CHECK(!c.r.go_away());
    REQUIRE(c.r.next_turn());
    CHECK(c.woken(0));
    CHECK(detail::peek(c.shown) == 1);
  }
  CHECK(detail::peek(c.ticks) == ticks_between_looks);
  c.take_back(0);
  CHECK(c.waits == 0);
  c.lend(0);
  c.recall(0);
  CHECK(c.woken(0));
}

TEST_CASE("reserve: ids are used in the order in which they are lent, each by itself") {
  crew c(3);
  c.lend(2);
  c.lend(0);
  REQUIRE(c.r.next_turn());
  CHECK(detail::peek(c.shown) == 2);
  c.recall(0);
  CHECK(c.woken(0));  // the turn is 2's
  CHECK(c.r.has_turn());
  c.take_back(0);
  c.lend(0);
  c.recall(2);
  CHECK(!c.r.has_turn());
  REQUIRE(c.r.next_turn());
  CHECK(c.woken(2));
  CHECK(detail::peek(c.shown) == 0);
}

TEST_CASE("reserve: a thread that finds no room after all lends its id again") {
  crew c(1);
  c.lend(0);
  REQUIRE(c.r.next_turn());
  c.recall(0);
  c.lend(0);
  CHECK(c.r.has_turn());
  CHECK(detail::peek(c.ticks) == ticks_between_looks);
  c.recall(0);
  c.r.rest();
  CHECK(c.woken(0));
}

TEST_CASE("reserve: it stands in for a main thread that is away, if others wait and nobody else may see its tasks") {
  crew c(1, true);
  c.r.outsiders(1);
  CHECK(c.machine.started == 1);
  CHECK(!c.machine.brought_to_caller);
  REQUIRE(c.r.next_turn());
  CHECK(detail::peek(c.shown) == 0);
  c.r.main_waits(true);
  CHECK(!c.r.is_wanted());
  CHECK(c.r.holds(0));  // until the body has ended
  c.r.rest();
  CHECK(!c.r.holds(0));
  c.r.main_waits(false);
  CHECK(c.r.is_wanted());
  c.r.outsiders(-1);
  CHECK(!c.r.is_wanted());
  crew several(2), kept(2, true);
  several.r.outsiders(1);
  CHECK(!several.r.is_wanted());
  kept.r.outsiders(1);
  CHECK(kept.r.next_turn());
  CHECK(detail::peek(kept.shown) == 0);
}

TEST_CASE("reserve: while it is away it is not waited for, and comes when called") {
  crew c(1);
  CHECK(!c.sleepers.announce(0) == false);  // all asleep: the reserve does not count
  c.lend(0);
  CHECK(!c.sleepers.all_asleep());
  c.take_back(0);
  REQUIRE(c.r.go_away());
  CHECK(c.sleepers.all_asleep());
  c.lend(0);
  CHECK(!c.sleepers.all_asleep());
  c.r.block();  // returns: it has been called
  CHECK(c.machine.started == 1);
  CHECK(c.r.next_turn());
  c.r.rest();
}

TEST_CASE("reserve: a system that has no more threads is asked once") {
  crew c(1);
  c.machine.refuses = true;
  c.lend(0);
  c.take_back(0);
  c.lend(0);
  CHECK(c.machine.started == 1);
  CHECK(c.sleepers.all_asleep() == false);
  CHECK(c.sleepers.announce(0));  // it is not counted
}

TEST_CASE("reserve: an id is taken back when its body ends, and shared if that body hangs") {
  crew c(1);
  c.lend(0);
  REQUIRE(c.r.next_turn());
  std::atomic<bool> back{false};
  std::thread owner([&] {
    c.take_back(0);
    back = true;
  });
  SUBCASE("it ends, late") {
    for (int looks = 0; looks < 30; ++looks) {  // tasks begin elsewhere: it is not given up
      ++c.tasks;
      std::this_thread::sleep_for(std::chrono::milliseconds(3));
    }
    CHECK(!back);
    c.r.rest();
    owner.join();
    CHECK(detail::peek(c.shown) == nobody);
  }
  SUBCASE("it waits for room, which it gets") {
    c.r.set_blocked(true);
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    CHECK(!back);
    c.r.rest();
    owner.join();
  }
  SUBCASE("nothing moves") {
    owner.join();
    CHECK(detail::peek(c.shown) == 0);
    c.take_back(0);  // at once: it has been given up
    CHECK(c.waits == 1);
    c.lend(0);
    CHECK(!c.r.has_turn());  // the id is shared with that body, and with none after it
    c.recall(0);
    CHECK(c.woken(0));  // nobody waits for that body any more
    c.r.rest();
    CHECK(!c.woken(0));
  }
}

TEST_CASE("reserve: a thread gets its id back although the next turn has the same one, for threads outside") {
  crew c(1, true);
  c.r.outsiders(1);
  c.lend(0);
  REQUIRE(c.r.next_turn());
  std::thread owner([&] {
    c.r.take_back(
        0, c.words[0],
        [&] {
          return progress{++c.tasks, 0, 0};
        },
        [] { return 0; });
  });
  while (c.r.has_turn()) std::this_thread::yield();
  REQUIRE(c.r.next_turn());
  owner.join();
  c.lend(0);
  c.recall(0);
  CHECK(!c.woken(0));  // nobody has given up this turn
  c.r.rest();
  CHECK(c.woken(0));
}

// Three workers that block all the time, and the reserve: an id is never on two threads at once.
TEST_CASE("reserve: no id is on two threads") {
  constexpr unsigned workers = 3;
  constexpr int rounds = 2000;
  crew c(workers);
  std::atomic<bool> stop{false};
  std::atomic<int> users[workers] = {}, shared{0};
  std::atomic<std::uint64_t> turns{0};
  c.machine.thread_body = [&] {
    while (!stop) {
      if (!c.r.has_turn() && !c.r.next_turn()) {
        if (c.r.go_away() && !stop) c.r.block();  // the last look comes after: release() may have been before
        continue;
      }
      const unsigned id = detail::peek(c.shown);
      if (users[id].exchange(1) != 0) ++shared;
      ++turns;
      ++c.tasks;
      users[id] = 0;
      if (turns % 64 == 0) c.r.rest();
    }
    c.r.rest();
  };
  std::vector<std::thread> all;
  for (unsigned id = 0; id < workers; ++id)
    all.emplace_back([&, id] {
      for (int i = 0; i < rounds; ++i) {
        c.lend(id);
        const std::uint64_t before = turns;
        while (turns == before && i % 16 == 0) std::this_thread::yield();
        if (i % 2 == 0) {  // as one who is let go on by another
          c.recall(id);
          while (!stage::block_for(c.words[id], 600'000'000'000)) {
          }
          stage::store(c.words[id], 0u, base::relaxed);
        }
        c.r.take_back(
            static_cast<std::uint16_t>(id), c.words[id],
            [&] {
              return progress{++c.tasks, 0, 0};
            },
            [] { return 0; });
        if (users[id].exchange(1) != 0) ++shared;
        users[id] = 0;
      }
    });
  for (std::thread& t : all) t.join();
  stop = true;
  c.r.release();
  c.machine.thread.join();
  CHECK(shared == 0);
  CHECK(turns > 0);
}

}  // namespace weft::sched

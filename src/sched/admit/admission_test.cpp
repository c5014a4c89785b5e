// How a submitter gets a record. On real threads: it lends its id and goes on with a batch that comes back, or beyond
// the window; whoever else is blocked is woken by the right word; what waits for tasks calls the reserve. On modelled
// machines: its stack is set aside and comes back in its turn. All on one thread: while somebody blocks the test plays
// the others.
#include "sched/admit/admission.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "little_engine.hpp"

namespace weft::sched {
namespace {

using testing::task;
using word = detail::cell<std::uint32_t>;

// Blocking calls what the test has to do meanwhile; signals are written down.
struct staged : testing::notes {
  [[nodiscard]] bool start_one(unsigned seat) { return started.push_back(seat), true; }
  static void bring_reserve(bool) noexcept {}
  void settle() noexcept { ++settled; }
  [[nodiscard]] static std::uint64_t busy_ns() noexcept { return 0; }
  [[nodiscard]] static std::uint64_t reserve_busy_ns() noexcept { return 0; }
  static bool block_for(word& w, std::uint64_t ns) {
    blocked.push_back(ns);
    REQUIRE(blocked.size() < 100);
    meanwhile();
    return host::load(w, base::acquire) != 0;
  }
  static void signal(word& w) {
    signalled.push_back(&w);
    host::store(w, 1u, base::release);
  }
  std::vector<unsigned> started;
  unsigned settled = 0;
  static inline std::vector<std::uint64_t> blocked;  // for how long at most
  static inline std::vector<const word*> signalled;
  static inline std::function<void()> meanwhile;
};

constexpr std::size_t window_tasks = 128;

template <class M> struct fixture {
  explicit fixture(unsigned workers, bool with_reserve = M::reserves() != 0) : s(machine, workers, with_reserve) {
    s.open();
    away.open(main);
    set_current_worker(&main);
    main.starved.raw = 0;  // no engine to share for it
    a.open(false, false);
    staged::blocked.clear();
    staged::signalled.clear();
    staged::meanwhile = [] { FAIL("nobody should block"); };
  }
  ~fixture() { set_current_worker(before); }
  fixture(const fixture&) = delete;
  fixture& operator=(const fixture&) = delete;

  // All there is of that class, for w. Returns how many that were.
  unsigned fill(worker<M>& w, std::uint8_t size_class = 0) {
    unsigned n = 0;
    for (; detail::record* r = s.pool.allocate(w, size_class, window_tasks); ++n) take(r);
    return n;
  }
  void take(detail::record* r) {
    REQUIRE(r != nullptr);
    begin(*r, detail::record_state::filling);
    live[r->size_class].push_back(r);
  }
  // Live records come back, by way of w, until a batch is for others.
  void give_batch_back(worker<M>& w, std::uint8_t size_class = 0) {
    for (bool gave = false; !gave;) {
      REQUIRE(!live[size_class].empty());
      gave = s.pool.recycle(w, live[size_class].back());
      live[size_class].pop_back();
    }
    a.batch_back(size_class);
  }
  [[nodiscard]] static bool was_signalled(const word& w) {
    return std::find(staged::signalled.begin(), staged::signalled.end(), &w) != staged::signalled.end();
  }
  [[nodiscard]] reserve<M>& stand_in() { return a.the_reserve(); }

  M machine;
  testing::little_engine<M> s;
  sched::stacks<M> stacks{std::size_t{128} << 10, &fixture::enter, this};
  suspension<M> away{machine, s.sleep, stacks, s.recording, s.readiness, s.quiescence};
  admission<M> a{s, away, s.place.stealing, window_tasks};
  worker<M>& main = s.crew[0];
  std::vector<detail::record*> live[detail::record_classes];
  std::vector<std::function<void()>> steps;  // what the worker's loop finds to do, in turn
  unsigned idle = 0;

 private:
  static void enter(void* self) { static_cast<fixture*>(self)->loop(); }
  void loop() {
    for (;;) {
      if (detail::record* r = a.take(main)) {
        away.resume(main, waiter::of(r));
      } else if (!steps.empty()) {
        const std::function<void()> step = std::move(steps.front());
        steps.erase(steps.begin());
        step();
      } else {
        ++idle;
        WEFT_ASSERT(idle < 100 && a.somebody_waits() && !a.visible(main));
        static_cast<void>(a.let_exceed());
      }
    }
  }
  detail::worker* const before = current_worker();
};

using on_threads = fixture<staged>;
using on_model = fixture<testing::modelled_notes>;

}  // namespace

TEST_CASE("admission: while there is room nobody waits") {
  on_threads f(2);
  f.take(f.a.get(f.main, 0));
  CHECK((!f.a.somebody_waits() && !f.a.let_exceed()));
  CHECK(!f.stand_in().is_wanted());
  f.a.resumes(f.main);
  CHECK(f.main.tick == 0);
}

TEST_CASE("admission: a worker without room lends its id, leaves its tasks to others, and goes on with a batch") {
  on_threads f(2);
  f.fill(f.main);
  task t(detail::record_state::ready);
  deque<staged>::push(f.main, &t.r);
  staged::meanwhile = [&f] {
    CHECK(f.a.somebody_waits());
    CHECK(f.machine.started == std::vector{2u});
    REQUIRE(f.stand_in().next_turn());
    CHECK(detail::peek(f.s.crew.reserve().shown_id) == 0);
    CHECK(deque<staged>::stealable(f.main));
    f.stand_in().rest();
    while (!f.was_signalled(f.main.throttled.let_go)) f.give_batch_back(f.s.crew[1]);
  };
  f.take(f.a.get(f.main, 0));
  CHECK(staged::blocked == std::vector{base::patience_ns / 4});
  CHECK(!f.a.somebody_waits());
  CHECK(!f.stand_in().is_wanted());
  CHECK(deque<staged>::pop(f.main) == &t.r);
}

// The main thread is where the system puts it, and the reserve is to have its core.
TEST_CASE("admission: of the workers that block the main thread leaves its core, and no other does") {
  for (const unsigned id : {0u, 1u}) {
    on_threads f(2);
    worker<staged>& w = f.s.crew[id];
    f.fill(w);
    staged::meanwhile = [&f, &w] {
      while (!f.was_signalled(w.throttled.let_go)) f.give_batch_back(f.s.crew[1 - w.id]);
    };
    f.take(f.a.get(w, 0));
    CHECK(f.machine.settled == (id == 0 ? 1 : 0));
  }
}

TEST_CASE("admission: a thread from outside lends nothing; with one worker, who is away, the reserve comes for it") {
  for (const unsigned workers : {1u, 2u}) {
    on_threads f(workers);
    f.fill(f.main);
    worker<staged>& g = f.s.guests.enter(nullptr);
    f.fill(g);  // it brings room for what it may keep
    staged::meanwhile = [&] {
      CHECK(f.stand_in().is_wanted() == (workers == 1));
      while (!f.was_signalled(g.throttled.let_go)) f.give_batch_back(f.main);
    };
    f.take(f.a.get(g, 0));
    CHECK(!f.stand_in().is_wanted());
    f.s.guests.leave(g);
  }
}

TEST_CASE("admission: a body on the reserve is woken itself, and not the thread whose id it has") {
  on_threads f(2);
  worker<staged>& r = f.s.crew.reserve();
  f.fill(f.main, 0);
  f.fill(r, 1);
  staged::meanwhile = [&f, &r] {
    REQUIRE(f.stand_in().next_turn());
    staged::meanwhile = [&f, &r] {
      f.give_batch_back(f.s.crew[1], 1);
      f.give_batch_back(f.s.crew[1], 1);
      CHECK(f.was_signalled(r.throttled.let_go));
      CHECK(!f.was_signalled(f.main.throttled.let_go));
      CHECK(f.stand_in().has_turn());  // 0 is lent as before
    };
    f.take(f.a.get(r, 1));
    CHECK(f.stand_in().has_turn());
    f.give_batch_back(f.s.crew[1], 0);
    f.give_batch_back(f.s.crew[1], 0);
    CHECK(!f.was_signalled(f.main.throttled.let_go));  // a body runs under its id
    CHECK(!f.stand_in().has_turn());
    f.stand_in().rest();
    CHECK(f.was_signalled(f.main.throttled.let_go));
  };
  f.take(f.a.get(f.main, 0));
  CHECK(staged::blocked.size() == 2);
}

TEST_CASE("admission: if nothing moves a submitter goes beyond the window, after it has looked twice") {
  on_threads f(2);
  f.fill(f.main);
  staged::meanwhile = [] {};
  f.take(f.a.get(f.main, 0));
  CHECK(staged::blocked == std::vector{base::patience_ns / 4, base::patience_ns});
  CHECK(f.fill(f.main) == base::pool_batch_records - 1);  // one batch
}

TEST_CASE("admission: if nothing can run a submitter goes beyond the window at once") {
  on_threads f(2);
  f.fill(f.main);
  staged::meanwhile = [&f] { CHECK((f.a.let_exceed() && f.was_signalled(f.main.throttled.let_go))); };
  f.take(f.a.get(f.main, 0));
  CHECK(staged::blocked.size() == 1);
}

TEST_CASE("admission: a creator that runs no tasks makes no room, and the reserve does") {
  for (const unsigned workers : {1u, 2u}) {
    on_threads f(workers);
    f.a.open(true, false);
    f.fill(f.main);
    staged::meanwhile = [&] {
      while (!f.was_signalled(f.main.throttled.let_go)) f.give_batch_back(f.s.crew[workers - 1]);
    };
    f.take(f.a.get(f.main, 0));
    CHECK(staged::blocked.size() == workers - 1);  // with nobody else it goes beyond the window at once
  }
}

TEST_CASE("admission: a worker that is idle lets submitters have what room there is") {
  on_threads f(2);
  f.a.worker_idle(true);
  f.fill(f.main);
  staged::meanwhile = [&f] {
    f.a.worker_idle(true);
    CHECK(!f.was_signalled(f.main.throttled.let_go));
    f.give_batch_back(f.s.crew[1]);
    CHECK(!f.was_signalled(f.main.throttled.let_go));  // less than three quarters
    f.a.worker_idle(true);
    CHECK(f.was_signalled(f.main.throttled.let_go));
  };
  f.take(f.a.get(f.main, 0));
  CHECK(staged::blocked.size() == 1);
}

TEST_CASE("admission: while others are blocked a worker takes now and then from the old end of a deque") {
  on_threads f(2);
  worker<staged>& other = f.s.crew[1];
  f.fill(f.main);
  task older(detail::record_state::ready), newer(detail::record_state::ready);
  deque<staged>::push(other, &older.r);
  deque<staged>::push(other, &newer.r);
  CHECK(f.a.take(other) == nullptr);  // nobody is
  staged::meanwhile = [&] {
    f.a.resumes(other);
    CHECK(other.tick == 1);
    CHECK(f.a.take(other) == nullptr);  // not yet
    other.tick = 0;
    f.s.attention.pause();
    CHECK(f.a.take(other) == nullptr);
    f.s.attention.start();
    CHECK(f.a.take(other) == &older.r);
    static_cast<void>(f.a.let_exceed());
  };
  f.take(f.a.get(f.main, 0));
  CHECK(f.s.own(1) == std::vector{&newer.r});
}

TEST_CASE("admission: the main thread's wait takes its id back, and leaves its tasks to others at the end") {
  on_threads f(1);
  const admission<staged>::outside_wait needed(f.a);
  REQUIRE(f.stand_in().next_turn());
  task t(detail::record_state::ready);
  detail::poke(f.main.away, true);
  staged::meanwhile = [&f] {
    CHECK(!f.stand_in().has_turn());
    f.stand_in().rest();
  };
  {
    const admission<staged>::main_wait here(f.a, f.main);
    CHECK(staged::blocked.size() == 1);
    CHECK(!f.stand_in().is_wanted());
    CHECK(!detail::peek(f.main.away));
    const admission<staged>::main_wait inner(f.a, f.main);  // of a task that it runs: nothing of its own
    deque<staged>::push(f.main, &t.r);
  }
  CHECK(f.stand_in().is_wanted());
  CHECK(detail::peek(f.main.away));
  CHECK(deque<staged>::stealable(f.main));
  CHECK(f.s.own(0) == std::vector{&t.r});
}

TEST_CASE("admission: with several workers nobody comes for threads outside, which others serve") {
  on_threads f(2);
  const admission<staged>::outside_wait needed(f.a);
  CHECK(!f.stand_in().is_wanted());
  const admission<staged>::main_wait here(f.a, f.main);
  CHECK(f.machine.started.empty());
}

TEST_CASE("admission: on a modelled machine a submitter is set aside while its worker runs tasks") {
  on_model f(2);
  f.fill(f.main);
  f.steps = {[&f] {
               CHECK((f.a.somebody_waits() && f.main.throttled.head != nullptr));
               CHECK(f.a.take(f.main) == nullptr);
             },
             [&f] { f.give_batch_back(f.s.crew[1]); }};
  f.take(f.a.get(f.main, 0));
  CHECK((f.steps.empty() && f.idle == 0));
  CHECK(f.main.throttled.head == nullptr);
  CHECK(!f.a.somebody_waits());
  CHECK(detail::peek(f.main.counted.suspends) == 1);
}

TEST_CASE("admission: on a modelled machine those who were set aside come back in their order, on their worker") {
  on_model f(2);
  f.fill(f.main);
  std::vector<int> back;
  f.steps = {[&] {  // a body that submits, too
               f.take(f.a.get(f.main, 0));
               back.push_back(2);
             },
             [&] {
               CHECK(f.main.throttled.head->waiting.next == f.main.throttled.tail);
               CHECK(f.a.take(f.s.crew[1]) == nullptr);
               f.give_batch_back(f.s.crew[1]);
             }};
  f.take(f.a.get(f.main, 0));
  back.push_back(1);
  f.fill(f.main);
  f.steps = {[&] { f.give_batch_back(f.s.crew[1]); }};
  f.take(f.a.get(f.main, 0));  // the body goes on first: it has waited for longer
  CHECK(back == std::vector{1, 2});
}

TEST_CASE("admission: on a modelled machine a batch wakes who set submitters aside, and nobody else") {
  on_model f(3);
  f.fill(f.main);
  for (unsigned id = 0; id < 3; ++id) static_cast<void>(f.s.sleep.announce(id));
  f.give_batch_back(f.s.crew[2]);
  CHECK(f.machine.take_woken().empty());
  f.fill(f.main);
  f.steps = {[&f] {
    f.give_batch_back(f.s.crew[2]);
    CHECK(f.machine.take_woken() == std::vector{0u});
  }};
  f.take(f.a.get(f.main, 0));
}

TEST_CASE("admission: on a modelled machine one submitter exceeds the window each time that nothing can run") {
  on_model f(2);
  f.fill(f.main);
  CHECK(!f.a.visible(f.main));
  f.steps = {[&] { f.take(f.a.get(f.main, 0)); }};
  f.take(f.a.get(f.main, 0));
  CHECK(f.idle == 1);
  CHECK(!f.a.visible(f.main));  // the leave is used up
  f.fill(f.main);
  f.take(f.a.get(f.main, 0));
  CHECK(f.idle == 2);  // that was for the body, with a batch of which some is left
}

}  // namespace weft::sched

// The virtual machine by itself: exact clocks for small scripts, who comes first, park and wake, and that a seed is a
// schedule. Expected times are sums of the costs in model::flat().
#include "machine/virtual/virtual.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "model/machine_file.hpp"

namespace weft::machine {
namespace {

using V = virtual_machine;

struct costs {
  std::uint64_t load_ps, store_ps, modify_ps, relax_ps, switch_ps, body_ps, wake_ps, waker_ps;
};
const costs cost = [] {
  const model::machine m = model::flat();
  return costs{m.lines.load_ps,     m.lines.store_ps,  m.lines.modify_ps, m.runtime.relax_ps,
               m.runtime.switch_ps, m.runtime.body_ps, m.runtime.wake_ps, m.runtime.waker_ps};
}();
constexpr base::order relaxed = base::relaxed;

// The first of three cores takes 1 us for a step, and does `served` for all.
V::setup with_server(model::step served, bool coarse) {
  V::setup s{.coarse = coarse, .model = model::flat()};
  s.model = model::with_cores(std::move(s.model), 4);
  s.model.any_size = false;
  s.model.types.push_back(s.model.types[0]);
  s.model.types[1].runtime_speed = 4;
  s.model.types[1].serves[static_cast<std::size_t>(served)] = true;
  s.model.cores[3].type = 1;
  s.model.runtime.step_ps.fill(1'000'000);
  return s;
}

// Cores 1..n run a script each. Core 0 waits for them, relaxing.
class stage {
 public:
  explicit stage(const V::setup& s = {}) : machine(s), before_(V::set_current(&machine)) {}
  ~stage() { static_cast<void>(V::set_current(before_)); }
  stage(const stage&) = delete;
  stage& operator=(const stage&) = delete;

  // `own`: what core 0 does before it waits for the others.
  void run(
      unsigned cores, std::function<void(unsigned)> script, const std::function<void()>& own = [] {}) {
    script_ = std::move(script);
    machine.start(
        cores + 1, [](void* self, unsigned id) { static_cast<stage*>(self)->script_(id); }, this, 65536);
    machine.set_program_stack(program_);
    own();
    machine.join();
  }
  [[nodiscard]] std::uint64_t now() const { return machine.now_ps(); }

  V machine;

 private:
  V* before_;
  fiber program_;
  std::function<void(unsigned)> script_;
};

using times = std::vector<std::uint64_t>;

}  // namespace

TEST_CASE("virtual: a core that serves does a step for all, at its own speed and one after the other") {
  for (const bool coarse : {false, true}) {
    const V::setup s = with_server(model::step::run, coarse);
    const std::uint64_t way = s.model.lines.transfer_ps[s.model.distance(0, 3)];
    std::uint64_t done[3] = {};
    std::uint64_t own = 0;
    stage machine(s);
    machine.run(2, [&](unsigned id) {
      V::work(model::step::run);
      done[id] = machine.now();
      if (id != 1) return;
      V::work(model::step::submit);  // which nobody serves
      own = machine.now();
    });
    // Both ask at 0; the second waits until the first is served.
    CHECK(std::min(done[1], done[2]) == way + 250'000 + way);
    CHECK(std::max(done[1], done[2]) == way + 500'000 + way);
    CHECK(own == done[1] + 1'000'000);
  }
}

TEST_CASE("virtual: the core that serves waits for itself, too, and not for the way") {
  V::setup s = with_server(model::step::run, true);
  s.first_core = 3;  // core 0 of the stage is the one that serves
  const std::uint64_t way = s.model.lines.transfer_ps[s.model.distance(0, 3)];
  std::uint64_t asked = 0, own = 0;
  stage machine(s);
  machine.run(
      1,
      [&](unsigned) {
        V::work(model::step::run);
        asked = machine.now();
      },
      [&] {
        V::work(model::step::run);
        own = machine.now();
      });
  CHECK(std::min(own, asked) >= 250'000);
  CHECK(own == 250'000);
  CHECK(asked == own + 250'000 + way);
}

TEST_CASE("virtual: every operation does what it says and costs what the table says") {
  stage s;
  cell<std::uint32_t> c;
  times spent;
  std::uint64_t last = 0;
  const auto did = [&](bool right) {
    CHECK(right);
    spent.push_back(s.now() - last);
    last = s.now();
  };
  s.run(0, nullptr, [&] {
    V::store(c, 5u, relaxed);
    did(c.raw == 5);
    did(V::load(c, relaxed) == 5);
    did(V::exchange(c, 12u, relaxed) == 5);
    did(V::fetch_add(c, 4u, relaxed) == 12);
    did(V::fetch_sub(c, 1u, relaxed) == 16);
    did(V::fetch_or(c, 16u, relaxed) == 15);
    did(V::fetch_and(c, 24u, relaxed) == 31);
    std::uint32_t expected = 23;
    did(!V::compare_exchange(c, expected, 1u, relaxed));
    CHECK(expected == 24);
    did(V::compare_exchange(c, expected, 7u, relaxed));
    CHECK(c.raw == 7);
    V::relax(1);
    did(true);
    s.machine.charge(123);
    did(true);
  });
  const std::uint64_t m = cost.modify_ps;
  CHECK(spent == times{cost.store_ps, cost.load_ps, m, m, m, m, m, m, m, cost.relax_ps, 123});
}

TEST_CASE("virtual: narrow words wrap as they do on real machines") {
  stage s;
  cell<std::uint8_t> c{255};
  s.run(0, nullptr, [&] {
    CHECK(V::fetch_add(c, std::uint8_t{2}, relaxed) == 255);
    CHECK(V::fetch_sub(c, std::uint8_t{3}, relaxed) == 1);
  });
  CHECK(c.raw == 254);
}

TEST_CASE("virtual: a body costs what it declares, or the default, or what it charged") {
  stage s;
  detail::record r{};
  times spent;
  const auto end = [&] {
    const std::uint64_t before = s.now();
    s.machine.end_body(r);
    spent.push_back(s.now() - before);
  };
  s.run(0, nullptr, [&] {
    end();
    r.cost_ps = 4'000;
    end();
    r.cost_ps |= detail::record::charged_bit;
    end();
    r.cost_ps = detail::record::charged_bit;  // charged and nothing declared: the charge was all
    end();
  });
  CHECK(spent == times{cost.body_ps, 4'000, 4'000, 0});
}

TEST_CASE("virtual: cores that share units are slower while they compute together, and only then") {
  V::setup s;
  s.model = model::with_cores(model::flat(), 4);
  s.model.any_size = false;
  s.model.speed_when_shared = 0.5;
  for (unsigned i = 0; i < 4; ++i) s.model.cores[i].physical = i / 2;
  s.model.shared_speed_of = {{"clock", 1}};
  times ends(4);
  stage machine(s);
  // Core 1 sits beside core 0, which only waits for it; cores 2 and 3 are one physical core.
  machine.run(3, [&](unsigned id) {
    if (id == 3) machine.machine.charge(40'000'000);  // 80 us beside core 2
    machine.machine.charge(100'000'000);
    ends[id] = machine.now();
  });
  CHECK(ends[1] == 100'000'000);
  CHECK(ends[2] == 200'000'000);
  CHECK(ends[3] == 240'000'000);  // 80 beside core 2, 120 beside it, of 60 + 40 alone
}

TEST_CASE("virtual: all cores are slower while all compute, if the machine says so") {
  V::setup s;
  s.model = model::with_cores(model::flat(), 3);
  s.model.any_size = false;
  for (unsigned i = 0; i < 3; ++i) s.model.cores[i].physical = i;
  s.model.speed_when_busy = 0.5;
  times ends(3);
  stage machine(s);
  // Core 0 only waits. The others share what all three do at half speed.
  machine.run(2, [&](unsigned id) {
    machine.machine.charge(id == 1 ? 30'000'000 : 100'000'000);
    ends[id] = machine.now();
  });
  CHECK(ends[1] == 40'000'000);
  CHECK(ends[2] == 110'000'000);  // 30 of 100 beside the other, 70 alone
}

TEST_CASE("virtual: each core begins once, at time 0, with its own clock") {
  stage s;
  std::vector<int> began(4);
  times at(4);
  times ended(4);
  s.run(3, [&](unsigned id) {
    ++began[id];
    at[id] = s.now();
    for (unsigned i = 0; i < id; ++i) s.machine.charge(1000);
    ended[id] = s.now();
  });
  CHECK(began == std::vector<int>{0, 1, 1, 1});
  CHECK(at == times{0, 0, 0, 0});
  CHECK(ended == times{0, 1000, 2000, 3000});
}

TEST_CASE("virtual: the earliest core is next, and of two at the same time the one that asked first") {
  stage s;
  std::string log;
  const std::uint64_t step[] = {0, 300, 200, 300};
  s.run(3, [&](unsigned id) {
    for (int i = 0; i < 4; ++i) {
      log += static_cast<char>('0' + id);
      s.machine.charge(step[id]);
    }
  });
  // At          0    200  300   400  600: 1 and 3 asked at 300, 2 at 400; 900
  CHECK(log == "123"
               "2"
               "13"
               "2"
               "132"
               "13");
}

TEST_CASE("virtual: a core that stays earliest goes on without a switch") {
  stage s;
  std::string log;
  s.run(2, [&](unsigned id) {
    for (int i = 0; i < 3; ++i) {
      log += static_cast<char>('0' + id);
      s.machine.charge(id == 1 ? 10 : 1000);
    }
  });
  CHECK(log == "121122");  // both begin at 0; then 10, 20 and 30 are before 1000
}

TEST_CASE("virtual: what one core stores the other loads only after that time") {
  stage s;
  cell<std::uint32_t> word;
  times seen;
  std::uint64_t first_seen = 0;
  s.run(2, [&](unsigned id) {
    if (id == 1) {
      s.machine.charge(10'000);
      V::store(word, 1u, relaxed);
    } else {
      while (V::load(word, relaxed) == 0) {
      }
      first_seen = s.now();
    }
  });
  // The line comes from memory, at 100000. The loads that find it in the cache are no events, so that the store, at
  // 10280 and without the line, is seen by the first load that has to fetch it: after the line has come from core 1.
  CHECK(first_seen == 100'000 + cost.load_ps);
}

TEST_CASE("virtual: a sleeper goes on a wake-up later than it was woken") {
  stage s;
  times resumed;
  std::uint64_t waker_done = 0;
  s.run(2, [&](unsigned id) {
    if (id == 1) {
      s.machine.charge(100);
      s.machine.park(1);
      resumed.push_back(s.now());
    } else {
      s.machine.charge(5'000);
      s.machine.wake(1);
      waker_done = s.now();
    }
  });
  CHECK(waker_done == 5'000 + cost.modify_ps + cost.waker_ps);
  CHECK(resumed == times{5'000 + cost.modify_ps + cost.wake_ps});
}

// Catches: an alarm that ends the park in which a worker takes a wake that is on its way to it. That wake then ends a
// later sleep, of which nobody counts it.
TEST_CASE("virtual: an alarm ends a doze, and no other sleep") {
  for (const bool dozes : {false, true}) {
    stage s;
    times resumed;
    bool rang = false;
    s.run(2, [&](unsigned id) {
      if (id == 1) {
        s.machine.alarm(50'000'000);
        dozes ? s.machine.doze(1) : s.machine.park(1);
        resumed.push_back(s.now());
        rang = s.machine.rang(1);
        s.machine.alarm(~std::uint64_t{0});
      } else {
        s.machine.charge(90'000'000);
        s.machine.wake(1);
      }
    });
    CHECK(rang == dozes);
    CHECK(resumed == times{dozes ? 50'000'000 : 90'000'000 + cost.modify_ps + cost.wake_ps});
  }
}

TEST_CASE("virtual: a wake before the park is kept, once") {
  stage s;
  times parked;
  s.run(2, [&](unsigned id) {
    if (id == 2) {
      s.machine.wake(1);
      s.machine.wake(1);
      s.machine.charge(50'000'000);
      s.machine.wake(1);
    } else {
      s.machine.charge(1'000'000);
      s.machine.park(1);  // the wake is there: no time passes
      parked.push_back(s.now());
      s.machine.park(1);  // two early wakes are one
      parked.push_back(s.now());
    }
  });
  CHECK(parked == times{1'000'000, 50'000'000 + 3 * cost.modify_ps + cost.wake_ps});
}

TEST_CASE("virtual: switching stacks costs the core its time and changes nobody else's turn") {
  stage s;
  struct on_another {
    stage* s;
    fiber* home;
    fiber* self;
    std::uint64_t there;
    static void entry(void* self) {
      on_another& o = *static_cast<on_another*>(self);
      o.there = o.s->now();
      V::relax(1);  // another core's turn, and back to this stack
      detail::worker* w = nullptr;
      o.s->machine.seat(1, w);
      o.self->jump_out(*o.home);
    }
  } other{&s, nullptr, nullptr, 0};
  fiber stack(65536, &on_another::entry, &other);
  other.self = &stack;
  std::uint64_t back = 0;
  std::uint64_t neighbour = 0;
  s.run(2, [&](unsigned id) {
    if (id == 2) {
      for (int i = 0; i < 10; ++i) V::relax(1);
      neighbour = s.now();
      return;
    }
    fiber of_thread;
    fiber& mine = s.machine.stack(1, of_thread);
    other.home = &mine;
    s.machine.jump(1, mine, stack, nullptr);
    CHECK(&s.machine.stack(1, of_thread) == &stack);
    back = s.now();
  });
  CHECK(other.there == cost.switch_ps);
  CHECK(back == cost.switch_ps + cost.relax_ps);
  CHECK(neighbour == 10 * cost.relax_ps);
}

namespace {

// The order in which four cores have their turns.
std::string order_of(const V::setup& setup) {
  stage s(setup);
  std::string log;
  s.run(4, [&](unsigned id) {
    for (int i = 0; i < 8; ++i) {
      log += static_cast<char>('0' + id);
      V::relax(1);
    }
  });
  return log;
}

}  // namespace

TEST_CASE("virtual: in random order the same seed is the same order, and another seed another") {
  std::set<std::string> orders;
  std::set<char> first;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const std::string turns = order_of({.seed = seed, .random_order = true});
    CHECK(turns == order_of({.seed = seed, .random_order = true}));
    orders.insert(turns);
    first.insert(turns[0]);
  }
  CHECK(orders.size() == 40);
  CHECK(first.size() == 4);  // any core that is awake may be next
}

TEST_CASE("virtual: in order of time the seed means nothing") { CHECK(order_of({.seed = 1}) == order_of({.seed = 2})); }

TEST_CASE("virtual: the running worker changes with the core, and with nothing else") {
  stage s;
  detail::worker workers[3];
  for (std::uint16_t i = 0; i < 3; ++i) workers[i].id = i;
  std::vector<int> wrong(3);
  detail::worker* before = detail::this_worker;
  s.run(
      2,
      [&](unsigned id) {
        s.machine.charge(1);
        for (int i = 0; i < 20; ++i) {
          V::relax(1);
          wrong[id] += detail::this_worker == nullptr || detail::this_worker->id != id ? 1 : 0;
        }
      },
      [&] {
        for (unsigned i = 0; i < 3; ++i) s.machine.seat(i, &workers[i]);
      });
  detail::this_worker = before;
  CHECK(wrong == std::vector<int>{0, 0, 0});
}

}  // namespace weft::machine

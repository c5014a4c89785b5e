#include <doctest/doctest.h>

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "ordered/random_program.hpp"
#include "quick.hpp"
#include "sanitized.hpp"
#include "weft/weft.hpp"

using weft::speculative::random_program;

namespace {

const weft::ordered_options ahead{.executor = "speculative", .always_ahead = true};

// A random program of some kind, by seed.
random_program program(std::uint64_t seed) {
  random_program p;
  p.seed = seed;
  p.words = std::uint64_t{1} << seed % 8;
  p.roots = static_cast<unsigned>(5 + seed % 40);
  p.later = seed % 4;
  p.children = static_cast<unsigned>(1 + seed % 3);
  p.spin = seed % 3 == 0 ? 300 : 0;
  return p;
}

void compare(weft::runtime& rt, std::uint64_t seed, const weft::ordered_options& o) {
  random_program p = program(seed);
  const auto expected = p.serially();
  p.charge_ns = 100;
  const auto got = p.run(rt, o);
  INFO("seed " << seed << ", " << rt.workers() << " workers, " << rt.machine() << ", window " << o.window);
  CHECK(got.memory == expected.memory);
  CHECK(got.committed == expected.committed);
}

}  // namespace

TEST_CASE("ordered, speculative: random programs leave what the serial run leaves, on any number of workers") {
  for (const unsigned workers : {1u, 2u, 3u, 4u, 7u, 16u}) {
    weft::runtime rt({.workers = workers});
    for (std::uint64_t seed = 1; seed <= few(sanitized ? 12 : 60); ++seed) {
      compare(rt, seed, ahead);
      compare(rt, seed, {.executor = "speculative"});
    }
    for (const std::size_t window : {1u, 2u, 5u})
      compare(rt, 7, {.executor = "speculative", .window = window, .always_ahead = true});
  }
}
TEST_CASE("ordered, speculative: random programs on modelled machines, in time and in random order" *
          doctest::skip(real_threads_only)) {
  for (const unsigned workers : {1u, 8u, 64u})
    for (const char* schedule : {"time", "random"})
      for (std::uint64_t seed = 1; seed <= few(sanitized ? 5 : 20); ++seed) {
        weft::runtime rt({.workers = workers, .machine = "virtual", .seed = seed, .model = {.schedule = schedule}});
        compare(rt, seed, ahead);
      }
}
TEST_CASE("ordered, speculative: the same seed gives the same virtual time" * doctest::skip(real_threads_only)) {
  const auto once = [] {
    weft::runtime rt({.workers = 16, .machine = "virtual", .seed = 3});
    random_program p = program(23);
    p.charge_ns = 50;
    const auto r = p.run(rt, ahead);
    CHECK(r.counts.started > r.counts.committed);  // there was something to go wrong
    return std::pair(r.counts.seconds, r.counts.started);
  };
  CHECK(once() == once());
}

namespace {

struct account {
  std::uint64_t hot = 0;
  std::uint64_t own[256] = {};
  unsigned hot_of_hundred = 0;
};
// 10 us, in virtual time, between what it loads and what it stores.
void transact(weft::ordered_context& x, std::uint64_t now, account* a) {
  const bool is_hot = now * 37 % 100 < a->hot_of_hundred;
  std::uint64_t sum = x.load(a->own[now % 256]) + (is_hot ? x.load(a->hot) : 0);
  weft::charge(10'000);
  x.store(a->own[now % 256], sum * 3 + now);
  if (is_hot) x.store(a->hot, sum * 5 + now);
}
struct ran {
  account after;
  weft::ordered_counts counts;
};
ran transactions(weft::runtime& rt, unsigned hot, const weft::ordered_options& o) {
  ran r;
  r.after.hot_of_hundred = hot;
  weft::ordered q(rt, o);
  for (std::uint64_t i = 0; i < 2000; ++i) q.at(i, transact, &r.after);
  q.run();
  r.counts = q.counts();
  return r;
}

}  // namespace

TEST_CASE("ordered, speculative: contention of 0, 10 and 100 %: right, faster where it can be, never much slower") {
  const double serial_seconds = 2000 * 10e-6;
  for (const unsigned hot : {0u, 10u, 100u}) {
    weft::runtime one({.workers = 1});
    const ran expected = transactions(one, hot, {.executor = "serial"});
    for (const unsigned workers : {2u, 8u}) {
      if (real_threads_only) break;
      weft::runtime rt({.workers = workers, .machine = "virtual"});
      const ran got = transactions(rt, hot, {.executor = "speculative"});
      INFO(hot << " %, " << workers << " workers, " << got.counts.started << " started, " << got.counts.in_order);
      CHECK(got.after.hot == expected.after.hot);
      CHECK(std::equal(std::begin(got.after.own), std::end(got.after.own), std::begin(expected.after.own)));
      CHECK(got.counts.committed == 2000);
      const double gain = serial_seconds / got.counts.seconds;
      if (hot == 0) CHECK(gain > 0.8 * workers);
      if (hot == 10) CHECK(gain > 1.4);
      CHECK(gain > 0.9);
      // Its own reckoning of that.
      CHECK(got.counts.serial_seconds > 0.9 * serial_seconds);
      CHECK(got.counts.serial_seconds < 1.1 * serial_seconds);
      if (hot == 100) CHECK(got.counts.in_order > 1000);
    }
    weft::runtime rt({.workers = 4});
    const ran got = transactions(rt, hot, ahead);
    CHECK(got.after.hot == expected.after.hot);
    CHECK(got.counts.committed == 2000);
  }
}
TEST_CASE("ordered, speculative: a storm: each stores what all behind it have read, in any window" *
          doctest::skip(real_threads_only)) {
  struct all {
    std::uint64_t words[64] = {};
  };
  for (const std::size_t window : {0u, 64u, 1000u}) {
    weft::runtime rt({.workers = 8, .machine = "virtual", .model = {.schedule = "random"}});
    all a;
    weft::ordered q(rt, {.executor = "speculative", .window = window, .always_ahead = true});
    for (std::uint64_t i = 0; i < 300; ++i)
      q.at(
          i,
          [](weft::ordered_context& x, std::uint64_t now, all* to) {
            std::uint64_t sum = now;
            for (const std::uint64_t& w : to->words) sum += x.load(w);
            x.store(to->words[now % 64], sum);
          },
          &a);
    q.run();
    all expected;
    for (std::uint64_t i = 0; i < 300; ++i) {
      std::uint64_t sum = i;
      for (const std::uint64_t w : expected.words) sum += w;
      expected.words[i % 64] = sum;
    }
    CHECK(std::equal(std::begin(a.words), std::end(a.words), std::begin(expected.words)));
    CHECK(q.counts().committed == 300);
  }
}
TEST_CASE("ordered, speculative: a run again keeps the children that it creates again") {
  struct shared {
    std::uint64_t value = 0;
    std::uint64_t sums[100] = {};
  } s;
  weft::runtime rt({.workers = 8, .machine = "virtual"});
  weft::ordered q(rt, ahead);
  q.at(
      0,
      [](weft::ordered_context& x, std::uint64_t, shared* to) {
        weft::charge(100'000);
        x.store(to->value, 1);
      },
      &s);
  q.at(
      1,
      [](weft::ordered_context& x, std::uint64_t, shared* to) {
        x.store(to->sums[0], x.load(to->value));  // goes wrong at first
        for (std::uint64_t i = 1; i < 100; ++i)
          x.at(
              1 + i,
              [](weft::ordered_context& y, std::uint64_t now, shared* t) {
                weft::charge(1'000);
                y.store(t->sums[now - 1], now);
              },
              to);
      },
      &s);
  q.run();
  CHECK(q.counts().committed == 101);
  CHECK(q.counts().started == 102);
  CHECK(s.sums[0] == 1);
  CHECK(s.sums[99] == 100);
}
TEST_CASE("ordered, speculative: what the first body in order throws ends the run; what zombies throw is dropped") {
  struct shared {
    std::uint64_t a = 0, b = 0, last = 0;
  };
  for (const char* machine : both_machines)
    for (const bool always : {true, false})
      for (std::uint64_t seed = 1; seed <= (sanitized ? 3 : 10); ++seed) {
        weft::runtime rt({.workers = 4,
                          .machine = machine,
                          .seed = seed,
                          .model = {.schedule = *machine == 'v' ? "random" : nullptr}});
        weft::ordered q(rt, {.executor = "speculative", .always_ahead = always});
        shared s;
        for (std::uint64_t i = 1; i <= 200; ++i)
          q.at(
              i,
              [](weft::ordered_context& x, std::uint64_t now, shared* t) {
                const std::uint64_t b = x.load(t->b);
                if (x.load(t->a) != b) throw std::logic_error("a zombie has seen what is never so");
                x.store(t->a, b + now);
                x.store(t->b, b + now);
                x.store(t->last, now);
                x.at(now, [](weft::ordered_context&, std::uint64_t) {});
                if (now % 75 == 0) throw std::runtime_error(std::to_string(now));
              },
              &s);
        CHECK_THROWS_WITH(q.run(), "75");
        CHECK(s.last == 75);
        CHECK(s.a == 75 * 76 / 2);
        CHECK(q.counts().committed == 2 * 74);
        q.run();  // nothing is left
        CHECK(s.last == 75);
        q.at(
            5, [](weft::ordered_context& x, std::uint64_t now, shared* t) { x.store(t->last, now); }, &s);
        q.run();
        CHECK(s.last == 5);
      }
}
TEST_CASE("ordered, speculative: a body throws while the window is being emptied, and the next run begins anew") {
  for (std::uint64_t at = 1; at <= 40; ++at) {
    weft::runtime rt({.workers = 4, .machine = "virtual", .seed = at, .model = {.schedule = "random"}});
    weft::ordered q(rt, ahead);
    std::uint64_t last = 0;
    const auto body = [at](weft::ordered_context& x, std::uint64_t now, std::uint64_t* to) {
      struct alignas(64) large {
        std::byte bytes[3 << 20];
      };
      if (now <= at) x.release(x.allocate<large>());  // some of these, and the window is emptied to free them
      weft::charge(1000);
      x.store(*to, now);
      if (now == at) throw std::runtime_error("here");
    };
    for (std::uint64_t i = 1; i <= 60; ++i) q.at(i, body, &last);
    CHECK_THROWS_WITH(q.run(), "here");
    CHECK(last == at);
    for (std::uint64_t i = at + 1; i <= at + 20; ++i) q.at(i, body, &last);
    q.run();
    CHECK(last == at + 20);
  }
}
TEST_CASE("ordered, speculative: serialize comes back in order, once for each body") {
  struct log {
    std::vector<std::uint64_t> seen;
    std::uint64_t sum = 0;
  };
  for (const char* machine : both_machines) {
    weft::runtime rt({.workers = 4, .machine = machine});
    for (const weft::ordered_options& o : {ahead, weft::ordered_options{.executor = "speculative"}}) {
      log l;
      weft::ordered q(rt, o);
      for (std::uint64_t i = 0; i < 300; ++i)
        q.at(
            i,
            [](weft::ordered_context& x, std::uint64_t now, log* to) {
              const std::uint64_t sum = x.load(to->sum) + now;
              x.store(to->sum, sum);
              if (now % 3 != 0) return;
              x.serialize();
              to->seen.push_back(sum);
            },
            &l);
      q.run();
      REQUIRE(l.seen.size() == 100);
      for (std::uint64_t i = 0; i < 100; ++i) CHECK(l.seen[i] == 3 * i * (3 * i + 1) / 2);
    }
  }
}
TEST_CASE("ordered, speculative: memory is taken by what happens only, and released when it has") {
  struct node {
    std::uint64_t value;
    node* next;
  };
  struct stack {
    node* top = nullptr;
    std::uint64_t sum = 0;
  };
  for (const unsigned workers : {1u, 4u}) {
    weft::runtime rt({.workers = workers});
    stack s;
    weft::ordered q(rt, ahead);
    for (std::uint64_t i = 0; i < 20'000; ++i)  // more than may wait to be released
      q.at(
          i,
          [](weft::ordered_context& x, std::uint64_t now, stack* to) {
            node* const top = x.load(to->top);
            if (now % 2 == 0) {
              node* const n = x.allocate<node>();
              x.store(n->value, now);
              x.store(n->next, top);
              x.store(to->top, n);
            } else if (top != nullptr) {  // a zombie may see none
              x.store(to->sum, x.load(to->sum) * 3 + x.load(top->value));
              x.store(to->top, x.load(top->next));
              x.release(top);
            }
          },
          &s);
    q.run();
    std::uint64_t expected = 0;
    for (std::uint64_t i = 0; i < 20'000; i += 2) expected = expected * 3 + i;
    CHECK(s.sum == expected);
    CHECK(s.top == nullptr);
  }
}
TEST_CASE("ordered, speculative: sections in tasks, beside each other, and in a body of another") {
  for (const char* machine : both_machines)
    for (const unsigned workers : {1u, 3u}) {
      weft::runtime rt({.workers = workers, .machine = machine});
      std::vector<random_program> programs;
      for (std::uint64_t seed = 30; seed < 38; ++seed) programs.push_back(program(seed));
      std::vector<random_program::result> expected;
      for (random_program& p : programs) expected.push_back(p.serially());
      std::vector<int> same(programs.size());
      for (std::size_t i = 0; i < programs.size(); ++i)
        rt.submit([&, i] { same[i] = programs[i].run(rt, ahead) == expected[i] ? 1 : 0; });
      rt.wait();
      for (const int s : same) CHECK(s == 1);

      weft::ordered outer(rt, ahead);
      struct inner {
        weft::runtime* rt;
        random_program* p;
        random_program::result* e;
        int* same;
      };
      std::vector<inner> all;
      for (std::size_t i = 0; i < programs.size(); ++i) all.push_back({&rt, &programs[i], &expected[i], &same[i]});
      same.assign(programs.size(), 0);
      for (inner& one : all)
        outer.at(
            1,
            [](weft::ordered_context& x, std::uint64_t, inner* in) {
              x.serialize();  // what a section inside stores, it stores
              *in->same = in->p->run(*in->rt, ahead) == *in->e ? 1 : 0;
            },
            &one);
      outer.run();
      for (const int s : same) CHECK(s == 1);
    }
}
TEST_CASE("ordered, speculative: a body submits ordinary tasks when it is certain, and reads handles") {
  weft::runtime rt({.workers = 3});
  weft::handle<std::uint64_t> total(0);
  weft::handle<std::uint64_t> factor(2);
  rt.submit(weft::write(factor), [](std::uint64_t& f) { f = 7; });
  weft::ordered q(rt, ahead);
  struct world {
    weft::runtime* rt;
    weft::handle<std::uint64_t>* total;
    weft::handle<std::uint64_t>* factor;
  } w{&rt, &total, &factor};
  for (std::uint64_t i = 1; i <= 100; ++i)
    q.at(
        i,
        [](weft::ordered_context& x, std::uint64_t now, world* in) {
          const std::uint64_t f = in->rt->get(*in->factor);
          x.serialize();
          in->rt->submit(weft::write(*in->total), [f, now](std::uint64_t& t) { t = t % 1000003 * f + now; });
        },
        &w);
  q.run();
  std::uint64_t expected = 0;
  for (std::uint64_t i = 1; i <= 100; ++i) expected = expected % 1000003 * 7 + i;
  CHECK(rt.get(total) == expected);
}
TEST_CASE("ordered, speculative: in a scope that is cancelled it says so and is empty after") {
  weft::runtime rt({.workers = 2});
  weft::cancellation stop;
  std::uint64_t called = 0;
  bool threw = false;
  rt.submit([&] {
    weft::ordered q(rt, ahead);
    weft::finish(stop, [&] {
      stop.cancel();
      q.at(
          1, [](weft::ordered_context& x, std::uint64_t now, std::uint64_t* c) { x.store(*c, now); }, &called);
      try {
        q.run();
      } catch (const weft::error&) {
        threw = true;
      }
    });
    q.run();
  });
  rt.wait();
  CHECK(threw);
  CHECK(called == 0);
}
TEST_CASE("ordered: the default is speculative, and with one worker bodies run in order") {
  weft::runtime rt({.workers = 1});
  weft::ordered q(rt);
  std::uint64_t sum = 0;
  for (std::uint64_t i = 1; i <= 100; ++i)
    q.at(
        i, [](weft::ordered_context& x, std::uint64_t now, std::uint64_t* s) { x.store(*s, x.load(*s) + now); }, &sum);
  q.run();
  CHECK(sum == 5050);
  CHECK((q.counts().committed == 100 && q.counts().started == 100 && q.counts().in_order == 100));
}
TEST_CASE("ordered, speculative: a window that cannot be meant is refused") {
  weft::runtime rt({.workers = 1});
  CHECK_THROWS_WITH_AS(weft::ordered(rt, {.executor = "speculative", .window = std::size_t{1} << 21}),
                       doctest::Contains("a window of 2097152 calls; at most 1048576 may be ahead"), weft::error);
}
TEST_CASE("ordered, speculative: a zombie finds no pointer in new memory that was there before" *
          doctest::skip(real_threads_only)) {
  struct node {
    std::uint64_t others[4];  // where the allocator may keep its own
    node* next;
  };
  struct stack {
    node* top = nullptr;
    bool found = false;  // by whatever run: all are on one thread
  } s;
  node* const old = reinterpret_cast<node*>(~std::uintptr_t{7});
  {
    std::vector<std::unique_ptr<node>> before;
    for (int i = 0; i < 3000; ++i) before.push_back(std::make_unique<node>(node{{}, old}));
  }
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    weft::runtime rt({.workers = 8, .machine = "virtual", .seed = seed, .model = {.schedule = "random"}});
    weft::ordered q(rt, ahead);
    for (std::uint64_t i = 0; i < 60; ++i)
      q.at(
          i,
          [](weft::ordered_context& x, std::uint64_t, stack* to, node* wrong) {
            node* const top = x.load(to->top);
            if (top != nullptr && x.load(top->next) == wrong) to->found = true;
            node* const n = x.allocate<node>();
            x.store(to->top, n);
            x.store(n->next, top);
          },
          &s, old);
    q.run();
    for (; s.top != nullptr;) {
      node* const n = s.top;
      s.top = n->next;
      n->next = old;
      ::operator delete(n, std::align_val_t(alignof(node)));
    }
  }
  CHECK(!s.found);
}

TEST_CASE("ordered, speculative: what a run that failed was about to give up does not weigh on the next" *
          doctest::skip(real_threads_only)) {
  weft::runtime rt({.workers = 2, .machine = "virtual"});
  weft::ordered q(rt);
  const auto work = [](weft::ordered_context& x, std::uint64_t) { x.work(1000); };
  const auto fails = [](weft::ordered_context& x, std::uint64_t) {  // nothing happens meanwhile: that is a loss
    x.work(500'000);
    throw std::runtime_error("late");
  };
  for (std::uint64_t i = 0; i < 1000; ++i) q.at(i, work);
  q.at(1000, fails);
  for (std::uint64_t i = 1001; i < 2000; ++i) q.at(i, work);
  CHECK_THROWS_WITH(q.run(), "late");
  weft::event later;
  later.fulfil_after(1e9);
  rt.submit([&later] { later.wait(); });
  rt.wait();
  const weft::ordered_counts before = q.counts();
  constexpr std::uint64_t all = 100'000;
  for (std::uint64_t i = 0; i < all; ++i) q.at(i, work);
  q.run();
  CHECK(before.in_order < 1000);
  CHECK(q.counts().committed - before.committed == all);
  CHECK(q.counts().in_order - before.in_order < all / 2);
}

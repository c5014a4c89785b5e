// The chip as a whole: cases that such architectures were found wrong or slow in.
#include "weft/lab/swarm.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "lab/swarm/test_bench.hpp"
#include "quick.hpp"
#include "weft/weft.hpp"

using namespace weft::swarm::testing;

TEST_CASE("swarm: contention of none, of a tenth, and of all tasks") {
  const std::uint64_t tasks = brief ? 500 : 2000;
  const auto memory = pages(65);
  std::uint64_t cycles[3];
  std::uint64_t aborts[3];
  for (const int percent : {0, 10, 100}) {
    for (int i = 0; i < 65; ++i) memory[i] = {};
    bench b({.cores = 64, .audit = 1});
    for (std::uint64_t i = 0; i < tasks; ++i) {
      const bool shared = i * 7 % 100 < static_cast<std::uint64_t>(percent);
      b.q.at(i, increment, shared ? &memory[64].of[0] : &memory[i % 64].of[i / 64 * 8], std::uint64_t{50});
    }
    const weft::swarm_statistics& s = b.run();
    CHECK(s.tasks.committed == tasks);
    CHECK(memory[64].of[0] == tasks / 100 * static_cast<unsigned>(percent));
    const int at = percent == 0 ? 0 : percent == 10 ? 1 : 2;
    cycles[at] = s.cycles;
    aborts[at] = s.aborts.all() - s.aborts.resources;
  }
  CHECK(aborts[0] == 0);
  CHECK(aborts[1] > 0);
  CHECK(aborts[2] > aborts[1]);
  CHECK(cycles[2] > 3 * cycles[0]);
}

TEST_CASE("swarm: counters at equal timestamps lose no increment") {
  const auto memory = pages(1);
  bench b({.cores = 64, .audit = 1});
  for (std::uint64_t i = 0; i < 1000; ++i) b.q.at(7, increment, &memory[0].of[i % 3], i % 50);
  CHECK(b.run().tasks.committed == 1000);
  CHECK(memory[0].of[0] + memory[0].of[1] + memory[0].of[2] == 1000);
}

namespace {

void bomb(weft::ordered_context& x, std::uint64_t now, std::uint64_t* sum, unsigned depth, unsigned width) {
  x.store(*sum, x.load(*sum) + 1);
  if (depth == 0) return;
  for (unsigned i = 0; i < width; ++i) x.at(now + 1 + i, bomb, sum + 8, depth - 1, width);
}

}  // namespace

TEST_CASE("swarm: a task bomb goes off in any chip") {
  const unsigned children = brief ? 3 : 5, leaves = children * children * children * children;
  const auto memory = pages(4);
  for (const std::uint32_t cores : {1u, 4u, 64u})
    for (const std::uint32_t queue : {2u, 64u}) {
      for (int i = 0; i < 4; ++i) memory[i] = {};
      bench b({.cores = cores, .task_queue = queue, .commit_queue = queue / 2, .audit = 1});
      b.q.at(0, bomb, &memory[0].of[0], 4u, children);
      CHECK(b.run().tasks.committed == (leaves * children - 1) / (children - 1));
      CHECK(memory[0].of[32] == leaves);
    }
}

TEST_CASE("swarm: more children than a task can track are created by helpers") {
  const auto memory = pages(1);
  bench b({.cores = 16, .audit = 1});
  b.q.at(0, bomb, &memory[0].of[0], 1u, 100u);
  const weft::swarm_statistics& s = b.run();
  CHECK(s.tasks.committed == 101);
  CHECK(s.tasks.helpers >= 100 / 8);
  bench eight({.cores = 16});
  eight.q.at(0, bomb, &memory[0].of[0], 1u, 8u);
  CHECK(eight.run().tasks.helpers == 0);
}

namespace {

void deep(weft::ordered_context& x, std::uint64_t now, std::uint64_t* cells, std::uint64_t left) {
  x.store(cells[left % 8], x.load(cells[left % 8]) + 1);
  if (left == 0) return;
  for (std::uint64_t i = 1; i <= 3; ++i) x.at(now + 100 * i * left, increment, &cells[8 + 8 * i], std::uint64_t{3});
  x.at(now + 1, deep, cells, left - 1);
}

}  // namespace

TEST_CASE("swarm: one core and a small queue spill, and get to the end") {
  // Of 15 a splitter brings one back, then another, and at last two; or seven, then eight; or all.
  for (const auto& [back, splitters] : {std::pair{1u, 14u}, {7u, 2u}, {15u, 1u}}) {
    CAPTURE(back);
    const auto memory = pages(1);
    bench b({.cores = 1, .splitter_tasks = back, .audit = 1});
    b.q.at(0, deep, &memory[0].of[0], std::uint64_t{800});
    const weft::swarm_statistics& s = b.run();
    CHECK(s.tasks.committed == 801 + 3 * 800);
    CHECK(s.tasks.coalescers > 0);
    CHECK(s.tasks.splitters == splitters * s.tasks.coalescers);
    CHECK(s.core_cycles.spill > 0);
    CHECK(s.tasks.task_queue_max <= 64);
    CHECK(memory[0].of[16] + memory[0].of[24] + memory[0].of[32] == 2400);
  }
}

TEST_CASE("swarm: roots by the thousand flood the queues, and are sorted there") {
  const auto memory = pages(1);
  bench b({.cores = 4});
  for (std::uint64_t i = 0; i < 5000; ++i)
    b.q.at(
        i * 2'654'435'761u % 5003,
        [](weft::ordered_context& x, std::uint64_t now, std::uint64_t* cell) {
          x.store(cell[1], x.load(cell[1]) + (x.load(*cell) > now ? 1 : 0));  // what is out of order
          x.store(*cell, now);
        },
        &memory[0].of[0]);
  const weft::swarm_statistics& s = b.run();
  CHECK(s.tasks.committed == 5000);
  CHECK(s.tasks.spilled > 0);
  CHECK(memory[0].of[1] == 0);
}

TEST_CASE("swarm: helpers that do not foresee create all roots before the first of them runs") {
  std::uint64_t before_first[2];
  for (const std::uint32_t foresee : {0u, 1u}) {
    const auto memory = pages(1);
    bench b({.cores = 1, .helpers_foresee = foresee, .audit = 1});
    for (std::uint64_t i = 0; i < 600; ++i) b.q.at(1 + i, increment, &memory[0].of[0], std::uint64_t{20});
    const weft::swarm_statistics& s = b.run();
    CHECK(s.tasks.committed == 600);
    CHECK(memory[0].of[0] == 600);
    before_first[foresee] = s.tasks.spilled;  // what waits for all the rest has to be put away
  }
  CHECK(before_first[0] > 2 * before_first[1]);
}

// Catches: a task queue full of tasks that have run lets those that come before them in one at a time.
TEST_CASE("swarm: finished tasks give way where the commit queue is larger than the task queue") {
  std::uint64_t cycles[2];
  for (const std::uint32_t give_way : {0u, 1u}) {
    const auto memory = pages(64);
    bench b({.cores = 16, .task_queue = 16, .commit_queue = 0, .finished_give_way = give_way, .audit = 1});
    for (std::uint64_t i = 0; i < 3000; ++i)
      b.q.at(i * 2'654'435'761u % 3001, increment, &memory[i % 64].of[0], std::uint64_t{50});
    const weft::swarm_statistics& s = b.run();
    CHECK(s.tasks.committed == 3000);
    std::uint64_t sum = 0;
    for (int i = 0; i < 64; ++i) sum += memory[i].of[0];
    CHECK(sum == 3000);
    CHECK(s.tasks.task_queue_max <= 16 * 4 + 1);
    cycles[give_way] = s.cycles;
  }
  INFO("cycles " << cycles[0] << " and " << cycles[1]);
  CHECK(cycles[1] < cycles[0]);
}

TEST_CASE("swarm: a storm of aborts") {  // a late writer of what thousands have read, and passed on
  const std::uint64_t readers = brief ? 1000 : 3000;
  const auto memory = pages(1);
  bench b({.cores = 64, .task_queue = 0, .commit_queue = 0, .audit = 1});
  b.q.at(
      0,
      [](weft::ordered_context& x, std::uint64_t, std::uint64_t* cell) {
        x.work(40'000);
        x.store(*cell, 5);
      },
      &memory[0].of[0]);
  for (std::uint64_t i = 1; i <= readers; ++i)
    b.q.at(
        i,
        [](weft::ordered_context& x, std::uint64_t, std::uint64_t* cell, std::uint64_t mine) {
          x.store(cell[mine % 500 + 8], x.load(*cell) + x.load(cell[(mine + 499) % 500 + 8]) % 3);
        },
        &memory[0].of[0], i);
  const weft::swarm_statistics& s = b.run();
  CHECK(s.tasks.committed == readers + 1);
  CHECK(s.aborts.read_after_write > 500);
  std::vector<std::uint64_t> cell(512);
  cell[0] = 5;
  for (std::uint64_t i = 1; i <= readers; ++i) cell[i % 500 + 8] = cell[0] + cell[(i + 499) % 500 + 8] % 3;
  for (std::size_t i = 0; i < 512; ++i) CHECK(memory[0].of[i] == cell[i]);
}

TEST_CASE("swarm: undo logs of several tasks at one word unwind in order") {
  const auto memory = pages(1);
  bench b({.cores = 16, .audit = 1});
  b.q.at(
      0,
      [](weft::ordered_context& x, std::uint64_t, std::uint64_t* cell) {
        x.work(3000);
        for (int i = 0; i < 4; ++i) x.store(*cell, x.load(*cell) + 1);  // 4
        x.store(cell[1], x.load(*cell));
      },
      &memory[0].of[0]);
  for (std::uint64_t i = 1; i < 12; ++i)
    b.q.at(
        i,
        [](weft::ordered_context& x, std::uint64_t now, std::uint64_t* cell) {
          for (int k = 0; k < 3; ++k) x.store(*cell, x.load(*cell) * 3 + now);
          auto* const byte = reinterpret_cast<unsigned char*>(cell + 2);
          x.store(byte[now], static_cast<unsigned char>(x.load(byte[now - 1]) + 1));
        },
        &memory[0].of[0]);
  const weft::swarm_statistics& s = b.run();
  CHECK(s.aborts.all() > 0);
  std::uint64_t expected = 4;
  for (std::uint64_t i = 1; i < 12; ++i)
    for (int k = 0; k < 3; ++k) expected = expected * 3 + i;
  CHECK(memory[0].of[0] == expected);
  CHECK(memory[0].of[1] == 4);
  CHECK(reinterpret_cast<unsigned char*>(&memory[0].of[2])[11] == 11);
}

TEST_CASE("swarm: serialize() returns in order, and what comes behind it happens once") {
  static std::vector<std::uint64_t> output;
  output.clear();
  const auto memory = pages(1);
  bench b({.cores = 16, .commit_queue = 2, .audit = 1});
  for (std::uint64_t i = 0; i < 100; ++i)
    b.q.at(
        i * 37 % 101,
        [](weft::ordered_context& x, std::uint64_t now, std::uint64_t* cell) {
          x.store(*cell, x.load(*cell) + 1);
          if (now % 4 != 0) return;
          x.serialize();
          output.push_back(now);
        },
        &memory[0].of[0]);
  const weft::swarm_statistics& s = b.run();
  CHECK(s.tasks.committed == 100);
  CHECK(memory[0].of[0] == 100);
  std::vector<std::uint64_t> expected;
  for (std::uint64_t i = 0; i < 101; i += 4)
    if (i * 71 % 101 < 100) expected.push_back(i);  // 71: the inverse of 37
  CHECK(output == expected);
}

TEST_CASE("swarm: memory is taken by what happened alone, and released when it has") {
  const auto memory = pages(1);
  bench b({.cores = 64, .audit = 1});
  struct list {
    std::uint64_t value;
    list* next;
  };
  auto* const head = reinterpret_cast<list**>(&memory[0].of[0]);
  for (std::uint64_t i = 0; i < 600; ++i)
    b.q.at(
        i,
        [](weft::ordered_context& x, std::uint64_t now, list** first) {
          list* const old = x.load(*first);
          if (now % 3 == 2 && old != nullptr) {
            x.store(*first, x.load(old->next));
            return x.release(old);
          }
          auto* const l = x.allocate<list>();
          x.store(*l, {now, old});
          x.store(*first, l);
        },
        head);
  const weft::swarm_statistics& s = b.run();
  CHECK(s.tasks.committed == 600);
  CHECK(s.aborts.all() > 0);
  std::vector<std::uint64_t> stack;
  for (std::uint64_t i = 0; i < 600; ++i) {
    if (i % 3 == 2)
      stack.pop_back();
    else
      stack.push_back(i);
  }
  const list* l = *head;
  for (std::size_t i = stack.size(); i-- != 0; l = l->next) {
    REQUIRE(l != nullptr);
    CHECK(l->value == stack[i]);
  }
  CHECK(l == nullptr);
  b.q.at(
      600,
      [](weft::ordered_context& x, std::uint64_t, list** first) {
        for (list* at = x.load(*first); at != nullptr;) {
          list* const next = x.load(at->next);
          x.release(at);
          at = next;
        }
      },
      head);
  CHECK(b.run().tasks.committed == 601);  // and a leak checker is content
}

TEST_CASE("swarm: a body throws while other cores move tasks between queues and memory") {
  const auto memory = pages(8);
  std::uint64_t spills = 0;
  for (std::uint64_t at = 1; at < 120; at += hurried ? 5 : 1) {
    bench b({.cores = 8, .tile_cores = 2, .task_queue = 8, .gvt_period = 7, .audit = 1});
    const auto body = [at](weft::ordered_context& x, std::uint64_t now, page* p) {
      x.store(p[now % 8].of[now], x.load(p[now % 8].of[now]) + 1);
      if (now == at) throw std::runtime_error("here");
    };
    for (int i = 0; i < 8; ++i) memory[i] = {};
    for (std::uint64_t i = 0; i < 400; ++i) b.q.at(i, body, memory.get());
    CHECK_THROWS_WITH(b.q.run(), "here");
    for (std::uint64_t i = 0; i < 400; ++i) REQUIRE(memory[i % 8].of[i] == (i <= at ? 1 : 0));
    for (std::uint64_t i = at + 1; i < at + 40; ++i) b.q.at(i, body, memory.get());  // it goes on as if new
    b.q.run();
    spills += weft::statistics_of(b.q).tasks.spilled;
    for (std::uint64_t i = 0; i < 400; ++i) REQUIRE(memory[i % 8].of[i] == (i < at + 40 ? 1 : 0));
  }
  CHECK(spills > 0);
}

TEST_CASE("swarm: what a body throws that did not happen is forgotten; what one that did throws ends the run") {
  const auto memory = pages(1);
  const auto body = [](weft::ordered_context& x, std::uint64_t now, std::uint64_t* cell) {
    if (now == 0) {
      x.work(5000);
      return x.store(*cell, 1);
    }
    if (x.load(*cell) != 1) throw std::runtime_error("too early");
    x.store(cell[now], now);
    if (now == 40) throw std::runtime_error("forty");
  };
  for (const std::uint32_t cores : {1u, 16u}) {
    memory[0] = {};
    bench b({.cores = cores, .audit = 1});
    for (std::uint64_t i = 0; i < 60; ++i) b.q.at(i, body, &memory[0].of[0]);
    CHECK_THROWS_WITH(b.q.run(), "forty");
    CHECK(b.q.counts().committed == 40);
    for (std::uint64_t i = 1; i < 60; ++i) CHECK(memory[0].of[i] == (i <= 40 ? i : 0));
    const weft::swarm_statistics& s = weft::statistics_of(b.q);
    const auto& c = s.core_cycles;
    CHECK(c.committed + c.aborted + c.spill + c.stall + c.empty == s.cores * s.cycles);
    // The section goes on, without what was dropped.
    b.q.at(50, body, &memory[0].of[0]);
    b.q.run();
    CHECK(memory[0].of[50] == 50);
    CHECK(b.q.counts().committed == 41);
  }
}

TEST_CASE("swarm: a body that catches everything cannot keep what was aborted") {
  const auto memory = pages(1);
  bench b({.cores = 4, .audit = 1});
  b.q.at(
      0,
      [](weft::ordered_context& x, std::uint64_t, std::uint64_t* cell) {
        x.work(2000);
        x.store(*cell, 1);
      },
      &memory[0].of[0]);
  b.q.at(
      1,
      [](weft::ordered_context& x, std::uint64_t now, std::uint64_t* cell) {
        try {
          const std::uint64_t seen = x.load(*cell);
          x.work(10'000);
          x.store(cell[8], seen);
        } catch (...) {
        }
        x.at(now, increment, &cell[16], std::uint64_t{0});
      },
      &memory[0].of[0]);
  const weft::swarm_statistics& s = b.run();
  CHECK(s.aborts.read_after_write == 1);
  CHECK(s.tasks.committed == 3);
  CHECK((memory[0].of[8] == 1 && memory[0].of[16] == 1));
}

TEST_CASE("swarm: a pointer out of nowhere stops only an execution that is wrong") {
  const auto memory = pages(1);
  bench b({.cores = 4, .audit = 1});
  auto** const where = reinterpret_cast<std::uint64_t**>(&memory[0].of[0]);
  memory[0].of[0] = 64;
  b.q.at(
      0,
      [](weft::ordered_context& x, std::uint64_t, std::uint64_t** p, std::uint64_t* target) {
        x.work(2000);
        x.store(*p, target);
      },
      where, &memory[0].of[8]);
  b.q.at(
      1,
      [](weft::ordered_context& x, std::uint64_t, std::uint64_t** p) {
        std::uint64_t* const to = x.load(*p);
        x.store(*to, x.load(*to) + 7);
      },
      where);
  CHECK(b.run().tasks.committed == 2);
  CHECK(memory[0].of[8] == 7);
}

TEST_CASE("swarm: children race with those that created them, at one timestamp") {
  const auto memory = pages(1);
  for (const std::uint32_t cores : {1u, 16u, 64u}) {
    memory[0] = {};
    bench b({.cores = cores, .instant_memory = 1, .audit = 1});
    for (std::uint64_t i = 0; i < 50; ++i)
      b.q.at(
          5,
          [](weft::ordered_context& x, std::uint64_t now, std::uint64_t* cell) {
            for (int k = 0; k < 5; ++k)
              x.at(
                  now,
                  [](weft::ordered_context& y, std::uint64_t, std::uint64_t* c) {
                    if (y.load(c[1]) != 0) y.store(c[2], y.load(c[2]) + 1);  // its parent's store is there
                    y.store(c[1], y.load(c[1]) - 1);
                  },
                  cell);
            x.work(300);
            x.store(cell[1], x.load(cell[1]) + 5);
          },
          &memory[0].of[0]);
    CHECK(b.run().tasks.committed == 300);
    CHECK(memory[0].of[1] == 0);
    CHECK(memory[0].of[2] == 250);
  }
}

TEST_CASE("swarm: the same program gives the same numbers, wherever its pages are") {
  weft::swarm_statistics first;
  std::vector<std::unique_ptr<char[]>> elsewhere;
  for (int run = 0; run < 3; ++run) {
    const auto memory = pages(70);
    bench b({.cores = 64, .commit_queue = 4});
    for (std::uint64_t i = 0; i < 1500; ++i)
      b.q.at(i / 3, increment, &memory[i % 70].of[i * i % 512], std::uint64_t{i % 40});
    const weft::swarm_statistics& s = b.run();
    if (run == 0)
      first = s;
    else
      CHECK(first == s);
    CHECK(s.aborts.all() > 0);
    for (std::size_t i = 0; i < 50; ++i) elsewhere.push_back(std::make_unique<char[]>(1000 + i * 777));
  }
  weft::swarm_statistics other = first;
  ++other.traffic.gvt;
  CHECK_FALSE(first == other);
}

TEST_CASE("swarm: a commit queue that is too small costs time, an unbounded one does not stall") {
  const auto memory = pages(300);
  std::uint64_t cycles[2];
  std::uint64_t stalls[2];
  int at = 0;
  for (const std::uint32_t queue : {1u, 0u}) {
    bench b({.cores = 16, .task_queue = 0, .commit_queue = queue});
    for (std::uint64_t i = 0; i < 2000; ++i)
      b.q.at(i, increment, &memory[i % 250].of[i / 250 * 8], std::uint64_t{i % 100 == 0 ? 3000u : 20u});
    const weft::swarm_statistics& s = b.run();
    cycles[at] = s.cycles;
    stalls[at++] = s.core_cycles.stall;
  }
  CHECK(stalls[0] > 0);
  CHECK(stalls[1] == 0);
  CHECK(cycles[0] > cycles[1]);
}

TEST_CASE("swarm: statistics are the chip's, and options are checked") {
  weft::runtime rt({.workers = 1});
  weft::ordered serial(rt, {.executor = "serial"});
  CHECK_THROWS_WITH_AS(static_cast<void>(weft::statistics_of(serial)), doctest::Contains("no modelled chip"),
                       weft::error);
  weft::swarm_options chip{.cores = 6};
  CHECK_THROWS_WITH_AS(weft::ordered(rt, {.executor = "swarm", .swarm = &chip}),
                       doctest::Contains("6 cores do not make whole tiles of 4"), weft::error);
  setenv("WEFT_SWARM", "cores=8,gvt_period=50", 1);
  weft::ordered eight(rt, {.executor = "swarm"});
  unsetenv("WEFT_SWARM");
  CHECK(weft::statistics_of(eight).cores == 8);
  CHECK(weft::statistics_of(eight).tiles == 2);
}

// The real machine: threads that begin when told, tokens that are neither lost nor kept twice, and sleep that costs
// nothing.
#include "machine/host/host.hpp"

#include <doctest/doctest.h>
#include <pthread.h>
#include <sched.h>
#include <time.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "place/topology.hpp"

namespace weft::machine {
namespace {

// Threads 1..n run a script each; the caller is worker 0.
struct crew {
  host machine;
  std::function<void(unsigned)> script;
  unsigned workers = 0;

  void start(unsigned n, std::function<void(unsigned)> s, const std::vector<unsigned>& cpus = {}) {
    script = std::move(s);
    workers = machine.start(
        n, [](void* self, unsigned id) { static_cast<crew*>(self)->script(id); }, this, cpus);
  }
};

void wait_ms(int ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

}  // namespace

TEST_CASE("host: workers begin when run is called, once each, and join waits for all") {
  crew c;
  std::atomic<int> began{0};
  std::atomic<unsigned> ids{0};
  c.start(4, [&](unsigned id) {
    ids += 1u << id;
    wait_ms(2);
    ++began;
  });
  CHECK(c.workers == 4);
  wait_ms(2);
  CHECK(ids == 0);
  c.machine.run();
  c.machine.join();
  CHECK(began == 3);
  CHECK(ids == 0b1110);
}

TEST_CASE("host: one worker needs no thread") {
  crew c;
  c.start(1, [](unsigned) {});
  CHECK(c.workers == 1);
  c.machine.run();
  c.machine.join();
}

TEST_CASE("host: threads have names, and the cores they were given") {
  const std::vector<place::core> cores = place::usable_cores();
  std::vector<unsigned> cpus;
  for (const place::core& core : cores) cpus.push_back(core.cpu);
  crew c;
  std::string name;
  bool bound = false;
  c.start(
      2,
      [&](unsigned) {
        char text[32] = {};
        pthread_getname_np(pthread_self(), text, sizeof text);
        name = text;
        cpu_set_t set;
        CPU_ZERO(&set);
        pthread_getaffinity_np(pthread_self(), sizeof set, &set);
        bound = CPU_COUNT(&set) == 1 && CPU_ISSET(cpus[1 % cpus.size()], &set);
      },
      cpus);
  REQUIRE(c.workers == 2);
  c.machine.run();
  c.machine.join();
  CHECK(name == "weft-1");
  CHECK(bound);
}

TEST_CASE("host: a wake before the park is kept") {
  crew c;
  c.start(1, [](unsigned) {});
  c.machine.wake(0);
  c.machine.park(0);  // returns at once, or never
  c.machine.wake(0);
  c.machine.wake(0);
  c.machine.park(0);
  c.machine.run();
  c.machine.join();
}

TEST_CASE("host: each park ends by a wake and not before") {
  constexpr int rounds = 2000;
  crew c;
  // Not atomic: park and wake must order them, and ThreadSanitizer knows if they do not.
  int sent = 0;
  int answered = 0;
  int wrong = 0;
  c.start(2, [&](unsigned) {
    for (int i = 1; i <= rounds; ++i) {
      c.machine.park(1);
      wrong += sent == i ? 0 : 1;
      answered = i;
      c.machine.wake(0);
    }
  });
  REQUIRE(c.workers == 2);
  c.machine.run();
  for (int i = 1; i <= rounds; ++i) {
    sent = i;
    c.machine.wake(1);
    c.machine.park(0);
    wrong += answered == i ? 0 : 1;
  }
  c.machine.join();
  CHECK(wrong == 0);
}

TEST_CASE("host: a parked worker uses no processor time") {
  crew c;
  std::atomic<bool> parking{false};
  std::uint64_t used_ns = 0;
  const auto cpu_ns = [] {
    timespec t{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(t.tv_nsec);
  };
  c.start(2, [&](unsigned) {
    const std::uint64_t before = cpu_ns();
    parking = true;
    c.machine.park(1);
    used_ns = cpu_ns() - before;
  });
  REQUIRE(c.workers == 2);
  c.machine.run();
  while (!parking) std::this_thread::yield();
  wait_ms(50);
  c.machine.wake(1);
  c.machine.join();
  CHECK(used_ns < 20'000'000);  // spinning would be 50 ms; sleeping is some tens of microseconds
}

TEST_CASE("host: a stranger's block ends by a signal, also one that comes first") {
  cell<std::uint32_t> early;
  host::signal(early);
  host::block(early);

  for (int i = 0; i < 200; ++i) {
    cell<std::uint32_t> word;
    int data = 0;
    std::thread other([&] {
      data = i;
      host::signal(word);
    });
    host::block(word);
    CHECK(data == i);
    other.join();
  }
}

TEST_CASE("host: the clock is steady and counts picoseconds") {
  crew c;
  const std::uint64_t before = c.machine.now_ps();
  wait_ms(3);
  const std::uint64_t passed = c.machine.now_ps() - before;
  CHECK(passed >= 3'000'000'000u);
  CHECK(passed < 60'000'000'000'000u);
}

TEST_CASE("host: compare_exchange tells what it found") {
  cell<std::uint64_t> c{5};
  std::uint64_t expected = 4;
  CHECK(!host::compare_exchange(c, expected, std::uint64_t{9}, base::acq_rel));
  CHECK(expected == 5);
  CHECK(host::compare_exchange(c, expected, std::uint64_t{9}, base::acq_rel));
  CHECK(c.raw == 9);
}

}  // namespace weft::machine

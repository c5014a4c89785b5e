// Another runtime inside a team: on which cores its threads are, that all of them are there at once and nobody else is,
// and that nothing hangs, whatever teams cross and fail. Threads are made here by hand; adapters have tests of their
// own (tests/guests).
#include <doctest/doctest.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "crews.hpp"
#include "replay.hpp"
#include "weft/weft.hpp"

namespace {

constexpr unsigned crews[] = {1, 2, 3, 4, 7, 9, 16};

[[nodiscard]] std::vector<unsigned> mask_of_this_thread() {
  cpu_set_t set;
  std::vector<unsigned> cpus;
  if (sched_getaffinity(0, sizeof set, &set) == 0)
    for (unsigned cpu = 0; cpu < CPU_SETSIZE; ++cpu)
      if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  return cpus;
}
[[nodiscard]] std::vector<unsigned> cpus_of(const weft::guest_context& g) {
  std::vector<unsigned> cpus;
  for (unsigned i = 0; i < g.threads(); ++i) cpus.push_back(static_cast<unsigned>(g.cpu(i)));
  std::sort(cpus.begin(), cpus.end());
  return cpus;
}

}  // namespace

TEST_CASE("guests: one for each call of all members, and who comes after sees what it did") {
  on_each_crew(crews, [](weft::runtime& rt) {
    for (const unsigned width : {1u, 2u, 3u, 16u}) {
      int guests = 0;  // not atomic: they come one after the other
      std::atomic<int> wrong = 0;
      rt.submit(weft::team(width), [&](weft::team_context& t) {
        for (int k = 1; k <= 20; ++k) {
          weft::guest(t, [&](weft::guest_context& g) {
            ++guests;
            wrong += g.threads() == 0 || g.threads() > t.width();
          });
          wrong += guests != k;
          t.barrier();
        }
      });
      rt.wait();
      CHECK(guests == 20);
      CHECK(wrong == 0);
    }
  });
}

TEST_CASE("guests: crossing streams of all widths, from all workers") {
  on_each_crew(crews, [](weft::runtime& rt) {
    std::atomic<long> guests = 0, members = 0, wanted = 0;
    for (unsigned s = 0; s < 8; ++s)
      rt.submit([&, s] {
        for (unsigned k = 0; k < 25; ++k) {
          const unsigned width = 1 + (7 * s + 5 * k) % (rt.workers() + 1);
          wanted += std::min(width, rt.workers());
          rt.submit(weft::team(width), [&, k](weft::team_context& t) {
            ++members;
            if (k % 4 == 0) rt.submit([] {});
            weft::guest(t, [&](weft::guest_context&) { ++guests; });
            if (k % 3 == 0) t.barrier();
            if (k % 5 == 0) weft::guest(t, [&](weft::guest_context&) { ++guests; });
          });
        }
      });
    rt.wait();
    CHECK(members == wanted);
    CHECK(guests == 8 * (25 + 5));
  });
}

TEST_CASE("guests: no worker of the team is in a body, and the thread is on its cores and no other") {
  const unsigned workers = std::max(1u, weft::usable_cpus());
  weft::runtime rt({.workers = workers, .machine = "host"});
  const deadline limit("guests that look where they are");
  const std::vector<unsigned> all = mask_of_this_thread();
  std::vector<std::atomic<int>> in_body(workers);
  std::atomic<int> wrong_mask = 0, crowded = 0, not_restored = 0, threads = 0;
  for (int k = 0; k < 200; ++k) {
    for (unsigned i = 0; i < workers; ++i)
      rt.submit([&] {
        ++in_body[static_cast<unsigned>(weft::worker_id())];
        for (int spin = 0; spin < 2000; ++spin) asm volatile("");
        --in_body[static_cast<unsigned>(weft::worker_id())];
      });
    rt.submit(weft::team(workers), [&](weft::team_context& t) {
      const std::vector<unsigned> before = mask_of_this_thread();
      weft::guest(t, [&](weft::guest_context& g) {
        for (const auto& inside : in_body) crowded += g.threads() == workers && inside != 0;
        threads += static_cast<int>(g.threads());
        if (g.cpu(0) < 0) return;
        wrong_mask += mask_of_this_thread() != cpus_of(g);
        std::thread([&] { wrong_mask += mask_of_this_thread() != cpus_of(g); }).join();
      });
      if (weft::worker_id() != 0) not_restored += mask_of_this_thread().size() != 1 && before.size() == 1;
    });
  }
  rt.wait();
  CHECK(wrong_mask == 0);
  CHECK(crowded == 0);
  CHECK(not_restored == 0);
  CHECK(threads >= 200);
  CHECK(mask_of_this_thread() == all);
}

TEST_CASE("guests: one that comes to a narrower team than before it is on the cores of that one alone") {
  const unsigned workers = std::max(1u, weft::usable_cpus());
  weft::runtime rt({.workers = workers, .machine = "host"});
  const deadline limit("guests of teams that get narrower");
  int wrong_mask = 0;
  std::atomic<int> guests = 0;
  const auto member = [&](weft::team_context& t) {
    weft::guest(t, [&](weft::guest_context& g) {
      if (g.cpu(0) >= 0) wrong_mask += mask_of_this_thread() != cpus_of(g);
      std::thread([&] {
        const std::vector<unsigned> before = mask_of_this_thread();
        g.bind(0);
        wrong_mask += mask_of_this_thread() != (g.cpu(0) < 0 ? before : std::vector{static_cast<unsigned>(g.cpu(0))});
      }).join();
      ++guests;
    });
  };
  for (unsigned width = workers; width != 0; --width)
    for (int k = 0; k < 10; ++k) {
      rt.submit(weft::team(width), member);
      rt.wait();
      rt.submit(weft::team(width), member);  // as narrow as that, with the main thread in the program
      for (const int all = 20 * static_cast<int>(workers - width) + 2 * k + 2; workers > 1 && guests != all;)
        std::this_thread::yield();
      rt.wait();
    }
  CHECK(wrong_mask == 0);
}

TEST_CASE("guests: two at once put no more than one thread on a core") {
  const unsigned cores = std::max(1u, weft::usable_cpus());
  for (const unsigned workers : {cores, 2 * cores}) {
    weft::runtime rt({.workers = workers, .machine = "host"});
    const deadline limit("guests that count threads");
    std::vector<std::atomic<int>> on(CPU_SETSIZE);
    std::atomic<int> crowded = 0, at_once = 0, most = 0, met = 0;
    const auto count = [&](int cpu, int meets) {
      const int now = ++at_once;
      for (int before = most; before < now && !most.compare_exchange_weak(before, now);) {
      }
      crowded += now > static_cast<int>(workers);
      if (cpu >= 0) crowded += ++on[static_cast<unsigned>(cpu)] != 1;
      for (int spin = 0; spin < 2000; ++spin) asm volatile("");
      if (cpu >= 0) crowded += sched_getcpu() != cpu;
      if (meets != 0) ++met;
      while (meets != 0 && met != meets) std::this_thread::yield();
      if (cpu >= 0) --on[static_cast<unsigned>(cpu)];
      --at_once;
    };
    const auto guest = [&](weft::team_context& t, int meets) {
      weft::guest(t, [&](weft::guest_context& g) {
        std::vector<std::thread> others;
        for (unsigned i = 1; i < g.threads(); ++i)
          others.emplace_back([&, i] {
            g.bind(i);
            count(g.cpu(i), 0);
          });
        g.bind(0);
        count(g.cpu(0), meets);
        for (std::thread& thread : others) thread.join();
      });
    };
    const unsigned half = std::max(1u, workers / 2);
    for (unsigned k = 0; k < 300; ++k) rt.submit(weft::team(1 + k % half), [&](weft::team_context& t) { guest(t, 0); });
    rt.wait();
    most = 0;
    if (workers > 1) {  // two that are certainly there at one time, on halves of the machine
      rt.pause();       // until the main thread waits, and so can be in a team
      for (const unsigned first : {0u, half})
        rt.submit(weft::pin(first), weft::team(half), [&](weft::team_context& t) { guest(t, 2); });
      rt.wait();
      CHECK(most > 1);
    }
    CHECK(crowded == 0);
    CHECK(most <= static_cast<int>(cores));
  }
}

TEST_CASE("guests: jobs that wait for each other run all at once, on the workers that are held") {
  for (const unsigned workers : crews) {
    weft::runtime rt({.workers = workers, .machine = "host"});
    const deadline limit("guests that are given their threads");
    std::atomic<int> wrong = 0, rounds = 0;
    for (unsigned k = 0; k < 40; ++k)
      rt.submit(weft::team(1 + k % workers), [&](weft::team_context& t) {
        weft::guest(t, [&](weft::guest_context& g) {
          for (int round = 0; round < 5; ++round) {
            std::atomic<unsigned> come = 0;
            std::vector<int> who(g.threads(), -1);
            g.at_once([&](unsigned i) {
              who[i] = weft::worker_id();
              ++come;
              while (come != g.threads()) std::this_thread::yield();
            });
            std::sort(who.begin(), who.end());
            wrong += std::adjacent_find(who.begin(), who.end()) != who.end() || who.front() < 0;
            ++rounds;
          }
        });
      });
    rt.wait();
    CHECK(wrong == 0);
    CHECK(rounds == 200);
  }
}

TEST_CASE("guests: one that throws: its member gets that, the others are told, and so is the wait") {
  on_each_crew(crews, [](weft::runtime& rt) {
    for (const unsigned width : {1u, 2u, 4u}) {
      std::atomic<int> told = 0, passed = 0, after = 0;
      rt.submit(weft::team(width), weft::named("panel"), [&](weft::team_context& t) {
        try {
          weft::guest(t, [](weft::guest_context&) { throw std::runtime_error("a guest"); });
          ++passed;
        } catch (const weft::team_error& e) {
          told += std::string(e.what()).find("team 'panel' has failed") != std::string::npos;
          throw;
        }
      });
      CHECK(thrown_by([&] { rt.wait(); }) == "a guest");
      CHECK(passed == 0);
      CHECK(told == static_cast<int>(std::min(width, rt.workers())) - 1);
      rt.submit(weft::team(width),
                [&](weft::team_context& t) { weft::guest(t, [&](weft::guest_context&) { ++after; }); });
      rt.wait();
      CHECK(after == 1);
    }
  });
}

TEST_CASE("guests: none comes to a team of which a member has thrown, or has left") {
  on_each_crew(crews, [](weft::runtime& rt) {
    if (rt.workers() < 2) return;
    std::atomic<int> guests = 0;
    for (const bool throws : {true, false}) {
      rt.submit(weft::team(2), weft::named("pair"), [&, throws](weft::team_context& t) {
        if (t.rank() == 1 && throws) throw std::runtime_error("a member");
        if (t.rank() == 1) return;
        weft::guest(t, [&](weft::guest_context&) { ++guests; });
      });
      const std::string said = thrown_by([&] { rt.wait(); });
      CHECK((throws ? said == "a member" : said.find("'pair' has left before a guest") != std::string::npos));
    }
    CHECK(guests == 0);
  });
}

TEST_CASE("guests: while the main thread is in its own code, and while it comes and goes") {
  for (const unsigned workers : {2u, 3u, 5u}) {
    weft::runtime rt({.workers = workers, .machine = "host"});
    const deadline limit("guests while the main thread is away");
    std::atomic<int> guests = 0, threads = 0;
    for (int k = 0; k < 100; ++k)
      rt.submit(weft::team(workers), [&](weft::team_context& t) {
        weft::guest(t, [&](weft::guest_context& g) {
          threads += static_cast<int>(g.threads());
          ++guests;
        });
      });
    while (guests != 100) std::this_thread::yield();
    rt.wait();
    CHECK(threads >= 100);
    weft::handle<int> x{0};
    for (int k = 0; k < 300; ++k) {
      rt.submit(weft::write(x), [](int& value) { ++value; });
      rt.submit(weft::team(workers),
                [&](weft::team_context& t) { weft::guest(t, [&](weft::guest_context&) { ++guests; }); });
      CHECK(rt.get(x) == k + 1);  // it comes back while seats may be in its box
    }
    while (guests != 400) std::this_thread::yield();
    rt.wait();
  }
}

TEST_CASE("guests: in a scope that is cancelled while its member is running, it still comes") {
  on_both_machines([](const weft::options& o) {
    weft::runtime rt(o);
    weft::cancellation stop;
    std::atomic<int> guests = 0, members = 0;
    rt.submit([&] {
      weft::finish(stop, [&] {
        weft::async(weft::team(2), [&](weft::team_context& t) {
          ++members;
          t.barrier();
          stop.cancel();
          weft::guest(t, [&](weft::guest_context&) { ++guests; });
        });
      });
    });
    rt.wait();
    CHECK(guests == (members != 0 ? 1 : 0));
    CHECK(stop.skipped() <= 2);
  });
}

TEST_CASE("guests: teams in teams") {
  on_each_crew(crews, [](weft::runtime& rt) {
    std::atomic<int> guests = 0, teams = 0;
    for (int k = 0; k < 10; ++k)
      rt.submit(weft::team(3), [&](weft::team_context& t) {
        ++teams;
        rt.submit(weft::team(2),
                  [&](weft::team_context& u) { weft::guest(u, [&](weft::guest_context&) { ++guests; }); });
        rt.wait();
        weft::guest(t, [&](weft::guest_context&) { ++guests; });
      });
    rt.wait();
    CHECK(guests == teams + 10);
  });
}

TEST_CASE("guests: what one charges passes for all workers that are held, and what the task costs is shared") {
  const auto time_of = [](unsigned width, double cost, double charged) {
    weft::runtime rt({.workers = 4, .machine = "virtual"});
    rt.submit(weft::team(width), weft::cost(cost),
              [=](weft::team_context& t) { weft::guest(t, [=](weft::guest_context&) { weft::charge(charged); }); });
    rt.wait();
    return rt.now_ns();
  };
  CHECK(time_of(4, 4e6, 0) == doctest::Approx(1e6).epsilon(0.08));
  CHECK(time_of(4, 4, 1e6) == doctest::Approx(1e6).epsilon(0.08));
  CHECK(time_of(4, 4e6, 1e6) == doctest::Approx(2e6).epsilon(0.08));
  CHECK(time_of(2, 4e6, 1e6) == time_of(2, 4e6, 1e6));
}

TEST_CASE("guests: on random schedules, on those that order the tasks, and where one worker creates") {
  const auto run = [](const weft::options& o) {
    const deadline limit("guests on a schedule");
    weft::runtime rt(o);
    weft::handle<int> x{0};
    int guests = 0, wrong = 0;
    for (unsigned k = 0; k < 12; ++k) {
      rt.submit(weft::team(1 + k % 4), weft::write(x), [&](weft::team_context& t, int& value) {
        weft::guest(t, [&](weft::guest_context&) { ++value; });
        t.barrier();
      });
      rt.submit(weft::team(1 + k % 3), [&](weft::team_context& t) {
        weft::guest(t, [&](weft::guest_context&) { std::atomic_ref(guests).fetch_add(1); });
      });
      rt.submit(weft::read(x), [&wrong, k](const int& value) { wrong += value != static_cast<int>(k) + 1; });
    }
    rt.wait();
    CHECK(guests == 12);
    CHECK(wrong == 0);
  };
  for (const char* schedule : {"random", "pct:3:1000", "tasks:3:300"})
    for (std::uint64_t seed = 1; seed <= 20; ++seed)
      run({.workers = 4, .machine = "virtual", .seed = seed, .model = {.schedule = schedule}});
  for (const char* machine : both_machines)
    for (const unsigned workers : {2u, 3u, 5u}) run({.workers = workers, .machine = machine, .creation = "decoupled"});
}

TEST_CASE("guests: outside of tasks, and in a team of none, one is alone") {
  weft::team_context alone;
  unsigned threads = 0, jobs = 0;
  weft::guest(alone, [&](weft::guest_context& g) {
    threads = g.threads();
    g.at_once([&](unsigned) { ++jobs; });
    g.bind(0);
  });
  CHECK((threads == 1 && jobs == 1));
}

// Reports of wake-ups that got lost, and of runtimes that do not come to an end, beside threads of the program's own,
// written for Weft.
//   busy      github.com/uxlfoundation/oneTBB/issues/86, /74: a task that never ends beside tasks that threads enqueue,
//             which were not executed while workers slept
//   mix       github.com/uxlfoundation/oneTBB/issues/1281: runtimes made, used and ended by several threads at random
//   two       github.com/uxlfoundation/oneTBB/issues/1684: tasks that wait in another runtime than their own
//   waits     github.com/uxlfoundation/oneTBB/issues/1759: several threads wait for the same
//   end       github.com/TheHPXProject/hpx/issues/3166, /6451: the end, with one worker and tasks that are left
//   outside   github.com/TheHPXProject/hpx/issues/1020: a task waits for what a thread outside tells, with one worker
// Run: busy 100
// Run: mix 12
// Run: two 30
// Run: waits 25
// Run: end 20
// Run: outside 20
// Long: busy 20000
// Long: mix 1000
// Long: two 1000
// Long: waits 2000
// Long: end 3000
// Long: outside 2000
// Machines: host
// Workers: 2 1 4
// Times: 2
#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>
#include <weft/weft.hpp>

#include "found.hpp"

namespace {

void busy(long n) {
  weft::runtime rt;
  std::atomic<long> ran{0};
  std::atomic<bool> over{false};
  std::vector<std::thread> threads;
  if (rt.workers() > 2)  // one may be a creator
    rt.submit([&] {      // occupies a worker until the others have done everything
      while (!over) std::this_thread::yield();
    });
  for (int t = 0; t < 2; ++t)
    threads.emplace_back([&] {
      for (long i = 0; i < n; ++i) {
        rt.submit([&] { ++ran; });
        if (i % 16 == 0) std::this_thread::sleep_for(std::chrono::microseconds(50));
      }
    });
  for (std::thread& t : threads) t.join();
  threads.clear();
  threads.emplace_back([&] {
    while (ran != 2 * n) std::this_thread::yield();
    over = true;
  });
  rt.wait();
  threads[0].join();
  require(ran == 2 * n, in_words(ran.load(), " of ", 2 * n));
}

// One thread's life: it makes a runtime, uses it in one of three ways, and ends it, or leaves that to the next round.
void mix(long n) {
  std::atomic<long> ran{0}, right{0};
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 3; ++t)
    threads.emplace_back([&, t] {
      std::minstd_rand numbers(t + 1);
      const auto draw = [&numbers](unsigned below) { return static_cast<unsigned>(numbers() / 16 % below); };
      std::unique_ptr<weft::runtime> rt;
      for (long i = 0; i < n; ++i) {
        if (rt == nullptr || draw(3) == 0) rt = std::make_unique<weft::runtime>();
        const unsigned tasks = draw(20);
        right += tasks;
        if (draw(2) == 0) {
          for (unsigned k = 0; k < tasks; ++k) rt->submit([&ran] { ++ran; });
        } else {
          rt->submit([&ran, tasks] { weft::for_each(0u, tasks, [&ran](unsigned) { ++ran; }); });
        }
        if (draw(2) == 0) rt->wait();
        if (draw(4) == 0) rt.reset();
      }
    });
  for (std::thread& t : threads) t.join();
  require(ran == right, in_words(ran.load(), " of ", right.load()));
}

void two(long n) {
  weft::runtime first, second;
  for (long i = 0; i < n; ++i) {
    weft::handle<long> there{0}, here{0};
    first.submit(weft::write(here), [&](long& x) {
      second.submit(weft::write(there), [](long& y) { y = 1; });
      x = second.get(there) + 1;
    });
    second.submit([] {});
    first.wait();
    second.wait();
    require(first.get(here) == 2, "what was made in the other runtime is missing");
  }
}

void waits(long n) {
  weft::runtime rt;
  for (long i = 0; i < n; ++i) {
    weft::handle<long> value{0};
    weft::event arrived;
    std::atomic<int> saw{0};
    for (int k = 0; k < 10; ++k) rt.submit(weft::write(value), [](long& x) { ++x; });
    rt.submit(weft::write(value), weft::completes(arrived), [](long& x) { ++x; });
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; ++t)
      threads.emplace_back([&] {
        arrived.wait();
        rt.wait(value);
        saw += rt.get(value) == 11;
      });
    arrived.fulfil();
    rt.wait();
    for (std::thread& t : threads) t.join();
    require(saw == 3, in_words(saw.load(), " of 3 threads saw all"));
  }
}

void end(long n) {
  for (long i = 0; i < n; ++i) {
    std::atomic<int> ran{0};
    {
      weft::runtime rt;
      for (int k = 0; k < 20; ++k)
        rt.submit([&ran, &rt, k] {
          ++ran;
          if (k % 5 == 0) rt.submit([&ran] { ++ran; });
        });
      if (i % 3 == 0) rt.wait();
    }
    require(ran == 24, in_words(ran.load(), " of 24 ran before the end"));
  }
}

void outside(long n) {
  weft::runtime rt;
  for (long i = 0; i < n; ++i) {
    weft::event triggered;
    std::thread device;
    int after = 0;
    rt.submit([&] {
      device = std::thread([&triggered, i] {
        if (i % 2 == 0) std::this_thread::sleep_for(std::chrono::microseconds(200));
        triggered.fulfil();
      });
      triggered.wait();
      after = 1;
    });
    rt.wait();
    device.join();
    require(after == 1, "the task did not go on");
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::map<std::string, void (*)(long)> all{{"busy", busy},   {"mix", mix}, {"two", two},
                                                  {"waits", waits}, {"end", end}, {"outside", outside}};
  try {
    all.at(word(argc, argv, 1, "busy"))(amount(argument(argc, argv, 2, 20)));
  } catch (const weft::error& e) {
    require(false, e.what());
  }
}

// See kernel.hpp. The sleeper gets 100 us to fall asleep in: a core that has been idle for a while wakes more slowly,
// and a worker sleeps only when there was no work for a while.
#include "kernel.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace weft::tool::calibrate {

namespace {

constexpr double asleep_ns = 100'000;

long futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value) noexcept {
  return ::syscall(SYS_futex, &word, operation, value, nullptr);
}

struct bed {
  alignas(128) std::atomic<std::uint32_t> token{0};
  alignas(128) std::atomic<bool> going{false};  // the sleeper's next instruction but one is the call
  // Written by the sleeper before the meeting that ends a round, read by the waker behind it.
  alignas(128) double woken_at = 0;

  void sleep() noexcept {
    going.store(true, std::memory_order_release);
    while (token.load(std::memory_order_acquire) == 0) futex(token, FUTEX_WAIT_PRIVATE, 0);
    woken_at = now_ns();
    token.store(0, std::memory_order_relaxed);
  }
  // Returns what the wake took of the caller; `begun`: when it began.
  double wake(double& begun) noexcept {
    while (!going.load(std::memory_order_acquire)) relax();
    going.store(false, std::memory_order_relaxed);
    const double until = now_ns() + asleep_ns;
    while (now_ns() < until) relax();
    begun = now_ns();
    token.store(1, std::memory_order_release);
    futex(token, FUTEX_WAKE_PRIVATE, 1);
    return now_ns() - begun;
  }
};

}  // namespace

sleep_figures sleep_and_wake(const effort& e, pair_of_cores cores) {
  bed b;
  meeting up;
  std::vector<double> wakers;
  sleep_figures found;
  found.wake = repeat_on_pair(
      e, cores,
      [&] {
        double begun = 0;
        wakers.push_back(b.wake(begun));
        up.wait(0);
        return b.woken_at - begun;
      },
      [&] {
        b.sleep();
        up.wait(1);
      });
  found.waker = summarise(std::move(wakers));
  return found;
}

summary going_to_sleep(const effort& e, unsigned cpu) {
  constexpr unsigned turns = 200;
  std::atomic<std::uint32_t> turn[2] = {};
  const auto pass_on = [&turn](unsigned party) {
    turn[1 - party].store(1, std::memory_order_release);
    futex(turn[1 - party], FUTEX_WAKE_PRIVATE, 1);
  };
  const auto take = [&turn](unsigned party) {
    while (turn[party].load(std::memory_order_acquire) == 0) futex(turn[party], FUTEX_WAIT_PRIVATE, 0);
    turn[party].store(0, std::memory_order_relaxed);
  };
  std::atomic<std::uint32_t> nobody{0};
  return repeat_on_pair(
      e, {cpu, cpu},
      [&] {
        double start = now_ns();
        for (unsigned i = 0; i < turns; ++i) futex(nobody, FUTEX_WAKE_PRIVATE, 1);
        const double wake = (now_ns() - start) / turns;
        start = now_ns();
        for (unsigned i = 0; i < turns; ++i) {
          pass_on(0);
          take(0);
        }
        return std::max(0.0, (now_ns() - start) / (2 * turns) - wake);
      },
      [&] {
        for (unsigned i = 0; i < turns; ++i) {
          take(1);
          pass_on(1);
        }
      });
}

}  // namespace weft::tool::calibrate

// See lines.hpp. Loops are unrolled by hand where the loop itself would cost as much as what it repeats.
#include "lines.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <numeric>
#include <random>
#include <vector>

namespace weft::tool::calibrate {

namespace {

constexpr unsigned rounds = 1000;
constexpr unsigned unrolled = 16;

template <class Operation> double per_operation(Operation operation) {
  const double start = now_ns();
  for (unsigned i = 0; i < rounds; ++i) {
    operation();
    operation();
    operation();
    operation();  // clang-format off
    operation(); operation(); operation(); operation();
    operation(); operation(); operation(); operation();
    operation(); operation(); operation(); operation();  // clang-format on
  }
  return (now_ns() - start) / (rounds * unrolled);
}

struct alignas(128) word {  // neighbouring lines are fetched in pairs
  std::atomic<std::uint64_t> value{0};
};

// Lines in an order that no prefetcher knows, each naming the next.
class ring_of_lines {
 public:
  static constexpr std::size_t lines = 256;

  ring_of_lines() {
    std::array<std::uint64_t, lines> order;
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin() + 1, order.end(), std::mt19937_64(1));
    for (std::size_t i = 0; i < lines; ++i) words_[order[i]].value.store(order[(i + 1) % lines]);
  }
  // Follows the ring once. A chain of loads: none begins before the last has come.
  void follow() noexcept {
    std::uint64_t at = 0;
    for (std::size_t i = 0; i < lines; ++i) at = words_[at].value.load(std::memory_order_acquire);
    keep(at);
  }
  // The same, and writes each line: it is then here alone. Atomic operations are not begun before their forerunner
  // ends.
  void follow_and_write() noexcept {
    std::uint64_t at = 0;
    for (std::size_t i = 0; i < lines; ++i) at = words_[at].value.fetch_add(0, std::memory_order_acq_rel);
    keep(at);
  }

 private:
  std::array<word, lines> words_;
};

constexpr unsigned passes = 300;  // of a line, or a lock, to and fro

}  // namespace

summary load_hit(const effort& e) {
  const auto w = std::make_unique<word>();
  return repeat(e, [&] { return per_operation([&] { keep(w->value.load(std::memory_order_acquire)); }); });
}

summary store_hit(const effort& e) {
  const auto w = std::make_unique<word>();
  return repeat(e, [&] { return per_operation([&] { w->value.store(1, std::memory_order_release); }); });
}

summary modify_hit(const effort& e) {
  const auto w = std::make_unique<word>();
  return repeat(e, [&] { return per_operation([&] { w->value.fetch_add(1, std::memory_order_acq_rel); }); });
}

summary one_pause(const effort& e) {
  return repeat(e, [] { return per_operation([] { relax(); }); });
}

summary clock_read(const effort& e) {
  return repeat(e, [] { return per_operation([] { keep(now_ns()); }); });
}

summary system_call(const effort& e) {
  return repeat(e, [] { return per_operation([] { keep(::syscall(SYS_getppid)); }); });
}

// A chain of rotations, a cycle each. Not of additions: processors of today do several additions of constants at once
// while they rename registers, and a chain of them shows five times the clock.
summary gigahertz(const effort& e) {
  return repeat(e, [] {
    std::uint64_t x = 1;
    return 1 / per_operation([&x] {
             asm volatile("" : "+r"(x) : :);
             x = std::rotr(x, 7);
             asm volatile("" : "+r"(x));
           });
  });
}

double speed_when_shared(const effort& e, pair_of_cores cores) {
  const auto work = [] {
    std::uint64_t a = 1, b = 2, c = 3, d = 4;
    return per_operation([&] {
      a = a * 5 + 1, b = b * 5 + 1, c = c * 5 + 1, d = d * 5 + 1;
      asm volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d));
    });
  };
  summary alone;
  on_core(cores.first, [&] { alone = repeat(e, work); });
  const summary both = repeat_on_pair(e, cores, work, [&] { static_cast<void>(work()); });
  return both.median > 0 ? std::min(1.0, alone.median / both.median) : 1.0;
}

summary transfer(const effort& e, pair_of_cores cores) {
  const auto ring = std::make_unique<ring_of_lines>();
  meeting written;
  return repeat_on_pair(
      e, cores,
      [&] {
        written.wait(0);
        const double start = now_ns();
        ring->follow();
        return (now_ns() - start) / ring_of_lines::lines;
      },
      [&] {
        ring->follow_and_write();
        written.wait(1);
      });
}

summary invalidation(const effort& e, pair_of_cores cores) {
  const auto ring = std::make_unique<ring_of_lines>();
  meeting shared;
  return repeat_on_pair(
      e, cores,
      [&] {
        ring->follow_and_write();
        shared.wait(0);
        shared.wait(0);
        const double start = now_ns();
        ring->follow_and_write();
        return (now_ns() - start) / ring_of_lines::lines;
      },
      [&] {
        shared.wait(1);
        ring->follow();
        shared.wait(1);
      });
}

summary ping_pong(const effort& e, pair_of_cores cores) {
  const auto ball = std::make_unique<word>();
  // Even: the first is to play. Each sample leaves it even.
  const auto play = [&](std::uint64_t mine) {
    for (unsigned i = 0; i < passes; ++i) {
      std::uint64_t seen = ball->value.load(std::memory_order_acquire);
      while (seen % 2 != mine) {
        relax();
        seen = ball->value.load(std::memory_order_acquire);
      }
      ball->value.store(seen + 1, std::memory_order_release);
    }
  };
  return repeat_on_pair(
      e, cores,
      [&] {
        const double start = now_ns();
        play(0);
        while (ball->value.load(std::memory_order_acquire) % 2 != 0) relax();
        return (now_ns() - start) / (2 * passes);
      },
      [&] { play(1); });
}

summary lock_hand_off(const effort& e, pair_of_cores cores) {
  const auto lock = std::make_unique<word>();
  const auto count = std::make_unique<word>();
  const auto take_turns = [&] {
    for (unsigned i = 0; i < passes; ++i) {
      while (lock->value.exchange(1, std::memory_order_acquire) != 0)
        while (lock->value.load(std::memory_order_relaxed) != 0) relax();
      count->value.store(count->value.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
      lock->value.store(0, std::memory_order_release);
    }
  };
  meeting done;
  return repeat_on_pair(
      e, cores,
      [&] {
        const double start = now_ns();
        take_turns();
        done.wait(0);
        return (now_ns() - start) / (2 * passes);
      },
      [&] {
        take_turns();
        done.wait(1);
      });
}

}  // namespace weft::tool::calibrate

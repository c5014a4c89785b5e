// Threads that sit on cores, and a way to start two of them at the same time.
#pragma once
#include <atomic>
#include <functional>
#include <thread>
#include <vector>

#include "statistics.hpp"

namespace weft::tool::calibrate {

// Nanoseconds of a steady clock.
[[nodiscard]] double now_ns() noexcept;

// What a loop does between two looks at a word, as the library's own waiting loops do.
void relax() noexcept;
void yield() noexcept;  // gives the core away

// Runs f on a thread of its own that is bound to this core, and waits. Where binding is refused it runs anyway.
// Errors: what f throws; weft::error if no thread can be made.
void on_core(unsigned cpu, const std::function<void()>& f);

// Two parties that wait for each other, again and again.
class meeting {
 public:
  // Returns when both have called it as often. Who: party 0 or 1.
  void wait(unsigned party) noexcept {
    const unsigned mine = arrived_[party].value.load(std::memory_order_relaxed) + 1;
    arrived_[party].value.store(mine, std::memory_order_release);
    // int difference: the counts may wrap.
    for (unsigned spins = 1; static_cast<int>(arrived_[1 - party].value.load(std::memory_order_acquire) - mine) < 0;
         ++spins)
      spins % spins_before_yield != 0 ? relax() : yield();
  }

 private:
  static constexpr unsigned spins_before_yield = 1000;  // the other may need this very core
  struct alignas(128) word {
    std::atomic<unsigned> value{0};
  };
  word arrived_[2];
};

// A sample that needs two cores: `first` runs on the one and gives the value, `second` runs on the other. Both begin
// together, once per sample; the pair is made once for all samples. `second` must not throw.
struct pair_of_cores {
  unsigned first;
  unsigned second;
};
[[nodiscard]] summary repeat_on_pair(const effort& e, pair_of_cores cores, const std::function<double()>& first,
                                     const std::function<void()>& second);

// Threads that call f(i) again and again, each bound to core cpus[i], until the object goes. f must not throw.
class company {
 public:
  // Returns when all have begun. Errors: weft::error if a thread cannot be made.
  company(const std::vector<unsigned>& cpus, const std::function<void(std::size_t)>& f);
  ~company() { end(); }
  company(const company&) = delete;
  company& operator=(const company&) = delete;

 private:
  void end() noexcept;
  std::atomic<bool> over_{false};
  std::atomic<std::size_t> running_{0};
  std::vector<std::thread> threads_;
};

// Keeps a value that nothing else uses.
template <class T> void keep(T&& value) noexcept { asm volatile("" : : "g"(value) : "memory"); }

}  // namespace weft::tool::calibrate

// See probe.hpp.
#include "probe.hpp"

#include <pthread.h>
#include <sched.h>
#include <time.h>

#include <exception>
#include <system_error>

#include "weft/error.hpp"

namespace weft::tool::calibrate {

double now_ns() noexcept {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_nsec);
}

void relax() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

void yield() noexcept { sched_yield(); }

namespace {

// Refused binding only makes a measurement worse, and its spread shows that.
void bind_to(unsigned cpu) noexcept {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  static_cast<void>(pthread_setaffinity_np(pthread_self(), sizeof set, &set));
}

std::thread make_thread(const std::function<void()>& f) {
  try {
    return std::thread(f);
  } catch (const std::system_error& e) {
    throw weft::error(std::string("calibrate: no thread can be made: ") + e.what());
  }
}

}  // namespace

void on_core(unsigned cpu, const std::function<void()>& f) {
  std::exception_ptr failed;
  make_thread([&] {
    bind_to(cpu);
    try {
      f();
    } catch (...) {
      failed = std::current_exception();
    }
  }).join();
  if (failed) std::rethrow_exception(failed);
}

summary repeat_on_pair(const effort& e, pair_of_cores cores, const std::function<double()>& first,
                       const std::function<void()>& second) {
  meeting both;
  std::atomic<bool> over{false};  // written before party 0's last wait, read behind it
  std::thread other = make_thread([&] {
    bind_to(cores.second);
    for (;;) {
      both.wait(1);
      if (over.load(std::memory_order_relaxed)) return;
      second();
    }
  });
  const auto end_other = [&] {
    over.store(true, std::memory_order_relaxed);
    both.wait(0);
    other.join();
  };
  summary found;
  try {
    on_core(cores.first, [&] {
      found = repeat(e, [&] {
        both.wait(0);
        return first();
      });
    });
  } catch (...) {
    end_other();
    throw;
  }
  end_other();
  return found;
}

company::company(const std::vector<unsigned>& cpus, const std::function<void(std::size_t)>& f) {
  try {
    for (std::size_t i = 0; i < cpus.size(); ++i)
      threads_.push_back(make_thread([this, i, cpu = cpus[i], f] {
        bind_to(cpu);
        running_.fetch_add(1);
        while (!over_.load(std::memory_order_relaxed)) f(i);
      }));
  } catch (...) {
    end();
    throw;
  }
  while (running_.load() < cpus.size()) yield();
}

void company::end() noexcept {
  over_.store(true);
  for (std::thread& t : threads_) t.join();
}

}  // namespace weft::tool::calibrate

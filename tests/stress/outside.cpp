// Threads outside the runtime submit, wait for handles and for everything, at the same time as tasks do; on handles of
// their own and on shared ones, named in opposite orders. Catches lost wake-ups between strangers and workers, and
// registrations that interleave.
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "stress.hpp"
#include "weft/weft.hpp"

namespace {

constexpr unsigned strangers = 4;

void play(unsigned workers, const char* policy) {
  begin("outside: " + std::to_string(workers) + " workers, policy " + policy);
  weft::runtime rt({.workers = workers, .machine = "host", .policy = policy});
  std::vector<weft::handle<std::uint64_t>> own(strangers), shared(3);
  std::atomic<std::uint64_t> wrong{0}, ran{0};
  const unsigned rounds = amount(15'000);
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < strangers; ++t)
    threads.emplace_back([&, t] {
      for (unsigned i = 1; i <= rounds; ++i) {
        rt.submit(weft::write(own[t]), [](std::uint64_t& x) { ++x; });
        auto& a = shared[t % 3];
        auto& b = shared[(t + 1 + i % 2) % 3];
        rt.submit(weft::write(a), weft::write(b), [](std::uint64_t& x, std::uint64_t& y) { ++x, ++y; });
        rt.submit(weft::add(b), weft::add(a), [](std::uint64_t& x, std::uint64_t& y) { ++x, ++y; });
        rt.submit([&] { rt.submit([&] { ran.fetch_add(1, std::memory_order_relaxed); }); });
        if (i % 5 == 0 && rt.get(own[t]) != i) ++wrong;
        if (i % 97 == 0) rt.wait(a);
        if (i % 301 == 0) rt.wait();
      }
      rt.wait();
    });
  if (workers > 1) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  // With one worker only this thread runs tasks, and only while it waits: so it waits while the others work.
  std::atomic<unsigned> left{strangers};
  std::thread counter([&] {
    for (auto& t : threads) t.join();
    left = 0;
  });
  while (left != 0) {
    rt.wait();
    std::this_thread::yield();
  }
  counter.join();
  rt.wait();
  require(wrong == 0, std::to_string(wrong) + " waits for a handle were too early");
  require(ran == std::uint64_t{strangers} * rounds, "tasks in tasks were lost");
  std::uint64_t sum = 0;
  for (auto& h : shared) sum += h.unguarded();
  require(sum == std::uint64_t{strangers} * rounds * 4, "writes or adds to shared handles were lost");
}

}  // namespace

int main() {
  for (const weft::choice& policy : weft::policies())
    for (unsigned workers : {1u, 2u, 3u, 7u}) play(workers, policy.name);
}

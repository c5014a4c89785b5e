// Runtimes and handles made and destroyed over and over: at once, with work still pending, idle, several at a time.
// Catches what only the beginning and the end can get wrong: a worker that starts late and misses the stop, a wake-up
// after the end, memory and threads that stay.
#include <atomic>
#include <filesystem>
#include <fstream>
#include <memory>
#include <vector>

#include "stress.hpp"
#include "weft/weft.hpp"

namespace {

unsigned entries(const char* folder) {
  unsigned n = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder)) ++n;
  return n;
}

unsigned threads_now() { return entries("/proc/self/task"); }

unsigned mappings_now() {
  std::ifstream maps("/proc/self/maps");
  unsigned n = 0;
  for (std::string line; std::getline(maps, line);) ++n;
  return n;
}

// A thousand whole lives: with stacks that were made for waits, and threads that had to be joined.
void thousand() {
  const auto live = [](unsigned workers) {
    weft::runtime rt({.workers = workers, .machine = "host"});
    std::atomic<unsigned> ran{0};
    for (unsigned t = 0; t < 20; ++t) rt.submit([&] { rt.submit([&] { ++ran; }), rt.wait(); });
    rt.wait();
    require(ran == 20, "tasks were lost in one of a thousand runtimes");
  };
  begin("churn: a thousand runtimes");
  for (unsigned i = 0; i < 20; ++i) live(4);  // the C library keeps some threads' stacks for the next ones
  const unsigned files = entries("/proc/self/fd"), mappings = mappings_now();
  for (unsigned part = 0; part < 4; ++part) {
    begin("churn: a thousand runtimes, part " + std::to_string(part));
    for (unsigned i = 0; i < amount(250); ++i) live(1 + i % 4);
  }
  require(entries("/proc/self/fd") == files, "files are left open");
  if (sanitized) return;  // a sanitizer maps memory of its own
  require(mappings_now() <= mappings + 50, std::to_string(mappings_now() - mappings) + " mappings are left behind");
}

void runtimes(unsigned workers, const char* policy) {
  begin("churn: runtimes with " + std::to_string(workers) + " workers, policy " + policy);
  std::atomic<unsigned> ran{0};
  unsigned expected = 0, total = 0;
  for (unsigned i = 0; i < amount(50); ++i) {
    weft::handle<unsigned> outlives{0u};
    {
      weft::runtime rt({.workers = workers, .machine = "host", .policy = policy});
      const unsigned tasks = i % 4 == 0 ? 0 : i % 40;  // some end before their workers have begun
      expected += tasks;
      for (unsigned t = 0; t < tasks; ++t)
        rt.submit(weft::add(outlives), [&](unsigned& x) {
          ++x;
          rt.submit([&] { ++ran; });
        });
      if (i % 3 == 0) rt.wait();
      total += tasks;
    }
    require(outlives.unguarded() == total, "a runtime ended before its tasks");
    total = 0;
  }
  require(ran == expected, std::to_string(ran) + " tasks ran of " + std::to_string(expected));
}

// Handles that die right after their last task, on main and in tasks: the last task must not touch them any more.
void handles(unsigned workers) {
  begin("churn: handles with " + std::to_string(workers) + " workers");
  weft::runtime rt({.workers = workers, .machine = "host"});
  std::atomic<unsigned> wrong{0};
  const unsigned rounds = amount(1'000);
  for (unsigned i = 0; i < rounds; ++i) {
    {
      auto h = std::make_unique<weft::handle<unsigned>>(0u);
      for (unsigned t = 0; t < i % 5; ++t) rt.submit(weft::write(*h), [](unsigned& x) { ++x; });
      if (i % 2 == 0 && rt.get(*h) != i % 5) ++wrong;
    }
    rt.submit([&rt, &wrong, i] {
      weft::handle<unsigned> a{0u}, b{0u};
      for (unsigned t = 0; t < i % 4; ++t) {
        rt.submit(weft::write(a), weft::add(b), [](unsigned& x, unsigned& y) { ++x, ++y; });
        rt.submit(weft::add(b), weft::add(a), [](unsigned& x, unsigned& y) { ++x, ++y; });
      }
      if (i % 3 == 0 && rt.get(a) != 2 * (i % 4)) ++wrong;
    });
  }
  rt.wait();
  require(wrong == 0, std::to_string(wrong) + " waits for a handle were too early");
}

void several_at_once() {
  begin("churn: several runtimes at once");
  for (unsigned i = 0; i < amount(20); ++i) {
    std::vector<std::unique_ptr<weft::runtime>> all;
    std::atomic<unsigned> ran{0};
    for (unsigned k = 0; k < 4; ++k) {
      all.push_back(std::make_unique<weft::runtime>(
          weft::options{.workers = 1 + k, .machine = k == 3 ? "virtual" : "host", .pin = false}));
      for (unsigned t = 0; t < 50; ++t) all.back()->submit([&] { ++ran; });
    }
    while (!all.empty()) all.erase(all.begin() + (i + all.size()) % all.size());
    require(ran == 200, "tasks were lost at the end of one of several runtimes");
  }
}

}  // namespace

int main() {
  weft::runtime({.workers = 4, .machine = "host"});  // a sanitizer may start a thread of its own with the first one
  const unsigned before = threads_now();
  for (const weft::choice& policy : weft::policies())
    for (unsigned workers : {1u, 2u, 4u, 16u}) runtimes(workers, policy.name);
  for (unsigned workers : {1u, 2u, 4u}) handles(workers);
  several_at_once();
  thousand();
  for (unsigned i = 0; i < 1000 && threads_now() != before; ++i)
    ::usleep(1000);  // the kernel forgets them a little later
  require(threads_now() == before, "threads are left behind");
}

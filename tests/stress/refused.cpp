// A system that refuses threads, or the right to bind them: fewer workers, or unbound ones, one line on stderr, and the
// program goes on. The linker gives this program its own pthread_create and pthread_setaffinity_np (cmake/tests.cmake);
// where the library is shared that does not reach it, and the test is skipped.
#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <initializer_list>
#include <string>

#include "capture.hpp"
#include "stress.hpp"
#include "weft/weft.hpp"

extern "C" {
int __real_pthread_create(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
int __real_pthread_setaffinity_np(pthread_t, std::size_t, const cpu_set_t*);
int __wrap_pthread_create(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
int __wrap_pthread_setaffinity_np(pthread_t, std::size_t, const cpu_set_t*);
}

namespace {

int threads_allowed = 1000;
bool binding_allowed = true;
int threads_asked_for = 0;
int bindings_asked_for = 0;

// Runs some tasks of every kind of wait; gives whether they all ran.
bool works(weft::runtime& rt) {
  std::atomic<int> ran{0};
  weft::handle<int> h{0};
  for (int i = 0; i < 1'000; ++i) {
    rt.submit([&] { ++ran; });
    rt.submit(weft::write(h), [](int& x) { ++x; });
  }
  rt.submit([&] {
    for (int i = 0; i < 10; ++i) rt.submit([&] { ++ran; });
    rt.wait();
  });
  rt.wait();
  return ran == 1'010 && rt.get(h) == 1'000;
}

unsigned lines(const std::string& text) { return static_cast<unsigned>(std::count(text.begin(), text.end(), '\n')); }

void refused_threads() {
  begin("refused: threads");
  // Which refusal is first matters: the system's limits are met at any number.
  const std::string said = stderr_of([] {
    for (const int allowed : {2, 0, 1}) {
      threads_allowed = allowed;
      weft::runtime rt({.workers = 8, .machine = "host"});
      require(rt.workers() == static_cast<unsigned>(allowed) + 1,
              std::to_string(rt.workers()) + " workers with " + std::to_string(allowed) + " threads");
      require(works(rt), "tasks were lost with " + std::to_string(allowed) + " threads");
      try {
        rt.submit(weft::pin(static_cast<unsigned>(allowed) + 1), [] {});
        require(false, "a task is pinned to a worker that does not exist");
      } catch (const weft::error&) {
      }
    }
    threads_allowed = 1000;
    weft::runtime rt({.workers = 8, .machine = "host"});
    require(rt.workers() == 8, "threads are there again, but not used");
    require(works(rt), "tasks were lost afterwards");
  });
  std::printf("  %s", said.c_str());
  require(lines(said) == 1, "not one line: " + said);
  require(said.find("fewer workers") != std::string::npos, said);
}

void refused_binding() {
  begin("refused: binding to cores");
  const std::string said = stderr_of([] {
    binding_allowed = false;
    for (int i = 0; i < 3; ++i) {
      weft::runtime rt({.workers = weft::usable_cpus(), .machine = "host"});
      require(rt.workers() == weft::usable_cpus(), "workers that cannot be bound are left out");
      require(works(rt), "tasks were lost without binding");
    }
    binding_allowed = true;
  });
  std::printf("  %s", said.c_str());
  if (weft::usable_cpus() == 1) return;  // the only worker is the caller, who is never bound
  require(bindings_asked_for != 0, "nothing is bound, so nothing was refused");
  require(lines(said) == 1, "not one line: " + said);
  require(said.find("not bound") != std::string::npos, said);
}

}  // namespace

int __wrap_pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*entry)(void*), void* argument) {
  ++threads_asked_for;
  if (threads_allowed == 0) return EAGAIN;
  --threads_allowed;
  return __real_pthread_create(thread, attributes, entry, argument);
}

int __wrap_pthread_setaffinity_np(pthread_t thread, std::size_t bytes, const cpu_set_t* set) {
  ++bindings_asked_for;
  return binding_allowed ? __real_pthread_setaffinity_np(thread, bytes, set) : EPERM;
}

int main() {
  weft::runtime({.workers = 2, .machine = "host"});
  if (threads_asked_for == 0) {
    std::puts("skipped: the library is shared");
    return 77;
  }
  refused_threads();
  refused_binding();
}

// A program makes its runtime and then forks. In the child, which has none of the workers, plain tasks ran, and tasks
// for another worker, teams and waits hung. Right: whatever would give that runtime something to do, or wait for it,
// throws a weft::error; what needs no runtime works, and a runtime that the child makes works, too.
// Machines: host
// Workers: 1 3
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <weft/weft.hpp>

#include <thread>

#include "found.hpp"

namespace {

// 0: it threw a weft::error, or, in the child, what was asked held.
template <class Body> int in_child(Body body) {
  std::fflush(nullptr);
  const pid_t child = fork();
  require(child >= 0, "fork() fails");
  if (child == 0) {
    alarm(120);
    try {
      body();
    } catch (const weft::error&) {
      _exit(0);
    } catch (...) {
      _exit(2);
    }
    _exit(1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
template <class Body> void refuses(const char* what, Body body) {
  const int got = in_child(body);
  require(got == 0, std::string("in a child, ") + what + ": status " + std::to_string(got));
}
template <class Body> void works(const char* what, Body body) {
  refuses(what, [&] { _exit(body() ? 0 : 3); });
}

}  // namespace

int main() {
  weft::runtime rt;
  weft::handle<int> h(0);
  weft::event e("e");
  weft::stream<int> s("s");
  weft::graph g(rt, [&h](weft::recorder& to) { to.submit(weft::write(h), [](int& x) { ++x; }); });
  for (int i = 0; i < 100; ++i) rt.submit(weft::write(h), [](int& x) { ++x; });
  rt.wait();
  refuses("a plain task", [&] { rt.submit([] {}); });
  refuses("a pinned task", [&] { rt.submit(weft::pin(0), [] {}); });
  refuses("a task with data", [&] { rt.submit(weft::write(h), [](int&) {}); });
  refuses("a task with an event", [&] { rt.submit(weft::completes(e), [] {}); });
  refuses("a task with elements", [&] { rt.submit(weft::push(s, 1), [](std::span<int>) {}); });
  refuses("a team", [&] { rt.submit(weft::team(2).together(), [](weft::team_context& t) { t.barrier(); }); });
  refuses("a graph", [&] { g.run(); });
  refuses("a wait", [&] { rt.wait(); });
  refuses("a wait for a handle", [&] { rt.wait(h); });
  refuses("a wait for a version", [&] { rt.wait(h, 50); });
  refuses("a get", [&] { static_cast<void>(rt.get(h)); });
  refuses("a pause", [&] { rt.pause(); });
  refuses("a task of another thread", [&] {
    bool threw = false;
    std::thread([&] {
      try {
        rt.submit([] {});
      } catch (const weft::error&) {
        threw = true;
      }
    }).join();
    if (threw) throw weft::error("as it should");
  });
  works("forks and loops", [] {
    int sum = 0;
    weft::fork_join([&] { sum += 1; }, [&] { sum += 2; });
    weft::finish([&] { weft::async([&] { sum += 4; }); });
    return sum == 7;
  });
  works("a runtime of its own", [&h] {
    weft::runtime own({.workers = 2});
    own.submit(weft::write(h), [](int& x) { x = 5; });
    int sum = 0;
    weft::finish([&] { weft::async([&] { ++sum; }); });
    own.submit([&] {
      for (int i = 0; i < 10; ++i) own.submit(weft::write(h), [](int& x) { ++x; });
      own.wait();
    });
    own.wait();
    return own.get(h) == 15 && sum == 1;
  });
  rt.submit([&] {
    refuses("a body that forks", [&] { rt.submit([] {}); });
    refuses("a body that forks and waits", [&] { rt.wait(); });
  });
  rt.wait();
  g.run();
  require(rt.get(h) == 101, "the parent does not go on");
}

// A program that cannot go on, when threads outside the runtime take part: the main thread's wait and theirs end with
// the names of what is stuck, or, as long as that cannot be certain, one report says that nothing moves. Without such
// threads: behaviour_waits.cpp.
// Not in quick: it waits for reports that come after seconds.
#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "capture.hpp"
#include "replay.hpp"
#include "thrown.hpp"
#include "weft/weft.hpp"

namespace {

using std::chrono::milliseconds;

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// Two tasks of which neither will ever end: the parent waits for a child that needs what the parent holds.
void submit_deadlock(weft::runtime& rt, weft::handle<int>& account) {
  account.name("account");
  rt.submit(weft::write(account), weft::named("teller"), [&](int&) {
    rt.submit(weft::write(account), weft::named("auditor"), [](int&) {});
    rt.wait();
  });
}

void check_names(const std::string& said) {
  INFO(said);
  CHECK(contains(said, "task 'teller' waits inside its body for its children"));
  CHECK(contains(said, "task 'auditor' waits for version 1 of handle 'account', which is at 0"));
}

// A body that is never called. Its destruction, of the last of its moved copies, says so and takes long.
struct slow_to_destroy {
  explicit slow_to_destroy(std::atomic<bool>* told) : began(told) {}
  slow_to_destroy(slow_to_destroy&& o) noexcept : began(std::exchange(o.began, nullptr)) {}
  slow_to_destroy& operator=(slow_to_destroy&&) = delete;
  ~slow_to_destroy() {
    if (began == nullptr) return;
    *began = true;
    std::this_thread::sleep_for(milliseconds(200));
  }
  void operator()(const int&, int&) const {}
  std::atomic<bool>* began;
};

// Two tasks that each wait in their bodies for what the other holds.
void submit_crossing(weft::runtime& rt, weft::handle<int>& a, weft::handle<int>& b, std::atomic<int>& begun) {
  a.name("debit");
  b.name("credit");
  const auto wait_for = [&rt, &begun](weft::handle<int>& other) {
    ++begun;
    while (begun < 2) rt.submit([] {}), rt.wait();
    rt.wait(other);
  };
  rt.submit(weft::write(a), weft::named("east"), [&b, wait_for](int&) { wait_for(b); });
  rt.submit(weft::write(b), weft::named("west"), [&a, wait_for](int&) { wait_for(a); });
}

unsigned occurrences(const std::string& text, const std::string& part) {
  unsigned n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

// Calls body(runtime, handle) for 1, 2 and 4 workers; what the end of a broken runtime says once more is not of
// interest.
void with_workers(const char* name, const std::function<void(weft::runtime&, weft::handle<int>&)>& body) {
  for (const unsigned workers : {1u, 2u, 4u}) {
    const deadline limit(std::string(name) + ", workers " + std::to_string(workers));
    INFO(workers << " workers");
    weft::handle<int> account;
    weft::runtime rt({.workers = workers, .machine = "host"});
    body(rt, account);
  }
}

}  // namespace

// Catches: one call from another thread, long over, that turns the detection off for good.
TEST_CASE("stalls: found although a thread outside the runtime has called in before") {
  with_workers("stalls: found although*", [](weft::runtime& rt, weft::handle<int>& account) {
    std::atomic<int> ran{0};
    std::thread([&] { rt.submit([&] { ++ran; }); }).join();
    rt.wait();
    CHECK(ran == 1);
    submit_deadlock(rt, account);
    check_names(thrown([&] { rt.wait(); }));
  });
}

// What they submit can never help: a task waits only for what was registered before it.
TEST_CASE("stalls: found while a thread outside goes on submitting other tasks") {
  with_workers("stalls: found while*", [](weft::runtime& rt, weft::handle<int>& account) {
    std::atomic<bool> over{false}, gone{false};
    std::thread other([&] {
      weft::handle<int> mine;
      while (!over) {
        rt.submit(weft::write(mine), [](int& x) { ++x; });
        std::this_thread::sleep_for(milliseconds(1));
      }
      while (thrown([&] { rt.wait(mine); }) != "") {
      }
      gone = true;
    });
    submit_deadlock(rt, account);
    check_names(thrown([&] { rt.wait(); }));
    over = true;
    while (!gone) static_cast<void>(thrown([&] { rt.wait(); }));  // with one worker its last tasks run only in here
    other.join();
  });
}

// A task that arrives behind the stuck ones wakes nobody: the last call must have somebody look again.
TEST_CASE("stalls: found when what gets stuck comes from outside while everybody sleeps") {
  with_workers("stalls: found when*", [](weft::runtime& rt, weft::handle<int>& account) {
    submit_deadlock(rt, account);
    std::atomic<int> started{0};
    std::vector<std::thread> others;
    for (int t = 0; t < 3; ++t)
      others.emplace_back([&] {
        ++started;
        for (int i = 0; i < 50; ++i) rt.submit(weft::write(account), weft::named("late"), [](int&) {});
      });
    CHECK(contains(thrown([&] { rt.wait(); }), "'teller'"));
    for (std::thread& t : others) t.join();
    CHECK(started == 3);
    CHECK(thrown([&] { rt.wait(); }) != "");
  });
}

// While a call is under way it could bring what is missing. The worker that found everybody asleep gives up because of
// it, so its end must have somebody ask again. A refused task whose closure takes long to destroy holds it open.
TEST_CASE("stalls: found after a call from outside that was under way when everybody fell asleep") {
  with_workers("stalls: found after*", [](weft::runtime& rt, weft::handle<int>& account) {
    submit_deadlock(rt, account);
    std::atomic<bool> under_way{false};
    std::thread other([&] {
      weft::handle<int> twice;
      CHECK(contains(thrown([&] { rt.submit(weft::read(twice), weft::write(twice), slow_to_destroy{&under_way}); }),
                     "weft:"));
    });
    while (!under_way) std::this_thread::yield();
    check_names(thrown([&] { rt.wait(); }));
    other.join();
  });
}

TEST_CASE("stalls: threads outside that wait are told, as the main thread is") {
  with_workers("stalls: threads outside*", [](weft::runtime& rt, weft::handle<int>& account) {
    submit_deadlock(rt, account);
    std::atomic<unsigned> told{0};
    std::vector<std::string> said(4);
    std::vector<std::thread> others;
    for (unsigned t = 0; t < said.size(); ++t)
      others.emplace_back([&, t] {
        said[t] = thrown([&] { t % 2 == 0 ? rt.wait() : rt.wait(account); });
        ++told;
      });
    // One of them may begin to wait after the main thread was told; then it is told with the next wait.
    std::string mine;
    while (told < said.size()) mine = thrown([&] { rt.wait(); });
    for (std::thread& t : others) t.join();
    check_names(mine);
    for (const std::string& text : said) check_names(text);
  });
}

// The main thread could still give away what it submitted, so nothing is thrown; but a silent hang helps nobody.
TEST_CASE("stalls: while the main thread is in no wait, one report on stderr says that nothing moves") {
  const deadline limit("stalls: while the main thread*", 100);
  const std::string said = stderr_of([] {
    weft::handle<int> account;
    weft::runtime rt({.workers = 3, .machine = "host"});
    submit_deadlock(rt, account);
    std::atomic<unsigned> told{0};
    std::vector<std::thread> others;
    for (int t = 0; t < 2; ++t)
      others.emplace_back([&] {
        CHECK(thrown([&] { rt.wait(account); }) != "");
        ++told;
      });
    std::this_thread::sleep_for(milliseconds(9'000));  // several times what it takes to be told
    CHECK(told == 0);
    while (told < 2) CHECK(thrown([&] { rt.wait(); }) != "");  // now it is certain
    for (std::thread& t : others) t.join();
  });
  INFO(said);
  CHECK(occurrences(said, "no task has run") == 1);
  CHECK(contains(said, "task 'auditor' waits for version 1 of handle 'account', which is at 0"));
}

// A long body, a sleeping main thread and a paused runtime are no standstill.
TEST_CASE("stalls: nothing is reported while somebody works, or all is done") {
  const deadline limit("stalls: nothing is reported*", 100);
  CHECK(stderr_of([] {
          weft::runtime rt({.workers = 2, .machine = "host"});
          weft::handle<int> slow;
          std::thread other([&] {
            rt.submit(weft::write(slow), [](int& x) { std::this_thread::sleep_for(milliseconds(5'000)), x = 1; });
            CHECK(rt.get(slow) == 1);
            rt.wait();
          });
          other.join();
        }) == "");
}

TEST_CASE("stalls: a body that waits for a handle is reported with that handle") {
  for (const unsigned workers : {2u, 3u}) {
    const deadline limit("stalls: crossing waits, workers " + std::to_string(workers));
    weft::handle<int> a, b;
    std::atomic<int> begun{0};
    weft::runtime rt({.workers = workers, .machine = "host"});
    submit_crossing(rt, a, b, begun);
    const std::string said = thrown([&] { rt.wait(); });
    INFO(said);
    CHECK(contains(said, "task 'east' waits inside its body for version 1 of handle 'credit', which is at 0"));
    CHECK(contains(said, "task 'west' waits inside its body for version 1 of handle 'debit', which is at 0"));
  }
}

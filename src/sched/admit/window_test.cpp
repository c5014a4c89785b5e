// The window alone: who is woken, and when the limit grows. What it asks of an engine is played here.
#include "sched/admit/window.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <thread>
#include <vector>

#include "machine/host/host.hpp"

namespace weft::sched {
namespace {

using machine::host;
constexpr std::size_t batch = base::pool_batch_records;
const std::size_t first = rules::usual()[by::first_window];
const std::size_t most = 4 * first;

struct played final : window_needs {
  void wake(submitter& s) noexcept override {
    woken.push_back(&s);
    host::signal(s.signal);
  }
  [[nodiscard]] std::uint64_t tasks_begun() noexcept override { return tasks; }
  [[nodiscard]] bool has_room(std::uint8_t size_class, std::size_t live_max) noexcept override {
    return live[size_class] + batch <= live_max;
  }
  [[nodiscard]] std::size_t times(const submitter& s) const {
    return static_cast<std::size_t>(std::count(woken.begin(), woken.end(), &s));
  }
  std::vector<submitter*> woken;
  std::uint64_t tasks = 0;
  std::size_t live[2] = {};
};

struct place {
  explicit place(std::size_t options_window = most, unsigned threads = 3) : w(needs, options_window) {
    w.open(threads, true);
  }
  // So many milliseconds later; `busy_ms` more were spent on cores, and so many tasks begun.
  progress later(std::uint64_t ms, std::uint64_t busy_ms, std::uint64_t tasks) {
    now.at_ps += ms * 1'000'000'000;
    now.busy_ns += busy_ms * 1'000'000;
    now.tasks = needs.tasks += tasks;
    return now;
  }
  played needs;
  window<host> w;
  progress now{};
};

struct blocked : detail::cell<std::uint32_t>, submitter {
  explicit blocked(unsigned its_id, std::uint8_t its_class = 0)
      : submitter(static_cast<detail::cell<std::uint32_t>&>(*this), its_class, its_id) {}
};

}  // namespace

TEST_CASE("window: it begins small where submitters block, and as given where they do not or below that") {
  const auto opened = [](std::size_t options_window, bool grows) {
    played needs;
    window<host> w(needs, options_window);
    w.open(3, grows);
    return w.limit();
  };
  CHECK(opened(most, true) == first);
  CHECK(opened(64, true) == 64);
  CHECK(opened(most, false) == most);
}

TEST_CASE("window: whoever blocks is woken when three quarters are free, once, and nobody of another class") {
  place p;
  blocked a(0), other(submitter::stranger, 1);
  CHECK(!p.w.anyone());
  REQUIRE(p.w.enter(a));
  REQUIRE(p.w.enter(other));
  CHECK(p.w.anyone());
  p.needs.live[0] = p.needs.live[1] = first;
  for (; p.needs.live[0] > first / 4; p.needs.live[0] -= batch) {
    p.w.room_made(0);
    CHECK(p.needs.woken.empty());
  }
  p.w.room_made(0);
  p.w.room_made(0);
  CHECK(p.needs.times(a) == 1);
  CHECK(p.needs.times(other) == 0);
  CHECK(!p.w.look_again(a));
  p.w.room_made(0);
  CHECK(p.needs.times(a) == 2);  // it has looked since, and may have found nothing
  p.w.leave(a);
  p.w.leave(other);
  CHECK(!p.w.anyone());
  CHECK(p.w.limit() == first);
}

TEST_CASE("window: one worker blocks at a time below the option, and not on the reserve; strangers always") {
  place p;
  blocked a(0), b(1), stranger(submitter::stranger), on_reserve(0);
  on_reserve.replaceable = false;
  REQUIRE(p.w.enter(stranger));
  CHECK(!p.w.enter(on_reserve));
  CHECK(p.w.limit() == 2 * first);
  CHECK(p.needs.times(stranger) == 1);  // there is room for all now
  REQUIRE(p.w.enter(a));
  CHECK(!p.w.enter(b));
  CHECK(p.w.limit() == most);
  CHECK(p.w.look_again(a));
  CHECK(!p.w.look_again(a));  // once
  CHECK(p.w.enter(b));
  for (submitter* s : {static_cast<submitter*>(&a), static_cast<submitter*>(&b), static_cast<submitter*>(&stranger)})
    p.w.leave(*s);
}

TEST_CASE("window: at the option all may block, and when nobody is left who runs tasks all exceed it at once") {
  place p(64, 3);
  blocked a(0), b(1), on_reserve(0);
  on_reserve.replaceable = false;
  REQUIRE(p.w.enter(a));
  REQUIRE(p.w.enter(b));
  CHECK(p.w.limit() == 64);
  SUBCASE("the third blocks") { REQUIRE(p.w.enter(on_reserve)); }
  SUBCASE("the third waits for its id") { p.w.stand(); }
  CHECK(p.w.limit() == 64 + batch);
  CHECK(p.w.look_again(a));
  CHECK(p.w.look_again(b));
  p.needs.live[0] = 64;
  p.w.room_made(0);  // what was beyond is over
  CHECK(p.w.limit() == 64);
  p.w.leave(a);
  p.w.leave(b);
}

TEST_CASE("window: a worker that wants no more lets submitters have what room there is, and the limit stands") {
  place p;
  blocked a(0);
  REQUIRE(p.w.enter(a));
  p.needs.live[0] = first;
  p.w.worker_idle(false);
  CHECK(p.needs.times(a) == 0);
  CHECK(p.w.limit() == first);
  p.needs.live[0] = first - batch;
  p.w.worker_idle(false);
  CHECK(p.needs.times(a) == 1);
  CHECK(p.w.limit() == first);
  p.w.leave(a);
}

TEST_CASE("window: a worker with nothing to do lets submitters go on, with what room there is or with more") {
  place p;
  blocked a(0);
  REQUIRE(p.w.enter(a));
  p.needs.live[0] = first - batch;
  p.w.worker_idle(true);
  CHECK(p.needs.times(a) == 1);
  CHECK(p.w.limit() == first);
  CHECK(!p.w.look_again(a));
  p.needs.live[0] = first;
  p.w.worker_idle(true);
  CHECK(p.needs.times(a) == 2);
  CHECK(p.w.limit() == 2 * first);
  CHECK(p.w.look_again(a));
  p.needs.live[0] = most;
  p.w.worker_idle(true);
  CHECK(p.w.limit() == most);
  CHECK(p.w.look_again(a));
  p.w.worker_idle(true);  // at the option: only room counts
  CHECK(p.w.limit() == most);
  CHECK(p.needs.times(a) == 3);
  p.w.all_idle();
  CHECK(p.w.limit() == most + batch);
  p.w.leave(a);
}

TEST_CASE("window: below the option it grows where no task begins, also beside a body that computes") {
  place p;
  blocked a(0), b(submitter::stranger);
  REQUIRE(p.w.enter(a));
  REQUIRE(p.w.enter(b));
  CHECK(p.w.patience(a) == rules::usual()[by::first_patience] / 4);
  p.w.judge(b, p.later(2, 2, 10));
  p.w.judge(b, p.later(2, 2, 10));
  CHECK(p.w.limit() == first);  // the oldest judges
  p.w.judge(a, p.later(2, 2, 10));
  CHECK(p.w.limit() == first);  // its first look
  CHECK(p.w.patience(a) == rules::usual()[by::first_patience]);
  p.w.judge(a, p.later(2, 2, 1));
  CHECK(p.w.limit() == first);
  p.w.judge(a, p.later(2, 2, 0));
  CHECK(p.w.limit() == 2 * first);
  p.w.judge(a, p.later(2, 0, 0));
  p.w.judge(a, p.later(2, 0, 0));
  CHECK(p.w.limit() == most);
  CHECK(p.w.patience(a) == base::patience_ns);
  CHECK(p.needs.times(b) == 1);
  p.w.leave(a);
  p.w.leave(b);
}

TEST_CASE("window: beyond the option steps double while no task begins, and begin anew when one has") {
  place p(64);
  blocked a(0);
  REQUIRE(p.w.enter(a));
  std::size_t expected = 64;
  for (const std::size_t step : {1, 2, 4, 8}) {
    p.w.judge(a, p.later(20, 0, 0));
    CHECK(p.w.limit() == expected);
    p.w.judge(a, p.later(20, 0, 0));
    CHECK(p.w.limit() == (expected += step * batch));
  }
  p.w.judge(a, p.later(20, 0, 1));
  p.w.judge(a, p.later(20, 0, 1));  // it moves
  CHECK(p.w.limit() == expected);
  p.w.judge(a, p.later(20, 0, 0));
  CHECK(p.w.limit() == expected + batch);
  p.w.judge(a, p.later(20, 0, 0));
  p.w.judge(a, p.later(20, 20, 0));  // a body computes
  CHECK(p.w.limit() == expected + batch);
  p.w.leave(a);
}

TEST_CASE("window: what many who block use to look in vain is no work; a body that computes beside them is") {
  place p(64);
  std::vector<std::unique_ptr<blocked>> all;
  for (int i = 0; i < 100; ++i) {
    all.push_back(std::make_unique<blocked>(submitter::stranger));
    REQUIRE(p.w.enter(*all.back()));
    CHECK(p.w.judges(*all.back()) == (i == 0));
  }
  blocked& oldest = *all.front();
  p.w.judge(oldest, p.later(20, 3, 0));
  p.w.judge(oldest, p.later(20, 3, 0));
  CHECK(p.w.limit() == 64 + batch);
  p.w.judge(oldest, p.later(20, 3, 0));
  p.w.judge(oldest, p.later(20, 3 + 1, 0));
  CHECK(p.w.limit() == 64 + batch);
  for (const auto& s : all) p.w.leave(*s);
}

TEST_CASE("window: tasks that begin and make no room for long are no reason to wait") {
  place p(64);
  blocked a(0);
  REQUIRE(p.w.enter(a));
  p.w.judge(a, p.later(20, 20, 0));
  for (int looks = 0; looks < 9; ++looks) p.w.judge(a, p.later(20, 20, 100'000));
  CHECK(p.w.limit() == 64);
  p.w.judge(a, p.later(20, 20, 100'000));
  CHECK(p.w.limit() == 64 + batch);
  p.w.judge(a, p.later(20, 20, 100'000));
  p.w.room_made(0);
  for (int looks = 0; looks < 9; ++looks) p.w.judge(a, p.later(20, 20, 100'000));
  CHECK(p.w.limit() == 64);  // room was made meanwhile
  p.w.leave(a);
}

// Threads that really block, and one that makes room: nobody sleeps for ever, also where wakes race with looks.
TEST_CASE("window: no wake is lost between a look and a sleep") {
  constexpr int rounds = 3000, threads = 3;
  struct shared final : window_needs {
    void wake(submitter& s) noexcept override { host::signal(s.signal); }
    [[nodiscard]] std::uint64_t tasks_begun() noexcept override { return 0; }
    [[nodiscard]] bool has_room(std::uint8_t, std::size_t) noexcept override {
      return host::load(left, base::acquire) != 0;
    }
    detail::cell<std::uint32_t> left;
  } needs;
  window<host> w(needs, 64);
  w.open(64, true);
  const auto take = [&] {
    std::uint32_t n = host::load(needs.left, base::acquire);
    while (n != 0)
      if (host::compare_exchange(needs.left, n, n - 1, base::acq_rel)) return true;
    return false;
  };
  std::vector<std::thread> all;
  for (int t = 0; t < threads; ++t)
    all.emplace_back([&] {
      for (int i = 0; i < rounds; ++i) {
        blocked self(submitter::stranger);
        CHECK(w.enter(self));
        bool beyond = w.look_again(self);
        while (!take()) {
          CHECK(!beyond);
          while (!host::block_for(self.signal, 600'000'000'000)) {
          }
          host::store(self.signal, 0u, base::relaxed);
          beyond = w.look_again(self);
        }
        w.leave(self);
      }
    });
  for (int i = 0; i < rounds * threads; ++i) {
    static_cast<void>(host::fetch_add(needs.left, 1u, base::seq_cst));
    if (w.anyone()) w.room_made(0);
    while (i % 4 == 0 && host::load(needs.left, base::relaxed) != 0) std::this_thread::yield();
  }
  for (std::thread& t : all) t.join();
  CHECK(!w.anyone());
}

}  // namespace weft::sched

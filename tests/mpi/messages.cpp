// Messages as tasks, what carries them, and who calls it.
#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <numeric>
#include <set>
#include <thread>
#include <vector>

#include "quick.hpp"
#include "several.hpp"

namespace weft {

using testing::on_ranks;

TEST_CASE("messages: a receive is a task that writes, a send one that reads") {
  run_ranks({.ranks = 3, .seed = 4}, [](transport& net) {
    runtime rt({.workers = 1});
    ranks w(rt, net);
    const int left = (w.rank() + 2) % 3, right = (w.rank() + 1) % 3;
    handle<std::vector<int>> mine(5000), halo(5000);
    handle<long> sum{0};
    for (int round = 0; round < 10; ++round) {
      rt.submit(write(mine), [from = w.rank() + round](std::vector<int>& v) { std::iota(v.begin(), v.end(), from); });
      rt.submit(read(mine), w.send(mine, right, round % 2));
      rt.submit(write(halo), named("halo"), w.receive(halo, left, round % 2));
      rt.submit(read(halo), write(sum), [](const std::vector<int>& v, long& s) { s += v[0] + v[4999]; });
    }
    rt.wait();
    CHECK(rt.get(sum) == 10 * (2 * left + 4999) + 90);
    CHECK(w.counts().messages_sent == 10);
    CHECK(w.counts().messages_received == 10);
    CHECK(w.counts().bytes_sent == 10 * 5000 * sizeof(int));
  });
}

TEST_CASE("messages: one that comes before its receive waits for it, and large ones too") {
  for (const std::size_t n : {1, 100'000}) {
    run_ranks(2, [n](transport& net) {
      runtime rt({.workers = 1});
      ranks w(rt, net);
      handle<std::vector<double>> x(n);
      if (w.rank() == 0) {
        rt.submit(write(x), [](std::vector<double>& v) { v.back() = 5; });
        rt.submit(read(x), w.send(x, 1, 3));
      } else {
        std::this_thread::sleep_for(std::chrono::milliseconds(30));
        rt.submit(write(x), w.receive(x, 0, 3));
        CHECK(rt.get(x).back() == 5);
      }
      rt.wait();
    });
  }
}

TEST_CASE("messages: what a skipped task was to send fails the receive, and its readers") {
  run_ranks(2, [](transport& net) {
    runtime rt({.workers = 1});
    ranks w(rt, net);
    handle<int> x{0}, y{0};
    if (w.rank() == 0) {
      rt.submit(write(x), [](int&) { throw std::runtime_error("lost"); });
      rt.submit(read(x), w.send(x, 1, 0));
      CHECK_THROWS_WITH(rt.wait(), "lost");
    } else {
      bool ran = false;
      rt.submit(write(x), w.receive(x, 0, 0));
      rt.submit(read(x), [&](const int&) { ran = true; });
      CHECK_THROWS_WITH_AS(rt.wait(), doctest::Contains("what rank 0 was to send failed there"), error);
      CHECK(!ran);
    }
  });
}

TEST_CASE("messages: go on while all workers are in bodies") {
  std::atomic<bool> gone{false};
  run_ranks(2, [&](transport& net) {
    runtime rt({.workers = 1});
    ranks w(rt, net);
    handle<std::vector<int>> x(100'000);  // too large to be copied at once: it is gone when it has been taken
    handle<void> last;
    if (w.rank() == 0) {
      rt.submit(write(x), priority(1), w.receive(x, 1, 0));  // begins before the body that waits
      rt.submit([&] {
        while (!gone) std::this_thread::yield();
      });
    } else {
      rt.submit(read(x), write(last), w.send(x, 0, 0));
      rt.submit(read(last), [&] { gone = true; });
    }
    rt.wait();
  });
}

TEST_CASE("messages: a thread transport keeps the order of one sender and one tag, and of nothing else") {
  std::set<std::vector<int>> orders;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    run_ranks({.ranks = 2, .seed = seed, .eager_bytes = 0}, [&](transport& net) {
      constexpr int n = 6;
      int data[n];
      message m[n];
      for (int i = 0; i < n; ++i) {
        data[i] = net.rank() == 0 ? i : -1;
        m[i].data = &data[i];
        m[i].bytes = sizeof(int);
        m[i].peer = 1 - net.rank();
        m[i].tag = i / 2;
        m[i].sends = net.rank() == 0;
        net.post(m[i]);
      }
      std::vector<int> order;
      while (order.size() < n)
        for (message* over = net.progress(); over != nullptr; over = over->next)
          order.push_back(*static_cast<int*>(over->data));
      if (net.rank() == 0) return;
      for (int i = 0; i < n; ++i) CHECK(data[i] == i);
      orders.insert(order);
    });
  }
  CHECK(orders.size() > 5);
}

TEST_CASE("ranks: a version is sent once to each rank, and kept there until the next write") {
  std::mutex mutex;
  std::uint64_t sent = 0;
  on_ranks({.ranks = 3, .seed = 2}, [&](cluster& w) {
    cluster_handle<int> a(w, 0, 1), b(w, 1, 0), c(w, 2, 0);
    for (int round = 0; round < 3; ++round) {
      for (int i = 0; i < 5; ++i) {
        w.submit(read(a), write(b), [](const int& x, int& y) { y += x; });
        w.submit(read(a), write(c), [](const int& x, int& y) { y += x; });
      }
      w.fence();
      w.submit(write(a), [](int& x) { ++x; });
    }
    w.fence();
    const std::scoped_lock hold(mutex);
    sent += w.counts().messages_sent;
    if (w.rank() != 0) CHECK(a.unguarded() == nullptr);  // it is old, and gone
  });
  CHECK(sent == 6);
}

TEST_CASE("ranks: a datum moves to another owner, and tasks that write two of different owners bring the second over") {
  std::atomic<std::uint64_t> sent{0}, ran[3] = {};
  on_ranks({.ranks = 3, .seed = 3}, [&](cluster& w) {
    cluster_handle<std::vector<int>> a(w, 0, 3u, 1), b(w, 2, 3u, 10);
    w.submit(write(a), [](std::vector<int>& v) { v[0] = 5; });
    w.migrate(a, 1);  // one message
    CHECK(a.owner() == 1);
    for (int i = 0; i < 4; ++i) w.submit(write(a), [](std::vector<int>& v) { ++v[0]; });
    w.submit(write(a), write(b), [](std::vector<int>& x, std::vector<int>& y) { std::swap(x[0], y[0]); });  // one more
    w.submit(read(b), [](const std::vector<int>& y) { CHECK(y[0] == 9); });  // on b's owner: another
    CHECK(w.get(a)[0] == 10);                                                // two
    w.fence();
    sent += w.counts().messages_sent;
    ran[w.rank()] = w.counts().tasks_here;
  });
  CHECK(sent == 5);
  CHECK(ran[0] == 1);
  CHECK(ran[1] == 5);
  CHECK(ran[2] == 1);
}

TEST_CASE("ranks: adds, teams, priorities and names go with cluster handles") {
  on_ranks(
      {.ranks = 2, .seed = 8},
      [](cluster& w) {
        cluster_handle<long> sum(w, 1, 0);
        cluster_handle<int> one(w, 0, 1);
        for (int i = 0; i < 10; ++i)
          w.submit(read(one), add(sum), named("adds"), priority(1), [](const int& x, long& s) { s += x; });
        w.submit(team(2), write(sum), [](team_context& t, long& s) {
          if (t.rank() == 0) s *= 2;
          t.barrier();
        });
        CHECK(w.get(sum) == 20);
        CHECK(w.counts().messages_sent + w.counts().messages_received == 2);
      },
      2);
}

TEST_CASE("ranks: a window that is small, and tasks that wait for other ranks beyond it") {
  run_ranks({.ranks = 3, .seed = 5}, [](transport& net) {
    runtime rt({.workers = 1, .window = 64});
    cluster w(rt, net);
    cluster_handle<int> a(w, 0, 0), b(w, 1, 0), c(w, 2, 0);
    cluster_handle<int>* const all[] = {&a, &b, &c};
    const int tasks = brief ? 600 : 6000;
    for (int i = 0; i < tasks; ++i)
      w.submit(read(*all[i % 3]), write(*all[(i + 1) % 3]), [](const int& x, int& y) { y = x + 1; });
    CHECK(w.get(*all[tasks % 3]) == tasks);
  });
}

}  // namespace weft

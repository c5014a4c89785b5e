// What goes wrong on ranks, each with a clear end: nobody hangs, and every rank hears why.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>

#include "mpi/programs/cholesky.hpp"
#include "quick.hpp"
#include "several.hpp"

namespace weft {

using testing::has;
using testing::on_ranks;
using testing::texts_of;

TEST_CASE("ranks: an exception on one rank skips readers on others, and every fence throws it") {
  for (const std::uint64_t seed : {0, 1, 2, 3, 4, 5, 6, 7}) {
    std::atomic<int> ran{0}, healed{0};
    const auto texts = texts_of({.ranks = 3, .seed = seed}, [&](cluster& w) {
      cluster_handle<int> a(w, 1, 7), b(w, 2, 0), c(w, 0, 0), other(w, 0, 0);
      w.submit(write(a), named("breaks"), [](int&) { throw std::runtime_error("no such file"); });
      w.submit(read(a), write(b), [&](const int&, int&) { ++ran; });
      w.submit(read(b), write(c), [&](const int&, int&) { ++ran; });
      w.submit(write(other), [](int& x) { x = 1; });
      std::string text;
      try {
        w.fence();
      } catch (const std::exception& e) {
        text = e.what();
        if (w.rank() == 1) CHECK(dynamic_cast<const std::runtime_error*>(&e) != nullptr);
      }
      // Healed on all ranks, and what was not concerned is as it was.
      w.submit(write(a), [](int& x) { x = 20; });
      w.submit(read(a), read(other), write(b), [](const int& x, const int& y, int& z) { z = x + y; });
      if (w.get(b) == 21) ++healed;
      w.fence();
      throw std::runtime_error(text);
    });
    CHECK(ran == 0);
    CHECK(healed == 3);
    CHECK(texts[1] == "no such file");
    CHECK(texts[0] == "weft: on rank 1: no such file");
    CHECK(texts[2] == texts[0]);
  }
}

TEST_CASE("ranks: of several failures every rank gets the one that is first in the order of the program") {
  const auto texts = texts_of({.ranks = 2}, [](cluster& w) {
    cluster_handle<int> a(w, 0, 0), b(w, 1, 0);
    w.submit(write(b), [](int&) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      throw std::runtime_error("first");
    });
    w.submit(write(a), [](int&) { throw std::runtime_error("second"); });
    w.fence();
  });
  CHECK(texts[0] == "weft: on rank 1: first");
  CHECK(texts[1] == "first");
}

TEST_CASE("ranks: programs that differ are found, and the first task that does is named on every rank") {
  for (const int tasks : {0, 5, 3000}) {
    const auto texts = texts_of({.ranks = 3}, [tasks](cluster& w) {
      cluster_handle<int> a(w, 0, 0), b(w, 1, 0);
      for (int i = 0; i < tasks; ++i) w.submit(read(a), write(b), named("same"), [](const int&, int& y) { ++y; });
      if (w.rank() == 2)
        w.submit(read(b), write(a), named("odd"), [](const int&, int&) {});
      else
        w.submit(write(a), named("even"), [](int&) {});
      for (int i = 0; i < 2000; ++i) w.submit(read(a), write(b), named("later"), [](const int&, int& y) { ++y; });
      w.fence();
    });
    for (const std::string& text : texts) {
      INFO(text);
      CHECK(has(text, "different programs"));
      CHECK(has(text, ("step " + std::to_string(tasks + 2) + " is 'even' on handle 1 on rank").c_str()));
      CHECK(has(text, "'odd' on handle 1 on rank 2"));
    }
  }
}

TEST_CASE("ranks: a rank that submits less than the others is found at its fence, though they wait for it") {
  const auto texts = texts_of({.ranks = 2}, [](cluster& w) {
    cluster_handle<int> a(w, 0, 0), b(w, 1, 0);
    if (w.rank() == 1) w.submit(read(a), write(b), named("needs a"), [](const int&, int&) {});
    w.fence();
  });
  for (const std::string& text : texts) CHECK(has(text, "step 2 is nothing more on rank 0 and 'needs a'"));
}

TEST_CASE("ranks: a transport is for one cluster, whether that is over or not") {
  run_ranks(2, [](transport& net) {
    runtime rt({.workers = 1});
    {
      cluster w(rt, net);
      CHECK_THROWS_WITH_AS(cluster(rt, net), doctest::Contains("a transport is for one cluster"), error);
      w.fence();
    }
    CHECK_THROWS_WITH_AS(ranks(rt, net), doctest::Contains("make another transport"), error);
  });
}

TEST_CASE("ranks: what ranks do alike is refused inside of a task, and every rank is told") {
  std::array<std::string, 2> texts;
  run_ranks(2, [&](transport& net) {
    runtime rt({.workers = 1});
    cluster w(rt, net);
    cluster_handle<int> a(w, 0, 0);
    std::string& text = texts[static_cast<std::size_t>(net.rank())];
    const auto fails = [&](auto call) {
      w.submit(write(a), call);
      try {
        w.fence();
      } catch (const std::exception& e) {
        text += e.what() + std::string("\n");
      }
    };
    fails([&w](int&) { w.fence(); });
    fails([&w, &a](int&) { w.submit(write(a), [](int&) {}); });
    fails([&w, &a](int&) { w.migrate(a, 1); });
    fails([&w, &a](int&) { static_cast<void>(w.get(a)); });
    w.fence();
  });
  for (const std::string& text : texts)
    for (const char* what : {"fence", "submit", "migrate", "get"})
      CHECK_MESSAGE(has(text, (std::string(what) + "() of a cluster inside of a task").c_str()), text);
}

TEST_CASE("ranks: a rank that ends by an exception ends the others with an error, within seconds") {
  std::array<std::string, 3> texts;
  const auto begin = std::chrono::steady_clock::now();
  CHECK_THROWS_WITH(run_ranks(3,
                              [&](transport& net) {
                                runtime rt({.workers = 1});
                                try {
                                  cluster w(rt, net);
                                  cluster_handle<int> a(w, 1, 0), b(w, 0, 0);
                                  if (w.rank() == 1) throw std::runtime_error("gone");
                                  w.submit(read(a), write(b), [](const int&, int&) {});
                                  w.fence();
                                } catch (const std::exception& e) {
                                  texts[static_cast<std::size_t>(net.rank())] = e.what();
                                  throw;
                                }
                              }),
                    doctest::Contains(""));
  CHECK(texts[1] == "gone");
  // Whichever comes first: rank 1's letter, by way of rank 0, or what the transport says of its end.
  for (const int r : {0, 2}) {
    const std::string& text = texts[static_cast<std::size_t>(r)];
    CHECK_MESSAGE((has(text, "rank 1 has left its program by an exception") ||
                   has(text, "rank 1 has ended with an exception: gone")),
                  text);
  }
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::minutes(1));
}

TEST_CASE("ranks: a rank that ends without a word ends the others with an error") {
  std::atomic<int> heard{0};
  run_ranks(3, [&](transport& net) {
    if (net.rank() == 2) return net.leave("weft: rank 2 is dead");
    runtime rt({.workers = 1});
    cluster w(rt, net);
    try {
      cluster_handle<int> a(w, 2, 0), b(w, 0, 0);
      w.submit(read(a), write(b), [](const int&, int&) {});
      w.fence();
    } catch (const std::exception& e) {
      heard += has(e.what(), "rank 2 is dead");
    }
    // And it stays so.
    CHECK_THROWS_AS(w.fence(), error);
  });
  CHECK(heard == 2);
}

TEST_CASE("ranks: a wait of one rank is no fence, and needs none") {
  on_ranks({.ranks = 2, .seed = 9}, [](cluster& w) {
    cluster_handle<int> a(w, 0, 1), b(w, 1, 0);
    int x = 1, y = 0;
    for (int i = 0; i < 20; ++i) {
      y += x;
      x = y % 5;
      w.submit(read(a), write(b), [](const int& from, int& to) { to += from; });
      w.on().wait();  // while the other rank is elsewhere
      w.submit(read(b), write(a), [](const int& from, int& to) { to = from % 5; });
    }
    CHECK(w.get(a) == x);
  });
}

TEST_CASE("ranks: handles and tasks that mean nothing are refused with words") {
  run_ranks(1, [](transport& net) {
    runtime rt({.workers = 1});
    cluster w(rt, net);
    CHECK_THROWS_WITH_AS((cluster_handle<int>(w, 1, 0)), doctest::Contains("the ranks are 0 to 0"), error);
    CHECK_THROWS_WITH_AS((cluster_handle<int>(w, -1, 0)), doctest::Contains("owned by rank -1"), error);
    cluster_handle<int> a(w, 0, 0);
    CHECK_THROWS_WITH_AS(w.migrate(a, 3), doctest::Contains("move to rank 3"), error);
    handle<int> h;
    CHECK_THROWS_WITH_AS(static_cast<void>(w.send(h, 2, 0)), doctest::Contains("rank 2"), error);
    CHECK_THROWS_WITH_AS(static_cast<void>(w.send(h, 0, w.tag_limit() + 1)), doctest::Contains("tag"), error);
  });
}

TEST_CASE("ranks: a modelled machine is refused with words") {
  run_ranks(1, [](transport& net) {
    runtime rt({.machine = "virtual"});
    CHECK_THROWS_WITH_AS(cluster(rt, net), doctest::Contains("modelled machine"), error);
  });
}

}  // namespace weft

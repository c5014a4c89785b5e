// The whole runtime with versions of 8 bits: they wrap every 256 accesses, and half the range is 128. Every program
// here wraps handles many times, with as many accesses outstanding as are allowed; the rest of the library is as
// always. What is wrong with a comparison that forgets to wrap shows as a task too early, or as a stall.
#include "access/version.hpp"

#include <chrono>
#include <string>

#include "everywhere.hpp"
#include "programs.hpp"

namespace {

constexpr int most = static_cast<int>(weft::access::outstanding_max);
static_assert(weft::access::version_bits == 8 && most == 127, "this program is about narrow versions");

// Brings a handle to a version of choice and leaves its datum alone.
template <class T> void age(weft::runtime& rt, weft::handle<T>& h, unsigned accesses) {
  for (unsigned i = 1; i <= accesses; ++i) {
    rt.submit(weft::read(h), [](const T&) {});
    if (i % 100 == 0) rt.wait(h);
  }
  rt.wait(h);
}

}  // namespace

TEST_CASE("narrow: writes, reads and adds in full rows, hundreds of times around") {
  for (const char* machine : {"host", "virtual"}) {
    weft::runtime rt({.workers = 3, .machine = machine});
    weft::handle<long> x{0};
    long expected = 0;
    int wrong = 0;
    for (int round = 0; round < 600; ++round) {
      const int kind = round % 3;
      if (round % 2 == 0) rt.pause();  // then all are outstanding before the first is done
      for (int i = 0; i < most; ++i) {
        if (kind == 0) rt.submit(weft::write(x), [](long& v) { v = v * 3 % 1'000'003 + 1; });
        if (kind == 0) expected = expected * 3 % 1'000'003 + 1;
        if (kind == 1)
          rt.submit(weft::read(x), [expected, &wrong](const long& v) {
            if (v != expected) __atomic_add_fetch(&wrong, 1, __ATOMIC_RELAXED);
          });
        if (kind == 2) rt.submit(weft::add(x), [](long& v) { v += 2; });
        if (kind == 2) expected += 2;
      }
      REQUIRE(rt.get(x) == expected);
    }
    CHECK(wrong == 0);
    CHECK(x.state().registered == 600 * std::uint64_t{most});
  }
}

// With a creator, the tasks behind the first are registered when it has let go of the handle.
TEST_CASE("narrow: one more than can be told apart is refused, and nothing is lost") {
  everywhere_inline([](weft::runtime& rt) {
    weft::handle<long> x{0}, y{0};
    x.name("x");
    int refused = 0;
    for (int round = 1; round <= 5; ++round) {
      rt.submit(weft::write(x), [&](long&) {  // one that is not done, and the others come behind it
        for (int i = 1; i < most; ++i) rt.submit(weft::add(x), [](long& v) { ++v; });
        for (int i = 0; i < 3; ++i) {
          try {
            rt.submit(weft::write(y), weft::write(x), [](long&, long& v) { v = -1; });
          } catch (const weft::error& e) {
            refused += std::string(e.what()) ==
                       "weft: handle 'x' has 127 accesses that are not done, the most that versions of 8 bits can tell "
                       "apart; wait before submitting more";
          }
        }
      });
      rt.wait();
      CHECK(refused == 3 * round);
      CHECK(x.unguarded() == round * (most - 1));
    }
    CHECK(y.state().registered == 0);
  });
}

TEST_CASE("narrow: random programs against the reference, on handles of every age") {
  std::uint64_t seed = 0;
  everywhere([&seed](weft::runtime& rt) {
    for (int i = 0; i < 4; ++i) {
      weft::base::random rng(++seed);
      CAPTURE(seed);
      const unsigned handles = 1 + rng.below(5);
      reference::execution e(reference::draw(rng, handles, 42));  // at most 126 accesses
      for (unsigned h = 0; h < handles; ++h) age(rt, e.handle(h), 100 + rng.below(300));
      e.submit_all(rt);
      rt.wait();
      CHECK(e.verdict() == "");
    }
  });
}

TEST_CASE("narrow: an access that waits elsewhere while its whole group is done") {
  everywhere([](weft::runtime& rt) {
    if (rt.workers() == 1) return;  // the gate needs somebody else to finish the group
    for (unsigned start : {0u, 100u, 200u}) {
      weft::handle<long> gate{0}, x{0};
      age(rt, x, start);
      rt.submit(weft::write(x), [](long&) {});  // what follows is a group of its own
      rt.wait(x);
      int done = 0;
      int late = 0;
      bool wrong = false;
      rt.submit(weft::write(gate), [&done](long& v) {
        const auto until = std::chrono::steady_clock::now() + std::chrono::minutes(10);  // against hangs
        while (__atomic_load_n(&done, __ATOMIC_RELAXED) < most - 1 && std::chrono::steady_clock::now() < until)
          weft::charge(1000);
        v = __atomic_load_n(&done, __ATOMIC_RELAXED);
      });
      rt.submit(weft::read(gate), weft::read(x), [&](const long& v, const long&) {
        wrong |= v != most - 1;
        __atomic_store_n(&late, 1, __ATOMIC_RELAXED);
      });
      for (int i = 0; i < most - 1; ++i)
        rt.submit(weft::read(x), [&done](const long&) { __atomic_add_fetch(&done, 1, __ATOMIC_RELAXED); });
      rt.wait(gate);
      // The group is full, so these come behind the one that waits: the version must not run away from it.
      bool early = false;
      for (int i = 0; i < 100; ++i)
        rt.submit(weft::read(x), [&](const long&) {
          if (__atomic_load_n(&late, __ATOMIC_RELAXED) == 0) __atomic_store_n(&early, true, __ATOMIC_RELAXED);
        });
      rt.wait();
      CHECK(!wrong);
      CHECK(!early);
    }
  });
}

TEST_CASE("narrow: several adds, reductions, resources, subtasks and waits, around and around") {
  everywhere([](weft::runtime& rt) {
    weft::handle<long> a{0}, b{0};
    weft::reduction<long> sum;
    weft::resource two(2);
    for (int round = 1; round <= 12; ++round) {
      for (int i = 0; i < 60; ++i) {
        rt.submit(weft::add(a), weft::add(b), weft::use(two), [](long& x, long& y) { ++x, ++y; });
        rt.submit(weft::reduce(sum), [](long& part) { ++part; });
        if (i % 2 == 0) rt.submit(weft::add(b), weft::reduce(sum), [](long& y, long& part) { ++y, ++part; });
      }
      rt.submit(weft::write(a), weft::subtasks(), [&rt, &sum](long& x) {
        ++x;
        for (int i = 0; i < 10; ++i) rt.submit(weft::reduce(sum), [](long& part) { ++part; });
      });
      rt.wait();
      REQUIRE(a.unguarded() == 61 * round);
      REQUIRE(b.unguarded() == 90 * round);
      REQUIRE(sum.unguarded() == 100 * round);
      if (round % 2 == 0) REQUIRE(rt.get(sum) == 100 * round);
    }
  });
}

// Inline, for the same reason.
TEST_CASE("narrow: reductions refuse what is too much and are still applied") {
  everywhere_inline([](weft::runtime& rt) {
    weft::reduction<long> sum;
    long expected = 0;
    for (int round = 1; round <= 4; ++round) {
      int refused = 0;
      rt.submit(weft::write(sum), [&](long& s) {
        ++s;
        ++expected;
        // The wait below applies what reduces have left over, perhaps several times before all are submitted: each time
        // there is room for one less.
        for (int i = 1; i <= most; ++i) try {
            rt.submit(weft::reduce(sum), [](long& part) { ++part; });
            ++expected;
          } catch (const weft::error&) {
            ++refused;
          }
      });
      rt.wait();
      CHECK(sum.unguarded() == expected);
      CHECK_MESSAGE((refused >= 1 && refused < most), refused, " refused");
    }
  });
}

TEST_CASE("narrow: a handle may die at any version") {
  everywhere([](weft::runtime& rt) {
    int ran = 0;
    for (unsigned start = 120; start <= 136; ++start) {
      weft::handle<long> x{0};
      age(rt, x, start);
      for (int i = 0; i < 10; ++i) rt.submit(weft::write(x), [&ran](long&) { ++ran; });
    }
    CHECK(ran == 170);
  });
}

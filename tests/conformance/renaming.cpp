// weft::buffered: a writer of a new value does not wait for readers of the old one, a writer that changes the value
// does, and whatever a program does with it, every reader sees the value that was current when it was submitted.
#include "weft/buffered.hpp"

#include <ctime>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "everywhere.hpp"
#include "weft/weft.hpp"

namespace {

constexpr int relaxed = __ATOMIC_RELAXED;

// Whether the flag came up while this body waited for it. Ends by itself, so that a missing renaming fails and does not
// hang: on real cores after some seconds, on a modelled machine after some modelled time.
bool seen_from_inside(const int& flag, const weft::runtime& rt) {
  const bool modelled = std::string(rt.machine()) == "virtual";
  for (int i = 0; i < (modelled ? 2000 : 5000) && __atomic_load_n(&flag, relaxed) == 0; ++i) {
    if (modelled) {
      weft::charge(1000);
    } else {
      const timespec ms{0, 1'000'000};
      nanosleep(&ms, nullptr);
    }
  }
  return __atomic_load_n(&flag, relaxed) != 0;
}

// A reader of the old value that ends only when the writer of the new one has been here.
template <class Next> bool writer_overtakes_reader(const char* machine, unsigned workers, Next next) {
  weft::runtime rt({.workers = workers, .machine = machine});
  weft::buffered<long, 3> x(1L);
  int written = 0;
  bool overtaken = false;
  long old = 0;
  rt.submit(weft::read(x.current()), [&](const long& v) {
    overtaken = seen_from_inside(written, rt);
    old = v;
  });
  rt.submit(weft::write(next(x)), [&written](long& v) {
    v = 2;
    __atomic_store_n(&written, 1, relaxed);
  });
  CHECK(rt.get(x.current()) == 2);
  rt.wait();
  CHECK(old == 1);
  return overtaken;
}

// A random program over a few logical data, against plain variables.
class program {
 public:
  program(weft::runtime& rt, std::uint64_t seed) : rt_(rt), rng_(seed), x_(0L), y_(0L) {}

  long run(int tasks) {
    for (int i = 0; i < tasks; ++i) {
      rng_.below(2) == 0 ? step(x_, x_now_, y_, y_now_) : step(y_, y_now_, x_, x_now_);
      if (rng_.below(20) == 0) wrong_ += rt_.get(x_.current()) != x_now_;
    }
    rt_.wait();
    return wrong_ + (x_.current().unguarded() != x_now_) + (y_.current().unguarded() != y_now_);
  }

 private:
  template <class A, class B> void step(A& a, long& now, B& b, long& other) {
    const long n = static_cast<long>(rng_.below(1000));
    switch (rng_.below(5)) {
    case 0: rt_.submit(weft::write(a.advance()), [n](long& v) { v = n; }), now = n; break;
    case 1: rt_.submit(weft::write(a.rename()), [n](long& v) { v = n; }), now = n; break;
    case 2: {
      auto& old = a.current();
      rt_.submit(weft::read(old), weft::write(a.advance()), weft::read(b.current()),
                 [n](const long& o, long& v, const long& w) { v = (o * 31 + w * 7 + n) % 1'000'003; });
      now = (now * 31 + other * 7 + n) % 1'000'003;
      break;
    }
    case 3:
      rt_.submit(weft::write(a.current()), [n](long& v) { v = v * 3 % 1'000'003 + n; });
      now = now * 3 % 1'000'003 + n;
      break;
    default:
      rt_.submit(weft::read(a.current()), [this, now](const long& v) {
        weft::charge(3000);
        if (v != now) __atomic_add_fetch(&wrong_, 1, relaxed);
      });
    }
  }

  weft::runtime& rt_;
  weft::base::random rng_;
  weft::buffered<long, 3> x_;
  weft::buffered<long, 2> y_;
  long x_now_ = 0;
  long y_now_ = 0;
  long wrong_ = 0;
};

}  // namespace

TEST_CASE("renaming: a writer of a new value runs while readers of the old one still do") {
  for (const char* machine : {"host", "virtual"})
    for (unsigned workers : {2u, 4u}) {
      CHECK(writer_overtakes_reader(machine, workers, [](auto& x) -> auto& { return x.advance(); }));
      CHECK(writer_overtakes_reader(machine, workers, [](auto& x) -> auto& { return x.rename(); }));
    }
  // The check can fail: without renaming the writer waits for the reader.
  CHECK(!writer_overtakes_reader("virtual", 2, [](auto& x) -> auto& { return x.current(); }));
}

TEST_CASE("renaming: with all buffers in use the writer waits, and nothing is lost") {
  everywhere([](weft::runtime& rt) {
    weft::buffered<int, 2> x(0);
    int readers[2] = {0, 0};
    int wrong = 0;
    for (int i = 1; i <= 50; ++i) {
      int& here = readers[i % 2];
      rt.submit(weft::write(x.advance()), [i, &here, &wrong](int& v) {
        if (__atomic_load_n(&here, relaxed) != 0) __atomic_add_fetch(&wrong, 1, relaxed);
        v = i;
      });
      for (int r = 0; r < 3; ++r)
        rt.submit(weft::read(x.current()), [i, &here, &wrong](const int& v) {
          __atomic_add_fetch(&here, 1, relaxed);
          weft::charge(500);
          if (v != i) __atomic_add_fetch(&wrong, 1, relaxed);
          __atomic_sub_fetch(&here, 1, relaxed);
        });
    }
    CHECK(rt.get(x.current()) == 50);
    rt.wait();
    CHECK(wrong == 0);
  });
}

TEST_CASE("renaming: random programs, whose readers see what was current when they were submitted") {
  std::uint64_t seed = 0;
  everywhere([&seed](weft::runtime& rt) {
    for (int i = 0; i < 3; ++i) {
      ++seed;
      CAPTURE(seed);
      CHECK(program(rt, seed).run(150) == 0);
    }
  });
}

TEST_CASE("renaming: buffers in turn, older values, and staying while nobody uses the value") {
  weft::runtime rt({.workers = 1, .machine = "virtual"});
  weft::buffered<std::vector<int>, 3> x(std::size_t{2}, 7);
  x.name("x");
  CHECK(x.size() == 3);
  for (auto& h : x) {
    CHECK(h.unguarded() == std::vector<int>{7, 7});
    CHECK(std::string(h.name()) == "x");
  }
  auto& first = x.current();
  for (int i = 0; i < 3; ++i) rt.submit(weft::write(x.advance()), [i](std::vector<int>& v) { v.assign(1, i); });
  CHECK(&x.current() == &first);
  rt.wait();
  CHECK(x.current().unguarded() == std::vector<int>{2});
  CHECK(x.previous().unguarded() == std::vector<int>{1});
  CHECK(x.previous(2).unguarded() == std::vector<int>{0});
  CHECK(&x.previous(0) == &x.current());

  CHECK(first.idle());
  CHECK(&x.rename() == &first);  // nobody uses it
  rt.submit(weft::read(first), [](const std::vector<int>&) {});
  CHECK(!first.idle());
  CHECK(&x.rename() != &first);  // now somebody does
  rt.wait();
  CHECK(first.idle());

  weft::reduction<int> sum;
  CHECK(sum.idle());
  rt.submit(weft::reduce(sum), [](int& part) { ++part; });
  CHECK(!sum.idle());
  CHECK(rt.get(sum) == 1);
  CHECK(sum.idle());
}

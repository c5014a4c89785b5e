// Reports of exceptions and cancellations that got lost, written for Weft.
//   nested    github.com/uxlfoundation/oneTBB/issues/669: a loop that throws inside of a reduction that is inside of a
//   task successor github.com/taskflow/taskflow/issues/602: what comes after a task that threw ran nevertheless silent
//   github.com/uxlfoundation/oneTBB/issues/253, github.com/GafferHQ/gaffer/pull/4333: a loop in a scope that is
//             cancelled returned without having done its iterations, and said nothing
//   both      github.com/uxlfoundation/oneTBB/pull/1780: several tasks of a group throw at the same time
//   up        github.com/zio/zio/issues/277: what is thrown many waits below did not arrive
// Run: nested 20
// Run: successor 50
// Run: silent 50
// Run: both 50
// Run: up 30
// Long: nested 1000
// Long: successor 3000
// Long: silent 3000
// Long: both 3000
// Long: up 1000
// Machines: host virtual random
// Workers: 1 2 4
#include <atomic>
#include <functional>
#include <map>
#include <stdexcept>
#include <weft/weft.hpp>

#include "found.hpp"
#include "thrown.hpp"

namespace {

void nested(weft::runtime& rt, long n) {
  for (long i = 0; i < n; ++i) {
    std::atomic<int> caught{0};
    rt.submit([&] {
      const int sum = weft::reduce(0, 64, 0, std::plus<>(), [&](int k) {
        const std::string what = thrown([&] {
          weft::for_each(0, 100, [&](int at) {
            if (at == k) throw std::runtime_error("work was cancelled");
          });
        });
        caught += what == "work was cancelled";
        if (k == 40) throw std::runtime_error("the sum as well");
        return k;
      });
      require(false, in_words("there is a sum: ", sum));
    });
    const std::string what = thrown([&] { rt.wait(); });
    require(what == "the sum as well" && caught > 0,
            in_words("the wait threw '", what, "', ", caught.load(), " loops"));
    rt.wait();
  }
}

void successor(weft::runtime& rt, long n) {
  for (long i = 0; i < n; ++i) {
    weft::handle<int> made;
    std::atomic<int> ran{0};
    rt.submit([&] {
      weft::finish([&] {
        weft::async(weft::write(made), [](int&) { throw std::runtime_error("exception on A"); });
        weft::async(weft::read(made), [&](int) { ++ran; });
      });
      ++ran;
    });
    require(thrown([&] { rt.wait(); }) == "exception on A", "it did not arrive");
    require(ran == 0, "what needed it ran");
  }
}

void silent(weft::runtime& rt, long n) {
  for (long i = 0; i < n; ++i) {
    weft::cancellation stop;
    std::atomic<int> done{0};
    int whole = -1;
    weft::finish(stop, [&] {
      rt.submit([&] {
        if (i % 2 == 0) stop.cancel();
        try {
          weft::for_each(0, 200, [&](int) { ++done; });
          whole = 1;
        } catch (const weft::cancelled_error&) {
          whole = 0;
        }
      });
      if (i % 4 == 3) stop.cancel();
    });
    require(whole != 1 || done == 200, in_words("a loop returned with ", done.load(), " of 200 done"));
    require(i % 2 != 0 || whole == 0 || (whole == -1 && stop.skipped() > 0),
            "a loop that was cancelled says it is whole");
    require(i % 4 != 1 || whole == 1, "a loop that nobody cancelled gave up");
  }
}

void both(weft::runtime& rt, long n) {
  for (long i = 0; i < n; ++i) {
    std::atomic<int> ran{0};
    const std::string what = thrown([&] {
      weft::finish([&] {
        for (int k = 0; k < 16; ++k)
          rt.submit([&, k] {
            ++ran;
            if (k >= 3) throw std::runtime_error(std::to_string(k));
          });
      });
    });
    require(what == "3" && ran == 16, in_words("threw ", what, ", ", ran.load(), " ran"));
    rt.wait();  // told once
  }
}

void down(weft::runtime& rt, long depth) {
  if (depth == 0) throw std::runtime_error("from below");
  if (depth % 3 == 0) return weft::finish([&] { weft::async([&rt, depth] { down(rt, depth - 1); }); });
  if (depth % 3 == 1)
    return static_cast<void>(weft::fork_join(
        [&] {
          down(rt, depth - 1);
          return 0;
        },
        [] { return 0; }));
  rt.submit([&rt, depth] { down(rt, depth - 1); });
  rt.wait();
}

void up(weft::runtime& rt, long n) {
  for (long i = 1; i <= n; ++i) {
    rt.submit([&] { down(rt, i % 40); });
    require(thrown([&] { rt.wait(); }) == "from below", in_words("lost from a depth of ", i % 40));
    rt.wait();
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::map<std::string, void (*)(weft::runtime&, long)> all{
      {"nested", nested}, {"successor", successor}, {"silent", silent}, {"both", both}, {"up", up}};
  weft::runtime rt;
  try {
    all.at(word(argc, argv, 1, "nested"))(rt, amount(argument(argc, argv, 2, 20)));
  } catch (const weft::error& e) {
    require(false, e.what());
  }
}

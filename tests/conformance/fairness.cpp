// Who may overtake whom for exclusive access. Streams of tasks that renew themselves keep a handle busy without a gap;
// counted is how many of them run after a task was submitted and before it runs.
#include <string>
#include <cstdio>

#include "everywhere.hpp"
#include "weft/weft.hpp"

namespace {

constexpr int relaxed = __ATOMIC_RELAXED;
constexpr int streams = 8;
constexpr long enough = 3000;  // when a stream gives up: the one it overtakes has starved

// Tasks that each submit the next one. `clause` makes its access.
template <class Clause> class stream {
 public:
  stream(weft::runtime& rt, Clause clause) : rt_(rt), clause_(clause) {
    for (int i = 0; i < streams; ++i) next();
  }
  void stop() { __atomic_store_n(&stopped_, 1, relaxed); }
  [[nodiscard]] long ran() const { return __atomic_load_n(&ran_, relaxed); }

 private:
  void next() {
    rt_.submit(clause_(), weft::cost(2000), [this](auto&...) {
      if (__atomic_add_fetch(&ran_, 1, relaxed) < enough && __atomic_load_n(&stopped_, relaxed) == 0) next();
    });
  }

  weft::runtime& rt_;
  Clause clause_;
  int stopped_ = 0;
  long ran_ = 0;
};

}  // namespace

TEST_CASE("fairness: adds to one handle run in order of arrival") {
  everywhere([](weft::runtime& rt) {
    weft::handle<long> a{0};
    long at = 0;
    stream adds(rt, [&a] { return weft::add(a); });
    rt.submit(weft::add(a), [&](long&) {
      at = adds.ran();
      adds.stop();
    });
    const long before = adds.ran();
    rt.wait();
    CHECK(at - before <= streams);
  });
}

TEST_CASE("fairness: a task that needs all units of a resource is not overtaken by those that need one") {
  everywhere([](weft::runtime& rt) {
    weft::resource four(4);
    long at = 0;
    stream uses(rt, [&four] { return weft::use(four); });
    rt.submit(weft::use(four, 4), [&] {
      at = uses.ran();
      uses.stop();
    });
    const long before = uses.ran();
    rt.wait();
    CHECK(at - before <= 100);  // between being told and taking, units may go to one that arrives
  });
}

TEST_CASE("fairness: a task with several adds runs when one of them is left alone") {
  everywhere([](weft::runtime& rt) {
    weft::handle<long> a{0}, b{0};
    long at = 0;
    stream adds(rt, [&a] { return weft::add(a); });
    rt.submit(weft::add(a), weft::add(b), [&](long&, long&) {
      at = adds.ran();
      adds.stop();
    });
    const long before = adds.ran();
    rt.wait();
    CHECK(at - before <= streams);
  });
}

// All of them or none are taken, at a moment when all are free, and streams on both leave no such moment by themselves.
TEST_CASE("fairness: a task with several adds is not starved by streams on each of them") {
  everywhere([](weft::runtime& rt) {
    weft::handle<long> a{0}, b{0};
    long at = 0;
    stream adds(rt, [&a] { return weft::add(a); });
    stream others(rt, [&b] { return weft::add(b); });
    rt.submit(weft::add(a), weft::add(b), [&](long&, long&) {
      at = adds.ran();
      adds.stop();
      others.stop();
    });
    const long before = adds.ran();
    rt.wait();
    std::fprintf(stderr, "%s %u %ld\n", rt.machine(), rt.workers(), at - before);
    CHECK(at - before <= 100);
  });
}

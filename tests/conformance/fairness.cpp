// Who may overtake whom for exclusive access. Streams of tasks that renew themselves keep a handle busy without a gap;
// counted is how many of them run after a task was submitted and before it runs.
#include <cstdint>
#include <string>

#include "everywhere.hpp"
#include "replay.hpp"
#include "weft/weft.hpp"

namespace {

constexpr int relaxed = __ATOMIC_RELAXED;
constexpr int streams = 8;
// When a stream gives up: the one it overtakes has starved. Real threads lose their cores, and with a handle in hand:
// meanwhile the stream on another one runs a hundred thousand of these bodies.
constexpr long enough = 3'000, enough_real = 3'000'000;

// Tasks that each submit the next one. `clause` makes its access.
template <class Clause> class stream {
 public:
  stream(weft::runtime& rt, Clause clause)
      : rt_(rt), clause_(clause), enough_(rt.machine()[0] == 'h' ? enough_real : enough) {
    for (int i = 0; i < streams; ++i) next();
  }
  void stop() { __atomic_store_n(&stopped_, 1, relaxed); }
  [[nodiscard]] long ran() const { return __atomic_load_n(&ran_, relaxed); }

 private:
  void next() {
    rt_.submit(clause_(), weft::cost(2000), [this](auto&...) {
      if (__atomic_add_fetch(&ran_, 1, relaxed) < enough_ && __atomic_load_n(&stopped_, relaxed) == 0) next();
    });
  }

  weft::runtime& rt_;
  Clause clause_;
  const long enough_;
  int stopped_ = 0;
  long ran_ = 0;
};

// Calls check(runtime, allowed) on both machines with up to 16 workers; allowed: tasks of a stream that count as one
// turn of all of them.
// `busy`: handles with streams. A worker runs first what it has made ready last, so fewer workers than streams would
// leave a task that is ready, and holds a handle, where it is; the central queue is in order.
template <class Check> void on_many(unsigned busy, Check check) {
  for (const unsigned workers : {1u, 2u, 3u, 4u, 8u, 16u})
    for (std::uint64_t seed = 0; seed <= 10; ++seed) {
      const bool host = seed == 0;
      INFO(std::string(host ? "host" : "virtual") << ", " << workers << " workers, seed " << seed);
      const deadline limit("the test case with " + std::to_string(workers) + " workers");
      weft::runtime rt({.workers = workers,
                        .machine = host ? "host" : "virtual",
                        .policy = workers < busy ? "central" : "local",
                        .seed = seed + 1,
                        .model = {.schedule = seed <= 1 ? "time" : "random"}});
      check(rt, host ? enough_real / 12 : streams);
    }
}

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

// With a creator, how long a task is on its way to its handles is another matter.
TEST_CASE("fairness: a task with several adds runs when one of them is left alone") {
  everywhere_inline([](weft::runtime& rt) {
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
// What reserves is the third time that the task is told in vain; each time costs it one turn of a list.
TEST_CASE("fairness: a task with several adds is not starved by streams on each of them") {
  on_many(2, [](weft::runtime& rt, long allowed) {
    weft::handle<long> a{0}, b{0};
    long at = 0, others_at = 0;
    stream adds(rt, [&a] { return weft::add(a); });
    stream others(rt, [&b] { return weft::add(b); });
    rt.submit(weft::add(a), weft::add(b), [&](long&, long&) {
      at = adds.ran();
      others_at = others.ran();
      adds.stop();
      others.stop();
    });
    const long before = adds.ran(), others_before = others.ran();
    rt.wait();
    CHECK(at - before <= 6 * allowed);
    CHECK(others_at - others_before <= 6 * allowed);
  });
}

TEST_CASE("fairness: adds beside all units of a resource are not starved by streams on each") {
  on_many(2, [](weft::runtime& rt, long allowed) {
    weft::handle<long> a{0};
    weft::resource four(4);
    long at = 0;
    stream adds(rt, [&a] { return weft::add(a); });
    stream uses(rt, [&four] { return weft::use(four, 3); });
    rt.submit(weft::add(a), weft::use(four, 4), [&](long&) {
      at = adds.ran();
      adds.stop();
      uses.stop();
    });
    const long before = adds.ran();
    rt.wait();
    CHECK(at - before <= 6 * allowed);
  });
}

// They reserve one after the other, oldest first, so the last has to wait for all: its bound grows with their number.
TEST_CASE("fairness: many tasks with several adds are not starved, and do not starve single ones") {
  on_many(3, [](weft::runtime& rt, long allowed) {
    constexpr int many = 10;
    weft::handle<long> a{0}, b{0}, c{0};
    int left = many;
    long at = 0, single_at = 0;
    stream adds(rt, [&a] { return weft::add(a); });
    stream bs(rt, [&b] { return weft::add(b); });
    stream cs(rt, [&c] { return weft::add(c); });
    const auto last = [&] {
      if (__atomic_sub_fetch(&left, 1, __ATOMIC_ACQ_REL) != 0) return;
      at = adds.ran();
      adds.stop();
      bs.stop();
      cs.stop();
    };
    for (int i = 0; i < many; ++i) {
      if (i % 3 == 0) rt.submit(weft::add(a), weft::add(b), [last](long&, long&) { last(); });
      if (i % 3 == 1) rt.submit(weft::add(c), weft::add(a), [last](long&, long&) { last(); });
      if (i % 3 == 2) rt.submit(weft::add(b), weft::add(c), weft::add(a), [last](long&, long&, long&) { last(); });
    }
    rt.submit(weft::add(a), [&](long&) { single_at = adds.ran(); });
    const long before = adds.ran();
    rt.wait();
    CHECK(left == 0);
    CHECK(at - before <= 6 * (allowed == streams ? many : 1) * allowed);
    CHECK(single_at - before <= 2 * allowed);
  });
}

// Deferred allocation: memory is taken by whoever writes first and is gone behind the last that needs it, so a program
// that submits everything at once uses memory for what runs.
#include "weft/deferred.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <deque>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "weft/weft.hpp"

namespace {

constexpr std::size_t n = 32'768;  // 256 KiB of doubles
constexpr std::uint64_t bytes = n * sizeof(double);

// Bytes of all buffers that were in use at once, beyond what was before, of chains of tasks that are submitted at once.
[[nodiscard]] std::uint64_t peak_of_chains(weft::runtime& rt, bool immediate) {
  constexpr unsigned chains = 8, length = 12;
  const std::uint64_t before = weft::node_memory().in_use;
  std::uint64_t most = 0;
  std::atomic<unsigned> wrong{0};
  {
    std::deque<weft::stream<double>> s(chains);
    if (immediate)
      for (auto& x : s) x.immediate();
    rt.pause();
    for (unsigned c = 0; c < chains; ++c) {
      rt.submit(weft::push(s[c], n), [c](std::span<double> out) { std::iota(out.begin(), out.end(), c); });
      for (unsigned i = 1; i < length; ++i)
        rt.submit(weft::pop(s[c], n), weft::push(s[c], n), [](std::span<const double> in, std::span<double> out) {
          for (std::size_t k = 0; k < n; ++k) out[k] = in[k] + 1;
        });
      rt.submit(weft::pop(s[c], n), [c, &wrong](std::span<const double> in) {
        for (std::size_t k = 0; k < n; ++k) wrong += in[k] != static_cast<double>(c + k + length - 1);
      });
    }
    most = weft::node_memory().in_use - before;  // before anything runs
    rt.wait();
    CHECK(weft::node_memory().in_use == before);
  }
  CHECK(wrong == 0);
  return most;
}

}  // namespace

// Memory that is taken on submission is other memory in each life of a buffer, so no worker has a line of it. Catches:
// one that is taken for the memory of the life before, parts of which lie in the caches of whoever had it then.
TEST_CASE("deferred: with immediate() each push finds memory that nobody has had, on a modelled machine") {
  weft::runtime rt({.workers = 64, .machine = "opteron-6282-64"});
  using block = std::array<double, 4096>;
  weft::stream<block> s;
  s.immediate();
  std::vector<double> rounds;
  for (int round = 0; round < 6; ++round) {
    const double before = rt.now_ns();
    rt.submit(weft::push(s, 1), weft::pin(9), [](std::span<block>) {});
    rt.wait();
    rt.submit(weft::pop(s, 1), weft::pin(33), [](std::span<const block>) {});
    rt.wait();
    rounds.push_back(rt.now_ns() - before);
  }
  const auto [least, most] = std::minmax_element(rounds.begin() + 3, rounds.end());  // what else there is has settled
  CHECK(*most < 1.05 * *least);
}

TEST_CASE("deferred: nothing is taken on submission, all of it is with immediate()") {
  for (const char* machine : {"host", "virtual"}) {
    weft::runtime rt({.workers = 2, .machine = machine});
    CHECK(peak_of_chains(rt, false) == 0);
    CHECK(peak_of_chains(rt, true) == 8 * 12 * bytes);
  }
}

TEST_CASE("deferred: a handle's data are there from its first writer on, until they are dropped") {
  weft::runtime rt({.workers = 2});
  const std::uint64_t before = weft::node_memory().in_use;
  std::deque<weft::handle<weft::deferred<double>>> h;
  for (int i = 0; i < 50; ++i) h.emplace_back(n);
  CHECK(weft::node_memory().in_use == before);
  std::atomic<double> sum{0};
  for (auto& x : h) {
    rt.submit(weft::write(x), [](weft::deferred<double>& d) {
      const std::span<double> all = d.get();
      std::fill(all.begin(), all.end(), 2.0);
    });
    rt.submit(weft::read(x), [&sum](const weft::deferred<double>& d) { sum += d.get()[n - 1]; });
    rt.submit(weft::write(x), [](weft::deferred<double>& d) { d.drop(); });
  }
  rt.wait();
  CHECK(sum == 100);
  CHECK(weft::node_memory().in_use == before);
  CHECK(!h[0].unguarded().is_there());
}

TEST_CASE(
    "deferred: elements are made and ended, an exception in making leaves nothing, reading too early is an error") {
  static std::atomic<int> alive{0};
  struct counted {
    counted() {
      if (alive == 5) throw std::runtime_error("the sixth");
      ++alive;
    }
    ~counted() { --alive; }
  };
  const std::uint64_t before = weft::node_memory().in_use;
  weft::deferred<counted> few(5), many(8), none(0);
  CHECK((few.size() == 5 && none.size() == 0));
  CHECK(few.get().size() == 5);
  CHECK(alive == 5);
  few.drop();
  CHECK(alive == 0);
  CHECK_THROWS_WITH(static_cast<void>(many.get()), "the sixth");
  CHECK((alive == 0 && !many.is_there() && none.get().empty()));
  const weft::deferred<int> never(3);
  CHECK_THROWS_WITH_AS(static_cast<void>(never.get()), doctest::Contains("3 elements are read before any task"),
                       weft::error);
  CHECK(weft::node_memory().in_use == before);
}

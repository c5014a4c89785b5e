// Clauses over ranges of handles: the same order as with a clause for each handle, for any number, any order of naming,
// and any number of mentions.
#include "weft/range.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "everywhere.hpp"
#include "programs.hpp"

namespace {

using handles = std::vector<weft::handle<std::uint64_t>>;
using mentions = std::vector<weft::handle<std::uint64_t>*>;
using dice = weft::base::random;

template <class T> void shuffle(std::vector<T>& v, dice& rng) {
  for (std::size_t i = v.size(); i > 1; --i) std::swap(v[i - 1], v[rng.below(static_cast<std::uint32_t>(i))]);
}

// A task over many handles. Reads and writes are folded in the order of the ranges; adds are torn into two halves.
struct wide_task {
  std::array<std::vector<unsigned>, 3> named;  // by kind: read, write, add; a handle may be named again
  std::vector<unsigned> added;                 // each once
  std::uint64_t seen = 0;
};

template <class Reads, class Writes> std::uint64_t fold(Reads reads, Writes writes) {
  std::uint64_t seen = 1;
  for (const std::uint64_t& x : reads) seen = seen * 31 + x;
  for (std::uint64_t& x : writes) x = seen = seen * 31 + x;
  return seen;
}

class wide_program {
 public:
  wide_program(std::uint64_t seed, unsigned handle_count, unsigned tasks)
      : rng_(seed), handles_(handle_count), tasks_(tasks), expected_(handle_count) {
    for (wide_task& t : tasks_) draw(t);
  }

  std::string run(weft::runtime& rt) {
    for (wide_task& t : tasks_) submit(rt, t);
    rt.wait();
    for (std::size_t i = 0; i < tasks_.size(); ++i)
      if (tasks_[i].seen != play(tasks_[i])) return "task " + std::to_string(i) + " saw other data than in sequence";
    for (std::size_t h = 0; h < handles_.size(); ++h)
      if (handles_[h].unguarded() != expected_[h]) return "handle " + std::to_string(h) + " ends with other data";
    return "";
  }

 private:
  // Each kind gets some of the handles, in random order; and a third of these a second time.
  void draw(wide_task& t) {
    std::vector<unsigned> all(handles_.size());
    std::iota(all.begin(), all.end(), 0u);
    shuffle(all, rng_);
    auto next = all.begin();
    for (auto& list : t.named) {
      const auto left = static_cast<std::uint32_t>(all.end() - next);
      list.assign(next, next + rng_.below(left + 1));
      next += static_cast<std::ptrdiff_t>(list.size());
      if (&list == &t.named[2]) t.added = list;
      for (std::size_t i = list.size() / 3; i > 0; --i) list.push_back(list[i]);
      shuffle(list, rng_);
    }
  }

  void submit(weft::runtime& rt, wide_task& t) {
    std::array<mentions, 3> by_kind;
    for (std::size_t k = 0; k < 3; ++k)
      for (const unsigned h : t.named[k]) by_kind[k].push_back(&handles_[h]);
    rt.submit(weft::add(by_kind[2]), weft::read(by_kind[0]), weft::named("wide"), weft::write(by_kind[1]),
              [this, &t](weft::view<std::uint64_t> adds, weft::view<const std::uint64_t> reads,
                         weft::view<std::uint64_t> writes) {
                if (adds.size() != t.named[2].size()) return;
                std::vector<std::uint64_t> before;
                for (const unsigned h : t.added) before.push_back(handles_[h].unguarded());
                weft::charge(200);
                t.seen = fold(reads, writes);
                for (std::size_t i = 0; i < before.size(); ++i) handles_[t.added[i]].unguarded() = before[i] + t.seen;
              });
  }

  // One after the other.
  std::uint64_t play(const wide_task& t) {
    std::vector<std::uint64_t> reads;
    for (const unsigned h : t.named[0]) reads.push_back(expected_[h]);
    std::uint64_t seen = fold(reads, std::span<std::uint64_t>());
    for (const unsigned h : t.named[1]) expected_[h] = seen = seen * 31 + expected_[h];
    for (const unsigned h : t.added) expected_[h] += seen;
    return seen;
  }

  dice rng_;
  handles handles_;
  std::vector<wide_task> tasks_;
  std::vector<std::uint64_t> expected_;
};

}  // namespace

TEST_CASE("ranges: random programs whose tasks name their handles as ranges, against the reference") {
  std::uint64_t seed = 0;
  everywhere([&seed](weft::runtime& rt) {
    for (int i = 0; i < 3; ++i) {
      dice rng(++seed);
      CAPTURE(seed);
      reference::execution e(reference::draw(rng, 1 + rng.below(5), 40));
      for (std::size_t t = 0; t < e.source().tasks.size(); ++t)
        rng.below(3) == 0 ? e.submit(rt, t) : e.submit_as_ranges(rt, t);
      rt.wait();
      CHECK(e.verdict() == "");
    }
  });
}

TEST_CASE("ranges: tasks over up to 60 handles, many of them twice, run as in sequence") {
  std::uint64_t seed = 0;
  everywhere([&seed](weft::runtime& rt) {
    ++seed;
    CAPTURE(seed);
    CHECK(wide_program(seed, 60, 25).run(rt) == "");
    CHECK(wide_program(seed, 7, 50).run(rt) == "");
  });
}

TEST_CASE("ranges: 10,000 handles in random order, some a hundred times") {
  for (const char* machine : both_machines) {
    weft::runtime rt({.workers = 3, .machine = machine});
    handles all(10'000);
    mentions named;
    for (auto& h : all) named.push_back(&h);
    for (int i = 0; i < 100; ++i) named.push_back(&all[5'000]), named.push_back(&all[7]);
    dice rng(4);
    shuffle(named, rng);
    for (int i = 0; i < 5; ++i) {
      rt.submit(weft::add(named), [](weft::view<std::uint64_t> v) { ++v[0]; });
      rt.submit(weft::add(all[static_cast<std::size_t>(i)]), [](std::uint64_t& x) { ++x; });
    }
    rt.submit(weft::write(named), [](weft::view<std::uint64_t> v) {
      for (std::uint64_t& x : v) ++x;
    });
    std::uint64_t sum = 0;
    for (int i = 0; i < 20; ++i)
      rt.submit(weft::read(all), [&sum, i](weft::view<const std::uint64_t> v) {
        if (i == 7) sum = std::accumulate(v.begin(), v.end(), std::uint64_t{0});
      });
    rt.wait();
    CHECK(sum == 5 + 5 + 10'200);
    CHECK(all[7].unguarded() >= 101);
    CHECK(all[7].version() == 5 + 1 + 20);  // however often it was named
  }
}

TEST_CASE("ranges: one handle ten thousand times is one access") {
  weft::runtime rt({.workers = 1});
  weft::handle<std::uint64_t> h;
  const mentions same(10'000, &h);
  rt.submit(weft::add(same), [](weft::view<std::uint64_t> v) {
    for (std::uint64_t& x : v) ++x;
  });
  CHECK(rt.get(h) == 10'000);
  CHECK(h.version() == 1);
}

TEST_CASE("ranges: whatever a range-for can walk") {
  weft::runtime rt({.workers = 2});
  std::vector<int> mine{1, 2, 3};
  std::deque<weft::handle<int&>> references;
  for (int& m : mine) references.emplace_back(m);
  handles owned(5);
  std::vector<std::unique_ptr<weft::handle<int>>> scattered;
  for (int i = 0; i < 3; ++i) scattered.push_back(std::make_unique<weft::handle<int>>(10 * i));
  weft::handle<void> tokens[3];
  weft::reduction<long> sums[2];
  rt.submit(weft::reduce(sums[1]), [](long& part) { part = 5; });
  long found = 0;
  rt.submit(weft::write(references), weft::add(tokens), weft::write(std::span(owned).subspan(1, 2)),
            weft::concurrent(scattered), weft::read(sums), weft::write(handles()),
            [&found](weft::view<int> refs, weft::view<std::uint64_t> part, weft::view<const int> far,
                     weft::view<const long> reduced, weft::view<std::uint64_t> none) {
              for (int& r : refs) r *= 2;
              part[1] = 9;
              found = std::accumulate(far.begin(), far.end(), 0L) + reduced[1] + static_cast<long>(part.size()) +
                      (none.empty() && none.begin() == none.end() ? 1000 : 0);
            });
  rt.wait();
  CHECK(mine == std::vector<int>{2, 4, 6});
  CHECK(owned[2].unguarded() == 9);
  CHECK(found == 30 + 5 + 2 + 1000);
  for (auto& t : tokens) CHECK(t.version() == 1);
  CHECK(owned[0].version() == 0);
}

TEST_CASE("ranges: a task with nothing but empty ranges runs, on its own") {
  everywhere([](weft::runtime& rt) {
    mentions none;
    int ran = 0;
    for (int i = 0; i < 10; ++i)
      rt.submit(weft::read(none), weft::add(none), [&ran](auto reads, auto adds) {
        __atomic_add_fetch(&ran, reads.empty() && adds.empty() ? 1 : 100, __ATOMIC_RELAXED);
      });
    rt.wait();
    CHECK(ran == 10);
  });
}

TEST_CASE("ranges: access types of one's own") {
  using scale = weft::access_type<1, weft::commutative | weft::exclusive>;
  everywhere([](weft::runtime& rt) {
    handles all(20);
    for (auto& h : all) h.unguarded() = 1;
    for (int i = 0; i < 5; ++i)
      rt.submit(weft::with_access<scale>(all), [](weft::view<std::uint64_t> v) {
        for (std::uint64_t& x : v) x *= 3;
      });
    rt.submit(weft::add(all), [](weft::view<std::uint64_t> v) {
      for (std::uint64_t& x : v) ++x;
    });
    rt.wait();
    for (auto& h : all) CHECK(h.unguarded() == 244);
  });
}

TEST_CASE("ranges: what is refused leaves nothing behind") {
  weft::runtime rt({.workers = 1});
  handles all(30);
  all[20].name("twenty");
  CHECK_THROWS_WITH_AS(rt.submit(weft::read(all), weft::write(all[20]), [](auto, std::uint64_t&) {}),
                       "weft: a task names handle 'twenty' with two kinds of access; name it once, with the stronger "
                       "kind (a write may also read)",
                       weft::error);
  weft::handle<std::uint64_t> h;
  const mentions too_many(100'000, &h);
  CHECK_THROWS_WITH_AS(rt.submit(weft::read(too_many), [](auto) {}),
                       "weft: a task names 100000 handles; a task takes at most 1 MiB, about 65536 handles; split it, "
                       "or let one handle stand for many data",
                       weft::error);
  const mentions many(60'000, &h);
  std::size_t size = 0;
  rt.submit(weft::read(many), [&size](auto v) { size = v.size(); });
  rt.wait();
  CHECK(size == 60'000);
  for (auto& x : all) CHECK(x.version() == 0);
}

TEST_CASE("ranges: a body is destroyed once, whether it runs, is skipped or is refused") {
  auto alive = std::make_shared<int>(0);
  {
    weft::runtime rt({.workers = 1});
    handles all(3);
    rt.submit(weft::write(all), [alive](auto) { throw std::runtime_error("first"); });
    rt.submit(weft::read(all), [alive](auto) { ++*alive; });
    CHECK_THROWS(rt.submit(weft::read(all), weft::write(all[0]), [alive](auto, std::uint64_t&) {}));
    CHECK_THROWS_WITH(rt.wait(), "first");
  }
  CHECK(*alive == 0);
  CHECK(alive.use_count() == 1);
}

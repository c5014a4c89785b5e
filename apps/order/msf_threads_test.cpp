// The parallel minimum spanning forest on the modelled chip: right for any number of cores, the same cycles each time;
// and the sort it is made of.
#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "msf_threads.hpp"
#include "sample_sort.hpp"
#include "threads_test.hpp"

namespace weft::apps {
namespace {

constexpr unsigned cores_of_chips[] = {1, 2, 4, 8, 16, 64};

result by_threads(const settings& all, std::uint64_t seed = 1) {
  return run("msf", with(all, {{"executor", "threads"}}), {.workers = 1, .seed = seed});
}

}  // namespace

TEST_CASE("msf by threads: the edges of the serial reference, each edge once, for any chip and from several seeds") {
  for (const unsigned cores : cores_of_chips) {
    const chip_of chip(cores);
    CAPTURE(cores);
    for (const std::uint64_t seed : {1u, 2u, 3u})
      for (const bool unfiltered : {false, true}) {
        if (unfiltered && seed != 1) continue;
        CAPTURE(seed);
        CAPTURE(unfiltered);
        const result r = by_threads({{"scale", 7}, {"edges", 1500}, {"unfiltered", unfiltered}}, seed);
        CHECK(r.ok());
        CHECK(r.checks.size() == 2);
        CHECK((count_in(r, "edges_filtered") == 0) == unfiltered);
        CHECK(count_in(r, "rounds") > 20);
        CHECK(count_in(r, "cores") == cores);
      }
  }
}

TEST_CASE("msf by threads: the smallest graphs, and those with fewer edges than nodes") {
  for (const unsigned cores : cores_of_chips) {
    const chip_of chip(cores);
    CAPTURE(cores);
    for (const std::uint64_t seed : {1u, 2u}) {
      CAPTURE(seed);
      CHECK(by_threads({{"scale", 1}, {"edges", 1}}, seed).ok());
      CHECK(by_threads({{"scale", 2}, {"edges", 9}}, seed).ok());
      CHECK(by_threads({{"scale", 5}, {"edges", 20}}, seed).ok());
    }
  }
}

TEST_CASE("msf by threads: the same cycles again, wherever the heap puts things") {
  for (const unsigned cores : {1u, 16u}) {
    const chip_of chip(cores);
    const settings small = {{"scale", 8}, {"edges", 2500}};
    const result first = by_threads(small);
    const std::vector<std::unique_ptr<char[]>> between = [] {
      std::vector<std::unique_ptr<char[]>> some;
      for (std::size_t i = 1; i < 200; ++i) some.push_back(std::make_unique<char[]>(i * 37));
      return some;
    }();
    const result second = by_threads(small);
    CHECK(count_in(first, "cycles") == count_in(second, "cycles"));
    CHECK(count_in(first, "traffic_memory") == count_in(second, "traffic_memory"));
    CHECK(between.size() == 199);
  }
}

TEST_CASE("msf by threads: more cores take less time, and the filter saves work") {
  const settings graph = {{"scale", 9}, {"edges", 20'000}};
  const auto cycles_of = [&](unsigned cores, bool unfiltered) {
    const chip_of chip(cores);
    return count_in(by_threads(with(graph, {{"unfiltered", unfiltered}})), "cycles");
  };
  const std::uint64_t one = cycles_of(1, false), sixteen = cycles_of(16, false);
  CHECK(sixteen * 3 < one);
  CHECK(one < cycles_of(1, true));
}

TEST_CASE("msf by threads: what is for bodies is refused in words") {
  CHECK_THROWS_WITH_AS(by_threads({{"sorted", true}}), doctest::Contains("are for bodies"), error);
  CHECK_THROWS_WITH_AS(by_threads({{"link", "size"}}), doctest::Contains("are for bodies"), error);
}

TEST_CASE("sample sort: in order and nothing lost, whatever the keys and how many threads there are") {
  for (const std::uint32_t cores : {1u, 3u, 64u, 256u})
    for (const std::size_t n : {0u, 1u, 1000u, 9000u})
      for (const bool falling : {false, true}) {
        CAPTURE(cores);
        CAPTURE(n);
        CAPTURE(falling);
        order::paged<order::keyed> from, to(n);
        for (std::uint64_t i = 0; i < n; ++i) from.push_back({falling ? n - i : (i * 0x9e3779b97f4a7c15u) >> 8, i});
        const auto sorter = std::make_unique<order::sample_sort>(n);
        const swarm_options chip{.cores = cores};
        run_chip_threads([&](chip_thread& t) { sorter->sort(t, from, to); }, &chip);
        CHECK(std::ranges::is_sorted(to, {}, &order::keyed::key));
        std::ranges::sort(from, {}, &order::keyed::key);
        CHECK(std::ranges::equal(
            from, to, [](const order::keyed& a, const order::keyed& b) { return a.key == b.key && a.at == b.at; }));
      }
}

TEST_CASE("sample sort: a key near a rank") {
  const std::size_t n = 5000;
  order::paged<order::keyed> from;
  for (std::uint64_t i = 0; i < n; ++i) from.push_back({i * 1237 % n, i});
  const auto sorter = std::make_unique<order::sample_sort>(n);
  const swarm_options chip{.cores = 8};
  std::vector<std::uint64_t> found(8);
  run_chip_threads([&](chip_thread& t) { found[t.rank()] = sorter->near(t, from, 1000); }, &chip);
  for (const std::uint64_t key : found) CHECK(key == found[0]);
  CHECK(found[0] > 700);
  CHECK(found[0] < 1300);
}

}  // namespace weft::apps

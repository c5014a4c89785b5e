// The program silo by threads: right on every chip, from several seeds and at the smallest sizes, the same in each run;
// and as fast as its warehouses let it be.
#include "silo_threads.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "threads_test.hpp"

namespace weft::apps {
namespace {

result run_silo(unsigned cores, const settings& sizes, std::uint64_t seed = 1, const char* executor = "threads") {
  const chip_of chip(cores, executor == std::string("swarm") ? ",task_units=0" : "");
  return run("silo", with(sizes, {{"executor", executor}}), {.workers = 1, .seed = seed});
}

settings sizes(int warehouses, int transactions) {
  return {{"warehouses", warehouses}, {"items", 40}, {"customers", 5}, {"transactions", transactions}};
}

}  // namespace

TEST_CASE("order, silo by threads: right with any number of cores, of warehouses and from several seeds") {
  for (const unsigned cores : {1u, 2u, 4u, 8u, 16u, 64u})
    for (const int warehouses : {1, 3, 20})
      for (const std::uint64_t seed : {1u, 2u, 3u}) {
        CAPTURE(cores);
        CAPTURE(warehouses);
        CAPTURE(seed);
        const result r = run_silo(cores, sizes(warehouses, 80), seed);
        CHECK(r.ok());
        CHECK(r.checks.size() == 9);
        if (cores == 1) CHECK(count_in(r, "aborts") == 0);
      }
}

TEST_CASE("order, silo by threads: the smallest sizes, and more cores than there is to do") {
  for (const unsigned cores : {1u, 2u, 4u, 8u, 16u, 64u})
    for (const int transactions : {1, 2, 5}) {
      CAPTURE(cores);
      CAPTURE(transactions);
      CHECK(run_silo(cores, {{"warehouses", 1}, {"items", 1}, {"customers", 1}, {"transactions", transactions}}).ok());
      CHECK(run_silo(cores, {{"warehouses", 9}, {"items", 1}, {"customers", 1}, {"transactions", transactions}}).ok());
    }
}

TEST_CASE("order, silo by threads: the same cycles in each run, other ones from another seed") {
  const auto cycles = [](std::uint64_t seed) { return count_in(run_silo(16, sizes(2, 200), seed), "cycles"); };
  const std::uint64_t first = cycles(1);
  const std::vector<char> moves_the_heap(12'345);
  CHECK(cycles(1) == first);
  CHECK(cycles(2) != first);
}

TEST_CASE("order, silo by threads: one thread is a few percent behind the serial program") {
  const settings all = {{"warehouses", 2}, {"transactions", 300}};
  const double serial = static_cast<double>(count_in(run_silo(1, all, 1, "swarm"), "cycles"));
  const double alone = static_cast<double>(count_in(run_silo(1, all), "cycles"));
  CHECK(alone / serial > 1.0);
  CHECK(alone / serial < 1.06);
}

TEST_CASE("order, silo by threads: warehouses decide how far it goes") {
  const auto cycles = [](int warehouses, unsigned cores) {
    return static_cast<double>(
        count_in(run_silo(cores, {{"warehouses", warehouses}, {"items", 1000}, {"transactions", 600}}), "cycles"));
  };
  CHECK(cycles(16, 1) / cycles(16, 16) > 11);
  CHECK(cycles(1, 1) / cycles(1, 16) < 8);
}

TEST_CASE("order, silo by threads: transactions happen in the order of their epochs") {
  const chip_of chip(8);
  const order::sizes s{.warehouses = 2, .items = 40, .customers = 5, .transactions = 300};
  const order::paged<order::request> requests = order::make_requests(s, 1);
  order::database db = order::make_database(s, requests, 1);
  const order::served_requests served = order::serve_by_threads(db, requests, s.items, 1, 100'000);
  REQUIRE(served.in_order.size() == requests.size());
  std::uint64_t epoch = 1;
  for (const std::uint64_t i : served.in_order) {
    const std::uint64_t of = db.receipts[i].tid.value >> 40;
    CHECK(of >= epoch);
    epoch = of;
  }
  CHECK(epoch > 5);
}

}  // namespace weft::apps

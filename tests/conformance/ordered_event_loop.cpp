// The event loop of a simulator, as it was and wrapped in weft::ordered: the same handlers give the same bits, however
// many workers there are, real or modelled, in whatever order these get their turns, and on a modelled chip.
#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <queue>
#include <vector>

#include "sanitized.hpp"
#include "weft/lab/swarm.hpp"
#include "weft/weft.hpp"

namespace {

constexpr std::uint64_t stations = 24, jobs = 120, hops = 12;

// Jobs go from station to station, and wait there in turn. `history` depends on the order of all that came by.
struct alignas(64) station {
  std::uint64_t free_at = 0;
  std::uint64_t served = 0;
  std::uint64_t waited = 0;
  std::uint64_t history = 0;
};
using shop = std::array<station, stations>;

std::uint64_t drawn(std::uint64_t a, std::uint64_t b) {
  std::uint64_t x = (a * 1000 + b + 1) * 0x9e3779b97f4a7c15u;
  x ^= x >> 29;
  return x * 0xbf58476d1ce4e5b9u >> 32;
}

// A job's number is part of the timestamp, so no two events have the same: then a chip, too, has one order to keep.
std::uint64_t moment(std::uint64_t time, std::uint64_t job) { return time * jobs + job; }

template <class X> void arrive(X& x, std::uint64_t now, shop* all, std::uint64_t job, std::uint64_t hop) {
  station& s = (*all)[drawn(job, hop) % stations];
  const std::uint64_t time = now / jobs;
  const std::uint64_t free_at = x.load(s.free_at);
  const std::uint64_t begin = free_at > time ? free_at : time;
  const std::uint64_t end = begin + 1 + drawn(hop, job) % 40;
  x.store(s.free_at, end);
  x.store(s.served, x.load(s.served) + 1);
  x.store(s.waited, x.load(s.waited) + begin - time);
  x.store(s.history, x.load(s.history) * 31 + job);
  x.work(200);
  if (hop + 1 < hops) x.at(moment(end, job), &arrive<X>, all, job, hop + 1);
}

// What a simulator has without Weft.
class loop {
 public:
  using handler = void (*)(loop&, std::uint64_t, shop*, std::uint64_t, std::uint64_t);
  std::uint64_t load(const std::uint64_t& from) const { return from; }
  void store(std::uint64_t& to, std::uint64_t value) { to = value; }
  void work(std::uint64_t) {}
  void at(std::uint64_t timestamp, handler h, shop* s, std::uint64_t job, std::uint64_t hop) {
    waiting_.push({timestamp, h, s, job, hop});
  }
  std::uint64_t run() {
    std::uint64_t events = 0;
    for (; !waiting_.empty(); ++events) {
      const event e = waiting_.top();
      waiting_.pop();
      e.handle(*this, e.timestamp, e.all, e.job, e.hop);
    }
    return events;
  }

 private:
  struct event {
    std::uint64_t timestamp;
    handler handle;
    shop* all;
    std::uint64_t job, hop;
    bool operator<(const event& other) const { return timestamp > other.timestamp; }
  };
  std::priority_queue<event> waiting_;
};

const shop& as_serial() {
  static const shop result = [] {
    shop all{};
    loop l;
    for (std::uint64_t j = 0; j < jobs; ++j) l.at(moment(j * 3, j), &arrive<loop>, &all, j, 0);
    CHECK(l.run() == jobs * hops);
    return all;
  }();
  return result;
}

weft::ordered_counts same_bits(const weft::options& o, const weft::ordered_options& how) {
  weft::runtime rt(o);
  weft::ordered events(rt, how);
  shop all{};
  for (std::uint64_t j = 0; j < jobs; ++j)
    events.at(moment(j * 3, j), &arrive<weft::ordered_context>, &all, j, std::uint64_t{0});
  events.run();
  CHECK(std::memcmp(&all, &as_serial(), sizeof all) == 0);
  const weft::ordered_counts c = events.counts();
  CHECK(c.committed == jobs * hops);
  CHECK(c.started >= c.committed);
  return c;
}

}  // namespace

TEST_CASE("ordered, event loop: the serial bits on 1, 2, 7 and 16 real workers") {
  for (const unsigned workers : {1u, 2u, 7u, 16u})
    for (const bool always_ahead : {false, true}) {
      CAPTURE(workers);
      CAPTURE(always_ahead);
      same_bits({.workers = workers}, {.executor = "speculative", .always_ahead = always_ahead});
    }
}

TEST_CASE("ordered, event loop: the serial bits on 64 modelled workers, in time and in random order" *
          doctest::skip(real_threads_only)) {
  const weft::ordered_counts in_time =
      same_bits({.workers = 64, .machine = "virtual"}, {.executor = "speculative", .always_ahead = true});
  CHECK(in_time.started > in_time.in_order);  // some ran ahead
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    CAPTURE(seed);
    same_bits({.workers = 64, .machine = "virtual", .seed = seed, .model = {.schedule = "random"}},
              {.executor = "speculative", .always_ahead = true});
  }
}

TEST_CASE("ordered, event loop: the serial bits on a modelled chip of 64 cores, of one, and of one without Swarm" *
          doctest::skip(real_threads_only)) {
  for (const weft::swarm_options& chip :
       {weft::swarm_options{.audit = 1}, weft::swarm_options{.cores = 1, .task_queue = 16, .audit = 1},
        weft::swarm_options{.cores = 4, .task_units = 0}}) {
    const weft::ordered_counts c = same_bits({.workers = 1}, {.executor = "swarm", .swarm = &chip});
    if (chip.cores == 64) CHECK(c.started > c.committed);
    if (chip.task_units == 0) CHECK(c.started == c.committed);
  }
}

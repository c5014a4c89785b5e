// A simulator's event loop, wrapped: packets on a ring of routers, each with one link that sends one packet at a time.
// Who comes to a link first in simulated time sends first, whatever runs when. The same events run under two executors,
// and the oracle says how many of them could have run at a time.
#include <weft/lab/oracle.hpp>
#include <weft/weft.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdio>

namespace {

constexpr std::uint64_t routers = 128;

struct router {
  std::uint64_t free_at = 0;
  std::uint64_t sent = 0;
  std::uint64_t arrived = 0;
};

void arrive(weft::ordered_context& x, std::uint64_t now, router* ring, std::uint64_t at, std::uint64_t hops_left) {
  x.work(200);
  router& here = ring[at];
  if (hops_left == 0) return x.store(here.arrived, x.load(here.arrived) + 1);
  const std::uint64_t begin = std::max(now, x.load(here.free_at));
  x.store(here.free_at, begin + 10);
  x.store(here.sent, x.load(here.sent) + 1);
  x.at(begin + 35, arrive, ring, (at + 1) % routers, hops_left - 1);
}

void simulate(weft::ordered& events, router* ring) {
  for (std::uint64_t i = 0; i < 2000; ++i) events.at(i * 3, arrive, ring, i * i % routers, i % 11);
  events.run();
}

}  // namespace

int main() {
  weft::runtime rt;
  router one[routers], two[routers];
  weft::ordered plain(rt), profiled(rt, {.executor = "oracle"});
  simulate(plain, one);
  simulate(profiled, two);
  std::uint64_t sent = 0, arrived = 0, last = 0;
  bool same = true;
  for (std::uint64_t i = 0; i < routers; ++i) {
    sent += one[i].sent, arrived += one[i].arrived, last = std::max(last, one[i].free_at);
    same = same && one[i].sent == two[i].sent && one[i].free_at == two[i].free_at && one[i].arrived == two[i].arrived;
  }
  std::printf("%llu packets arrived after %llu hops, the last sent at %llu; %s\n",
              static_cast<unsigned long long>(arrived), static_cast<unsigned long long>(sent),
              static_cast<unsigned long long>(last), same ? "the same twice" : "NOT the same twice");
  const weft::oracle_statistics s = weft::oracle_of(profiled);
  std::printf("%llu events; at a time: %.1f, with 64 in sight: %.1f, in a loop with a queue: %.2f\n",
              static_cast<unsigned long long>(s.tasks), s.parallelism.unlimited, s.parallelism.window_64,
              s.parallelism.sequential);
  return same ? 0 : 1;
}

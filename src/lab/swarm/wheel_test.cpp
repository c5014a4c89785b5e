#include "lab/swarm/wheel.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "base/random.hpp"

using weft::swarm::cycle;
using weft::swarm::wheel;

TEST_CASE("swarm wheel: events come by time, and of one cycle in the order they were put in, near and far") {
  wheel<int> w;
  w.push(5000, 1);  // far: the ring has fewer slots
  w.push(3, 2);
  w.push(3, 3);
  CHECK(w.next() == 3);
  CHECK(w.pop().what == 2);
  CHECK(w.now() == 3);
  w.push(3, 4);
  CHECK(w.pop().what == 3);
  CHECK(w.pop().what == 4);
  w.advance(4000);
  w.push(5000, 5);  // behind the one that was far
  CHECK(w.pop().what == 1);
  CHECK(w.pop().what == 5);
  CHECK(w.size() == 0);
  CHECK(w.next() == UINT64_MAX);
}

TEST_CASE("swarm wheel: is a stable sort, whatever is put in meanwhile") {
  weft::base::random draw(3);
  wheel<std::size_t> w;
  std::vector<cycle> times;
  std::vector<std::pair<cycle, std::size_t>> out;
  const auto push = [&] {
    times.push_back(w.now() + draw.below(draw.below(10) == 0 ? 20'000 : 50));
    w.push(times.back(), times.size() - 1);
  };
  for (int i = 0; i < 50; ++i) push();
  while (w.size() != 0) {
    const auto e = w.pop();
    out.emplace_back(e.time, e.what);
    CHECK(times[e.what] == e.time);
    if (times.size() < 20'000) push();
  }
  CHECK(out.size() == 20'000);
  CHECK(std::is_sorted(out.begin(), out.end()));
}

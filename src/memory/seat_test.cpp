// Numbers of threads: none has two, no two have one, and they are used again.
#include "memory/seat.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <barrier>
#include <set>
#include <thread>
#include <vector>

namespace weft::memory {
namespace {

// What `n` threads that live at the same time get.
std::vector<unsigned> of_threads(unsigned n) {
  std::vector<unsigned> got(n);
  std::barrier all_have(n);
  std::vector<std::jthread> threads;
  for (unsigned& g : got)
    threads.emplace_back([&g, &all_have] {
      g = seat::number();
      all_have.arrive_and_wait();
      if (seat::number() != g) g = ~0u;
    });
  threads.clear();
  return got;
}

}  // namespace

TEST_CASE("seat: threads at once have different numbers, and those of ended ones come back") {
  const unsigned own = seat::number();  // before the others: later it may be one of theirs that came back
  unsigned most = 0;
  for (int i = 0; i < 20; ++i) {
    const std::vector<unsigned> got = of_threads(40);
    CHECK(std::set<unsigned>(got.begin(), got.end()).size() == 40);
    CHECK(std::find(got.begin(), got.end(), own) == got.end());
    most = std::max(most, *std::max_element(got.begin(), got.end()));
  }
  CHECK(most < 41 + 100);  // and whatever threads the other cases left running
}

TEST_CASE("seat: what still runs in a thread that has given its number back goes without") {
  struct late {
    unsigned* seen;
    ~late() { *seen = seat::number(); }
  };
  unsigned own = ~0u, seen = ~0u;
  std::jthread([&] {
    static thread_local late l{&seen};  // before its number, so it is destroyed behind that
    l.seen = &seen;
    own = seat::number();
  }).join();
  CHECK((own < seats_max && seen == seats_max));
}

}  // namespace weft::memory

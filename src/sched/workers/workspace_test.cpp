#include "sched/workers/workspace.hpp"

#include <cstdint>
#include <cstring>
#include <limits>
#include <new>

#include <doctest/doctest.h>

namespace weft::sched {

TEST_CASE("workspace: is the same memory until more is asked for") {
  workspace w;
  void* const first = w.get(100);
  std::memset(first, 1, 4096);  // it begins with a page's worth
  CHECK(reinterpret_cast<std::uintptr_t>(first) % 64 == 0);
  CHECK(w.get(4096) == first);
  std::memset(w.get(5000), 1, 8192);
  CHECK(w.get(8192) == w.get(1));
}

TEST_CASE("workspace: what cannot be had leaves what there was") {
  workspace w;
  void* const first = w.get(100);
  CHECK_THROWS_AS(static_cast<void>(w.get(std::numeric_limits<std::size_t>::max())), std::bad_alloc);
  CHECK(w.get(100) == first);
  w.clear();
  CHECK(w.get(0) == nullptr);
}

}  // namespace weft::sched

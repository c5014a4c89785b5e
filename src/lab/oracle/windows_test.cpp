#include "lab/oracle/windows.hpp"

#include <doctest/doctest.h>

namespace weft::ordered_run {

namespace {

// When each body begins, if it takes so long and waits for nothing but the window.
template <class Window> std::vector<std::uint64_t> begins(Window w, const std::vector<std::uint64_t>& lengths) {
  std::vector<std::uint64_t> all;
  for (const std::uint64_t length : lengths) {
    all.push_back(w.opens());
    w.ended(all.back() + length);
  }
  return all;
}
using times = std::vector<std::uint64_t>;

}  // namespace

TEST_CASE("oracle, windows: one body at a time is serial") {
  CHECK(begins(prefix_window(1), {3, 1, 4, 1}) == times{0, 3, 4, 8});
  CHECK(begins(places_window(1), {3, 1, 4, 1}) == times{0, 3, 4, 8});
}

TEST_CASE("oracle, windows: a long body holds up a window of those behind it, and takes one place of many") {
  CHECK(begins(prefix_window(3), {10, 1, 1, 1, 1, 1, 1}) == times{0, 0, 0, 10, 10, 10, 11});
  CHECK(begins(places_window(3), {10, 1, 1, 1, 1, 1, 1}) == times{0, 0, 0, 1, 1, 2, 2});
}

TEST_CASE("oracle, windows: places are taken in order") {
  // The third begins at 4; the fourth could at 4 too and not earlier, although it had a place in the window of its own.
  CHECK(begins(places_window(2), {4, 6, 5, 1, 1}) == times{0, 0, 4, 6, 7});
}

}  // namespace weft::ordered_run

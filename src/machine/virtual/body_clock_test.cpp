// How bodies are measured, with clocks that say what the test wants, and with the computer's own.
#include "machine/virtual/body_clock.hpp"

#include <time.h>

#include <algorithm>
#include <cstdint>
#include <doctest/doctest.h>
#include <vector>

using weft::machine::body_clock;

namespace {

std::uint64_t system_now = 1, thread_now = 0;
unsigned asked = 0;

// Time passes by hand, and a look at the thread's clock takes as long as it does.
constexpr body_clock::clocks by_hand{[]() noexcept { return system_now; },
                                     []() noexcept {
                                       ++asked;
                                       system_now += 500;
                                       thread_now += 500;
                                       return thread_now;
                                     }};
void runs(std::uint64_t ns) { system_now += ns, thread_now += ns; }
void loses_its_core(std::uint64_t ns) { system_now += ns; }
void begin_anew() { system_now = 1, thread_now = 0, asked = 0; }

}  // namespace

TEST_CASE("body_clock: a short stretch is the system's time less the clock's price, and is never below nothing") {
  begin_anew();
  body_clock c(by_hand, 20'000);
  const std::uint64_t first = c.begin();
  runs(820);
  CHECK(c.since(first) == 800'000);
  const std::uint64_t second = c.begin();
  runs(10);
  CHECK(c.since(second) == 0);
  CHECK(asked == 1);  // at the first beginning: bodies of 1 us are not measured by what takes half of one
}

TEST_CASE("body_clock: what another program had of a stretch is no part of it") {
  begin_anew();
  body_clock c(by_hand, 0);
  const std::uint64_t first = c.begin();
  runs(30'000);
  loses_its_core(4'000'000);
  runs(10'000);
  const std::uint64_t took = c.since(first);
  CHECK(took >= 40'000'000);
  CHECK(took <= 41'000'000);  // and the look itself
}

TEST_CASE("body_clock: a stretch that lost its core is too long by at most what went before it unasked") {
  begin_anew();
  body_clock c(by_hand, 0);
  static_cast<void>(c.begin());
  runs(body_clock::asks_after_ns - 1);  // others' work, the last look lies that far back
  const std::uint64_t second = c.begin();
  runs(40'000);
  loses_its_core(1'000'000);
  CHECK(c.since(second) <= (40'000 + body_clock::asks_after_ns + 500) * 1000);
  runs(body_clock::asks_after_ns);
  const std::uint64_t third = c.begin();  // asks
  runs(40'000);
  loses_its_core(1'000'000);
  CHECK(c.since(third) == 40'500'000);
}

TEST_CASE("body_clock: long stretches nobody disturbed are what the system's clock says") {
  begin_anew();
  body_clock c(by_hand, 0);
  for (int i = 0; i < 3; ++i) {
    const std::uint64_t from = c.begin();
    runs(200'000);
    CHECK(c.since(from) == 200'000'000);
    runs(5'000);
  }
}

// The thread's own clock takes 200 to 500 ns a look, and was part of each body.
TEST_CASE("body_clock: on this computer nothing takes next to nothing, and a sleep is no computing") {
  body_clock c;
  std::vector<std::uint64_t> of_nothing;
  for (int i = 0; i < 999; ++i) {
    const std::uint64_t from = c.begin();
    of_nothing.push_back(c.since(from));
  }
  std::nth_element(of_nothing.begin(), of_nothing.begin() + 499, of_nothing.end());
  CHECK(of_nothing[499] <= 100'000);
  const std::uint64_t from = c.begin();
  const timespec while_it_sleeps{0, 20'000'000};
  ::nanosleep(&while_it_sleeps, nullptr);
  CHECK(c.since(from) < 10'000'000'000);
}

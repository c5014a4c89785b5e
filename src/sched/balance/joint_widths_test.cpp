// Which teams are among others, how the time is divided among them, and the way of a width to those that ask.
#include "sched/balance/joint_widths.hpp"

#include <doctest/doctest.h>

#include <thread>
#include <vector>

#include "machine/host/host.hpp"

namespace weft::sched {

using joint = joint_widths<machine::host>;

TEST_CASE("joint_widths: the time is divided evenly among those on their way") {
  joint all;
  const auto a = all.begins(100);
  const auto b = all.begins(200);
  const auto past_b = all.ends(b, 300);  // 100 together
  const auto past_a = all.ends(a, 350);
  CHECK((past_b.alone_ps == 0 && past_b.part_ps == 50));
  CHECK((past_a.alone_ps == 150 && past_a.part_ps == 200));
  const auto c = all.begins(1000);  // nobody was there before
  const auto past_c = all.ends(c, 1010);
  CHECK((past_c.alone_ps == 10 && past_c.part_ps == 10));
}

TEST_CASE("joint_widths: a kind is among others from more than half of its time, until less than an eighth") {
  joint::share s;
  s.add(10, 10);
  CHECK(!s.is_most());  // one says little
  s.add(10, 10);
  CHECK(s.is_most());
  for (int i = 0; i < 30; ++i) s.add(i % 3 == 0 ? 10 : 0, 10);
  CHECK(s.is_most());
  for (int i = 0; i < 70; ++i) s.add(0, 10);
  CHECK(!s.is_most());
  for (int i = 0; i < 100; ++i) s.add(i % 2 == 0 ? 8 : 0, 10);
  CHECK(!s.is_most());
}

TEST_CASE("joint_widths: of teams two by two the width is found that gets most done") {
  joint all;
  std::uint64_t now = 0;
  std::vector<unsigned> late(17);
  std::uint32_t width = 0, next_width = 0;
  auto one = all.begins(now);
  width = all.width(one, 16);
  for (int i = 0; i < 4000; ++i) {
    auto next = all.begins(now);
    next_width = all.width(next, 16);
    now += width == 4 ? 500 : 1000;
    all.measured(one, all.ends(one, now).part_ps, 10);
    if (i >= 500) ++late[width];
    one = next;
    width = next_width;
  }
  CHECK(late[4] > 3000);
}

TEST_CASE("joint_widths: from several threads at once") {
  joint all;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (std::uint64_t i = 0; i < 20'000; ++i) {
        auto s = all.begins(i * 10);
        REQUIRE(all.width(s, 8) <= 8);
        const auto past = all.ends(s, i * 10 + 5);
        all.measured(s, past.part_ps, 1);
      }
    });
  for (std::thread& t : threads) t.join();
  auto s = all.begins(1);
  CHECK(all.width(s, 8) <= 8);
}

}  // namespace weft::sched

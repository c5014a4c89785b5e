// A gang step by step: who completes it, who is called, and what calls mean to one that looks and one that sleeps.
// Random schedules: gang_model_test.cpp.
#include "sched/place/gang.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <thread>
#include <vector>

#include "machine/host/host.hpp"

namespace weft::sched {
namespace {

using g = gang<machine::host>;

struct three {
  machine::host machine;
  g all;
  three() {
    static_cast<void>(machine.start(1, nullptr, nullptr, {}));
    all.make(std::vector<std::uint16_t>{0, 0, 0});  // one thread takes all the parts
  }
};

}  // namespace

TEST_CASE("gang: the last answer completes it, each seat is answered for once, and the first that is held is called") {
  three x;
  CHECK(x.all.answers(2, g::answer::held) == g::step::others_missing);
  CHECK(x.all.answers(0, g::answer::absent) == g::step::others_missing);
  CHECK(x.all.answers(0, g::answer::held) == g::step::too_late);
  CHECK(x.all.answers(1, g::answer::held) == g::step::complete);
  CHECK(x.all.first() == 1);
  CHECK((!x.all.is_held(0) && x.all.is_held(1) && x.all.is_held(2)));
}

TEST_CASE("gang: it serves again, with other workers") {
  three x;
  for (unsigned i = 0; i < 3; ++i) static_cast<void>(x.all.answers(i, g::answer::held));
  x.all.make(std::vector<std::uint16_t>{4, 7});
  CHECK((x.all.size() == 2 && x.all.worker(1) == 7 && !x.all.is_held(0)));
  CHECK(x.all.answers(1, g::answer::held) == g::step::others_missing);
  CHECK(x.all.answers(0, g::answer::held) == g::step::complete);
}

TEST_CASE("gang: a call that comes first is not lost, and after each the next may come") {
  three x;
  for (const std::uint64_t patience_ps : {0u, 1'000'000u})
    for (const g::call c : {g::call::job, g::call::host, g::call::over}) {
      x.all.tell(x.machine, 1, c);
      CHECK(x.all.await(x.machine, 1, patience_ps) == c);
    }
}

// A clock that goes on by a nanosecond a look, and a call that comes after some.
struct patient : machine::host {
  void park(unsigned) noexcept { ++parked; }
  [[nodiscard]] std::uint64_t now_ps() noexcept { return clock_ps += 1000; }
  static void relax(unsigned spins) noexcept {
    if (spins == calls_at) call();
  }
  unsigned parked = 0;
  std::uint64_t clock_ps = 0;
  static inline unsigned calls_at = 0;
  static inline std::function<void()> call;
};
TEST_CASE("gang: who has patience looks for so long, and does not sleep if the call comes meanwhile") {
  using held = gang<patient>;
  patient machine;
  held all;
  all.make(std::vector<std::uint16_t>{0, 0});
  patient::call = [&] { all.tell(machine, 1, held::call::job); };
  patient::calls_at = 5;
  CHECK((all.await(machine, 1, 20'000) == held::call::job && machine.parked == 0));
  CHECK(machine.clock_ps >= 5000);
}

TEST_CASE("gang: a call wakes one that sleeps") {
  three x;
  for (int round = 0; round < 50; ++round) {
    g::call got{};
    std::thread held([&] { got = x.all.await(x.machine, 2, 0); });
    x.all.tell(x.machine, 2, g::call::over);
    held.join();
    CHECK(got == g::call::over);
  }
}

}  // namespace weft::sched

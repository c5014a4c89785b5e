// Several machines in one time: none is ahead of the others by more than the lookahead, a message wakes who sleeps at
// its time, and that all wait is told. Costs are those of model::flat().
#include "machine/virtual/joint_time.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <map>
#include <vector>

namespace weft::machine {
namespace {

using V = virtual_machine;

// Messages that only say that they are there.
struct bells final : joint_time::between {
  [[nodiscard]] std::uint64_t next_ps() override { return all.empty() ? joint_time::never : all.begin()->first; }
  void advance(std::uint64_t until_ps) override {
    for (; !all.empty() && all.begin()->first < until_ps; all.erase(all.begin()))
      time->message_at(all.begin()->second, all.begin()->first);
  }
  [[nodiscard]] bool stalled() override {
    ++stalls;
    for (const unsigned node : {0u, 1u})
      if (tells) time->message_at(node, 0);
    return tells;
  }
  joint_time* time = nullptr;
  std::multimap<std::uint64_t, unsigned> all;
  int stalls = 0;
  bool tells = false;
};

// Nodes of one core each, which do what `script` says.
struct stage {
  stage(unsigned nodes, std::uint64_t lookahead_ps) : time(nodes, lookahead_ps, between), hears(nodes) {
    between.time = &time;
  }
  struct here {
    stage& of;
    unsigned node;
    V& machine;
    [[nodiscard]] std::uint64_t now() const { return machine.now_ps(); }
  };
  void run(std::function<void(here)> s) {
    script = std::move(s);
    time.run(&program, this);
  }
  static void program(void* self, unsigned node) {
    stage& s = *static_cast<stage*>(self);
    V machine({});
    fiber stack;
    const V::call call(machine);
    machine.start(
        1, [](void*, unsigned) {}, nullptr, 65536);
    machine.set_program_stack(stack);
    bool hears = false;
    s.time.join(node, machine, hears, s.notice_ps);
    CHECK(hears);
    s.script({s, node, machine});
    s.hears[node] = hears;
    s.time.leave(node);
    CHECK(!hears);
    machine.join();
  }
  bells between;
  joint_time time;
  std::uint64_t notice_ps = 0;
  std::vector<bool> hears;
  std::function<void(here)> script;
};

}  // namespace

TEST_CASE("joint time: no node is ahead of another by more than the lookahead, and nobody stands still") {
  constexpr std::uint64_t lookahead = 100'000;
  stage s(3, lookahead);
  std::vector<std::uint64_t> now(3);
  s.run([&](stage::here h) {
    // The third goes in longer steps.
    for (int i = 0; i < 1000; ++i) {
      V::relax(1);
      if (h.node == 2) h.machine.spend(7'000);
      now[h.node] = h.now();
      for (unsigned other = 0; other < 3; ++other)
        if (other != h.node && now[other] != joint_time::never) CHECK(now[h.node] <= now[other] + lookahead + 17'000);
    }
    now[h.node] = joint_time::never;  // and is in nobody's way from now on
  });
  CHECK(now == std::vector<std::uint64_t>(3, joint_time::never));
}

TEST_CASE("joint time: a core that sleeps goes on when a message comes, and a node later") {
  for (const std::uint64_t notice : {0u, 40'000u}) {
    stage s(2, 1'000'000);
    s.notice_ps = notice;
    std::uint64_t woke = 0, sent = 0;
    s.run([&](stage::here h) {
      if (h.node == 1) {
        h.machine.spend(5'000'000);
        V::relax(1);
        sent = h.now();
        s.between.all.emplace(sent + 1'000'000, 0);
        return;
      }
      h.machine.doze(0);
      CHECK(h.machine.rang(0));
      woke = h.now();
      s.time.message_at(0, joint_time::never);
    });
    CHECK(sent >= 5'000'000);
    CHECK(woke == sent + 1'000'000 + notice);
    CHECK(s.between.stalls == 0);
  }
}

TEST_CASE("joint time: that all wait and nothing is on its way is told, to all at once or one after the other") {
  for (const bool tells : {true, false}) {
    stage s(2, 1'000'000);
    s.between.tells = tells;
    std::vector<unsigned> order;
    s.run([&](stage::here h) {
      h.machine.doze(0);
      order.push_back(h.node);
      s.time.message_at(h.node, joint_time::never);
    });
    CHECK(order == std::vector<unsigned>{0, 1});
    CHECK(s.between.stalls == (tells ? 1 : 2));
    CHECK(s.hears == std::vector<bool>(2, tells));  // who is told by its own waits is told that nobody sends any more
  }
}

}  // namespace weft::machine

// Cache lines by themselves: what a hit is, how long a line travels, who waits behind whom, what is forgotten. Then on
// the virtual machine: a contended word serialises its users, and a lock's hand-over costs a transfer.
#include "machine/virtual/lines.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "machine/virtual/virtual.hpp"

namespace weft::machine {
namespace {

// Two nodes of two cores; the two of a node share a second-level cache.
model::machine two_nodes() {
  model::machine m = model::flat();
  m.any_size = false;
  m.cores.resize(4);
  for (unsigned i = 0; i < 4; ++i) {
    m.cores[i].at = {.cpu = i, .cache = i / 2, .node = i / 2};
    m.cores[i].inner = i / 2;
    m.cores[i].physical = i;
  }
  m.apart = {{0, 1}, {1, 0}};
  m.classes = 2;
  m.lines.transfer_ps = {0, 10'000, 20'000, 30'000, 100'000};
  m.lines.memory_ps = {60'000, 90'000};
  return m;
}

struct alignas(64) word {
  cell<std::uint64_t> c;
  cell<std::uint64_t> neighbour;
};

// Asks and waits; gives how long it took.
std::uint64_t get(lines& all, unsigned core, const word& w, std::uint64_t now, bool alone) {
  const lines::number l = all.of(&w.c);
  if (alone ? all.writable(core, l) : all.readable(core, l)) return 0;
  const std::uint64_t at = all.ask(core, l, now, alone);
  all.arrived(core, l, alone);
  return at - now;
}

}  // namespace

TEST_CASE("lines: words within 64 bytes are one line, and lines are numbered as they are met") {
  lines all(two_nodes(), {0, 1, 2, 3}, 64);
  word a, b;
  CHECK(all.of(&b.c) == 0);
  CHECK(all.of(&a.c) == 1);
  CHECK(all.of(&a.neighbour) == 1);
  CHECK(all.of(&b.neighbour) == 0);
}

TEST_CASE("lines: a fresh one comes from memory, then it is here; others get it from as far as they are") {
  lines all(two_nodes(), {0, 1, 2, 3}, 64);
  word w;
  CHECK(get(all, 0, w, 0, false) == 60'000);
  CHECK(get(all, 0, w, 0, false) == 0);
  CHECK(get(all, 0, w, 0, true) == 0);  // nobody else has a copy: no need to ask
  CHECK(get(all, 1, w, 0, false) == 10'000);
  CHECK(get(all, 2, w, 0, false) == 100'000);
  CHECK(get(all, 1, w, 0, false) == 0);
  // The owner must tell the farthest copy; and then nobody has one.
  CHECK(get(all, 0, w, 0, true) == 100'000);
  CHECK(get(all, 1, w, 200'000, false) == 10'000);
  CHECK(get(all, 2, w, 200'000, true) == 100'000);
  CHECK(all.total().transfers == 5);
  CHECK(all.total().fetches == 1);
}

TEST_CASE("lines: who wants one alone waits behind those who asked before") {
  lines all(two_nodes(), {0, 1, 2, 3}, 64);
  word w;
  static_cast<void>(get(all, 0, w, 0, true));
  const lines::number l = all.of(&w.c);
  CHECK(all.ask(1, l, 100'000, true) == 110'000);
  CHECK(all.writable(0, l));  // it is on its way, and the owner goes on meanwhile
  CHECK(all.ask(2, l, 101'000, true) == 210'000);
  CHECK(all.ask(3, l, 102'000, true) == 220'000);  // from 2, its neighbour
  CHECK(all.total().waits_ps == 9'000 + 108'000);
  all.arrived(1, l, true);
  CHECK(!all.writable(0, l));
  CHECK(all.writable(1, l));
  all.arrived(2, l, true);
  all.arrived(3, l, true);
  CHECK(all.writable(3, l));
  CHECK(!all.readable(2, l));
}

TEST_CASE("lines: a plain store takes the line at once, but not from under who is waiting for it") {
  lines all(two_nodes(), {0, 1, 2, 3}, 64);
  word w;
  static_cast<void>(get(all, 0, w, 0, true));
  const lines::number l = all.of(&w.c);
  all.take(1, l, 70'000);
  CHECK(all.writable(1, l));
  CHECK(!all.readable(0, l));
  CHECK(all.ask(2, l, 80'000, true) == 180'000);
  all.take(0, l, 90'000);
  CHECK(all.ask(3, l, 91'000, true) == 190'000);  // still from 2
}

TEST_CASE("lines: more than a core keeps crowds out the oldest, which is not where it was") {
  lines all(two_nodes(), {0, 1, 2, 3}, 64);
  std::vector<word> many(65);
  for (const word& w : many) CHECK(get(all, 0, w, 0, true) == 60'000);
  CHECK(get(all, 0, many[1], 0, true) == 0);
  CHECK(get(all, 0, many[0], 100'000, true) == 60'000);  // crowded out by the 65th
  CHECK(get(all, 0, many[64], 200'000, true) == 60'000);
}

TEST_CASE("lines: what is forgotten is nobody's") {
  lines all(two_nodes(), {0, 1, 2, 3}, 64);
  std::vector<word> two(2);
  for (const word& w : two) static_cast<void>(get(all, 3, w, 0, true));
  all.forget(two.data(), sizeof(word) + 1);
  for (const word& w : two) CHECK(get(all, 0, w, 500'000, true) == 60'000);
}

namespace {

using V = virtual_machine;

// Each of n cores does its script on the same word; gives the last clock.
std::uint64_t contend(unsigned n, const model::machine& m, const std::function<void(cell<std::uint64_t>&)>& script) {
  V machine({.model = m});
  V* before = V::set_current(&machine);
  struct note {
    V* machine;
    const std::function<void(cell<std::uint64_t>&)>* script;
    word w;
    std::uint64_t last = 0;
  } shared{&machine, &script, {}, 0};
  fiber program;
  machine.start(
      n,
      [](void* self, unsigned) {
        note& s = *static_cast<note*>(self);
        (*s.script)(s.w.c);
        s.last = std::max(s.last, s.machine->now_ps());
      },
      &shared, 65536);
  machine.set_program_stack(program);
  script(shared.w.c);
  shared.last = std::max(shared.last, machine.now_ps());
  machine.join();
  static_cast<void>(V::set_current(before));
  return shared.last;
}

}  // namespace

TEST_CASE("lines: a counter that everybody adds to makes them wait for each other") {
  const auto add = [](cell<std::uint64_t>& c) {
    static_cast<void>(V::fetch_add(c, std::uint64_t{1}, base::relaxed));
    V::relax(1);  // long enough for the line to be asked away
  };
  // One after the other gets the line: from memory, then from the neighbour, over to the other node, to its neighbour.
  const std::uint64_t hit = two_nodes().lines.modify_ps;
  CHECK(contend(4, two_nodes(), add) == 60'000 + 10'000 + 100'000 + 10'000 + hit + two_nodes().runtime.relax_ps);
  // Alone it costs what the operations cost.
  CHECK(contend(1, two_nodes(), add) == 60'000 + hit + two_nodes().runtime.relax_ps);
}

TEST_CASE("lines: nothing is lost between cores that contend") {
  std::uint64_t count = 0;
  const auto add = [&](cell<std::uint64_t>& c) {
    for (int i = 0; i < 100; ++i) static_cast<void>(V::fetch_add(c, std::uint64_t{1}, base::relaxed));
    count = c.raw;
  };
  static_cast<void>(contend(4, two_nodes(), add));
  CHECK(count == 400);
}

}  // namespace weft::machine

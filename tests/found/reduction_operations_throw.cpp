// An operation of a reduction whose merge() throws ended the program; a buffer was lost each time that apply() threw.
// Right: the task fails in which it was called, the wait says so, and no buffer is left.
// Machines: host virtual random
// Times: 3
#include <weft/weft.hpp>

#include <atomic>
#include <stdexcept>

#include "found.hpp"

namespace {

std::atomic<long> live{0}, thrown{0};

struct counted {
  long value = 0;
  counted() { ++live; }
  counted(const counted& o) : value(o.value) { ++live; }
  ~counted() { --live; }
};

enum class where { nowhere, create, merge, apply };

template <where Where> struct adds {
  using buffer = counted;
  static void at(where w) {
    if (w != Where) return;
    ++thrown;
    throw std::runtime_error("in an operation");
  }
  static buffer create(const long&) {
    at(where::create);
    return {};
  }
  static void merge(buffer& into, buffer& from) {
    at(where::merge);
    into.value += from.value;
  }
  static void apply(long& target, buffer& from) {
    at(where::apply);
    target += from.value;
  }
};

template <class Reduction> void run(weft::runtime& rt, bool bodies_throw) {
  const long before = thrown;
  bool told = false;
  {
    Reduction x;
    for (int i = 0; i < 40; ++i)
      rt.submit(weft::reduce(x), weft::cost(1e4), [&, i](counted& part) {
        ++part.value;
        for (int k = 0; k < 200; ++k) thrown.load();
        if (bodies_throw && i % 5 == 4) throw std::runtime_error("in a body");
      });
    try {
      rt.wait();
    } catch (const std::runtime_error&) {
      told = true;
    }
    require(told == (bodies_throw || thrown != before), "what was thrown and what was told");
    if (!told) require(x.unguarded() == 40, "a sum of " + std::to_string(x.unguarded()));
  }
  require(live == 0, std::to_string(live) + " buffers are left");
}

template <where Where> void both(weft::runtime& rt) {
  for (const bool bodies_throw : {false, true}) {
    run<weft::reduction<long, adds<Where>>>(rt, bodies_throw);
    run<weft::repeatable_reduction<long, adds<Where>>>(rt, bodies_throw);
  }
}

}  // namespace

int main() {
  weft::runtime rt;
  for (int round = 0; round < 5; ++round) {
    both<where::nowhere>(rt);
    both<where::create>(rt);
    both<where::merge>(rt);
    both<where::apply>(rt);
  }
  require(thrown != 0, "nothing was thrown");
}

// A random program of ordered bodies, for tests: its loads, stores and calls depend on a seed, and on what it has
// loaded so far. Whatever runs it must leave the same bytes as the serial executor, and make as many calls that count.
#pragma once
#include <cstdint>
#include <cstring>
#include <vector>

#include "base/random.hpp"
#include "weft/ordered.hpp"
#include "weft/runtime.hpp"

namespace weft::speculative {

struct random_program {
  std::uint64_t seed = 1;
  std::size_t words = 16;  // of shared memory
  unsigned roots = 20;
  unsigned depth = 4;       // generations of calls
  unsigned children = 2;    // at most, of each call
  unsigned accesses = 6;    // at most, of each call
  std::uint64_t later = 3;  // children come at most so much later; 0: all at one time
  unsigned spin = 0;        // rounds between accesses
  double charge_ns = 0;     // between accesses, on a modelled machine

  std::vector<std::uint64_t> memory{};

  struct result {
    std::vector<std::uint64_t> memory;
    std::uint64_t committed;
    ordered_counts counts;
    friend bool operator==(const result& a, const result& b) {
      return a.memory == b.memory && a.committed == b.committed;
    }
  };

  static std::uint64_t mixed(std::uint64_t a, std::uint64_t b) noexcept {
    a = (a ^ b) * 0x9e3779b97f4a7c15u;
    return a ^ a >> 29;
  }
  template <class T> static std::uint64_t change(ordered_context& x, T& at, std::uint64_t value, bool writes) {
    const T old = x.load(at);
    if (writes) x.store(at, static_cast<T>(value));
    return static_cast<std::uint64_t>(old);
  }
  void pass() const {
    for (unsigned i = 0; i < spin; ++i) asm volatile("");
    if (charge_ns > 0) weft::charge(charge_ns);
  }
  static void body(ordered_context& x, std::uint64_t now, random_program* p, std::uint64_t who, unsigned left) {
    std::uint64_t state = mixed(who, now);
    const std::uint64_t count = mixed(state, 1) % (p->accesses + 1);
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint64_t draw = mixed(state, i + 2);  // where, how and what: also by what was loaded
      auto* const bytes = reinterpret_cast<unsigned char*>(p->memory.data());
      const std::size_t at = draw % p->memory.size();
      const bool writes = (draw >> 20) % 2 == 0;
      std::uint64_t seen = 0;
      switch ((draw >> 24) % 5) {
      case 0: seen = change(x, bytes[at * 8 + (draw >> 32) % 8], draw >> 40, writes); break;
      case 1: seen = change(x, reinterpret_cast<std::uint16_t*>(bytes)[at * 4 + (draw >> 32) % 4], draw, writes); break;
      case 2: seen = change(x, reinterpret_cast<std::uint32_t*>(bytes)[at * 2 + (draw >> 32) % 2], draw, writes); break;
      case 3: seen = change(x, p->memory[at], draw, writes); break;
      default:
        if (writes) x.store(p->memory[at], (draw >> 50) % 3);  // few values: runs again often find the same
      }
      state = mixed(state, seen);
      p->pass();
    }
    if (left == 0) return;
    const std::uint64_t more = mixed(state, 77) % (p->children + 1);
    for (std::uint64_t i = 0; i < more; ++i) {
      const std::uint64_t draw = mixed(state >> 60, who + i + 100);  // much the same, whatever was loaded
      x.at(now + (p->later == 0 ? 0 : draw % (p->later + 1)), body, p, mixed(draw, i), left - 1);
    }
  }

  [[nodiscard]] result run(runtime& rt, const ordered_options& o) {
    memory.assign(words, 0);
    for (std::size_t i = 0; i < words; ++i) memory[i] = mixed(seed, i);
    ordered q(rt, o);
    for (unsigned r = 0; r < roots; ++r)
      q.at(mixed(seed, r) % (later * roots / 4 + 1), body, this, mixed(seed, r), depth);
    q.run();
    return {memory, q.counts().committed, q.counts()};
  }
  [[nodiscard]] result serially() {
    runtime rt({.workers = 1});
    return run(rt, {.executor = "serial"});
  }
};

}  // namespace weft::speculative

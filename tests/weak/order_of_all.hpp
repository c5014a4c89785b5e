// The order S of all seq_cst events, which C++20 asks for ([atomics.order] 3 to 6): one total order that agrees with
// "strongly happens before" and, on each word, with "coherence-ordered before". It exists as long as the graph of these
// two relations has no circle. So the graph is kept, and each event knows its ancestors: of each core how many of its
// seq_cst events, since these stand in program order. Most edges lead to the event that happens now. One that leads
// back, from a load that reads old news to a store that happened already, gives that one's descendants more ancestors.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

namespace weft::weak {

inline constexpr unsigned cores_max = 16;

struct clock {
  std::array<std::uint32_t, cores_max> of{};
  void join(const clock& c) noexcept {
    for (unsigned i = 0; i < cores_max; ++i) of[i] = of[i] < c.of[i] ? c.of[i] : of[i];
  }
};

// What a core knows, and what a message gives: of each core how many events happen before; and how many of its seq_cst
// events are strongly before whatever its holder does next.
struct knowledge {
  clock happened;
  clock in_order;
  void join(const knowledge& k) noexcept {
    happened.join(k.happened);
    in_order.join(k.in_order);
  }
};

class order_of_all {
 public:
  // Where a seq_cst event stands on its word: at 2 * stamp if it writes there, and right above if it only reads that.
  struct access {
    std::uint32_t index;  // its number among its core's seq_cst events, from 1
    std::uint64_t key;
  };
  using accesses = std::array<std::vector<access>, cores_max>;

  [[nodiscard]] std::uint32_t count(unsigned core) const noexcept {
    return static_cast<std::uint32_t>(events_[core].size());
  }
  // The highest place on the word of an event that must come before a next one of `core`, which `before` lists beside
  // that core's own.
  [[nodiscard]] std::uint64_t highest_before(unsigned core, const clock& before, const accesses& word) const;
  // An event of `core` at the place `key` of the word. It closes no circle if key is not below highest_before().
  void add(unsigned core, const clock& before, accesses& word, std::uint64_t key);

 private:
  struct name {
    unsigned core;
    std::uint32_t index;
  };
  struct event {
    clock ancestors;  // and itself
    std::vector<name> next;
  };
  [[nodiscard]] event& at(name n) { return events_[n.core][n.index - 1]; }
  [[nodiscard]] const event& at(name n) const { return events_[n.core][n.index - 1]; }
  [[nodiscard]] clock ancestors(unsigned core, const clock& before) const;
  void leads(name from, name to);
  void tell(name from);

  std::array<std::vector<event>, cores_max> events_;
  std::vector<name> told_;
};

}  // namespace weft::weak

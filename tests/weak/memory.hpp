// The shared words of a machine with weak memory, as C++20 words them, with the histories that a sequentially
// consistent one has no use for. RC11 as an operational model: events happen one after the other, in an order that
// agrees with program order and reads-from, and what each may do is decided from what its core knows.
//
//   a word        has its modification order: messages, each at a stamp. A store goes anywhere after what its core
//                 knows of the word, but never between a read-modify-write and what that read. A load takes any
//                 message that is not older than what its core knows.
//   what is known is a vector clock: of each core, how many of its events happen before. What a core knows of a word is
//                 the newest message that any event it knows has read or written there; so coherence needs no table of
//                 its own.
//   synchronises  a release store's message gives what its core knew; an acquire that reads it learns that. A
//                 read-modify-write hands on what the message it read gives (release sequences of C++20: no later plain
//                 store of the same thread is in one).
//   seq_cst       the order S is a graph over the seq_cst events: strongly happens before, and coherence-ordered before
//                 on one word. An event that would close a circle cannot happen. (order_of_all)
//
// What is not modelled, and so never seen: load buffering (RC11 forbids it, C++20 does not), consume, fences (the code
// has none), accesses of several sizes to one word..
#pragma once
#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/atomic.hpp"
#include "weak/order_of_all.hpp"
#include "weak/sites.hpp"

namespace weft::weak {

using base::order;

// What the model leaves open, somebody chooses: a seed, or a search through all there is.
class chooser {
 public:
  // One of n, 0 being the usual: the newest message, the end of the modification order.
  [[nodiscard]] virtual std::uint32_t pick(std::uint32_t n) = 0;
  virtual ~chooser() = default;
};

// What the memory leaves out, to show that the litmus tests notice.
enum class broken : std::uint8_t {
  nothing,
  release,       // gives nothing to who acquires
  acquire,       // takes nothing
  coherence,     // who has read a message may read an older one next
  order_of_all,  // seq_cst is no more than release and acquire
  sequences,     // a read-modify-write does not pass on what it has read
  modification   // a store comes last, always
};

class memory {
 public:
  explicit memory(chooser& c, broken what = broken::nothing) : chooser_(c), broken_(what) {}
  memory(const memory&) = delete;
  memory& operator=(const memory&) = delete;

  // All that was done before is known to all cores.
  void open(unsigned cores);
  [[nodiscard]] unsigned cores() const noexcept { return cores_; }

  // A word of `bytes` at the address, with the value that it holds if it is new. The value that is last in modification
  // order is also there in memory itself, for who looks from outside.
  std::uint64_t load(unsigned core, void* word, unsigned bytes, order o, const site& at);
  void store(unsigned core, void* word, unsigned bytes, std::uint64_t value, order o, const site& at);
  // change(old, out): whether `out` is to be stored in place of old; else this was a load with `failed`.
  template <class Change> std::uint64_t modify(unsigned core, void* word, unsigned bytes, order o, order failed,
                                               const site& at, Change change) {
    location& x = known(core, word, bytes, at);
    begin(core);
    std::uint64_t out = 0;
    const std::size_t i = choose_to_modify(core, x, o, failed, [&](std::uint64_t old) { return change(old, out); });
    const std::uint64_t old = x.history[i].value;
    if (!change(old, out))
      finish_load(core, x, i, failed, at);
    else
      finish_modify(core, x, i, out, o, at);
    return old;
  }

  // Plain data, named by where it begins. Two accesses that do not happen one before the other, one of them a write,
  // are a race.
  void plain(unsigned core, const void* data, bool writes, const site& at);
  // The memory is new: what was there is no more, and what is there now was made by an event of this core. Whoever
  // comes to a word in it without knowing of that comes too early.
  void fresh(unsigned core, const void* address, std::size_t bytes);
  // The core gives the memory back: whatever anyone has done to words and data there must come before.
  void gone(unsigned core, const void* address, std::size_t bytes, const site& at);

  // Of things outside of words: a wake, the system's barrier on all threads.
  [[nodiscard]] knowledge what_is_known(unsigned core) const;
  void learn(unsigned core, const knowledge& k);

  // The first race, in words, or empty.
  [[nodiscard]] const std::string& fault() const noexcept { return fault_; }

 private:
  using stamp = std::uint64_t;
  static constexpr stamp apart = stamp{1} << 24;  // so often can be inserted between two messages, halving
  static constexpr std::size_t choices_max = 12;  // messages back, or places to insert: older ones are not tried
  struct message {
    stamp at;
    std::uint64_t value;
    knowledge gives;        // to who acquires it
    bool followed = false;  // the next one is a read-modify-write of it
  };
  struct seen {
    std::uint32_t event;
    stamp at;
  };
  struct birth {
    unsigned core = 0;
    std::uint32_t event = 0;  // 0: before the run, or not known
    std::uintptr_t end = 0;
  };
  struct use {
    std::uint32_t event = 0;
    const site* at = nullptr;
  };
  struct location {
    void* word;
    unsigned bytes;
    birth born;
    stamp floor = 0;  // known to all
    std::vector<message> history;
    std::array<std::vector<seen>, cores_max> by;  // what each core has read or written: events and stamps ascend
    std::array<std::vector<order_of_all::access>, cores_max> in_order;  // those that were seq_cst
    std::array<use, cores_max> used;                                    // last by each
  };
  struct datum {
    unsigned writer = 0;
    use written;
    std::array<use, cores_max> read;
  };

  void begin(unsigned core) { ++know_[core].happened.of[core]; }
  [[nodiscard]] std::uint32_t now(unsigned core) const { return know_[core].happened.of[core]; }
  location& known(unsigned core, void* word, unsigned bytes, const site& at);
  void renew(location& x, std::uint64_t value);
  // The oldest stamp that the core may still read, and the lowest that a store of its must be above.
  [[nodiscard]] stamp view(unsigned core, const location& x) const;
  [[nodiscard]] stamp limit(unsigned core, const location& x, order o) const;
  // Candidates are chosen from the newest back.
  template <class May> [[nodiscard]] std::size_t choose(const location& x, May may) {
    std::array<std::size_t, choices_max> found;
    std::uint32_t n = 0;
    for (std::size_t i = x.history.size(); i-- > 0 && n < choices_max;)
      if (may(i)) found[n++] = i;
    return found[n == 1 ? 0 : chooser_.pick(n)];
  }
  template <class Modifies> [[nodiscard]] std::size_t choose_to_modify(unsigned core, const location& x, order o,
                                                                       order failed, Modifies modifies) {
    const stamp met = limit(core, x, o), other = limit(core, x, failed);
    return choose(x, [&](std::size_t i) {
      const message& m = x.history[i];
      return modifies(m.value) ? m.at >= met && !m.followed && has_room(x, i) : m.at >= other;
    });
  }
  [[nodiscard]] static bool has_room(const location& x, std::size_t after) noexcept {
    return after + 1 == x.history.size() || x.history[after + 1].at - x.history[after].at > 1;
  }
  void finish_load(unsigned core, location& x, std::size_t i, order o, const site& at);
  void finish_modify(unsigned core, location& x, std::size_t i, std::uint64_t value, order o, const site& at);
  // A new message right behind the i-th.
  message& insert(unsigned core, location& x, std::size_t i, std::uint64_t value);
  void saw(unsigned core, location& x, stamp at);
  void join_order(unsigned core, location& x, stamp at, bool writes);
  [[nodiscard]] knowledge released(unsigned core, bool is_in_order) const;
  void race(const char* what, unsigned a, const site* first, unsigned b, const site& second);
  void forget(std::uintptr_t first, std::uintptr_t end);
  [[nodiscard]] birth born(std::uintptr_t address) const;

  [[nodiscard]] bool acquires(order o) const noexcept {
    return broken_ != broken::acquire && (o == base::acquire || o == base::acq_rel || o == base::seq_cst);
  }
  [[nodiscard]] bool releases(order o) const noexcept {
    return broken_ != broken::release && (o == base::release || o == base::acq_rel || o == base::seq_cst);
  }

  chooser& chooser_;
  const broken broken_;
  unsigned cores_ = 0;
  std::array<knowledge, cores_max> know_{};
  order_of_all order_;
  std::deque<location> all_;
  std::unordered_map<std::uintptr_t, std::vector<location*>> by_line_;  // of 64 bytes
  std::map<std::uintptr_t, datum> data_;
  std::map<std::uintptr_t, birth> births_;
  std::string fault_;
};

}  // namespace weft::weak

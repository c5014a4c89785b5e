// Conservative simulation by threads (Chandy and Misra 1979, Bryant 1977), as the Galois suite has it: gates that can
// go on are a work list without order. Each pin of a gate has a queue of the messages that came there, and a clock:
// nothing will come there before. A gate goes through its messages in time order as long as that is certain, and what
// it sends goes into the queues of the pins it drives.
//
// What is next: the pin where the earliest message or, without one, the clock is least, pin 0 among equals, as
// timestamps are in order (des.cpp). If it has a message, nothing can come before that one. If not, the gate waits for
// that pin, and it drives nothing before the sum of that clock and its own delay: this is its promise.
//
// Null messages carry promises. Each of two ways is published:
//  - each: a gate answers every message by one on each pin it drives, a signal if it changes, a null message if not
//    (Chandy and Misra 1979; Misra 1986). A null message lies in a queue, is processed in its turn and is answered.
//    This is the algorithm that the Swarm paper names.
//  - lazy: one when a gate has gone through what it could (Su and Seitz 1989), which is stored to the receiver's clock.
// With both, a null message that does not advance the receiver's clock is not sent. A circuit without cycles whose
// inputs have all their toggles at hand cannot deadlock: an input ends with a promise for ever, which is passed on.
//
// Locks are those of Galois: a gate, then those that it drives, are tried; if one is taken, all are given back and the
// gate is put back. Gates are numbered from the inputs on, so that who fails has a lower number than who is in its way,
// and somebody goes on.
#include "des_threads.hpp"

#include <array>
#include <vector>

#include "weft/lab/chip_threads.hpp"
#include "work_chunks.hpp"

namespace weft::apps::des {
namespace {

constexpr std::uint64_t for_ever = UINT64_MAX;

// That a gate goes through before others have their turn. Without a limit an input sends all that it will ever send,
// and whole histories lie in queues, more than the caches hold: 1.24 times the cycles of 64 cores. With 1 the locks of
// a gate are taken for each message: 2.3 times the cycles of one core. From 8 to 64, 64 cores differ by 6 %.
constexpr unsigned messages_max = 32;

constexpr std::uint64_t no_change = 2;  // the value of a null message in a queue

// Instructions beside loads, stores and atomic operations.
constexpr std::uint64_t next_instructions = 6;   // of two pins: is there a message, which is earlier
constexpr std::uint64_t queue_instructions = 3;  // to put a message into a queue, or to take it out
constexpr std::uint64_t null_instructions = 3;   // is it one; compare with a clock
constexpr std::uint64_t list_instructions = 3;   // is a gate to be listed
constexpr std::uint64_t lock_instructions = 3;   // of each gate: where it is, was it free, the loop

struct message {
  message* next;
  std::uint64_t time;
  std::uint64_t value;
};

struct pin {
  message* first = nullptr;
  message* last = nullptr;         // if there is a first
  std::uint64_t clock = for_ever;  // pins that are not there
};

// A gate in this program: what others write is one line, what it alone does the other. Who has the lock may use all.
struct alignas(64) node {
  std::uint32_t held = 0;
  std::uint32_t listed = 0;
  std::uint64_t told = 0;  // it has promised to drive nothing before this time and its delay
  std::array<pin, 2> pins;
  alignas(64) gate_state state;
};

struct network {
  const order::circuit& circuit;
  order::paged<message> toggles;
  order::paged<node> nodes;
  alignas(order::page_bytes) order::work_chunks work{};
};

class simulator {
 public:
  simulator(chip_thread& t, network& n, null_messages nulls, threads_counts& counts) noexcept
      : t_(t), n_(n), work_(t, n.work), lazy_(nulls == null_messages::lazy), counts_(counts) {}

  void run() {
    list_inputs();
    for (std::uint64_t at = work_.take(); at != order::work_chunks::none; at = work_.take())
      if (!hold(at)) {
        ++counts_.conflicts;
        work_.put(at);
      } else {
        ++counts_.activations;
        go_on();
        give_back();
      }
  }

 private:
  struct next_message {
    std::uint64_t pin;
    std::uint64_t time;
    message* what;  // nullptr: none is certain, and `time` is how far it is
  };

  // A part of the gates for each thread.
  void list_inputs() {
    const std::uint64_t gates = n_.nodes.size(), end = gates * (t_.rank() + 1) / t_.count();
    for (std::uint64_t i = gates * t_.rank() / t_.count(); i < end; ++i) {
      t_.work(list_instructions);
      if (t_.load(n_.circuit.gates[i].kind) != order::gate_kind::input) continue;
      list(i);
    }
  }

  [[nodiscard]] bool try_lock(std::uint64_t gate) {
    t_.work(lock_instructions);
    if (!t_.compare_exchange(n_.nodes[gate].held, 0, 1)) return false;
    held_.push_back(gate);
    return true;
  }
  // Those that a gate drives are in order: one that it drives twice is there twice in a row.
  [[nodiscard]] bool hold(std::uint64_t at) {
    held_.clear();
    if (!try_lock(at)) return false;
    gate_ = t_.load(n_.circuit.gates[at]);
    for (std::uint64_t i = gate_.first; i < gate_.last; ++i) {
      const std::uint64_t driven = t_.load(n_.circuit.fanouts[i].gate);
      if (driven == held_.back() || try_lock(driven)) continue;
      give_back();
      return false;
    }
    return true;
  }
  void give_back() {
    for (const std::uint64_t gate : held_) t_.atomic_store(n_.nodes[gate].held, 0);
  }

  [[nodiscard]] next_message next_of(node& g) {
    t_.work(next_instructions);
    next_message least{0, for_ever, nullptr};
    for (std::uint64_t p = 0; p < g.pins.size(); ++p) {
      message* const first = t_.load(g.pins[p].first);
      const std::uint64_t time = t_.load(first != nullptr ? first->time : g.pins[p].clock);
      if (p == 0 || time < least.time) least = {p, time, first};
    }
    return least;
  }

  // The gate that is held first.
  void go_on() {
    node& g = n_.nodes[held_.front()];
    t_.store(g.listed, 0);
    next_message next = next_of(g);
    for (unsigned n = 0; next.what != nullptr && n < messages_max; next = next_of(g), ++n) arrive(g, next);
    if (has_to_promise(g, next.time)) promise(g, next.time);
    for (std::size_t i = 1; i < held_.size(); ++i) list_if_it_can_go_on(held_[i]);
    if (next.what != nullptr) list(held_.front());
  }

  [[nodiscard]] bool has_to_promise(const node& g, std::uint64_t nothing_before) {
    return (lazy_ || nothing_before == for_ever) && nothing_before > t_.load(g.told);
  }
  void list_if_it_can_go_on(std::uint64_t at) {
    node& g = n_.nodes[at];
    t_.work(list_instructions);
    if (t_.load(g.listed) != 0) return;
    const next_message next = next_of(g);
    if (next.what != nullptr || has_to_promise(g, next.time)) list(at);
  }
  void list(std::uint64_t at) {
    t_.store(n_.nodes[at].listed, 1);
    work_.put(at);
  }

  void arrive(node& g, const next_message& in) {
    t_.work(queue_instructions + null_instructions);
    t_.store(g.pins[in.pin].first, t_.load(in.what->next));
    const std::uint64_t value = t_.load(in.what->value);
    if (gate_.kind != order::gate_kind::input) t_.release(in.what);  // toggles are a list of the program
    const std::uint64_t says = value == no_change ? no_change : change(g.state, in.time, in.pin, value);
    if (says == no_change && lazy_) return;
    for (std::uint64_t i = gate_.first; i < gate_.last; ++i) send(i, in.time + gate_.delay, says);
  }

  // As in des.cpp. Returns what the gate says now, or that this is as it was.
  [[nodiscard]] std::uint64_t change(gate_state& state, std::uint64_t now, std::uint64_t pin, std::uint64_t value) {
    ++counts_.signals;
    t_.work(signal_instructions);
    const std::uint64_t pins = (t_.load(state.pins) & ~(std::uint64_t{1} << pin)) | value << pin;
    t_.store(state.pins, pins);
    t_.store(state.asked, t_.load(state.asked) + 1);
    const std::uint64_t before = t_.load(state.says);
    const std::uint64_t says = order::output_of(gate_.kind, pins);
    if (says == before) return no_change;
    t_.store(state.says, says);
    t_.store(state.changes, t_.load(state.changes) + 1);
    if (before == 1) t_.store(state.high, t_.load(state.high) + now - t_.load(state.changed_at));
    t_.store(state.changed_at, now);
    return says;
  }

  void send(std::uint64_t fanout, std::uint64_t time, std::uint64_t value) {
    const order::fanout to = t_.load(n_.circuit.fanouts[fanout]);
    pin& p = n_.nodes[to.gate].pins[to.pin];
    if (value == no_change) {
      t_.work(null_instructions);
      if (time <= t_.load(p.clock)) return;
      ++counts_.nulls;
    }
    t_.work(send_instructions + queue_instructions);
    auto* const out = t_.allocate<message>();
    t_.store(*out, {nullptr, time, value});
    if (t_.load(p.first) == nullptr)
      t_.store(p.first, out);
    else
      t_.store(t_.load(p.last)->next, out);
    t_.store(p.last, out);
    t_.store(p.clock, time);
  }

  void promise(node& g, std::uint64_t nothing_before) {
    t_.store(g.told, nothing_before);
    const std::uint64_t time = nothing_before == for_ever ? for_ever : nothing_before + gate_.delay;
    for (std::uint64_t i = gate_.first; i < gate_.last; ++i) {
      t_.work(null_instructions);
      const order::fanout to = t_.load(n_.circuit.fanouts[i]);
      std::uint64_t& clock = n_.nodes[to.gate].pins[to.pin].clock;
      if (time <= t_.load(clock)) continue;
      t_.store(clock, time);
      ++counts_.nulls;
    }
  }

  chip_thread& t_;
  network& n_;
  order::work_thread work_;
  const bool lazy_;
  threads_counts& counts_;
  std::vector<std::uint64_t> held_;  // gates; first the one that goes on
  order::gate gate_;                 // that one
};

// Inputs have all their toggles, and nothing else comes. A gate that drives nothing has nobody to promise anything.
void prepare(network& n, const order::paged<gate_state>& states) {
  for (std::size_t i = 0; i < states.size(); ++i) {
    const order::gate& g = n.circuit.gates[i];
    n.nodes[i].state = states[i];
    if (g.first == g.last) n.nodes[i].told = for_ever;
    for (std::uint64_t f = g.first; f < g.last; ++f)
      n.nodes[n.circuit.fanouts[f].gate].pins[n.circuit.fanouts[f].pin].clock = 0;
  }
  for (const order::toggle& t : n.circuit.toggles) {
    n.toggles.push_back({nullptr, t.time, t.value});
    pin& p = n.nodes[t.gate].pins[0];
    (p.first == nullptr ? p.first : p.last->next) = &n.toggles.back();
    p.last = &n.toggles.back();
  }
}

}  // namespace

swarm_statistics simulate_by_threads(const order::circuit& c, order::paged<gate_state>& states, null_messages nulls,
                                     threads_counts& counts) {
  alignas(order::page_bytes) network n{c, {}, order::paged<node>(c.gates.size())};
  n.toggles.reserve(c.toggles.size());
  prepare(n, states);
  const swarm_statistics s = run_chip_threads([&](chip_thread& t) { simulator(t, n, nulls, counts).run(); });
  for (std::size_t i = 0; i < states.size(); ++i) states[i] = n.nodes[i].state;
  return s;
}

}  // namespace weft::apps::des

// Discrete-event simulation of a circuit (Swarm §2.2): a body is a signal that arrives at a pin of a gate. If that
// changes what the gate says, a body for each pin it drives comes after the gate's delay. A signal on its way is a
// record that its sender fills and its receiver reads. Each gate notes how often it was asked, how often it changed,
// and how long it has been high, which is what power is computed from. Check: all that every gate has noted, and the
// number of signals, as a plain event loop has them.
//
// Signals that reach one gate at the same time come by pin, and those of one pin in the order in which its driver sent
// them: both are part of the timestamp. Then any order among equal timestamps comes to the same, since those are for
// different gates, and the chip of the paper breaks ties as it likes (§4.4).
#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <queue>
#include <tuple>
#include <vector>

#include "../app.hpp"
#include "circuit.hpp"
#include "des_threads.hpp"
#include "section.hpp"
#include "threads.hpp"

namespace weft::apps {
namespace {

struct parameters {
  std::size_t adders = 2;
  std::size_t bits = 32;
  std::size_t toggles = 100;
  std::string adds = "select";
  std::string nulls = "each";
  order::section_setting section;
};

using des::gate_state, des::send_instructions, des::signal_instructions;

struct simulation {
  const order::gate* gates;
  const order::fanout* fanouts;
  gate_state* states;
  std::uint64_t count;
};

struct signal {
  std::uint64_t gate;
  std::uint64_t pin;
  std::uint64_t value;
  std::uint64_t sender;
  std::uint64_t sent_at;
};

constexpr unsigned count_bits = 30, pin_bits = 1;

// sent: how often the driver of that pin had changed.
constexpr std::uint64_t stamp(std::uint64_t time, std::uint64_t pin, std::uint64_t sent) {
  return (time << pin_bits | pin) << count_bits | (sent & ((std::uint64_t{1} << count_bits) - 1));
}
constexpr std::uint64_t time_of(std::uint64_t stamp) { return stamp >> (count_bits + pin_bits); }

void arrive(ordered_context& x, std::uint64_t at, const simulation* s, signal* what);

void send(ordered_context& x, std::uint64_t now, const simulation* s, std::uint64_t from, std::uint64_t value,
          std::uint64_t changes) {
  const order::gate* const g = &x.read(s->gates)[from];
  const order::fanout* const fanouts = x.read(s->fanouts);
  const std::uint64_t last = x.read(g->last);
  for (std::uint64_t i = x.read(g->first); i < last; ++i) {
    x.work(send_instructions);
    signal* const out = x.allocate<signal>();
    const std::uint64_t pin = x.read(fanouts[i].pin);
    x.store(*out, {x.read(fanouts[i].gate), pin, value, from, now});
    x.at(stamp(now + x.read(g->delay), pin, changes), arrive, s, out);
  }
}

// A pin has another value from now on.
void change(ordered_context& x, std::uint64_t now, const simulation* s, std::uint64_t at, std::uint64_t pin,
            std::uint64_t value) {
  if (at >= x.read(s->count)) return;  // a record of another time
  gate_state& state = x.read(s->states)[at];
  x.work(signal_instructions);
  const std::uint64_t pins = (x.load(state.pins) & ~(std::uint64_t{1} << pin)) | value << pin;
  x.store(state.pins, pins);
  x.store(state.asked, x.load(state.asked) + 1);
  const std::uint64_t before = x.load(state.says);
  const std::uint64_t says = order::output_of(x.read(x.read(s->gates)[at].kind), pins);
  if (says == before) return;
  x.store(state.says, says);
  const std::uint64_t changes = x.load(state.changes) + 1;
  x.store(state.changes, changes);
  if (before == 1) x.store(state.high, x.load(state.high) + now - x.load(state.changed_at));
  x.store(state.changed_at, now);
  send(x, now, s, at, says, changes);
}

void arrive(ordered_context& x, std::uint64_t at, const simulation* s, signal* what) {
  const signal in = x.load(*what);
  x.release(what);
  change(x, time_of(at), s, in.gate, in.pin & 1, in.value & 1);
}

void begin(ordered_context& x, std::uint64_t at, const simulation* s, std::uint64_t gate, std::uint64_t value) {
  change(x, time_of(at), s, gate, 0, value);
}

order::paged<gate_state> first_states(const order::circuit& c) {
  order::paged<gate_state> all(c.gates.size());
  std::vector<std::uint64_t> order;
  // All inputs are 0: what follows from that, until nothing changes.
  for (std::size_t i = 0; i < all.size(); ++i) all[i].says = order::output_of(c.gates[i].kind, 0);
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = 0; i < all.size(); ++i)
      for (std::uint64_t f = c.gates[i].first; f < c.gates[i].last; ++f) {
        gate_state& to = all[c.fanouts[f].gate];
        to.pins = (to.pins & ~(std::uint64_t{1} << c.fanouts[f].pin)) | all[i].says << c.fanouts[f].pin;
        const std::uint64_t says = order::output_of(c.gates[c.fanouts[f].gate].kind, to.pins);
        changed |= says != to.says;
        to.says = says;
      }
  }
  return all;
}

// A plain event loop. Returns the number of signals.
std::uint64_t simulate(const order::circuit& c, order::paged<gate_state>& states) {
  using event = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t>;
  std::priority_queue<event, std::vector<event>, std::greater<>> queue;  // stamp, number, gate, pin, value
  std::uint64_t number = 0;
  for (const order::toggle& t : c.toggles) queue.emplace(stamp(t.time, 0, 0), number++, t.gate, 0, t.value);
  while (!queue.empty()) {
    const auto [stamped, _, at, pin, value] = queue.top();
    queue.pop();
    const std::uint64_t now = time_of(stamped);
    gate_state& g = states[at];
    ++g.asked;
    g.pins = value != 0 ? g.pins | (std::uint64_t{1} << pin) : g.pins & ~(std::uint64_t{1} << pin);
    const std::uint64_t says = order::output_of(c.gates[at].kind, g.pins);
    if (says == g.says) continue;
    if (g.says == 1) g.high += now - g.changed_at;
    g.says = says, g.changed_at = now, ++g.changes;
    for (std::uint64_t f = c.gates[at].first; f < c.gates[at].last; ++f)
      queue.emplace(stamp(now + c.gates[at].delay, c.fanouts[f].pin, g.changes), number++, c.fanouts[f].gate,
                    c.fanouts[f].pin, says);
  }
  return number;
}

// The inputs' figures, and whether the gates have noted what they have in the plain loop. Returns its number of
// signals.
std::uint64_t compare(result& r, const order::circuit& c, const order::paged<gate_state>& states) {
  order::paged<gate_state> expected = first_states(c);
  std::uint64_t signals = 0;
  const double serial = order::host_seconds([&] { signals = simulate(c, expected); });
  r.add("gates", std::uint64_t{c.gates.size()});
  r.add("toggles", std::uint64_t{c.toggles.size()});
  r.add("signals", signals);
  r.add("reference_seconds", serial, "s");
  r.checks.push_back(order::as_serial("gates", states, expected));
  return signals;
}

des::null_messages nulls_of(const std::string& name) {
  if (name == "each") return des::null_messages::each;
  if (name == "lazy") return des::null_messages::lazy;
  throw error("--nulls " + name + " are none: each or lazy");
}

result run_threads(const order::circuit& c, runtime& rt, des::null_messages nulls) {
  order::paged<gate_state> states = first_states(c);
  des::threads_counts counts;
  result r;
  order::describe_threads(r, rt, des::simulate_by_threads(c, states, nulls, counts));
  r.add("activations", counts.activations);
  r.add("conflicts", counts.conflicts);
  r.add("null_messages", counts.nulls);
  const std::uint64_t signals = compare(r, c, states);
  r.checks.push_back({"each_signal_once", counts.signals == signals,
                      std::to_string(counts.signals) + " signals processed, " + std::to_string(signals) + " expected"});
  return r;
}

order::circuit circuit_of(const parameters& p, std::uint64_t seed) {
  if (p.adds == "select") return order::carry_select_adders(p.adders, p.bits, p.toggles, seed);
  if (p.adds == "save") return order::carry_save_adders(p.adders * p.bits, p.toggles, seed);
  throw error("--adds " + p.adds + " is none: select or save");
}

result run(const parameters& p, const weft::options& opt) {
  const double bits = static_cast<double>(p.adders) * static_cast<double>(p.bits);
  require_memory("a circuit of " + std::to_string(p.adders) + " adders of " + std::to_string(p.bits) + " bits",
                 bits * (4000 + static_cast<double>(p.toggles) * 3 * 250));
  const des::null_messages nulls = nulls_of(p.nulls);
  runtime rt(opt);
  const order::circuit c = circuit_of(p, opt.seed);
  if (p.section.by_threads()) return run_threads(c, rt, nulls);
  ordered q(rt, p.section.get());
  order::paged<gate_state> states = first_states(c);
  alignas(order::page_bytes) const simulation s{c.gates.data(), c.fanouts.data(), states.data(), c.gates.size()};
  for (const order::toggle& t : c.toggles) q.at(stamp(t.time, 0, 0), begin, &s, t.gate, t.value);
  result r;
  order::run_section(r, rt, q);
  r.checks.push_back(order::each_call_once(q, compare(r, c, states)));
  return r;
}

}  // namespace

app des_app() {
  auto p = std::make_shared<parameters>();
  return {
      .name = "des",
      .summary = "event simulation of a circuit of adders, ordered by time",
      .example = "des --adders 2 --toggles 100",
      .options = {{"adders", "side by side", &p->adders, 1, 1'000'000},
                  {"bits", "of each adder", &p->bits, 1, 1'000},
                  {"adds", "what carries: select (blocks of four bits, both ways) or save (no carry goes on)",
                   &p->adds},
                  {"toggles", "of each input", &p->toggles, 1, 1'000'000},
                  {"nulls", "null messages of --executor threads: each (published first) or lazy (fewer)", &p->nulls},
                  p->section.executor_option_with_threads()},
      .run = [p](const weft::options& opt, progress&) { return run(*p, opt); }};
}

}  // namespace weft::apps

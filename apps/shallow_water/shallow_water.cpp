// Tasks, generators and checks. `add` and `write` differ by one clause: whether the order of a block's tiles is free.
#include "shallow_water.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <limits>
#include <utility>

namespace weft::apps::shallow_water {

namespace {

// Modelled speed of one core in the cost clauses, flops per nanosecond: a Zen 4 core measured 9 with everything in its
// cache. Memory that all cores share is not in this number: the bytes of the handles say what has to come from there.
constexpr double gflops = 9;
constexpr double submit_ns = 60;  // of one task, in a generator; the queues' own time is modelled by the machine

constexpr double rounding_max = 1e-12;  // of the depth, after another order of adding up three or so tiles
// Of the mass, times cells a side: the weights are accurate, not conservative. Measured up to 9e-4, at 12 to 140 a
// side.
constexpr double mass_drift_max = 4e-3;
constexpr double depth_change_max = 0.2;  // of the depth at rest: the start's hill is 0.05 high, waves do not grow

// What generators share; writing it keeps them in turn.
struct log_of_steps {
  std::vector<std::uint32_t> generated;
  std::size_t next = 0;
  bool in_order = true;
  std::size_t in_flight_max = 0;
};

// One run: what its tasks share. Lives until the wait that ends it.
class simulation {
 public:
  simulation(runtime& rt, const problem& p, const mesh& m, std::vector<tile>&& tiles, progress& bar)
      : rt_(rt), p_(p), bar_(bar), tiles_(tiles.size()), states_(p.blocks()), rates_(p.blocks()), last_task_(p.ahead),
        left_in_first_(p.blocks()) {
    for (std::size_t t = 0; t < tiles.size(); ++t) {
      tiles_[t].bytes(tiles[t].bytes());
      tiles_[t].unguarded() = std::move(tiles[t]);
    }
    for (std::size_t n = 0; n < m.nodes.size(); ++n) {
      const fields f = start_at(m.nodes[n]);
      states_[n / p.block].unguarded().push_back({f, f, f});
    }
    for (std::size_t b = 0; b < p.blocks(); ++b) {
      const std::size_t nodes = states_[b].unguarded().size();
      states_[b].bytes(nodes * sizeof(node_state));
      rates_[b].bytes(nodes * sizeof(derivatives));
      rates_[b].unguarded().resize(nodes);
    }
    log_.unguarded().generated.resize(p.steps);
  }

  outcome run() {
    if (p_.assembled_serially) touch_all();
    const double start = rt_.now_ns();
    rt_.submit(write(log_), named("begin"), [this](log_of_steps&) {
      for (std::size_t step = 0; step < std::min(p_.ahead, p_.steps); ++step) submit_generator(step);
    });
    rt_.wait();
    outcome o;
    o.seconds = (rt_.now_ns() - start) * 1e-9;
    o.tiles = tiles_.size();
    for (handle<block>& b : states_)
      for (const node_state& n : b.unguarded()) o.solution.push_back(n.start);
    log_of_steps& log = log_.unguarded();
    o.generated = std::move(log.generated);
    o.in_order = log.in_order;
    o.steps_in_flight_max = log.in_flight_max;
    o.steps_begun_in_first = begun_in_first_.load(std::memory_order_relaxed);
    return o;
  }

 private:
  using block = std::vector<node_state>;
  using block_rates = std::vector<derivatives>;

  void touch_all() {
    rt_.submit(write(tiles_), write(states_), write(rates_), named("assemble"), pin(0),
               [](view<tile>, view<block>, view<block_rates>) {});
    rt_.wait();
  }

  void submit_generator(std::size_t step) {
    const double tasks = static_cast<double>(stages * (tiles_.size() + states_.size()));
    rt_.submit(write(log_), read(last_task_[step % p_.ahead]), named("generate"), cost(tasks * submit_ns),
               [this, step](log_of_steps& log) { generate(step, log); });
  }

  void generate(std::size_t step, log_of_steps& log) {
    note(step, log);
    submit_step(step);
    if (step == p_.repeated_step) submit_step(step), ++log.generated[step];
    if (step + p_.ahead < p_.steps) submit_generator(step + p_.ahead);
  }

  void note(std::size_t step, log_of_steps& log) {
    ++log.generated[step];
    log.in_order = log.in_order && step == log.next++;
    const std::uint64_t begun = (step + 1) * states_.size();
    const std::uint64_t unfinished = begun - std::min(begun, finished_.load(std::memory_order_relaxed));
    log.in_flight_max = std::max(log.in_flight_max, (unfinished + states_.size() - 1) / states_.size());
  }

  void submit_step(std::size_t step) {
    for (std::size_t s = 0; s < stages; ++s) {
      for (handle<tile>& t : tiles_) submit_multiply(step, t);
      const bool last = s + 1 == stages;
      for (std::size_t b = last ? 1 : 0; b < states_.size(); ++b) submit_update(step, s, b);
      if (last) submit_last_task(step);
    }
  }

  // The tile has a handle not for its order - nobody writes it - but for its bytes, which are most of what a step
  // moves.
  void submit_multiply(std::size_t step, handle<tile>& h) {
    if (multiplications_++ == p_.omitted_task) return;
    const tile& t = h.unguarded();
    const double ns = static_cast<double>(t.entries.size()) * flops_per_nonzero / gflops;
    const auto body = [this, step](const tile& mine, const block& from, block_rates& to) {
      if (left_in_first_.load(std::memory_order_relaxed) > 0) note_begun(step + 1);
      multiply(mine, from, to);
    };
    if (p_.access == tile_access::add)
      rt_.submit(read(h), read(states_[t.from]), add(rates_[t.to]), named("multiply"), cost(ns), body);
    else
      rt_.submit(read(h), read(states_[t.from]), write(rates_[t.to]), named("multiply"), cost(ns), body);
  }

  void submit_update(std::size_t step, std::size_t s, std::size_t b) {
    rt_.submit(write(states_[b]), write(rates_[b]), named("update"), cost(update_ns(b)),
               [this, step, s](block& state, block_rates& rates) { end_stage(step, s, state, rates); });
  }

  // Block 0's last update of a step: the task that the generator of a later step waits for.
  void submit_last_task(std::size_t step) {
    rt_.submit(write(states_[0]), write(rates_[0]), write(last_task_[step % p_.ahead]), named("update, last"),
               cost(update_ns(0)), [this, step](block& state, block_rates& rates) {
                 end_stage(step, stages - 1, state, rates);
                 if (step % (p_.steps / 100 + 1) == 0)
                   bar_.report(static_cast<double>(step) / static_cast<double>(p_.steps));
               });
  }

  void end_stage(std::size_t step, std::size_t s, block& state, block_rates& rates) {
    for (std::size_t n = 0; n < state.size(); ++n) update(state[n], rates[n], s, p_.time_step());
    if (s + 1 < stages) return;
    finished_.fetch_add(1, std::memory_order_relaxed);
    if (step == 0) left_in_first_.fetch_sub(1, std::memory_order_relaxed);
  }

  void note_begun(std::size_t steps) noexcept {
    std::size_t most = begun_in_first_.load(std::memory_order_relaxed);
    while (most < steps && !begun_in_first_.compare_exchange_weak(most, steps, std::memory_order_relaxed)) {
    }
  }

  [[nodiscard]] double update_ns(std::size_t b) noexcept {
    return static_cast<double>(std::min(p_.block, p_.nodes() - b * p_.block)) * flops_per_update / gflops;
  }

  runtime& rt_;
  const problem& p_;
  progress& bar_;
  std::vector<handle<tile>> tiles_;
  std::vector<handle<block>> states_;
  std::vector<handle<block_rates>> rates_;
  std::vector<handle<void>> last_task_;  // of step % ahead: one generator at most waits for each
  handle<log_of_steps> log_;
  std::uint64_t multiplications_ = 0;  // who: the generator whose turn it is
  // Statistics, and so relaxed. Blocks that ended a step, over all steps; those that have not ended the first; and how
  // many steps had tasks that had begun by then.
  std::atomic<std::uint64_t> finished_ = 0;
  std::atomic<std::uint64_t> left_in_first_;
  std::atomic<std::size_t> begun_in_first_ = 0;
};

double distance(const std::vector<fields>& a, const std::vector<fields>& b) {
  double worst = a.size() == b.size() ? 0 : std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    for (const double d : {a[i].h - b[i].h, a[i].u - b[i].u, a[i].v - b[i].v})
      if (!(std::fabs(d) <= worst)) worst = std::isnan(d) ? std::numeric_limits<double>::infinity() : std::fabs(d);
  return worst;
}

check bounded(const char* name, double value, double max, const char* what) {
  char text[128];
  std::snprintf(text, sizeof text, "%s %.3g, at most %.3g allowed", what, value, max);
  return {name, value <= max, text};
}

// Nodes stand for equal areas.
double mass_drift(const mesh& m, const std::vector<fields>& solution) {
  double before = 0, after = 0;
  for (const point& p : m.nodes) before += start_at(p).h;
  for (const fields& f : solution) after += f.h;
  return std::fabs(after - before) / before;
}

}  // namespace

tile_access parse_access(const std::string& word) {
  if (word == "add") return tile_access::add;
  if (word == "write") return tile_access::write;
  throw weft::error("shallow-water: unknown --access \"" + word + "\"; known are add, write");
}

outcome simulate(runtime& rt, const problem& p, const mesh& m, const std::vector<row>& rows, progress& bar) {
  return simulation(rt, p, m, cut(rows, p.block), bar).run();
}

std::vector<fields> simulate_serially(const problem& p, const mesh& m, const std::vector<row>& rows) {
  std::vector<node_state> state;
  for (const point& at : m.nodes) state.push_back({start_at(at), start_at(at), start_at(at)});
  std::vector<derivatives> rates(state.size());
  for (std::size_t step = 0; step < p.steps; ++step)
    for (std::size_t s = 0; s < stages; ++s) {
      for (std::size_t n = 0; n < state.size(); ++n)
        for (const entry& e : rows[n]) accumulate(rates[n], e, state[e.column].stage);
      for (std::size_t n = 0; n < state.size(); ++n) update(state[n], rates[n], s, p.time_step());
    }
  std::vector<fields> solution;
  for (const node_state& n : state) solution.push_back(n.start);
  return solution;
}

void judge(result& r, const problem& p, const mesh& m, const std::vector<row>& rows, const outcome& found) {
  const double apart = distance(found.solution, simulate_serially(p, m, rows));
  if (p.access == tile_access::write)
    r.checks.push_back(bounded("same_bits_as_serial", apart, 0, "largest difference"));
  else
    r.checks.push_back(bounded("near_serial", apart, rounding_max, "largest difference"));
  double change = 0;
  for (const fields& f : found.solution) {
    const double c = std::fabs(f.h - 1) + std::fabs(f.u) + std::fabs(f.v);
    if (!(c <= change)) change = std::isnan(c) ? std::numeric_limits<double>::infinity() : c;
  }
  r.checks.push_back(bounded("finite", change, depth_change_max, "largest change of depth plus velocity"));
  r.checks.push_back(
      bounded("mass", mass_drift(m, found.solution), mass_drift_max * m.spacing(), "part of it gained or lost"));
  const auto once = static_cast<std::size_t>(std::count(found.generated.begin(), found.generated.end(), 1u));
  r.checks.push_back({"every_step_generated_once", once == p.steps && found.in_order,
                      std::to_string(once) + " of " + std::to_string(p.steps) + " steps generated once, " +
                          (found.in_order ? "in order" : "not in order")});
  r.checks.push_back(bounded("steps_in_flight", static_cast<double>(found.steps_in_flight_max),
                             static_cast<double>(p.steps_in_flight_limit()), "steps"));
}

}  // namespace weft::apps::shallow_water

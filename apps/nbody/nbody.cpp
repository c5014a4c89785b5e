// Tasks and checks. A force field is a weft::reduction whatever clause is chosen, since a reduction is a handle too.
#include "nbody.hpp"

#include <cmath>
#include <cstdio>
#include <utility>

namespace weft::apps::nbody {

namespace {

// Modelled speed of one core in the cost clauses: a Zen 4 core measured 6.3 for pairs without AVX. Flops per
// nanosecond.
constexpr double pair_gflops = 6.3;
constexpr double move_gflops = 2;

// What a modelled machine moves. Pair tasks read positions only, which are half of it; a block has one handle.
constexpr std::size_t bytes_per_particle = 6 * sizeof(double);
constexpr std::size_t bytes_per_force = 3 * sizeof(double);

// How far positions may be from the serial run's if forces were summed in another order. One rounding error per step
// and a growth that measured exp(3 t) for these clusters: the trajectory of a liquid cannot be held for ever.
constexpr double rounding_distance = 1e-12;
constexpr double growth_rate = 4;

constexpr double energy_drift_max = 2e-3;     // of the start's energy; measured 1e-7 to 1e-4 for 16 to 1000 steps
constexpr double momentum_error_max = 1e-12;  // of the sum of all speeds

struct sum_of_forces {
  using buffer = forces;
  [[nodiscard]] static forces create(const forces& target) { return {vectors(target.sum.size())}; }
  static void merge(forces& into, const forces& from) { add(into, from); }
  static void apply(forces& target, const forces& from) { add(target, from); }
};
using force_handle = reduction<forces, sum_of_forces>;

template <force_access A> auto updates(force_handle& f) noexcept {
  if constexpr (A == force_access::reduce) return reduce(f);
  if constexpr (A == force_access::add) return weft::add(f);
  if constexpr (A == force_access::write) return write(f);
}

double pairs(std::size_t a, std::size_t b) noexcept { return static_cast<double>(a) * static_cast<double>(b); }

// One run: what its tasks share. Lives until the wait that ends it.
class simulation {
 public:
  simulation(runtime& rt, const problem& p, std::vector<particles>&& blocks, progress& bar)
      : rt_(rt), p_(p), bar_(bar), particles_(blocks.size()), forces_(blocks.size()), incomplete_(blocks.size()) {
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      sizes_.push_back(blocks[b].position.size());
      particles_[b].bytes(sizes_[b] * bytes_per_particle);
      forces_[b].bytes(sizes_[b] * bytes_per_force);
      forces_[b].unguarded().sum = vectors(sizes_[b]);
      particles_[b].unguarded() = std::move(blocks[b]);
    }
  }

  outcome run() {
    const double start = rt_.now_ns();
    for (std::size_t step = 0; step < p_.steps; ++step) {
      switch (p_.access) {
      case force_access::reduce: submit_forces<force_access::reduce>(); break;
      case force_access::add: submit_forces<force_access::add>(); break;
      case force_access::write: submit_forces<force_access::write>(); break;
      }
      for (std::size_t b = 0; b < sizes_.size(); ++b) submit_move(step, b);
    }
    rt_.wait();
    outcome o;
    o.seconds = (rt_.now_ns() - start) * 1e-9;
    for (std::size_t b = 0; b < sizes_.size(); ++b) {
      o.blocks.push_back(std::move(particles_[b].unguarded()));
      o.incomplete_moves += incomplete_[b];
    }
    return o;
  }

 private:
  template <force_access A> void submit_forces() {
    for (std::size_t a = 0; a < sizes_.size(); ++a) {
      submit_within<A>(a);
      for (std::size_t b = a + 1; b < sizes_.size(); ++b) submit_between<A>(a, b);
    }
  }

  template <force_access A> void submit_within(std::size_t a) {
    if (force_tasks_++ == p_.omitted_task) return;
    rt_.submit(read(particles_[a]), updates<A>(forces_[a]), named("forces within"),
               cost(pairs(sizes_[a], sizes_[a]) / 2 * flops_per_pair / pair_gflops),
               [](const particles& p, forces& f) { add_forces_within(p.position, f); });
  }

  template <force_access A> void submit_between(std::size_t a, std::size_t b) {
    if (force_tasks_++ == p_.omitted_task) return;
    rt_.submit(read(particles_[a]), read(particles_[b]), updates<A>(forces_[a]), updates<A>(forces_[b]),
               named("forces between"), cost(pairs(sizes_[a], sizes_[b]) * flops_per_pair / pair_gflops),
               [](const particles& p, const particles& q, forces& on_p, forces& on_q) {
                 add_forces_between(p.position, q.position, on_p, on_q);
               });
  }

  void submit_move(std::size_t step, std::size_t b) {
    rt_.submit(write(particles_[b]), write(forces_[b]), named("move"),
               cost(static_cast<double>(sizes_[b]) * flops_per_move / move_gflops),
               [this, step, b](particles& p, forces& f) {
                 if (f.contributions != sizes_.size()) ++incomplete_[b];  // this block's moves are in order
                 move(p, f, step == 0 ? time_step / 2 : time_step, time_step);
                 if (b == 0) bar_.report(static_cast<double>(step + 1) / static_cast<double>(p_.steps));
               });
  }

  runtime& rt_;
  const problem& p_;
  progress& bar_;
  std::vector<std::size_t> sizes_;
  std::vector<handle<particles>> particles_;
  std::vector<force_handle> forces_;
  std::vector<std::uint64_t> incomplete_;
  std::uint64_t force_tasks_ = 0;
};

// The largest difference of a coordinate; a NaN on either side counts as infinitely far.
double distance(const std::vector<double>& a, const std::vector<double>& b) {
  double worst = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double d = std::fabs(a[i] - b[i]);
    if (!(d <= worst)) worst = std::isnan(d) ? std::numeric_limits<double>::infinity() : d;
  }
  return worst;
}

double distance(const std::vector<particles>& a, const std::vector<particles>& b) {
  double worst = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    for (auto coordinate : {&vectors::x, &vectors::y, &vectors::z}) {
      worst = std::fmax(worst, distance(a[i].position.*coordinate, b[i].position.*coordinate));
      worst = std::fmax(worst, distance(a[i].velocity.*coordinate, b[i].velocity.*coordinate));
    }
  return worst;
}

check bounded(const char* name, double value, double max, const char* of) {
  char text[96];
  std::snprintf(text, sizeof text, "%.3g%s, at most %.3g allowed", value, of, max);
  return {name, value <= max, text};
}

}  // namespace

force_access parse_access(const std::string& word) {
  if (word == "reduce") return force_access::reduce;
  if (word == "add") return force_access::add;
  if (word == "write") return force_access::write;
  throw weft::error("nbody: unknown --access \"" + word + "\"; known are reduce, add, write");
}

outcome simulate(runtime& rt, const problem& p, std::vector<particles> blocks, progress& bar) {
  return simulation(rt, p, std::move(blocks), bar).run();
}

std::vector<particles> simulate_serially(const problem& p, std::vector<particles> blocks) {
  std::vector<forces> f;
  for (const particles& b : blocks) f.push_back({vectors(b.position.size())});
  for (std::size_t step = 0; step < p.steps; ++step) {
    for (std::size_t a = 0; a < blocks.size(); ++a) {
      add_forces_within(blocks[a].position, f[a]);
      for (std::size_t b = a + 1; b < blocks.size(); ++b)
        add_forces_between(blocks[a].position, blocks[b].position, f[a], f[b]);
    }
    for (std::size_t b = 0; b < blocks.size(); ++b)
      move(blocks[b], f[b], step == 0 ? time_step / 2 : time_step, time_step);
  }
  return blocks;
}

void judge(result& r, const problem& p, const std::vector<particles>& start, const outcome& found) {
  const double apart = distance(found.blocks, simulate_serially(p, start));
  const double time = static_cast<double>(p.steps) * time_step;
  if (p.access == force_access::write)
    r.checks.push_back(bounded("same_bits_as_serial", apart, 0, ""));
  else
    r.checks.push_back(bounded("near_serial", apart, rounding_distance * std::exp(growth_rate * time), ""));
  r.checks.push_back({"every_pair_once", found.incomplete_moves == 0,
                      std::to_string(found.incomplete_moves) + " of " + std::to_string(p.move_tasks()) +
                          " moves did not have one contribution from every block"});
  const totals before = measure(start, 0);
  const totals after = measure(found.blocks, time_step / 2);
  r.add("energy_per_particle", after.energy / static_cast<double>(p.n), "epsilon");
  const double drift = std::fabs(after.energy - before.energy) / std::fmax(1, std::fabs(before.energy));
  r.checks.push_back(bounded("energy", drift, energy_drift_max, " of it drifted"));
  const double scale = std::fmax(1, after.speeds);
  r.checks.push_back(bounded("momentum", after.momentum / scale, momentum_error_max, " of the sum of speeds"));
}

}  // namespace weft::apps::nbody

// Neutral atoms that attract and repel each other by the Lennard-Jones potential 4 (r^-12 - r^-6), in reduced units:
// length, energy and mass of an atom are one, so nothing but numbers is left. They form a free cluster (no periodic
// box, no cutoff: every pair counts, SuperGlue §6.1) and move by leapfrog, which keeps energy within bounds.
// Particles are cut into blocks, with coordinates apart, so that the inner loop over a block runs on vectors.
// The kernels are compiled once and called by the tasks and by the serial check: same order of calls, same bits.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace weft::apps::nbody {

struct vectors {
  std::vector<double> x, y, z;

  vectors() = default;
  explicit vectors(std::size_t n) : x(n), y(n), z(n) {}
  [[nodiscard]] std::size_t size() const noexcept { return x.size(); }
};

struct particles {
  vectors position;
  vectors velocity;  // half a step behind the positions, after the first move
};

// The sum of forces on each particle of a block, and how many kernel calls have added to it.
struct forces {
  vectors sum;
  std::uint32_t contributions = 0;
};

// Both blocks of a pair at once: what a does to b, b does to a with the sign turned (Newton's third law).
inline constexpr double flops_per_pair = 25;
void add_forces_between(const vectors& a, const vectors& b, forces& on_a, forces& on_b) noexcept;
// Every pair inside one block.
void add_forces_within(const vectors& a, forces& on_a) noexcept;
void add(forces& into, const forces& from) noexcept;

// Velocities by kick * force, positions by drift * velocity, forces back to zero.
inline constexpr double flops_per_move = 12;
void move(particles& p, forces& f, double kick, double drift) noexcept;

// A cubic lattice of n particles, each shifted a little at random so that no force vanishes by symmetry and none is
// large, with small random velocities of mean zero. In blocks of this many; the last may be smaller.
[[nodiscard]] std::vector<particles> lattice(std::size_t n, std::size_t block, std::uint64_t seed);

struct totals {
  double energy;        // kinetic and potential, at the time of the positions
  double momentum;      // length of its vector
  double speeds;        // sum over particles: what rounding errors of the momentum are measured by
  double closest_pair;  // distance
};
// Who: nobody else uses the particles. `lag`: how much time the velocities are behind. Cost: two sweeps over all pairs.
[[nodiscard]] totals measure(const std::vector<particles>& blocks, double lag);

}  // namespace weft::apps::nbody

// The arithmetic. The pair kernel sums the forces on particle i in four lanes that are added at the end: one running
// sum would forbid vector code, because it fixes an order of additions, and the compiler must keep what we fix.
#include "particles.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

namespace weft::apps::nbody {

namespace {

constexpr std::size_t lanes = 4;

constexpr double lattice_spacing = 1.2;  // the potential's minimum is at 1.12
constexpr double jitter = 0.05;          // of a spacing, either way: neighbours stay at least 1.08 apart
constexpr double speed = 0.5;            // largest per coordinate

struct vector {
  double x = 0, y = 0, z = 0;
};

// Force per distance between two particles of squared distance r2, away from each other if positive.
double pull(double r2) noexcept {
  const double i2 = 1 / r2;
  const double i6 = i2 * i2 * i2;
  return 24 * i2 * i6 * (2 * i6 - 1);
}

double potential(double r2) noexcept {
  const double i2 = 1 / r2;
  const double i6 = i2 * i2 * i2;
  return 4 * i6 * (i6 - 1);
}

double square(double x) noexcept { return x * x; }

double total(const double (&lane)[lanes]) noexcept { return (lane[0] + lane[1]) + (lane[2] + lane[3]); }

// One particle against particles first..last of b.
vector force_on(double x, double y, double z, const vectors& b, std::size_t first, std::size_t last,
                vectors& on_b) noexcept {
  const double* const bx = b.x.data();
  const double* const by = b.y.data();
  const double* const bz = b.z.data();
  double sx[lanes]{}, sy[lanes]{}, sz[lanes]{};
  std::size_t j = first;
  for (; j + lanes <= last; j += lanes) {
    double fx[lanes], fy[lanes], fz[lanes];
    for (std::size_t l = 0; l < lanes; ++l) {
      const double dx = x - bx[j + l], dy = y - by[j + l], dz = z - bz[j + l];
      const double c = pull(dx * dx + dy * dy + dz * dz);
      fx[l] = c * dx;
      fy[l] = c * dy;
      fz[l] = c * dz;
    }
    for (std::size_t l = 0; l < lanes; ++l) sx[l] += fx[l];
    for (std::size_t l = 0; l < lanes; ++l) sy[l] += fy[l];
    for (std::size_t l = 0; l < lanes; ++l) sz[l] += fz[l];
    for (std::size_t l = 0; l < lanes; ++l) on_b.x[j + l] -= fx[l];
    for (std::size_t l = 0; l < lanes; ++l) on_b.y[j + l] -= fy[l];
    for (std::size_t l = 0; l < lanes; ++l) on_b.z[j + l] -= fz[l];
  }
  vector sum{total(sx), total(sy), total(sz)};
  for (; j < last; ++j) {
    const double dx = x - bx[j], dy = y - by[j], dz = z - bz[j];
    const double c = pull(dx * dx + dy * dy + dz * dz);
    sum.x += c * dx, on_b.x[j] -= c * dx;
    sum.y += c * dy, on_b.y[j] -= c * dy;
    sum.z += c * dz, on_b.z[j] -= c * dz;
  }
  return sum;
}

// Uniform in [-1, 1), the same on every platform (the standard's distributions are not).
double symmetric(std::mt19937_64& random) { return static_cast<double>(random() >> 11) * 0x1p-52 - 1; }

void add(std::vector<double>& into, const std::vector<double>& from) noexcept {
  for (std::size_t i = 0; i < into.size(); ++i) into[i] += from[i];
}

// One coordinate of move(). The forces are used up.
void move(std::vector<double>& x, std::vector<double>& v, std::vector<double>& f, double kick, double drift) noexcept {
  for (std::size_t i = 0; i < x.size(); ++i) {
    v[i] += kick * f[i];
    x[i] += drift * v[i];
    f[i] = 0;
  }
}

void subtract_mean(std::vector<particles>& blocks, std::vector<double> vectors::*coordinate, std::size_t n) {
  double sum = 0;
  for (const particles& p : blocks)
    for (const double v : p.velocity.*coordinate) sum += v;
  for (particles& p : blocks)
    for (double& v : p.velocity.*coordinate) v -= sum / static_cast<double>(n);
}

std::vector<forces> all_forces(const std::vector<particles>& blocks) {
  std::vector<forces> f;
  for (const particles& p : blocks) f.push_back({vectors(p.position.size())});
  for (std::size_t a = 0; a < blocks.size(); ++a) {
    add_forces_within(blocks[a].position, f[a]);
    for (std::size_t b = a + 1; b < blocks.size(); ++b)
      add_forces_between(blocks[a].position, blocks[b].position, f[a], f[b]);
  }
  return f;
}

struct pair_sums {
  double potential = 0;
  double closest_r2 = std::numeric_limits<double>::infinity();
};

void sum_pairs(const vectors& a, const vectors& b, bool same, pair_sums& s) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    double sum = 0;
    for (std::size_t j = same ? i + 1 : 0; j < b.size(); ++j) {
      const double r2 = square(a.x[i] - b.x[j]) + square(a.y[i] - b.y[j]) + square(a.z[i] - b.z[j]);
      sum += potential(r2);
      s.closest_r2 = std::min(s.closest_r2, r2);
    }
    s.potential += sum;
  }
}

}  // namespace

void add_forces_between(const vectors& a, const vectors& b, forces& on_a, forces& on_b) noexcept {
  for (std::size_t i = 0; i < a.size(); ++i) {
    const vector f = force_on(a.x[i], a.y[i], a.z[i], b, 0, b.size(), on_b.sum);
    on_a.sum.x[i] += f.x;
    on_a.sum.y[i] += f.y;
    on_a.sum.z[i] += f.z;
  }
  ++on_a.contributions;
  ++on_b.contributions;
}

void add_forces_within(const vectors& a, forces& on_a) noexcept {
  for (std::size_t i = 0; i < a.size(); ++i) {
    const vector f = force_on(a.x[i], a.y[i], a.z[i], a, i + 1, a.size(), on_a.sum);
    on_a.sum.x[i] += f.x;
    on_a.sum.y[i] += f.y;
    on_a.sum.z[i] += f.z;
  }
  ++on_a.contributions;
}

void add(forces& into, const forces& from) noexcept {
  add(into.sum.x, from.sum.x);
  add(into.sum.y, from.sum.y);
  add(into.sum.z, from.sum.z);
  into.contributions += from.contributions;
}

void move(particles& p, forces& f, double kick, double drift) noexcept {
  move(p.position.x, p.velocity.x, f.sum.x, kick, drift);
  move(p.position.y, p.velocity.y, f.sum.y, kick, drift);
  move(p.position.z, p.velocity.z, f.sum.z, kick, drift);
  f.contributions = 0;
}

std::vector<particles> lattice(std::size_t n, std::size_t block, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::size_t side = 1;
  while (side * side * side < n) ++side;
  std::vector<particles> blocks;
  for (std::size_t first = 0; first < n; first += block) {
    const std::size_t size = std::min(block, n - first);
    particles p{vectors(size), vectors(size)};
    const auto place = [&](std::size_t cell) {
      return lattice_spacing * (static_cast<double>(cell) + jitter * symmetric(random));
    };
    for (std::size_t i = 0; i < size; ++i) {
      const std::size_t cell = first + i;
      p.position.x[i] = place(cell % side);
      p.position.y[i] = place(cell / side % side);
      p.position.z[i] = place(cell / side / side);
      p.velocity.x[i] = speed * symmetric(random);
      p.velocity.y[i] = speed * symmetric(random);
      p.velocity.z[i] = speed * symmetric(random);
    }
    blocks.push_back(std::move(p));
  }
  for (auto coordinate : {&vectors::x, &vectors::y, &vectors::z}) subtract_mean(blocks, coordinate, n);
  return blocks;
}

totals measure(const std::vector<particles>& blocks, double lag) {
  pair_sums pairs;
  for (std::size_t a = 0; a < blocks.size(); ++a)
    for (std::size_t b = a; b < blocks.size(); ++b) sum_pairs(blocks[a].position, blocks[b].position, a == b, pairs);
  const std::vector<forces> f = all_forces(blocks);
  double kinetic = 0, speeds = 0;
  vector momentum;
  for (std::size_t b = 0; b < blocks.size(); ++b)
    for (std::size_t i = 0; i < blocks[b].velocity.size(); ++i) {
      const double vx = blocks[b].velocity.x[i] + lag * f[b].sum.x[i];
      const double vy = blocks[b].velocity.y[i] + lag * f[b].sum.y[i];
      const double vz = blocks[b].velocity.z[i] + lag * f[b].sum.z[i];
      kinetic += (vx * vx + vy * vy + vz * vz) / 2;
      momentum.x += vx, momentum.y += vy, momentum.z += vz;
      speeds += std::fabs(vx) + std::fabs(vy) + std::fabs(vz);
    }
  return {kinetic + pairs.potential, std::hypot(momentum.x, momentum.y, momentum.z), speeds,
          std::sqrt(pairs.closest_r2)};
}

}  // namespace weft::apps::nbody

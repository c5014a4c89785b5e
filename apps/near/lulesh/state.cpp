#include <algorithm>

#include "kernels.hpp"

namespace weft::apps::lulesh {
namespace {

// What is less than these counts as nothing.
constexpr double energy_cut = 1e-7, pressure_cut = 1e-7, viscosity_cut = 1e-7, volume_cut = 1e-10;
constexpr double energy_least = -1e15, volume_least = 1e-9, volume_most = 1e9;
constexpr double two_thirds = 2.0 / 3;  // of the energy is pressure, as in an ideal gas of gamma 5/3

double cut(double x, double least) { return std::abs(x) < least ? 0 : x; }
double energy(double x) { return std::max(cut(x, energy_cut), energy_least); }

double sound(const elements& e, std::size_t i, double energy, double volume, double pressure) {
  const double square = e.stiffness_rate[i] * energy + volume * volume * e.stiffness[i] * pressure;
  return square <= 0.1111111e-36 ? 0.3333333e-18 : std::sqrt(square);
}

// The viscosity of an element that is compressed.
double viscosity(const elements& e, std::size_t i, double speed) {
  return speed * e.linear_old[i] + e.quadratic_old[i];
}

void find_pressure(elements& e, field<double>& into, const field<double>& compression, std::size_t i) {
  e.stiffness[i] = two_thirds * (compression[i] + 1);
  e.stiffness_rate[i] = two_thirds;
  double p = cut(e.stiffness[i] * e.energy_new[i], pressure_cut);
  if (e.volume_clamped[i] >= volume_most) p = 0;
  into[i] = std::max(p, 0.0);
}

}  // namespace

void begin_state(domain& d, std::size_t from, std::size_t to) {
  elements& e = d.element;
  for (std::size_t i = from; i < to; ++i) {
    const double v = std::clamp(e.volume_next[i], volume_least, volume_most);
    e.volume_clamped[i] = v;
    e.energy_old[i] = e.energy[i];
    e.change_old[i] = e.volume_change[i];
    e.pressure_old[i] = e.pressure[i];
    e.viscosity_old[i] = e.viscosity[i];
    e.quadratic_old[i] = e.viscosity_quadratic[i];
    e.linear_old[i] = e.viscosity_linear[i];
    e.compression[i] = 1 / v - 1;
    e.compression_half[i] = 1 / (v - e.change_old[i] * 0.5) - 1;
    if (v <= volume_least) e.compression_half[i] = e.compression[i];
    if (v >= volume_most) e.pressure_old[i] = e.compression[i] = e.compression_half[i] = 0;
  }
}

void predict_energy(domain& d, std::size_t from, std::size_t to) {
  elements& e = d.element;
  for (std::size_t i = from; i < to; ++i)
    e.energy_new[i] =
        std::max(e.energy_old[i] - 0.5 * e.change_old[i] * (e.pressure_old[i] + e.viscosity_old[i]), energy_least);
}

void find_pressure_half(domain& d, std::size_t from, std::size_t to) {
  elements& e = d.element;
  for (std::size_t i = from; i < to; ++i) find_pressure(e, e.pressure_half, e.compression_half, i);
}

void correct_energy(domain& d, std::size_t from, std::size_t to) {
  elements& e = d.element;
  for (std::size_t i = from; i < to; ++i) {
    const double half = 1 / (1 + e.compression_half[i]), change = e.change_old[i];
    const double q = change > 0 ? 0 : viscosity(e, i, sound(e, i, e.energy_new[i], half, e.pressure_half[i]));
    e.viscosity_new[i] = q;
    e.energy_new[i] = energy(
        e.energy_new[i] + 0.5 * change * (3 * (e.pressure_old[i] + e.viscosity_old[i]) - 4 * (e.pressure_half[i] + q)));
  }
}

void find_pressure_new(domain& d, std::size_t from, std::size_t to) {
  elements& e = d.element;
  for (std::size_t i = from; i < to; ++i) find_pressure(e, e.pressure_new, e.compression, i);
}

void correct_energy_again(domain& d, std::size_t from, std::size_t to) {
  elements& e = d.element;
  for (std::size_t i = from; i < to; ++i) {
    const double change = e.change_old[i], p = e.pressure_new[i];
    const double q = change > 0 ? 0 : viscosity(e, i, sound(e, i, e.energy_new[i], e.volume_clamped[i], p));
    const double work =
        7 * (e.pressure_old[i] + e.viscosity_old[i]) - 8 * (e.pressure_half[i] + e.viscosity_new[i]) + p + q;
    e.energy_new[i] = energy(e.energy_new[i] - work * change / 6);
  }
}

void find_viscosity(domain& d, std::size_t from, std::size_t to) {
  elements& e = d.element;
  for (std::size_t i = from; i < to; ++i)
    if (e.change_old[i] <= 0)
      e.viscosity_new[i] =
          cut(viscosity(e, i, sound(e, i, e.energy_new[i], e.volume_clamped[i], e.pressure_new[i])), viscosity_cut);
}

void end_state(domain& d, std::size_t from, std::size_t to) {
  elements& e = d.element;
  for (std::size_t i = from; i < to; ++i) {
    e.pressure[i] = e.pressure_new[i];
    e.energy[i] = e.energy_new[i];
    e.viscosity[i] = e.viscosity_new[i];
    e.sound[i] = sound(e, i, e.energy_new[i], e.volume_clamped[i], e.pressure_new[i]);
  }
}

void keep_volume(domain& d, std::size_t from, std::size_t to) {
  elements& e = d.element;
  for (std::size_t i = from; i < to; ++i)
    e.volume[i] = std::abs(e.volume_next[i] - 1) < volume_cut ? 1 : e.volume_next[i];
}

// Sound may not cross an element in a step (Courant), nor its volume change by more than a tenth.
void find_limits(domain& d, std::size_t from, std::size_t to) {
  constexpr double largest_change = 0.1, compressed = 64 * 2.0 * 2.0;
  elements& e = d.element;
  limits least;
  for (std::size_t i = from; i < to; ++i) {
    const double rate = e.volume_rate[i];
    if (rate == 0) continue;
    double square = e.sound[i] * e.sound[i];
    if (rate < 0) square += compressed * e.length[i] * e.length[i] * rate * rate;
    least.courant = std::min(least.courant, e.length[i] / std::sqrt(square));
    least.hydro = std::min(least.hydro, largest_change / (std::abs(rate) + 1e-20));
  }
  d.noted(from) = least;
}

}  // namespace weft::apps::lulesh

#include "domain.hpp"

#include <algorithm>

namespace weft::apps::lulesh {
namespace {

constexpr double edge = 1.125;               // of the cube
constexpr double energy_of_45 = 3.948746e7;  // put into the first element of a cube of 45^3 elements

template <class Do> void each(nodes& n, const Do& f) {
  f(n.position), f(n.velocity), f(n.acceleration), f(n.force), f(n.mass), f(n.corners), f(n.at_wall);
}
// What is there before a step, and what only steps write.
template <class Do> void each_kept(elements& e, const Do& f) {
  f(e.nodes), f(e.beside), f(e.energy), f(e.pressure), f(e.viscosity), f(e.viscosity_linear), f(e.viscosity_quadratic);
  f(e.volume), f(e.volume_first), f(e.sound), f(e.mass);
}
template <class Do> void each_other(elements& e, const Do& f) {
  f(e.volume_next), f(e.volume_change), f(e.volume_rate), f(e.length), f(e.stress), f(e.strain);
  f(e.corner_force), f(e.corner_position), f(e.corner_gradient), f(e.volume_now);
  f(e.velocity_slope), f(e.position_slope), f(e.volume_clamped), f(e.energy_old), f(e.pressure_old);
  f(e.viscosity_old), f(e.linear_old), f(e.quadratic_old), f(e.change_old), f(e.compression), f(e.compression_half);
  f(e.pressure_half), f(e.energy_new), f(e.pressure_new), f(e.viscosity_new), f(e.stiffness), f(e.stiffness_rate);
}

// By columns, rows and planes, of so many each.
struct cell {
  std::size_t i, j, k;
  cell(std::size_t at, std::size_t side) : i(at % side), j(at / side % side), k(at / side / side) {}
};

template <class T> double bytes_each(const field<T>&) { return sizeof(T); }

}  // namespace

domain::domain(std::size_t size, const memory_placement& how, std::size_t tile)
    : size_(size), limit_stride_(std::max<std::size_t>(1, tile / 8)),
      limits_(element_count() / limit_stride_ + 1, how) {
  const auto make = [&how](std::size_t n) {
    return [&how, n](auto& a) { a = std::remove_reference_t<decltype(a)>(n, how); };
  };
  each(node, make(node_count()));
  each_kept(element, make(element_count()));
  each_other(element, make(element_count()));
  std::fill(limits_.begin(), limits_.end(), limits{});
  const double first = energy_of_45 * std::pow(static_cast<double>(size) / 45, 3);
  step_time = 0.5 * (edge / static_cast<double>(size)) / std::sqrt(2 * first);
}

double domain::bytes(std::size_t size) {
  nodes n;
  elements e;
  double of_node = 0, of_element = 0;
  each(n, [&](const auto& a) { of_node += bytes_each(a); });
  each_kept(e, [&](const auto& a) { of_element += bytes_each(a); });
  each_other(e, [&](const auto& a) { of_element += bytes_each(a); });
  return of_node * std::pow(static_cast<double>(size + 1), 3) + of_element * std::pow(static_cast<double>(size), 3);
}

void domain::fill_nodes(std::size_t from, std::size_t to) {
  const std::size_t n = size_;
  const auto along = [n](std::size_t i) { return edge * static_cast<double>(i) / static_cast<double>(n); };
  for (std::size_t at = from; at < to; ++at) {
    const cell c(at, n + 1);
    node.position[at] = {along(c.i), along(c.j), along(c.k)};
    node.velocity[at] = node.acceleration[at] = node.force[at] = {0, 0, 0};
    node.mass[at] = 0;
    node.at_wall[at] = static_cast<std::uint8_t>((c.i == 0 ? 1 : 0) | (c.j == 0 ? 2 : 0) | (c.k == 0 ? 4 : 0));
    // The corner that it is of the element before it in all directions is 6, of the one behind it 0.
    constexpr index as_corner[] = {6, 7, 5, 4, 2, 3, 1, 0};
    std::size_t found = 0;
    node.corners[at].fill(nothing);
    for (std::size_t which = 0; which < 8; ++which) {
      const std::size_t i = c.i + (which & 1), j = c.j + (which >> 1 & 1), k = c.k + (which >> 2);
      if (i == 0 || j == 0 || k == 0 || i > n || j > n || k > n) continue;
      const std::size_t e = ((k - 1) * n + j - 1) * n + i - 1;
      node.corners[at][found++] = static_cast<index>(8 * e + as_corner[which]);
    }
  }
}

void domain::fill_elements(std::size_t from, std::size_t to) {
  const std::size_t n = size_, row = n + 1, plane = row * row;
  for (std::size_t at = from; at < to; ++at) {
    const cell c(at, n);
    const std::size_t first = first_node(at);
    const std::size_t round[] = {first, first + 1, first + 1 + row, first + row};
    for (int i = 0; i < 4; ++i) {
      element.nodes[at][i] = static_cast<index>(round[i]);
      element.nodes[at][i + 4] = static_cast<index>(round[i] + plane);
    }
    const auto less = [at](std::size_t of, std::size_t step) { return static_cast<index>(of == 0 ? at : at - step); };
    const auto more = [at, n](std::size_t of, std::size_t step) {
      return of + 1 == n ? nothing : static_cast<index>(at + step);
    };
    element.beside[at] = {less(c.i, 1), more(c.i, 1), less(c.j, n), more(c.j, n), less(c.k, n * n), more(c.k, n * n)};
    corners x;
    for (int i = 0; i < 8; ++i) x[i] = node.position[element.nodes[at][i]];
    element.volume[at] = 1;
    element.volume_first[at] = element.mass[at] = volume_of(x);
    element.energy[at] = at == 0 ? energy_of_45 * std::pow(static_cast<double>(n) / 45, 3) : 0;
    element.pressure[at] = element.viscosity[at] = element.sound[at] = 0;
    element.viscosity_linear[at] = element.viscosity_quadratic[at] = 0;
  }
}

void domain::fill_masses(std::size_t from, std::size_t to) {
  for (std::size_t at = from; at < to; ++at)
    for (const index corner : node.corners[at])
      if (corner != nothing) node.mass[at] += element.volume_first[corner / 8] / 8;
}

void domain::clear_elements(std::size_t from, std::size_t to) {
  each_other(element, [=](auto& a) {
    using item = std::remove_reference_t<decltype(a[0])>;
    std::fill(a.begin() + from, a.begin() + to, item{});
  });
}

limits domain::least() const noexcept {
  limits l;
  for (const limits& x : limits_) l = {std::min(l.courant, x.courant), std::min(l.hydro, x.hydro)};
  return l;
}

std::size_t domain::first_node(std::size_t at) const noexcept {
  const cell c(at, size_);
  return (c.k * (size_ + 1) + c.j) * (size_ + 1) + c.i;
}

std::array<domain::range, 2> domain::nodes_of(std::size_t from, std::size_t to) const noexcept {
  const std::size_t row = size_ + 1, plane = row * row;
  const std::size_t first = first_node(from), last = first_node(to - 1) + row + 2;
  return {{{first, last}, {std::max(last, first + plane), last + plane}}};
}

std::array<domain::range, 2> domain::elements_at(std::size_t from, std::size_t to) const noexcept {
  const std::size_t n = size_;
  const cell first(from, n + 1), last(to - 1, n + 1);
  const auto low = [](std::size_t i) { return i == 0 ? 0 : i - 1; };
  const auto high = [n](std::size_t i) { return std::min(i, n - 1); };
  const auto at = [n](std::size_t i, std::size_t j, std::size_t k) { return (k * n + j) * n + i; };
  // Whole rows; of nodes in two planes and more also the first of the second and the last of the last but one.
  const auto in = [&](const auto& plane) -> range {
    range r{at(0, low(first.j), plane(first.k)), at(n - 1, high(last.j), plane(last.k)) + 1};
    if (first.k == last.k) return r;
    return {std::min(r.from, at(0, 0, plane(first.k + 1))), std::max(r.to, at(n - 1, n - 1, plane(last.k - 1)) + 1)};
  };
  const range below = in(low), above = in(high);
  if (above.from <= below.to) return {{{std::min(below.from, above.from), std::max(below.to, above.to)}, {0, 0}}};
  return {{below, above}};
}

void choose_step(domain& d, const limits& found) noexcept {
  constexpr double grows_at_least = 1.1, grows_at_most = 1.2, longest = 1e-2;
  if (d.cycle != 0) {
    const double before = d.step_time;
    double next = 1e20;
    if (found.courant < next) next = found.courant / 2;
    if (found.hydro < next) next = found.hydro * 2 / 3;
    const double growth = next / before;
    if (growth >= 1) next = growth < grows_at_least ? before : std::min(next, before * grows_at_most);
    d.step_time = std::min(next, longest);
  }
  // Not a tiny step at the end: rather two of a third and two thirds.
  const double left = stop_time - d.time;
  double target = left;
  if (left > d.step_time && left < 4 * d.step_time / 3) target = 2 * d.step_time / 3;
  d.step_time = std::min(d.step_time, target);
  d.time += d.step_time;
  ++d.cycle;
}

double total_energy(const domain& d) noexcept {
  double energy = 0;
  for (std::size_t i = 0; i < d.element_count(); ++i) energy += d.element.energy[i] * d.element.mass[i];
  for (std::size_t i = 0; i < d.node_count(); ++i)
    energy += 0.5 * d.node.mass[i] * dot(d.node.velocity[i], d.node.velocity[i]);
  return energy;
}

}  // namespace weft::apps::lulesh

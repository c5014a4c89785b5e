// The shallow-water equations in a rotating plane, nonlinear, with depth h and velocity (u, v):
//   h_t = -(u h_x + v h_y) - h (u_x + v_y),  u_t = -(u u_x + v u_y) + f v - h_x,  v_t = -(u v_x + v v_y) - f u - h_y
// plus a little of the filter on each. Units: depth at rest, gravity and the length of the square are one, so waves
// move at speed one. Pointwise given derivatives, which are all the work; classical Runge-Kutta of fourth order in
// time. Not modelled: a sphere, topography, forcing, breaking waves (the start is a smooth hill that does not break).
#pragma once
#include <cmath>
#include <cstddef>
#include <vector>

#include "mesh.hpp"

namespace weft::apps::shallow_water {

struct fields {
  double h = 0, u = 0, v = 0;
};

struct derivatives {
  fields dx, dy, filtered;
};

inline constexpr std::size_t stages = 4;
inline constexpr double flops_per_nonzero = 18;  // three matrices times three fields
inline constexpr double flops_per_update = 50;
inline constexpr double courant = 0.3;  // of a cell that a wave crosses in a step
inline constexpr double rotation = 2;
inline constexpr double filter_strength = 0.05;  // 0.02 is enough for long runs, 0.005 is not always

[[nodiscard]] inline fields start_at(const point& p) noexcept {
  const double angle = 6.283185307179586;
  return {1 + 0.05 * std::exp(std::cos(angle * (p.x - 0.4)) + std::cos(angle * (p.y - 0.5)) - 2), 0, 0};
}

inline void accumulate(derivatives& d, const entry& e, const fields& f) noexcept {
  d.dx.h += e.dx * f.h, d.dx.u += e.dx * f.u, d.dx.v += e.dx * f.v;
  d.dy.h += e.dy * f.h, d.dy.u += e.dy * f.u, d.dy.v += e.dy * f.v;
  d.filtered.h += e.filter * f.h, d.filtered.u += e.filter * f.u, d.filtered.v += e.filter * f.v;
}

[[nodiscard]] inline fields rate(const fields& f, const derivatives& d) noexcept {
  return {filter_strength * d.filtered.h - (f.u * d.dx.h + f.v * d.dy.h) - f.h * (d.dx.u + d.dy.v),
          filter_strength * d.filtered.u - (f.u * d.dx.u + f.v * d.dy.u) + rotation * f.v - d.dx.h,
          filter_strength * d.filtered.v - (f.u * d.dx.v + f.v * d.dy.v) - rotation * f.u - d.dy.h};
}

[[nodiscard]] inline fields advanced(const fields& from, double time, const fields& r) noexcept {
  return {from.h + time * r.h, from.u + time * r.u, from.v + time * r.v};
}

// What one node goes through in a step: `stage` is where derivatives are taken next, `start` the step's beginning,
// `sum` the weighted average of the stages so far. Between steps all three are equal.
struct node_state {
  fields stage, start, sum;
};

// Ends stage number `s` of a step of length dt; the derivatives are used up.
inline void update(node_state& n, derivatives& d, std::size_t s, double dt) noexcept {
  constexpr double share[stages] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};
  constexpr double ahead[stages] = {0.5, 0.5, 1, 0};
  const fields r = rate(n.stage, d);
  d = {};
  n.sum = advanced(n.sum, share[s] * dt, r);
  if (s + 1 < stages)
    n.stage = advanced(n.start, ahead[s] * dt, r);
  else
    n.stage = n.start = n.sum;
}

}  // namespace weft::apps::shallow_water

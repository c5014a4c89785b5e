// Hexahedra: a brick by hand, and of crooked ones what must hold of any.
#include "hexahedron.hpp"

#include <doctest/doctest.h>

#include "../sweep.hpp"

namespace weft::apps::lulesh {
namespace {

corners brick(double a, double b, double c) {
  return {{{0, 0, 0}, {a, 0, 0}, {a, b, 0}, {0, b, 0}, {0, 0, c}, {a, 0, c}, {a, b, c}, {0, b, c}}};
}

// Each corner moved by up to a fifth, otherwise for each number.
corners crooked(std::uint64_t number) {
  corners x = brick(1, 1, 1);
  for (std::uint64_t i = 0; i < 8; ++i) {
    const auto shift = [&](std::uint64_t k) { return 0.4 * near::noise(number * 100 + i * 3 + k + 1) - 0.2; };
    x[i] += {shift(0), shift(1), shift(2)};
  }
  return x;
}

}  // namespace

TEST_CASE("hexahedron: a brick") {
  const corners x = brick(2, 3, 5);
  CHECK(volume_of(x) == doctest::Approx(30));
  CHECK(shape_of(x).volume == doctest::Approx(30));
  CHECK(length_of(x, 30) == doctest::Approx(2));  // volume by the largest face
  const corners areas = corner_areas(x);
  CHECK(areas[6].x == doctest::Approx(15.0 / 4));
  CHECK(areas[6].y == doctest::Approx(10.0 / 4));
  CHECK(areas[6].z == doctest::Approx(6.0 / 4));
  CHECK(areas[0].x == doctest::Approx(-15.0 / 4));
  const across d = differences(x);
  CHECK((d.xi.x == 2 && d.eta.y == 3 && d.zeta.z == 5));
  CHECK((d.xi.y == 0 && d.eta.z == 0 && d.zeta.x == 0));
}

TEST_CASE("hexahedron: the gradient is how the volume changes") {
  for (std::uint64_t number = 0; number < 20; ++number) {
    const corners x = crooked(number), gradient = volume_gradient(x);
    for (int i = 0; i < 8; ++i)
      for (double vec3::*along : {&vec3::x, &vec3::y, &vec3::z}) {
        corners more = x, less = x;
        more[i].*along += 1e-3, less[i].*along -= 1e-3;  // the volume is linear in each
        CHECK(gradient[i].*along == doctest::Approx((volume_of(more) - volume_of(less)) / 2e-3).epsilon(1e-9).scale(1));
      }
  }
}

TEST_CASE("hexahedron: what is closed has no area left over, and what moves as a whole does not change") {
  for (std::uint64_t number = 0; number < 20; ++number) {
    const corners x = crooked(number);
    vec3 areas{0, 0, 0}, gradient{0, 0, 0};
    for (const vec3& a : corner_areas(x)) areas += a;
    for (const vec3& g : volume_gradient(x)) gradient += g;
    CHECK(std::sqrt(dot(areas, areas)) < 1e-14);
    CHECK(std::sqrt(dot(gradient, gradient)) < 1e-14);
  }
}

TEST_CASE("hexahedron: hourglass modes leave out what is constant and linear, and each other") {
  const corners x = brick(2, 3, 5);
  for (std::size_t a = 0; a < hourglass.size(); ++a) {
    double constant = 0;
    vec3 linear{0, 0, 0};
    for (int i = 0; i < 8; ++i) constant += hourglass[a][i], linear += hourglass[a][i] * x[i];
    CHECK(constant == 0);
    CHECK((linear.x == 0 && linear.y == 0 && linear.z == 0));
    for (std::size_t b = 0; b < a; ++b) {
      double both = 0;
      for (int i = 0; i < 8; ++i) both += hourglass[a][i] * hourglass[b][i];
      CHECK(both == 0);
    }
  }
}

}  // namespace weft::apps::lulesh

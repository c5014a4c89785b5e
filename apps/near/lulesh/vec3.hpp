// Three numbers that belong to x, y and z.
#pragma once
#include <cmath>

namespace weft::apps::lulesh {

struct vec3 {
  double x, y, z;

  vec3& operator+=(const vec3& o) noexcept { return *this = {x + o.x, y + o.y, z + o.z}; }
};

[[nodiscard]] inline vec3 operator+(const vec3& a, const vec3& b) noexcept { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
[[nodiscard]] inline vec3 operator-(const vec3& a, const vec3& b) noexcept { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
[[nodiscard]] inline vec3 operator-(const vec3& a) noexcept { return {-a.x, -a.y, -a.z}; }
[[nodiscard]] inline vec3 operator*(double s, const vec3& a) noexcept { return {s * a.x, s * a.y, s * a.z}; }
[[nodiscard]] inline vec3 operator/(const vec3& a, double s) noexcept { return {a.x / s, a.y / s, a.z / s}; }
// Component by component.
[[nodiscard]] inline vec3 times(const vec3& a, const vec3& b) noexcept { return {a.x * b.x, a.y * b.y, a.z * b.z}; }
[[nodiscard]] inline double dot(const vec3& a, const vec3& b) noexcept { return a.x * b.x + a.y * b.y + a.z * b.z; }
[[nodiscard]] inline double sum(const vec3& a) noexcept { return a.x + a.y + a.z; }
[[nodiscard]] inline vec3 cross(const vec3& a, const vec3& b) noexcept {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

}  // namespace weft::apps::lulesh

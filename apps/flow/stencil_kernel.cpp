#include "stencil_kernel.hpp"

#include <cassert>

namespace weft::apps::flow {
namespace {

struct row {
  const double* first;
  std::size_t step;
  double operator[](std::size_t i) const { return first[i * step]; }
};

// One row. The order of the sum is x, y, z, before and behind in each.
template <unsigned D, bool Seidel>
void relax_row(std::size_t n, const double* from, double* to, double left, double right, const row (&beside)[4]) {
  for (std::size_t x = 0; x < n; ++x) {
    const double before = x == 0 ? left : Seidel ? to[x - 1] : from[x - 1];
    double sum = from[x] + before + (x + 1 == n ? right : from[x + 1]);
    for (unsigned i = 0; i < 2 * (D - 1); ++i) sum += beside[i][x];
    to[x] = sum * (1.0 / (2 * D + 1));
  }
}

template <unsigned D, bool Seidel>
void relax_block(const extent& n, const double* from, double* to, const planes& around) {
  const double* const before = Seidel ? to : from;
  const std::size_t layer = n.x * n.y;
  for (std::size_t z = 0; z < n.z; ++z)
    for (std::size_t y = 0; y < n.y; ++y) {
      const std::size_t at = y * n.x + z * layer;
      const row beside[4] = {y > 0 ? row{before + at - n.x, 1} : row{&around[2].at(0, z), around[2].step_a},
                             y + 1 < n.y ? row{from + at + n.x, 1} : row{&around[3].at(0, z), around[3].step_a},
                             z > 0 ? row{before + at - layer, 1} : row{&around[4].at(0, y), around[4].step_a},
                             z + 1 < n.z ? row{from + at + layer, 1} : row{&around[5].at(0, y), around[5].step_a}};
      relax_row<D, Seidel>(n.x, from + at, to + at, around[0].at(y, z), around[1].at(y, z), beside);
    }
}

template <unsigned D>
void relax_of(bool is_seidel, const extent& n, const double* from, double* to, const planes& around) {
  is_seidel ? relax_block<D, true>(n, from, to, around) : relax_block<D, false>(n, from, to, around);
}

}  // namespace

void relax(unsigned dimensions, bool is_seidel, const extent& n, const double* from, double* to, const planes& around) {
  assert(is_seidel || from != to);
  switch (dimensions) {
  case 1: return relax_of<1>(is_seidel, n, from, to, around);
  case 2: return relax_of<2>(is_seidel, n, from, to, around);
  default: assert(dimensions == 3); return relax_of<3>(is_seidel, n, from, to, around);
  }
}

}  // namespace weft::apps::flow

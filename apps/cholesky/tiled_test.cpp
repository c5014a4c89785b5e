// The factorization at the sizes where cutting into tiles goes wrong, on matrices it must refuse, and the checker
// itself on factors that are wrong in the way a lost task makes them wrong.
#include "tiled.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string_view>

#include "matrix_market.hpp"

namespace weft::apps::cholesky {
namespace {

struct outcome {
  matrix l;
  std::optional<bad_pivot> bad;
};

outcome factor(const matrix& a, tile_shape shape, const options& opt = {}, unsigned panel_team = 0) {
  runtime rt(opt);
  progress silent("test");
  outcome o{a, {}};
  tiled_matrix tiles(a.n, shape);
  o.bad = factorize(rt, o.l, tiles, silent, panel_team);
  return o;
}

bool same_lower_bits(const matrix& x, const matrix& y) {
  for (std::size_t j = 0; j < x.n; ++j)
    if (std::memcmp(&x.values[j + j * x.n], &y.values[j + j * y.n], (x.n - j) * sizeof(double)) != 0) return false;
  return x.n == y.n;
}

matrix diagonal(const std::vector<double>& d) {
  matrix a(d.size());
  for (std::size_t i = 0; i < d.size(); ++i) a.at(i, i) = d[i];
  return a;
}

}  // namespace

TEST_CASE("cholesky: sizes against tiles") {
  struct {
    std::size_t n, width;
  } const cases[] = {{1, 1}, {1, 256}, {2, 1}, {5, 256}, {7, 3}, {8, 4}, {64, 16}, {65, 16}, {100, 99}, {257, 128}};
  for (const auto& c : cases) {
    // Square, tall, cut in the middle of a block column, less than one, and never cut.
    for (std::size_t height : {c.width, 2 * c.width, 3 * c.width - 1, std::size_t{1}, std::size_t{1000}}) {
      CAPTURE(c.n);
      CAPTURE(c.width);
      CAPTURE(height);
      const matrix a = random_spd(c.n, 3);
      const outcome o = factor(a, {c.width, height}, {.workers = 2});
      CHECK(!o.bad);
      CHECK(residual(a, o.l, 1) <= 1);
    }
  }
}

TEST_CASE("cholesky: same bits on every machine and any number of workers") {
  const matrix a = random_spd(150, 1);
  for (const tile_shape shape : {tile_shape{32, 32}, tile_shape{16, 64}}) {
    const outcome one = factor(a, shape, {.workers = 1});
    CHECK(same_lower_bits(one.l, factor(a, shape, {.workers = 3}).l));
    CHECK(same_lower_bits(one.l, factor(a, shape, {.workers = 7, .machine = "virtual"}).l));
    CHECK(same_lower_bits(one.l,
                          factor(a, shape, {.workers = 4, .machine = "virtual", .model = {.schedule = "random"}}).l));
  }
}

TEST_CASE("cholesky: task count") {
  // 5 block columns, square: 5 potrf, 10 trsm, 10 syrk, 10 gemm. Cut before column 24 only, block columns have
  // 3, 3, 2, 2, 1 tiles, and a tile of the j-th gets j tasks.
  struct {
    std::size_t n;
    tile_shape shape;
    std::uint64_t tasks;
  } const cases[] = {{40, {8, 8}, 35}, {36, {8, 8}, 35}, {40, {8, 24}, 28}, {40, {8, 17}, 28}, {7, {8, 8}, 1}};
  for (const auto& c : cases) {
    CAPTURE(c.shape.height);
    runtime rt({.workers = 1});
    progress silent("test");
    matrix a = random_spd(c.n, 1);
    tiled_matrix tiles(c.n, c.shape);
    CHECK(!factorize(rt, a, tiles, silent));
    CHECK(rt.statistics().tasks == tiles.task_count());
    CHECK(tiles.task_count() == c.tasks);
  }
}

TEST_CASE("cholesky: a panel that is one task of a team, with threads of BLAS on real machines") {
  for (const char* machine : {"host", "virtual"})
    for (const unsigned workers : {1u, 2u})
      for (const tile_shape shape : {tile_shape{100, 150}, tile_shape{300, 300}, tile_shape{700, 1000}}) {
        CAPTURE(machine);
        CAPTURE(shape.width);
        const matrix a = random_spd(700, 3);
        const options opt{.workers = workers, .machine = machine};
        const outcome o = factor(a, shape, opt, workers);
        CHECK(!o.bad);
        CHECK(residual(a, o.l, 1) <= 1);
        CHECK(same_lower_bits(o.l, factor(a, shape, opt, workers).l));
        matrix bad = a;
        bad.at(410, 410) = -1;
        const outcome failed = factor(bad, shape, opt, workers);
        REQUIRE(failed.bad);
        CHECK(failed.bad->index == 411);
      }
}

TEST_CASE("cholesky: a matrix that is not positive definite names its first bad pivot") {
  struct {
    std::vector<double> d;
    std::size_t pivot;
    double value;
  } const cases[] = {{{-1}, 1, -1},           {{0}, 1, 0},          {{1, 1, -3, 1, 1}, 3, -3}, {{1, 1, 1, 1, 0}, 5, 0},
                     {{1, -2, 1, -9}, 2, -2}, {{-5, -4, -3}, 1, -5}};
  for (const auto& c : cases) {
    for (const tile_shape shape : {tile_shape{1, 1}, tile_shape{1, 2}, tile_shape{2, 2}, tile_shape{100, 100}}) {
      CAPTURE(c.pivot);
      CAPTURE(shape.width);
      const outcome o = factor(diagonal(c.d), shape, {.workers = 2});
      REQUIRE(o.bad);
      CHECK(o.bad->index == c.pivot);
      CHECK(o.bad->value == c.value);
    }
  }
}

TEST_CASE("cholesky: OpenBLAS meets the same bad pivot") {
  matrix a = random_spd(130, 5);
  a.at(77, 77) = 1e-3;
  a.at(120, 120) = -1;
  const outcome ours = factor(a, {32, 64}, {.workers = 2});
  matrix theirs = a;
  const auto bad = factorize_openblas(theirs, 2);
  REQUIRE(bad);
  REQUIRE(ours.bad);
  CHECK(ours.bad->index == bad->index);
  CHECK(ours.bad->value == doctest::Approx(bad->value));
}

TEST_CASE("cholesky: tiles serve again after a failure") {
  runtime rt({.workers = 2});
  progress silent("test");
  tiled_matrix tiles(30, {8, 8});
  matrix bad = random_spd(30, 1);
  bad.at(12, 12) = -1;
  CHECK(factorize(rt, bad, tiles, silent));
  const matrix a = random_spd(30, 1);
  matrix l = a;
  CHECK(!factorize(rt, l, tiles, silent));
  CHECK(residual(a, l, 1) <= 1);
}

TEST_CASE("cholesky: the shipped finite-element matrix") {
  const matrix a = read_matrix_market(WEFT_DATA_DIR "/bar.mtx");
  const outcome o = factor(a, choose_shape(a.n, 2), {.workers = 2});
  CHECK(!o.bad);
  CHECK(residual_full(a, o.l) <= 1);
  CHECK(residual_probed(a, o.l, 1) <= 1);
}

TEST_CASE("residual: a tile that missed one update is found") {
  for (std::size_t n : {std::size_t{600}, std::size_t{1500}}) {
    CAPTURE(n);
    const matrix a = random_spd(n, 2);
    outcome o = factor(a, {100, 100}, {.workers = 2});
    CHECK(residual(a, o.l, 1) <= 1);
    // Tile (5, 4), without the update from column 0: adds back what one gemm took away, before its trsm.
    for (std::size_t j = 400; j < 500; ++j)
      for (std::size_t i = 500; i < 600; ++i) {
        double update = 0;
        for (std::size_t k = 0; k < 100; ++k) update += o.l.at(i, k) * o.l.at(j, k);
        o.l.at(i, j) += update / o.l.at(j, j);
      }
    CHECK(residual(a, o.l, 1) > 1000);
    CHECK(residual_probed(a, o.l, 1) > 1000);
  }
}

TEST_CASE("residual: NaN is no pass") {
  const matrix a = random_spd(20, 2);
  outcome o = factor(a, {10, 10});
  o.l.at(15, 3) = std::numeric_limits<double>::quiet_NaN();
  CHECK(std::isnan(residual_full(a, o.l)));
  CHECK(std::isnan(residual_probed(a, o.l, 1)));
}

TEST_CASE("cholesky: the default tile shrinks with the matrix and with more workers") {
  struct {
    std::size_t n;
    unsigned workers;
    std::size_t width;
  } const cases[] = {{8192, 1, 512},  {8192, 2, 512}, {8192, 4, 448}, {8192, 16, 256},
                     {8192, 64, 128}, {4096, 2, 320}, {2048, 2, 192}, {1, 1, 64}};
  for (const auto& c : cases) {
    CAPTURE(c.n);
    CAPTURE(c.workers);
    CHECK(choose_shape(c.n, c.workers).width == c.width);
    CHECK(choose_shape(c.n, c.workers).height == (c.workers <= 4 ? 8 : 4) * c.width);
  }
  CHECK(choose_shape(8192, 2, 100).width == 100);
  CHECK(choose_shape(8192, 2, 100).height == 800);
}

TEST_CASE("random matrix: a function of size and seed, diagonally dominant") {
  const matrix a = random_spd(50, 7);
  CHECK(a.values == random_spd(50, 7).values);
  CHECK(a.values != random_spd(50, 8).values);
  for (std::size_t i = 0; i < a.n; ++i) {
    double others = 0;
    for (std::size_t j = 0; j < a.n; ++j)
      if (j != i) others += std::fabs(i > j ? a.at(i, j) : a.at(j, i));
    CHECK(others < a.at(i, i));
  }
}

TEST_CASE("cholesky app: compares with OpenBLAS in real time only, and knows its machines and policies") {
  app a = cholesky_app();
  progress silent("test");
  for (const option& o : a.options) {
    if (std::string_view(o.name) == "n") *std::get<std::size_t*>(o.target) = 60;
    if (std::string_view(o.name) == "repeat") *std::get<std::size_t*>(o.target) = 1;
  }
  const result r = a.run({.workers = 2}, silent);
  CHECK(r.ok());
  CHECK(r.checks.size() == 3);
  CHECK(r.policy == "central");
  CHECK(a.run({.workers = 2, .policy = "local"}, silent).policy == "local");
  CHECK(a.run({.workers = 2, .machine = "virtual"}, silent).checks.size() == 2);
  CHECK_THROWS_AS(a.run({.machine = "no such machine"}, silent), weft::error);
}

}  // namespace weft::apps::cholesky

// A program of one of five shapes, sized to the workers it gets, whose bodies all take the same modelled time: what
// tests/tool/coarse_test.py compares the modes of the virtual machine with.
//   shapes SHAPE BODY_NS
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "weft/weft.hpp"

namespace {

struct job {
  weft::runtime& rt;
  double ns;
  std::size_t workers;
};
using handles = std::vector<weft::handle<int>>;

void independent(const job& j) {
  for (std::size_t i = 0; i < 40 * j.workers; ++i) j.rt.submit(weft::cost(j.ns), [] {});
  j.rt.wait();
}

// Two a worker.
void chains(const job& j) {
  handles h(2 * j.workers);
  for (int step = 0; step < 20; ++step)
    for (auto& x : h) j.rt.submit(weft::cost(j.ns), weft::write(x), [](int&) {});
  j.rt.wait();
}

// Three points on a ring, two buffers.
void stencil(const job& j) {
  const std::size_t n = 2 * j.workers + 2;
  handles a(n), b(n);
  for (int step = 0; step < 20; ++step) {
    handles& from = step % 2 == 0 ? a : b;
    handles& to = step % 2 == 0 ? b : a;
    for (std::size_t i = 0; i < n; ++i)
      j.rt.submit(weft::cost(j.ns), weft::read(from[(i + n - 1) % n]), weft::read(from[i]),
                  weft::read(from[(i + 1) % n]), weft::write(to[i]), [](const int&, const int&, const int&, int&) {});
  }
  j.rt.wait();
}

// The task graph of a factorization, 24 tiles a side: 2600 tasks.
void cholesky(const job& j) {
  constexpr std::size_t n = 24;
  handles tiles(n * n);
  const auto at = [&](std::size_t row, std::size_t column) -> weft::handle<int>& { return tiles[row * n + column]; };
  for (std::size_t k = 0; k < n; ++k) {
    j.rt.submit(weft::cost(j.ns), weft::write(at(k, k)), [](int&) {});
    for (std::size_t i = k + 1; i < n; ++i)
      j.rt.submit(weft::cost(j.ns), weft::read(at(k, k)), weft::write(at(i, k)), [](const int&, int&) {});
    for (std::size_t i = k + 1; i < n; ++i)
      for (std::size_t c = k + 1; c <= i; ++c)
        if (c == i)
          j.rt.submit(weft::cost(j.ns), weft::read(at(i, k)), weft::write(at(i, i)), [](const int&, int&) {});
        else
          j.rt.submit(weft::cost(j.ns), weft::read(at(i, k)), weft::read(at(c, k)), weft::write(at(i, c)),
                      [](const int&, const int&, int&) {});
  }
  j.rt.wait();
}

void fork_join(const job& j) {
  for (int loop = 0; loop < 10; ++loop) {
    for (std::size_t i = 0; i < 4 * j.workers; ++i) j.rt.submit(weft::cost(j.ns), [] {});
    j.rt.wait();
  }
}

struct shape {
  const char* name;
  void (*run)(const job&);
};
constexpr shape shapes[] = {{"independent", independent},
                            {"chains", chains},
                            {"stencil", stencil},
                            {"cholesky", cholesky},
                            {"fork-join", fork_join}};

}  // namespace

int main(int argc, char** argv) {
  char* end = nullptr;
  const double ns = argc == 3 ? std::strtod(argv[2], &end) : 0;
  for (const shape& s : shapes) {
    if (argc != 3 || std::strcmp(argv[1], s.name) != 0 || *end != '\0' || !(ns > 0)) continue;
    weft::runtime rt;
    s.run({rt, ns, rt.workers()});
    return 0;
  }
  std::fprintf(stderr, "usage: shapes SHAPE BODY_NS\n");
  return 2;
}

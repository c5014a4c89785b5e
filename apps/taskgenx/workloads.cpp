#include "workloads.hpp"

#include <initializer_list>

#include "weft/error.hpp"

namespace weft::apps::taskgenx {

namespace {

using cells = std::initializer_list<unsigned>;

// An initializer_list is an array of its own.
void put(receiver& to, const char* name, double cycles, cells reads, cells writes) {
  to.task(name, cycles, {reads.begin(), reads.size()}, {writes.begin(), writes.size()});
}

// Most counts of Table 1 are those of the algorithm and two more: one task before the rest and one after it.
void begin(receiver& to, const workload& w) { put(to, "alone", w.task_cycles(), {}, {}); }
void end(receiver& to, const workload& w) {
  for (unsigned i = 1; i < w.alone; ++i) begin(to, w);
}

// Tiled, right-looking, on the lower half of nt x nt tiles. A task's length is its share of the operations.
void cholesky(receiver& to, const workload& w, std::size_t steps) {
  const auto nt = static_cast<unsigned>(steps);
  const double n = nt, pairs = n * (n - 1) / 2, triples = n * (n - 1) * (n - 2) / 6;
  const double cubes = n / 3 + pairs + pairs + 2 * triples;  // operations, in cubes of the tile's size
  const double cube = w.task_cycles() * (n + 2 * pairs + triples) / cubes;
  const auto at = [](unsigned row, unsigned column) { return row * (row + 1) / 2 + column; };
  begin(to, w);
  for (unsigned k = 0; k < nt; ++k) {
    put(to, "potrf", cube / 3, {}, {at(k, k)});
    for (unsigned i = k + 1; i < nt; ++i) put(to, "trsm", cube, {at(k, k)}, {at(i, k)});
    for (unsigned i = k + 1; i < nt; ++i) {
      for (unsigned j = k + 1; j < i; ++j) put(to, "gemm", 2 * cube, {at(i, k), at(j, k)}, {at(i, j)});
      put(to, "syrk", cube, {at(i, k)}, {at(i, i)});
    }
  }
  end(to, w);
}

// Tiled, by flat trees: each panel is reduced from the top down.
void qr(receiver& to, const workload& w, std::size_t steps) {
  const auto nt = static_cast<unsigned>(steps);
  const double n = nt, pairs = n * (n - 1) / 2, squares = (n - 1) * n * (2 * n - 1) / 6;
  const double cubes = n * 4 / 3 + pairs * 2 + pairs * 2 + squares * 4;
  const double cube = w.task_cycles() * (n + 2 * pairs + squares) / cubes;
  const auto at = [nt](unsigned row, unsigned column) { return row * nt + column; };
  begin(to, w);
  for (unsigned k = 0; k < nt; ++k) {
    put(to, "geqrt", cube * 4 / 3, {}, {at(k, k)});
    for (unsigned j = k + 1; j < nt; ++j) put(to, "ormqr", cube * 2, {at(k, k)}, {at(k, j)});
    for (unsigned i = k + 1; i < nt; ++i) {
      put(to, "tsqrt", cube * 2, {}, {at(k, k), at(i, k)});
      for (unsigned j = k + 1; j < nt; ++j) put(to, "tsmqr", cube * 4, {at(i, k)}, {at(k, j), at(i, j)});
    }
  }
  end(to, w);
}

// 10^7 options in blocks of 2048, priced 100 times: each time the same blocks.
void blackscholes(receiver& to, const workload& w, std::size_t steps) {
  constexpr unsigned blocks = 4882;
  begin(to, w);
  for (std::size_t run = 0; run < steps; ++run)
    for (unsigned b = 0; b < blocks; ++b) put(to, "price", w.task_cycles(), {}, {b});
  end(to, w);
}

// Loops whose iterations are tasks, one loop after the other.
void loops(receiver& to, const workload& w, std::size_t count, unsigned tasks) {
  for (std::size_t i = 0; i < count; ++i) {
    for (unsigned t = 0; t < tasks; ++t) put(to, "iterate", w.task_cycles(), {}, {});
    to.wait();
  }
}

// 512 tasks swap elements at each temperature; then the next one follows.
void canneal(receiver& to, const workload& w, std::size_t steps) {
  begin(to, w);
  loops(to, w, steps, 512);
  end(to, w);
}

// 257 tasks a frame: eight loops over 32 blocks of particles, and one task that prepares them.
void fluidanimate(receiver& to, const workload& w, std::size_t steps) {
  begin(to, w);
  for (std::size_t frame = 0; frame < steps; ++frame) {
    loops(to, w, 1, 1);
    loops(to, w, 8, 32);
  }
  end(to, w);
}

// 3,184,652 is 12,538 loops of 254 tasks: one of few ways to divide it, and close to the 256 that such programs take.
void streamcluster(receiver& to, const workload& w, std::size_t steps) {
  begin(to, w);
  loops(to, w, steps, 254);
  end(to, w);
}

// 1261 tasks a frame. Nested: in each of five annealing layers four tasks draw the particles and then submit 62 each
// that weigh them; the last task of a frame makes the estimate that the next begins with. Drawing takes three times the
// mean, a guess.
void bodytrack(receiver& to, const workload& w, std::size_t steps) {
  constexpr unsigned layers = 5, parents = 4, children = 62, frame = 2 * parents;
  constexpr double drawing = 3, weighing = (1.0 + children - drawing) / children;
  const double t = w.task_cycles();
  begin(to, w);
  for (std::size_t f = 0; f < steps; ++f) {
    for (unsigned l = 0; l < layers; ++l) {
      const unsigned from = l % 2 == 0 ? parents : 0, into = parents - from;
      for (unsigned p = 0; p < parents; ++p) {
        const unsigned writes = into + p;
        const unsigned before[] = {from, from + 1, from + 2, from + 3};
        to.parent("draw", drawing * t, l == 0 ? receiver::numbers(&frame, 1) : receiver::numbers(before), {&writes, 1},
                  children, weighing * t);
      }
    }
    put(to, "estimate", t, {0, 1, 2, 3}, {frame});
  }
  end(to, w);
}

// Stages that keep the order of items, reading and writing files, are this part of a task of mean length: a guess.
constexpr double in_order = 0.1;

// Twelve tasks a query, one after the other; the first and the last keep the order of queries.
void ferret(receiver& to, const workload& w, std::size_t steps) {
  constexpr unsigned stages = 12, load = 0, out = 1, in_flight = 2048;
  const double shorter = w.task_cycles() * in_order;
  const double others = (w.task_cycles() * stages - 2 * shorter) / (stages - 2);
  begin(to, w);
  for (std::size_t q = 0; q < steps; ++q) {
    const unsigned own = 2 + static_cast<unsigned>(q % in_flight);
    put(to, "load", shorter, {}, {load, own});
    for (unsigned s = 2; s < stages; ++s) put(to, "stage", others, {}, {own});
    put(to, "out", shorter, {own}, {out});
  }
  end(to, w);
}

// 20,246 is 10,123 chunks of two tasks: one compresses, the other writes, in order.
void dedup(receiver& to, const workload& w, std::size_t steps) {
  constexpr unsigned out = 0, in_flight = 2048;
  const double shorter = w.task_cycles() * in_order;
  begin(to, w);
  for (std::size_t c = 0; c < steps; ++c) {
    const unsigned own = 1 + static_cast<unsigned>(c % in_flight);
    put(to, "compress", 2 * w.task_cycles() - shorter, {}, {own});
    put(to, "write", shorter, {own}, {out});
  }
  end(to, w);
}

// Of each row the paper prints creation, the two together, and the rest; of fluidanimate it prints a creation of 30,210
// cycles, of which neither the sum nor the last column follows: both do of 30,000.
constexpr workload all[] = {
    {"cholesky256", "32K 256", 357'762, 753, 15'221, 58'065, 3.5, 10.34, 128, 2, cholesky},
    {"cholesky128", "32K 128", 2'829'058, 110, 17'992, 40'828, 3.5, 83.74, 256, 2, cholesky},
    {"qr512", "16K 512", 11'442, 518'570, 17'595, 45'413, 6.8, 0.01, 32, 2, qr},
    {"qr128", "16K 128", 707'265, 3'558, 21'642, 39'135, 6.8, 3.11, 128, 1, qr},
    {"blackscholes", "native", 488'202, 348, 29'141, 56'297, 2.3, 42.87, 100, 2, blackscholes},
    {"bodytrack", "native", 329'123, 383, 9'505, 9'474, 4.2, 12.70, 261, 2, bodytrack},
    {"canneal", "native", 3'072'002, 67, 25'781, 24'313, 2.0, 197.01, 6000, 2, canneal},
    {"dedup", "native", 20'248, 1'532, 1'294, 8'353, 2.7, 0.43, 10'123, 2, dedup},
    {"ferret", "native x 2", 84'002, 29'088, 38'913, 59'544, 3.6, 0.68, 7000, 2, ferret},
    {"fluidanimate", "native", 128'502, 16'734, 30'000, 64'079, 3.3, 0.91, 500, 2, fluidanimate},
    {"streamcluster", "native", 3'184'654, 161, 6'892, 6'801, 3.5, 21.91, 12'538, 2, streamcluster},
};

}  // namespace

std::span<const workload> workloads() { return all; }

const workload& find_workload(std::string_view name) {
  std::string names;
  for (const workload& w : all) {
    if (w.name == name) return w;
    names += (names.empty() ? "" : ", ") + std::string(w.name);
  }
  throw weft::error("taskgenx: there is no workload '" + std::string(name) + "'; there are " + names);
}

}  // namespace weft::apps::taskgenx

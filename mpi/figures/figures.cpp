// What messages as tasks cost beside MPI alone, in one run and in turns, and what a task of another rank costs:
//   mpiexec -n 2 weft-mpi-figures messages
//   mpiexec -n 2 weft-mpi-figures foreign
//   mpiexec -n 2 weft-mpi-figures cholesky 32 128 1       tiles, their side, workers of each rank; also with -n 1 and 2
#include <cblas.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "mpi/programs/cholesky.hpp"
#include "weft/mpi.hpp"

extern "C" {
void openblas_set_num_threads(int n);
void dpotrf_(const char* half, const int* n, double* a, const int* stride, int* info);
}

namespace weft::figures {
namespace {

constexpr int rounds = 9;

struct blas_kernels {
  static void potrf(programs::tile& d) {
    const int n = side(d);
    int info = 0;
    dpotrf_("U", &n, d.data(), &n, &info);  // by columns, the upper half is the lower one by rows
    if (info != 0) throw std::runtime_error("the matrix is not positive definite");
  }
  static void trsm(const programs::tile& d, programs::tile& x) {
    cblas_dtrsm(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, side(x), side(x), 1, d.a.data(),
                side(d), x.data(), side(x));
  }
  static void gemm(const programs::tile& l, const programs::tile& r, programs::tile& x) {
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, side(x), side(x), side(x), -1, l.a.data(), side(l),
                r.a.data(), side(r), 1, x.data(), side(x));
  }
  static int side(const programs::tile& t) { return static_cast<int>(t.b); }
};

// Nanoseconds of one way, by MPI alone.
double plain(std::vector<char>& v, int times) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int n = static_cast<int>(v.size());
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  for (int i = 0; i < times; ++i) {
    if (rank == 0) MPI_Send(v.data(), n, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    MPI_Recv(v.data(), n, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1) MPI_Send(v.data(), n, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
  }
  return (MPI_Wtime() - begin) * 1e9 / (2.0 * times);
}

// The same through tasks: each is a chain on the datum.
double by_tasks(ranks& w, handle<std::vector<char>>& h, int times) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  for (int i = 0; i < times; ++i) {
    if (w.rank() == 0) w.on().submit(read(h), w.send(h, 1, 0));
    w.on().submit(write(h), w.receive(h, 1 - w.rank(), 0));
    if (w.rank() == 1) w.on().submit(read(h), w.send(h, 0, 0));
  }
  w.on().wait();
  return (MPI_Wtime() - begin) * 1e9 / (2.0 * times);
}

void messages() {
  mpi_transport net;
  runtime rt({.workers = 1});
  ranks w(rt, net);
  for (const std::size_t bytes : {std::size_t{8}, std::size_t{1} << 20}) {
    const int times = bytes > 1000 ? 200 : 5000;
    std::vector<char> v(bytes);
    handle<std::vector<char>> h(bytes);
    double least_plain = 1e18, least_tasks = 1e18;
    for (int r = 0; r < rounds; ++r) {
      least_plain = std::min(least_plain, plain(v, times));
      least_tasks = std::min(least_tasks, by_tasks(w, h, times));
    }
    if (w.rank() == 0)
      std::printf("%8zu bytes, one way: MPI alone %.0f ns, tasks %.0f ns: +%.0f ns, %.2f of the bandwidth\n", bytes,
                  least_plain, least_tasks, least_tasks - least_plain, least_plain / least_tasks);
  }
}

// Rank 0 submits what rank 1 runs.
void foreign() {
  mpi_transport net;
  runtime rt({.workers = 1});
  cluster w(rt, net);
  constexpr int count = 100'000;
  std::vector<std::unique_ptr<cluster_handle<int>>> all;
  for (int i = 0; i < 64; ++i) all.push_back(std::make_unique<cluster_handle<int>>(w, 1, 0));
  double one = 1e18, three = 1e18;
  for (int r = 0; r < rounds; ++r) {
    w.fence();
    double begin = rt.now_ns();
    for (unsigned i = 0; i < count; ++i) w.submit(write(*all[i % 64]), [](int& x) { ++x; });
    one = std::min(one, (rt.now_ns() - begin) / count);
    w.fence();
    begin = rt.now_ns();
    for (unsigned i = 0; i < count; ++i)
      w.submit(read(*all[i % 64]), read(*all[(i + 7) % 64]), write(*all[(i + 13) % 64]), named("gemm"),
               [](const int& a, const int& b, int& x) { x += a - b; });
    three = std::min(three, (rt.now_ns() - begin) / count);
    w.fence();
  }
  if (w.rank() == 0) std::printf("a task of another rank: one access %.1f ns, three and a name %.1f ns\n", one, three);
}

void factor(std::size_t n, std::size_t b, unsigned workers) {
  openblas_set_num_threads(1);
  mpi_transport net;
  runtime rt({.workers = workers});
  cluster w(rt, net);
  double least = 1e18;
  for (int r = 0; r < 3; ++r) {
    programs::tiled_matrix m(w, n, b);
    programs::fill(w, m);
    w.fence();
    const double begin = rt.now_ns();
    programs::cholesky<blas_kernels>(w, m);
    w.fence();
    least = std::min(least, rt.now_ns() - begin);
  }
  const double side = static_cast<double>(n * b);
  if (w.rank() == 0)
    std::printf("Cholesky of %.0f in tiles of %zu, %d ranks x %u workers: %.1f ms, %.1f GFLOP/s\n", side, b, w.size(),
                workers, least / 1e6, side * side * side / 3 / least);
}

}  // namespace
}  // namespace weft::figures

int main(int count, char** values) {
  const auto number = [&](int i, unsigned long otherwise) {
    return count > i ? std::strtoul(values[i], nullptr, 10) : otherwise;
  };
  const char* const what = count > 1 ? values[1] : "messages";
  if (std::strcmp(what, "foreign") == 0)
    weft::figures::foreign();
  else if (std::strcmp(what, "cholesky") == 0)
    weft::figures::factor(number(2, 32), number(3, 128), static_cast<unsigned>(number(4, 1)));
  else
    weft::figures::messages();
}

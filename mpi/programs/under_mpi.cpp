// What tests/mpi/mpi_tests.py runs under mpiexec, and a user's first program there:
//   mpiexec -n 2 build/release/mpi/weft-mpi cholesky 16 128
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "cholesky.hpp"
#include "stencil.hpp"
#include "weft/mpi.hpp"

namespace weft::programs {
namespace {

struct arguments {
  std::string program = "cholesky";
  std::size_t a = 8, b = 32;
};

void print(cluster& w, std::uint64_t sum, double ns) {
  const cluster_counts c = w.counts();
  std::printf("rank %d of %d: checksum %016llx, %.3f ms, %llu messages sent, %llu bytes, %llu tasks here of %llu\n",
              w.rank(), w.size(), static_cast<unsigned long long>(sum), ns / 1e6,
              static_cast<unsigned long long>(c.messages_sent), static_cast<unsigned long long>(c.bytes_sent),
              static_cast<unsigned long long>(c.tasks_here),
              static_cast<unsigned long long>(c.tasks_here + c.tasks_elsewhere));
}

void factor(cluster& w, const arguments& args) {
  tiled_matrix m(w, args.a, args.b);
  fill(w, m);
  w.fence();
  const double begin = w.on().now_ns();
  cholesky(w, m);
  w.fence();
  const double ns = w.on().now_ns() - begin;
  const std::string before = std::to_string(w.counts().messages_sent);
  std::printf("rank %d: %s blocks moved\n", w.rank(), before.c_str());
  print(w, checksum(w, m), ns);
}

void diffuse(cluster& w, const arguments& args) {
  stencil s(w, args.a, 16, 64);
  const double begin = w.on().now_ns();
  for (std::size_t i = 0; i < args.b; ++i) s.step();
  w.fence();
  const double ns = w.on().now_ns() - begin;
  print(w, s.checksum(), ns);
}

// Each rank hands `a` bytes on, in a ring.
void ring(cluster& w, const arguments& args) {
  const int left = (w.rank() + w.size() - 1) % w.size(), right = (w.rank() + 1) % w.size();
  handle<std::vector<unsigned char>> mine(args.a), theirs(args.a);
  w.on().submit(write(mine), [&](std::vector<unsigned char>& v) {
    const auto me = static_cast<std::size_t>(w.rank());
    for (std::size_t i = 0; i < v.size(); ++i) v[i] = static_cast<unsigned char>(i * 7 + me);
  });
  w.on().submit(write(theirs), w.receive(theirs, left, 5));
  w.on().submit(read(mine), w.send(mine, right, 5));
  const std::vector<unsigned char>& v = w.on().get(theirs);
  for (std::size_t i = 0; i < v.size(); ++i)
    if (v[i] != static_cast<unsigned char>(i * 7 + static_cast<std::size_t>(left)))
      throw std::runtime_error("byte " + std::to_string(i) + " is wrong");
}

// The last rank does something else than the others.
void differ(cluster& w, const arguments&) {
  cluster_handle<int> x(w, 0, 0);
  if (w.rank() + 1 == w.size())
    w.submit(write(x), named("odd"), [](int& v) { ++v; });
  else
    w.submit(write(x), named("even"), [](int& v) { v += 2; });
  w.fence();
}

// A body of the last rank throws; all go on after it.
void throws(cluster& w, const arguments&) {
  cluster_handle<int> x(w, w.size() - 1, 0), y(w, 0, 0);
  w.submit(write(x), named("throws"), [](int&) { throw std::runtime_error("no such file"); });
  w.submit(read(x), write(y), [](const int&, int&) {});
  try {
    w.fence();
    std::printf("rank %d: no error\n", w.rank());
  } catch (const std::exception& e) {
    std::printf("rank %d: %s\n", w.rank(), e.what());
  }
  w.submit(write(x), [](int& v) { v = 3; });
  w.submit(read(x), write(y), [](const int& v, int& to) { to = v; });
  std::printf("rank %d: and now %d\n", w.rank(), w.get(y));
}

// For ever, until somebody is killed. Each rank says its number.
void spin(cluster& w, const arguments&) {
  std::printf("pid %d rank %d\n", static_cast<int>(getpid()), w.rank());
  std::fflush(stdout);
  cluster_handle<int> x(w, 0, 0), y(w, w.size() - 1, 0);
  for (;;) {
    for (int i = 0; i < 100; ++i) {
      w.submit(read(x), write(y), [](const int& from, int& to) { to = from + 1; });
      w.submit(read(y), write(x), [](const int& from, int& to) { to = from + 1; });
    }
    w.fence();
  }
}

// The last rank leaves its program by an exception.
void leave(cluster& w, const arguments&) {
  cluster_handle<int> x(w, w.size() - 1, 0), y(w, 0, 0);
  if (w.rank() + 1 == w.size()) throw std::runtime_error("this rank gives up");
  w.submit(read(x), write(y), [](const int&, int&) {});
  w.fence();
}

struct entry {
  const char* name;
  void (*run)(cluster&, const arguments&);
};
constexpr entry programs[] = {{"cholesky", factor}, {"stencil", diffuse}, {"ring", ring},  {"differ", differ},
                              {"throws", throws},   {"spin", spin},       {"leave", leave}};

int run(const arguments& args, std::size_t part_bytes, unsigned workers) {
  mpi_transport net(MPI_COMM_WORLD, part_bytes);
  try {
    runtime rt({.workers = workers});
    cluster w(rt, net);
    for (const entry& e : programs)
      if (args.program == e.name) {
        e.run(w, args);
        w.fence();
        return 0;
      }
    throw std::runtime_error("no program " + args.program);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "rank %d: %s\n", net.rank(), e.what());
    return 1;
  }
}

}  // namespace
}  // namespace weft::programs

// PROGRAM A B [bytes in a part] [workers]
int main(int count, char** values) {
  weft::programs::arguments args;
  if (count > 1) args.program = values[1];
  if (count > 2) args.a = std::strtoull(values[2], nullptr, 10);
  if (count > 3) args.b = std::strtoull(values[3], nullptr, 10);
  const std::size_t part = count > 4 ? std::strtoull(values[4], nullptr, 10) : weft::mpi_transport::part_bytes_max;
  return weft::programs::run(args, part, count > 5 ? static_cast<unsigned>(std::strtoul(values[5], nullptr, 10)) : 1);
}

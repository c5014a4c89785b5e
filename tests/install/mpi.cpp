// The same with the program's own MPI, as one process.
#include <cstdio>

#include <weft/mpi.hpp>

int main() {
  weft::mpi_transport net;
  weft::runtime rt({.workers = 1});
  weft::cluster w(rt, net);
  weft::cluster_handle<int> a(w, 0, 21);
  w.submit(weft::write(a), [](int& x) { x *= 2; });
  std::printf("%d\n", w.get(a));
}

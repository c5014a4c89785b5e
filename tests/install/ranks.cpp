// A program on ranks, without an MPI: two, and what one sends the other.
#include <cstdio>

#include <weft/cluster.hpp>
#include <weft/thread_ranks.hpp>

int main() {
  weft::run_ranks(2, [](weft::transport& net) {
    weft::runtime rt({.workers = 1});
    weft::cluster w(rt, net);
    weft::cluster_handle<int> a(w, 0, 21), b(w, 1, 0);
    w.submit(weft::read(a), weft::write(b), [](const int& x, int& y) { y = 2 * x; });
    const int all = w.get(b);
    if (w.rank() == 0) std::printf("%d\n", all);
  });
}

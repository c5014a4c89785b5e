// Records until somebody kills it, and says after each wait how many tasks have run: what killed_test.py compares the
// trace with. With a number: so many rounds, and then it crashes.
#include <cstdio>
#include <cstdlib>

#include "weft/weft.hpp"

int main(int argc, char** argv) {
  const long rounds = argc > 1 ? std::atol(argv[1]) : -1;
  weft::runtime rt;
  weft::handle<long> sum(0);
  sum.name("sum");
  for (long round = 0, ran = 0; round != rounds; ++round) {
    for (int i = 0; i < 50; ++i) {
      rt.submit(weft::add(sum), weft::named("add"), [](long& s) { ++s; });
      rt.submit(weft::named("parent"), [&rt] { rt.submit(weft::named("child"), [] {}); });
    }
    rt.wait();
    ran += 150;
    std::printf("%ld\n", ran);
    std::fflush(stdout);
  }
  std::abort();
}

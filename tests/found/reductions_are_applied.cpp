// With decoupled creation rt.wait() returned when all tasks were done, and what they had left over in a reduction had
// not been applied: a wrong value without a word. The group of reduces was opened after the wait had looked for open
// ones, by the worker that creates.
// Right: after rt.wait() all is applied; in a body, where a wait for children applies nothing, rt.get() gives the sum.
// Run: 4
// Long: 200
// Machines: host virtual random
// Workers: 64 2 4
// Times: 3
#include <weft/weft.hpp>

#include "found.hpp"

namespace {

template <class Reduction> void sums(weft::runtime& rt, int n) {
  for (int again = 0; again < 8; ++again) {
    Reduction of_main;
    for (int i = 0; i < n; ++i) rt.submit(weft::reduce(of_main), [](long& part) { ++part; });
    rt.wait();
    require(of_main.unguarded() == n, in_words("a sum of ", of_main.unguarded(), " of ", n, " after a wait"));
  }

  Reduction of_body;
  long seen = -1;
  rt.submit([&] {
    for (int i = 0; i < n; ++i) rt.submit(weft::reduce(of_body), [](long& part) { ++part; });
    if (n % 2 == 0) rt.wait();
    seen = rt.get(of_body);
  });
  rt.wait();
  require(seen == n && of_body.unguarded() == n, in_words("a sum of ", seen, " of ", n, " in a body"));
}

}  // namespace

int main(int argc, char** argv) {
  const long rounds = amount(argument(argc, argv, 1, 5));
  for (long round = 1; round <= rounds; ++round)
    for (const int n : {1, 2}) {
      weft::runtime rt({.seed = static_cast<std::uint64_t>(round)});
      sums<weft::repeatable_reduction<long>>(rt, n);
      sums<weft::reduction<long>>(rt, n);
    }
}

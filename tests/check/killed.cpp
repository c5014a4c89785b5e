// Records until somebody kills it, and says after each wait how many tasks have run: what killed_test.py compares the
// trace with. With a number: so many rounds, and then it crashes. With anything behind it, each round has an ordered
// section of 40 bodies, a pipeline of 30 items and a fork, too.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>

#include "weft/weft.hpp"

namespace {

void section(weft::runtime& rt) {
  std::uint64_t words[4] = {};
  weft::ordered q(rt);
  for (std::uint64_t i = 0; i < 40; ++i)
    q.at(
        i, [](weft::ordered_context& x, std::uint64_t, std::uint64_t* word) { x.store(*word, x.load(*word) + 1); },
        &words[i % 4]);
  q.run();
  if (words[3] != 10) std::exit(1);
}

void items() {
  int next = 0, sum = 0;
  weft::pipeline(weft::serial([&]() -> std::optional<int> { return next < 30 ? std::optional(next++) : std::nullopt; }),
                 weft::parallel([](int x) { return x + 1; }), weft::serial([&](int x) { sum += x; }));
  if (sum != 465) std::exit(1);
}

void forked(weft::runtime& rt) {
  rt.submit(weft::named("forked"),
            [&rt] { weft::fork_join([&rt] { rt.submit(weft::named("below"), [] {}); }, [] {}); });
  rt.wait();
}

}  // namespace

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
    if (argc > 2) {
      section(rt);
      items();
      forked(rt);
    }
    ran += 150;
    std::printf("%ld\n", ran);
    std::fflush(stdout);
  }
  std::abort();
}

// A task of several cores (TAO): the members of a team smooth a line together, and meet in barriers between the steps.
#include <cstdio>
#include <functional>
#include <utility>
#include <vector>

#include <weft/weft.hpp>

int main() {
  weft::runtime rt({.workers = 8, .machine = "virtual"});
  weft::handle<std::vector<double>> line(1000, 0.0);
  line.unguarded()[500] = 1000;
  for (const unsigned width : {1u, 2u, 4u, 8u}) {
    const double begin = rt.now_ns();
    double sum = 0;
    rt.submit(weft::team(width), weft::write(line), weft::cost(4e6), weft::named("smooth"),
              [&](weft::team_context& t, std::vector<double>& x) {
                const std::vector<double> before = x;
                t.barrier();
                t.for_each(std::size_t{1}, x.size() - 1,
                           [&](std::size_t i) { x[i] = (before[i - 1] + 2 * before[i] + before[i + 1]) / 4; });
                t.barrier();
                double mine = 0;
                t.for_each(std::size_t{0}, x.size(), [&](std::size_t i) { mine += x[i]; });
                const double all = t.reduce(mine, std::plus<>());
                if (t.rank() == 0) sum = all;
              });
    rt.wait();
    std::printf("%u members: %4.0f us, sum %.0f\n", width, (rt.now_ns() - begin) / 1000, sum);
  }
}

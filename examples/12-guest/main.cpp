// Another runtime inside a team (TAO): a region of OpenMP on exactly the team's cores, while its workers sleep.
#include <cstdio>
#include <vector>

#include <weft/openmp.hpp>
#include <weft/weft.hpp>

int main() {
  weft::runtime rt({.workers = 4});
  const bool modelled = rt.machine()[0] == 'v';  // where a guest has one thread
  weft::handle<std::vector<double>> line(100000, 1.0);
  for (const unsigned width : {1u, 2u, 4u}) {
    double sum = 0;
    unsigned threads = 0;
    const double begin = rt.now_ns();
    rt.submit(weft::team(width), weft::write(line), weft::cost(4e6), weft::named("scale"),
              [&](weft::team_context& t, std::vector<double>& x) {
                weft::openmp_guest(t, [&](weft::guest_context& g) {
                  threads = g.threads();
                  double all = 0;
#pragma omp parallel for reduction(+ : all)
                  for (int i = 0; i < static_cast<int>(x.size()); ++i) {
                    auto& value = x[static_cast<std::size_t>(i)];
                    value *= 2;
                    all += value;
                  }
                  sum = all;
                });
              });
    rt.wait();
    std::printf("width %u: sum %.0f", width, sum);
    if (modelled) std::printf(", %.0f us, %u real thread", (rt.now_ns() - begin) / 1000, threads);
    std::printf("\n");
  }
}

// Waiting for one handle: get() returns as soon as what has been submitted for it so far is done, while everything else
// goes on. Always on a modelled machine with two cores here, so that the times are the same everywhere.
#include <weft/weft.hpp>

#include <cstdio>

int main() {
  weft::runtime rt({.workers = 2, .machine = "virtual"});
  weft::handle<double> preview{0.0}, film{0.0};

  rt.submit(weft::write(film), weft::pin(1), weft::cost(1e6), [](double& x) { x = 24.0; });  // takes a millisecond
  rt.submit(weft::write(preview), weft::cost(5e4), [](double& x) { x = 1.0; });
  rt.submit(weft::write(preview), weft::cost(5e4), [](double& x) { x = x / 2; });

  std::printf("preview: %.1f", rt.get(preview));
  std::printf(" after less than 0.2 ms: %s\n", rt.now_ns() < 2e5 ? "yes" : "no");
  rt.submit(weft::write(preview), [](double& x) { x = -1.0; });  // later accesses do not concern the get() above
  std::printf("film: %.1f", rt.get(film));
  std::printf(" after %.3f ms\n", rt.now_ns() / 1e6);
  rt.wait();
}

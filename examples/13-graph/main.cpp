// A graph that runs again: one step of a stencil over two lines of cells, submitted anew each time, and recorded once
// and run with the lines exchanged by handle.
#include <cstdio>
#include <vector>

#include <weft/weft.hpp>

namespace {

constexpr std::size_t cells = 16;
using line = std::vector<weft::handle<double>>;

// `to` takes a task: a runtime, or the recorder of a graph.
template <class To> void step(To& to, line& from, line& into) {
  for (std::size_t i = 0; i < cells; ++i)
    to.submit(weft::read(from[(i + cells - 1) % cells]), weft::read(from[i]), weft::read(from[(i + 1) % cells]),
              weft::write(into[i]), weft::cost(50),
              [](double left, double here, double right, double& x) { x = (left + 2 * here + right) / 4; });
}

}  // namespace

int main() {
  weft::runtime rt({.workers = 1, .machine = "virtual"});  // so that the times are what the runtime itself takes
  line a(cells), b(cells);
  a[0].unguarded() = 1600;

  double begin = rt.now_ns();
  for (int i = 0; i < 100; ++i) {
    step(rt, a, b);
    step(rt, b, a);
  }
  rt.wait();
  std::printf("submitted anew: %4.0f us\n", (rt.now_ns() - begin) / 1000);

  weft::graph both(rt, [&](weft::recorder& r) {
    step(r, a, b);
    step(r, b, a);
  });
  std::printf("%zu nodes, %zu edges\n", both.nodes(), both.edges());
  begin = rt.now_ns();
  for (int i = 0; i < 100; ++i) both.run();
  std::printf("run again:      %4.0f us\n", (rt.now_ns() - begin) / 1000);

  double sum = 0;
  for (auto& x : a) sum += rt.get(x);
  std::printf("sum %.0f, cell 0 %.3f\n", sum, rt.get(a[0]));
}

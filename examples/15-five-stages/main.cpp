// Five stages over streams, on whatever machine there is: readings are taken, cleaned, smoothed by a window, put into
// classes, and counted. `weft report` says which stage binds and where its data lay, and `weft whatif` how the program
// goes on a machine of eight nodes: docs/guide/42-streams.md.
#include <weft/weft.hpp>

#include <algorithm>
#include <cstdio>
#include <span>
#include <vector>

using readings = std::span<const double>;

int main() {
  constexpr std::size_t n = 16384, window = 17, classes = 8;
  weft::runtime rt;
  weft::stream<double> raw("raw"), clean("clean"), smooth("smooth");
  weft::stream<std::size_t> classed("classed");
  weft::handle<std::vector<int>> counts(classes);
  rt.submit(weft::push(clean, window - 1), [](std::span<double> out) { std::ranges::fill(out, 0.5); });
  for (std::size_t b = 0; b < 64; ++b) {
    rt.submit(weft::named("read"), weft::push(raw, n), weft::cost(15'000), [b](std::span<double> out) {
      for (std::size_t i = 0; i < n; ++i) out[i] = static_cast<double>((b * n + i) / 37 * 2654435761 % 1009) / 1000;
    });
    rt.submit(weft::named("clean"), weft::pop(raw, n), weft::push(clean, n), weft::cost(10'000),
              [](readings in, std::span<double> out) {
                std::ranges::transform(in, out.begin(), [](double x) { return std::min(x, 0.999); });
              });
    rt.submit(weft::named("smooth"), weft::pop(clean, n, n + window - 1), weft::push(smooth, n), weft::cost(90'000),
              [](readings in, std::span<double> out) {
                for (std::size_t i = 0; i < n; ++i) out[i] = *std::ranges::max_element(in.subspan(i, window)) / 1.5;
              });
    rt.submit(weft::named("class"), weft::pop(smooth, n), weft::push(classed, n), weft::cost(20'000),
              [](readings in, std::span<std::size_t> out) {
                std::ranges::transform(in, out.begin(), [](double x) { return static_cast<std::size_t>(x * classes); });
              });
    rt.submit(weft::named("count"), weft::pop(classed, n), weft::write(counts), weft::cost(12'000),
              [](std::span<const std::size_t> in, std::vector<int>& c) {
                for (const std::size_t k : in) ++c[k];
              });
  }
  for (const int c : rt.get(counts)) std::printf("%d ", c);
  std::printf("after %.2f ms; one worker would take %.2f\n", rt.now_ns() / 1e6, 64 * 0.147);
}

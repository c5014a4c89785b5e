// oneTBB: a pipeline over a file. Numbers are read in order, factored side by side, and written in order.
#include <oneapi/tbb/parallel_pipeline.h>

#include <cstdio>
#include <string>

namespace {

constexpr long first = 1'000'000'000, count = 20'000;

std::string factored(long n) {
  std::string line;
  for (long d = 2; d * d <= n; d += d == 2 ? 1 : 2)
    for (; n % d == 0; n /= d) line += std::to_string(d) + " ";
  return line + (n > 1 ? std::to_string(n) + " 1\n" : "1\n");
}

// Each line has the factors of the next number, and 1 behind them.
long right_lines(std::FILE* file) {
  long right = 0, product = 1, factor = 0;
  for (std::rewind(file); std::fscanf(file, "%ld", &factor) == 1; product = factor == 1 ? 1 : product * factor)
    if (factor == 1) right += product == first + right;
  return right;
}

}  // namespace

int main() {
  std::FILE *in = std::tmpfile(), *out = std::tmpfile();
  for (long n = first; n < first + count; ++n) std::fprintf(in, "%ld\n", n);
  std::rewind(in);
  const auto read = [&](tbb::flow_control& control) {
    long n = 0;
    if (std::fscanf(in, "%ld", &n) != 1) control.stop();
    return n;
  };
  const auto write = [&](const std::string& line) { std::fputs(line.c_str(), out); };
  tbb::parallel_pipeline(64, tbb::make_filter<void, long>(tbb::filter_mode::serial_in_order, read) &
                                 tbb::make_filter<long, std::string>(tbb::filter_mode::parallel, &factored) &
                                 tbb::make_filter<std::string, void>(tbb::filter_mode::serial_in_order, write));
  std::printf("%ld of %ld lines are right\n", right_lines(out), count);
  return right_lines(out) == count ? 0 : 1;
}

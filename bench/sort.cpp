// What sorting costs, beside std::sort, std::stable_sort and, where it is installed, oneTBB's parallel_sort.
//   sort [--n N] [--rounds N] [--workers N]
// prints, for each input, median milliseconds of rounds in turn - A B C A B C - and what part of std::sort's time that
// is. Each sorted range is compared with std::sort's; a wrong one ends the program with status 1.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "weft/weft.hpp"

#ifdef WEFT_BENCH_TBB
#include <tbb/global_control.h>
#include <tbb/parallel_sort.h>
#endif

namespace {

struct options {
  std::size_t n = std::size_t{1} << 25;
  int rounds = 7;
  unsigned workers = 2;
};

double median(std::vector<double> v) {
  std::nth_element(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2), v.end());
  return v[v.size() / 2];
}

template <class Value> struct contender {
  const char* name;
  std::function<void(std::vector<Value>&)> sort;
};

// Milliseconds of f in a runtime of so many workers, which is made and ended outside of that time.
template <class F> double in_runtime(unsigned workers, F f) {
  weft::runtime rt({.workers = workers});
  const auto from = std::chrono::steady_clock::now();
  f();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - from).count();
}

template <class Value> bool compare(const char* input_name, const std::vector<Value>& input, const options& o) {
  using values = std::vector<Value>;
  std::vector<contender<Value>> all = {
      {"std::sort", [](values& v) { std::sort(v.begin(), v.end()); }},
      {"weft::sort", [](values& v) { weft::sort(v.begin(), v.end()); }},
#ifdef WEFT_BENCH_TBB
      {"tbb::parallel_sort", [](values& v) { tbb::parallel_sort(v.begin(), v.end()); }},
#endif
      {"std::stable_sort", [](values& v) { std::stable_sort(v.begin(), v.end()); }},
      {"weft::stable_sort", [](values& v) { weft::stable_sort(v.begin(), v.end()); }},
  };
  if constexpr (std::is_integral_v<Value>)
    all.push_back({"weft::integer_sort", [](values& v) { weft::integer_sort(v.begin(), v.end()); }});
  values expected = input;
  std::sort(expected.begin(), expected.end());
  std::vector<std::vector<double>> ms(all.size());
  for (int round = 0; round < o.rounds; ++round)
    for (std::size_t i = 0; i < all.size(); ++i) {
      const contender<Value>& c = all[i];
      values v = input;
      const bool is_weft = std::strncmp(c.name, "weft", 4) == 0;
      ms[i].push_back(in_runtime(is_weft ? o.workers : 1, [&] { c.sort(v); }));
      if (v != expected) return std::fprintf(stderr, "%s: %s sorts wrongly\n", input_name, c.name), false;
    }
  for (std::size_t i = 0; i < all.size(); ++i)
    std::printf("%-16s %-20s %10.1f %8.3f\n", input_name, all[i].name, median(ms[i]), median(ms[i]) / median(ms[0]));
  return true;
}

bool compare_all(const options& o) {
  std::mt19937_64 draw(1);
  std::vector<int> ints(o.n);
  for (int& x : ints) x = static_cast<int>(draw() >> 33);
  std::vector<int> few = ints, in_order = ints, pipe = ints;
  for (int& x : few) x %= 16;
  std::sort(in_order.begin(), in_order.end());
  for (std::size_t i = 0; i < o.n; ++i) pipe[i] = static_cast<int>(std::min(i, o.n - i));
  std::vector<double> doubles(ints.begin(), ints.end());
  std::vector<std::string> strings(o.n / 32);
  for (std::size_t i = 0; i < strings.size(); ++i) strings[i] = std::to_string(ints[i]) + " of some length";
  bool right = compare("random ints", ints, o) && compare("16 values", few, o) && compare("in order", in_order, o);
  std::reverse(in_order.begin(), in_order.end());
  right = right && compare("reversed", in_order, o) && compare("organ pipe", pipe, o);
  return right && compare("random doubles", doubles, o) && compare("n / 32 strings", strings, o);
}

}  // namespace

int main(int argc, char** argv) {
  options o;
  for (int i = 1; i + 1 < argc; i += 2) {
    const long value = std::atol(argv[i + 1]);
    if (value <= 0) break;
    if (std::strcmp(argv[i], "--n") == 0)
      o.n = static_cast<std::size_t>(value);
    else if (std::strcmp(argv[i], "--rounds") == 0)
      o.rounds = static_cast<int>(value);
    else if (std::strcmp(argv[i], "--workers") == 0)
      o.workers = static_cast<unsigned>(value);
    else
      argc = 0;
  }
  if (argc % 2 == 0) return std::fprintf(stderr, "usage: sort [--n N] [--rounds N] [--workers N]\n"), 2;
#ifdef WEFT_BENCH_TBB
  const tbb::global_control threads(tbb::global_control::max_allowed_parallelism, o.workers);
#endif
  std::printf("%zu values, %u workers\ninput            sort                         ms  of std::sort\n", o.n,
              o.workers);
  return compare_all(o) ? 0 : 1;
}

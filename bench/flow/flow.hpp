// What an element costs that flows from task to task, beside others: a sibling of `weft bench` for streams. Two
// problems: `channel`, one pushes and another pops, and `pipeline4`, four stages of which the first and the last take
// elements in order. Each system is a program of its own, and run.py has them take turns. To add one, write a class
// with
//
//   my_flow(unsigned workers)                                     ready to run: not timed
//   void channel<Batch>(blocks, rounds, out)                      element e must come to out[e]
//   value pipeline<Batch>(blocks, rounds)                         what the last stage has folded
//
// and a main() that calls run<my_flow>(name, argc, argv). Batch elements, 1 or 64, go with one message or one task;
// `rounds` of spin() are the body of each stage on each element. A pass begins and ends with nothing in flight, and
// each has its result compared: every element, and for the last stage their order.
#pragma once
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "bench/measure.hpp"

namespace weft::bench::flow {

inline constexpr std::uint64_t odd = 0x9e3779b97f4a7c15U;

template <std::size_t Batch> using block = std::array<value, Batch>;

// The stages, on an element each. The last is a fold in which no two elements can change places.
inline value source(value element, std::uint64_t rounds) noexcept {
  spin(rounds);
  return element * odd;
}
inline value middle(value x, std::uint64_t rounds) noexcept {
  spin(rounds);
  return (x ^ x >> 29) * odd;
}
inline value sink(value folded, value x, std::uint64_t rounds) noexcept {
  spin(rounds);
  return folded * odd + x;
}

struct task {
  bool pipeline;
  unsigned workers;
  std::size_t batch;
  double body_ns;
  std::uint64_t elements;  // of a pass
};

// Exits with 2 where the arguments are none.
inline task task_of(int argc, char** argv) {
  const bool pipeline = argc > 1 && std::strcmp(argv[1], "pipeline4") == 0;
  const int workers = argc > 2 ? std::atoi(argv[2]) : 1;
  const int batch = argc > 3 ? std::atoi(argv[3]) : 1;
  const int body_ns = argc > 4 ? std::atoi(argv[4]) : 0;
  if (argc < 2 || argc > 5 || (!pipeline && std::strcmp(argv[1], "channel") != 0) || workers < 1 ||
      (batch != 1 && batch != 64) || body_ns < 0) {
    std::fprintf(stderr, "usage: %s channel|pipeline4 [WORKERS [BATCH [BODY_NS]]], BATCH 1 or 64\n", argv[0]);
    std::exit(2);
  }
  return {pipeline, static_cast<unsigned>(workers), static_cast<std::size_t>(batch), static_cast<double>(body_ns),
          body_ns == 0 ? 1U << 17 : 1U << 13};
}

inline bool arrived(const std::vector<value>& out) noexcept {
  for (std::size_t e = 0; e < out.size(); ++e)
    if (out[e] != source(e, 0)) return false;
  return true;
}
inline value folded_in_order(std::uint64_t elements) noexcept {
  value all = 0;
  for (value e = 0; e < elements; ++e) all = sink(all, middle(middle(source(e, 0), 0), 0), 0);
  return all;
}

// Nanoseconds of a pass; NaN if its result is wrong.
template <std::size_t Batch, class System> double pass(System& s, const task& t, std::uint64_t rounds) {
  const std::uint64_t blocks = t.elements / Batch;
  if (t.pipeline) {
    const auto start = steady::now();
    const value all = s.template pipeline<Batch>(blocks, rounds);
    const double ns = nanoseconds(steady::now() - start).count();
    return all == folded_in_order(t.elements) ? ns : NAN;
  }
  std::vector<value> out(t.elements);
  const auto start = steady::now();
  s.template channel<Batch>(blocks, rounds, out.data());
  const double ns = nanoseconds(steady::now() - start).count();
  return arrived(out) ? ns : NAN;
}

// Prints "SYSTEM PROBLEM WORKERS BATCH BODY_NS", and the median of some passes, a first one left out, as ns an element.
template <class System> int run(const char* name, int argc, char** argv) {
  constexpr int passes_min = 5;
  constexpr double ns_min = 200e6;
  const task t = task_of(argc, argv);
  const auto rounds = static_cast<std::uint64_t>(t.body_ns == 0 ? 0 : t.body_ns / calibrate_spin());
  System s(t.workers);
  std::vector<double> ns;
  double all = 0;
  for (int i = 0; i <= passes_min || all < ns_min; ++i) {
    const double one = t.batch == 1 ? pass<1>(s, t, rounds) : pass<64>(s, t, rounds);
    if (std::isnan(one)) return std::fprintf(stderr, "%s: WRONG result\n", name), 1;
    if (i == 0) continue;
    all += one;
    ns.push_back(one / static_cast<double>(t.elements));
  }
  std::printf("%s %s %u %zu %.0f %.2f\n", name, argv[1], t.workers, t.batch, t.body_ns, median(ns));
  return 0;
}

}  // namespace weft::bench::flow

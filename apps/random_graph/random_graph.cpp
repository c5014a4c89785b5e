// A graph that no regular program has: tasks of two kinds in a random order on random blocks. A spin keeps its core
// busy for one of eight lengths and moves no data; a product, c := c / 2 + a b / n of small blocks, is a dgemm of
// OpenBLAS on one thread. It was written to ask machine files of computers (`weft calibrate`) something they had not
// been made from. Check: one thread in the order of submission gets the same bits, and every task ran once.
#include <cblas.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <random>
#include <vector>

#include "../app.hpp"
#include "../busy.hpp"

namespace weft::apps {
namespace {

constexpr std::size_t lengths = 8;     // of spins: 1/4.5 to 8/4.5 of the grain, which is their mean
constexpr double gflops = 20;          // cost clause: what a core of today does with blocks of some ten rows
constexpr double dgemm_call_ns = 150;  // and what a call costs that does nothing
constexpr double least = 1e-3;         // of the first values, which lie below 1

struct parameters {
  std::size_t tasks = 10'000, blocks = 64, size = 24, spins = 50, grain_ns = 10'000, draw = 1;
  [[nodiscard]] double spin_ns(std::size_t length) const noexcept {
    return static_cast<double>(grain_ns) * static_cast<double>(2 * (length + 1)) / (lengths + 1);
  }
  [[nodiscard]] double product_ns() const noexcept {
    const auto n = static_cast<double>(size);
    return dgemm_call_ns + 2 * n * n * n / gflops;
  }
};

using block = std::vector<double>;

// Task: `out` is written, a and b are read, all different.
struct planned {
  bool spins;
  std::uint8_t length;
  std::uint32_t out, a, b;
};

class draws {
 public:
  explicit draws(std::size_t seed) : engine_(seed) {}
  std::uint32_t below(std::size_t n) { return static_cast<std::uint32_t>(engine_() % n); }

 private:
  std::mt19937_64 engine_;
};

std::vector<planned> plan(const parameters& p) {
  draws drawn(p.draw);
  std::vector<planned> all;
  for (std::size_t i = 0; i < p.tasks; ++i) {
    planned t{drawn.below(100) < p.spins, static_cast<std::uint8_t>(drawn.below(lengths)), drawn.below(p.blocks), 0, 0};
    t.a = (t.out + 1 + drawn.below(p.blocks - 2)) % static_cast<std::uint32_t>(p.blocks);
    do t.b = drawn.below(p.blocks);
    while (t.b == t.out || t.b == t.a);
    all.push_back(t);
  }
  return all;
}

std::vector<block> first_values(const parameters& p) {
  std::vector<block> all(p.blocks);
  for (std::size_t i = 0; i < p.blocks; ++i)
    for (std::size_t k = 0; k < p.size * p.size; ++k)
      all[i].push_back(least + static_cast<double>((i * 7919 + k * 104'729) % 1009) / 1010);
  return all;
}

// OpenBLAS has its number of threads in the process, and wakes others even for small products.
class one_blas_thread {
 public:
  one_blas_thread() : before_(openblas_get_num_threads()) { openblas_set_num_threads(1); }
  ~one_blas_thread() { openblas_set_num_threads(before_); }
  one_blas_thread(const one_blas_thread&) = delete;
  one_blas_thread& operator=(const one_blas_thread&) = delete;

 private:
  int before_;
};

void product(std::size_t size, const block& a, const block& b, block& c) {
  const int n = static_cast<int>(size);
  cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1.0 / n, a.data(), n, b.data(), n, 0.5, c.data(), n);
}
// What a spin leaves behind: which tasks ran before it.
void mark(const block& a, block& c) { c[0] = 0.5 * c[0] + 0.25 * a[0]; }

using spins_of_lengths = std::array<busy, lengths>;

void submit_all(runtime& rt, const parameters& p, const std::vector<planned>& tasks, const spins_of_lengths& spins,
                std::vector<handle<block>>& blocks, std::vector<std::uint8_t>& ran) {
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const planned& t = tasks[i];
    std::uint8_t* const count = &ran[i];
    if (t.spins)
      rt.submit(named("spin"), cost(p.spin_ns(t.length)), read(blocks[t.a]), write(blocks[t.out]),
                [count, spin = spins[t.length]](const block& a, block& c) {
                  ++*count;
                  spin();
                  mark(a, c);
                });
    else
      rt.submit(named("product"), cost(p.product_ns()), read(blocks[t.a]), read(blocks[t.b]), write(blocks[t.out]),
                [count, size = p.size](const block& a, const block& b, block& c) {
                  ++*count;
                  product(size, a, b, c);
                });
  }
}

void add_checks(result& r, const parameters& p, const std::vector<planned>& tasks, std::vector<handle<block>>& blocks,
                const std::vector<std::uint8_t>& ran) {
  std::vector<block> plain = first_values(p);
  for (const planned& t : tasks)
    t.spins ? mark(plain[t.a], plain[t.out]) : product(p.size, plain[t.a], plain[t.b], plain[t.out]);
  std::size_t different = 0;
  for (std::size_t i = 0; i < plain.size(); ++i)
    for (std::size_t k = 0; k < plain[i].size(); ++k)
      different +=
          std::bit_cast<std::uint64_t>(plain[i][k]) != std::bit_cast<std::uint64_t>(blocks[i].unguarded()[k]) ? 1 : 0;
  r.checks.push_back({"same_bits_as_serial", different == 0, std::to_string(different) + " elements differ"});
  const auto once = static_cast<std::size_t>(std::count(ran.begin(), ran.end(), std::uint8_t{1}));
  r.checks.push_back({"every_task_once", once == tasks.size(),
                      std::to_string(once) + " of " + std::to_string(tasks.size()) + " tasks ran once"});
}

result run(const parameters& p, const weft::options& opt, progress& bar) {
  require_memory("random-graph", static_cast<double>(p.tasks) * sizeof(planned) +
                                     2.0 * sizeof(double) * static_cast<double>(p.blocks * p.size * p.size));
  const std::vector<planned> tasks = plan(p);
  runtime rt(opt);
  const one_blas_thread alone;
  std::vector<handle<block>> blocks(p.blocks);
  const std::vector<block> first = first_values(p);
  for (std::size_t i = 0; i < p.blocks; ++i) {
    blocks[i].unguarded() = first[i];
    blocks[i].bytes(first[i].size() * sizeof(double));
  }
  std::vector<std::uint8_t> ran(p.tasks);
  spins_of_lengths spins;  // counting how much work a length takes is no part of the run
  for (std::size_t i = 0; i < lengths; ++i) spins[i] = busy(rt, p.spin_ns(i));
  const double start = rt.now_ns();
  submit_all(rt, p, tasks, spins, blocks, ran);
  rt.wait();
  result r;
  r.seconds = (rt.now_ns() - start) * 1e-9;
  r.describe(rt);
  bar.report(0.5);
  r.add("blocks", std::uint64_t{p.blocks});
  r.add("size", std::uint64_t{p.size});
  r.add("grain_ns", std::uint64_t{p.grain_ns});
  r.add("spins", std::uint64_t{static_cast<std::uint64_t>(
                     std::count_if(tasks.begin(), tasks.end(), [](const planned& t) { return t.spins; }))});
  add_checks(r, p, tasks, blocks, ran);
  return r;
}

}  // namespace

app random_graph_app() {
  auto p = std::make_shared<parameters>();
  return {.name = "random-graph",
          .summary = "spins and small matrix products in a random order on random blocks",
          .example = "random-graph --tasks 10000 --size 24 --grain-ns 10000 --workers 2",
          .options = {{"tasks", "number of tasks", &p->tasks, 1, 10'000'000},
                      {"blocks", "number of blocks", &p->blocks, 3, 100'000},
                      {"size", "rows and columns of a block", &p->size, 1, 2'000},
                      {"spins", "how many of a hundred tasks spin; the others multiply", &p->spins, 0, 100},
                      {"grain-ns", "mean length of a spin in nanoseconds", &p->grain_ns, 0, 1'000'000'000},
                      {"draw", "of the graph: another number is another graph", &p->draw, 0, SIZE_MAX}},
          .run = [p](const weft::options& opt, progress& bar) { return run(*p, opt, bar); }};
}

}  // namespace weft::apps

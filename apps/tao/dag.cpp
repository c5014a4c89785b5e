// The synthetic graph of XiTAO: three kernels that ask for different things of a machine - matrix multiply computes, a
// copy moves, a stencil does both - in a graph of so many lanes. A task steps its lane from what that holds and what
// another lane does, drawn by chance; so lanes are as far apart as their data lets them be. Each task is a team, whose
// members divide the rows.
// Check: one thread, in order, gets the same bits.
#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <numeric>
#include <vector>

#include "../app.hpp"
#include "width.hpp"

namespace weft::apps {
namespace {

enum class kernel : std::uint8_t { multiply, copy, stencil };
constexpr const char* kernel_names[] = {"multiply", "copy", "stencil"};

struct parameters {
  std::size_t size = 64, width = 2, lanes = 4;
  bool learned = false;
  std::array<std::size_t, 3> tasks = {500, 100, 100};

  // One core at 3 GHz: 2 multiply-adds a cycle, and 8 GB/s.
  [[nodiscard]] double task_ns(kernel k) const noexcept {
    const auto n = static_cast<double>(size);
    return k == kernel::multiply ? n * n * n / 6 : n * n * 2;
  }
};

struct lane {
  std::vector<double> now, next;
};

// What each task is, and which lane it looks at.
struct step {
  kernel what;
  std::size_t lane, other;
};

std::uint64_t drawn(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  return (x ^ (x >> 27)) * 0x94d049bb133111ebu >> 20;
}

std::vector<step> steps_of(const parameters& p) {
  std::array<std::size_t, 3> left = p.tasks;
  std::vector<step> all;
  for (std::size_t n = std::accumulate(left.begin(), left.end(), std::size_t{0}); n != 0; --n) {
    std::size_t at = drawn(2 * n) % n, what = 0;
    for (; at >= left[what]; ++what) at -= left[what];
    --left[what];
    all.push_back({static_cast<kernel>(what), all.size() % p.lanes, drawn(2 * n + 1) % p.lanes});
  }
  return all;
}

void do_row(kernel what, std::size_t n, std::size_t i, const std::vector<double>& now, const std::vector<double>& other,
            double* row) {
  const std::size_t above = (i + n - 1) % n, below = (i + 1) % n;
  for (std::size_t j = 0; j < n; ++j) {
    switch (what) {
    case kernel::multiply: row[j] = 0; break;
    case kernel::copy: row[j] = other[i * n + j]; break;
    case kernel::stencil:
      row[j] = 0.25 *
               (now[above * n + j] + now[below * n + j] + other[i * n + (j + n - 1) % n] + other[i * n + (j + 1) % n]);
    }
  }
  if (what != kernel::multiply) return;
  for (std::size_t k = 0; k < n; ++k)
    for (std::size_t j = 0; j < n; ++j) row[j] += now[i * n + k] * other[k * n + j];
  for (std::size_t j = 0; j < n; ++j) row[j] = row[j] / static_cast<double>(n) + 0.125;  // neither to 0 nor to infinity
}

void do_step(team_context& t, kernel what, std::size_t n, lane& own, const lane& other) {
  t.for_each(std::size_t{0}, n,
             [&](std::size_t i) { do_row(what, n, i, own.now, other.now, own.next.data() + i * n); });
  t.barrier();
  if (t.rank() == 0) own.now.swap(own.next);
}

lane first_values(const parameters& p, std::size_t which) {
  lane l;
  for (std::size_t i = 0; i < p.size * p.size; ++i)
    l.now.push_back(static_cast<double>(drawn(which * p.size * p.size + i + 1) % 1024) / 1024);
  l.next = l.now;
  return l;
}

void submit_all(runtime& rt, const parameters& p, const std::vector<step>& steps, std::vector<handle<lane>>& lanes) {
  const std::size_t n = p.size;
  for (const step& s : steps) {
    const auto wide = tao::wide(p.width, p.learned);
    const auto name = named(kernel_names[static_cast<std::size_t>(s.what)]);
    if (s.lane == s.other)
      rt.submit(wide, name, cost(p.task_ns(s.what)), write(lanes[s.lane]),
                [what = s.what, n](team_context& t, lane& own) { do_step(t, what, n, own, own); });
    else
      rt.submit(wide, name, cost(p.task_ns(s.what)), write(lanes[s.lane]), read(lanes[s.other]),
                [what = s.what, n](team_context& t, lane& own, const lane& other) { do_step(t, what, n, own, other); });
  }
}

result run(const parameters& p, const weft::options& opt, progress& bar) {
  const std::vector<step> steps = steps_of(p);
  runtime rt(opt);
  std::vector<handle<lane>> lanes(p.lanes);
  for (std::size_t i = 0; i < p.lanes; ++i) {
    lanes[i].unguarded() = first_values(p, i);
    lanes[i].bytes(p.size * p.size * sizeof(double));
  }
  const double start = rt.now_ns();
  submit_all(rt, p, steps, lanes);
  rt.wait();
  result r;
  r.seconds = (rt.now_ns() - start) * 1e-9;
  r.describe(rt);
  bar.report(0.5);
  r.add("size", std::uint64_t{p.size});
  r.add("width", std::uint64_t{p.width});
  r.add("learned", p.learned);
  r.add("lanes", std::uint64_t{p.lanes});
  r.add("steps", std::uint64_t{steps.size()});

  std::vector<lane> serial;
  for (std::size_t i = 0; i < p.lanes; ++i) serial.push_back(first_values(p, i));
  team_context alone;
  for (const step& s : steps) do_step(alone, s.what, p.size, serial[s.lane], serial[s.other]);
  std::size_t different = 0;
  for (std::size_t i = 0; i < p.lanes; ++i)
    for (std::size_t k = 0; k < p.size * p.size; ++k)
      different +=
          std::bit_cast<std::uint64_t>(serial[i].now[k]) != std::bit_cast<std::uint64_t>(lanes[i].unguarded().now[k])
              ? 1
              : 0;
  r.checks.push_back({"same_bits_as_serial", different == 0, std::to_string(different) + " cells differ"});
  return r;
}

}  // namespace

app tao_dag_app() {
  auto p = std::make_shared<parameters>();
  return {.name = "tao_dag",
          .summary = "a random graph of matrix multiplies, copies and stencils, each by a team",
          .example = "tao_dag --lanes 4 --width 2 --workers 4",
          .options = {{"size", "rows and columns of each matrix", &p->size, 1, 10'000},
                      {"width", "members of each team", &p->width, 1, 1024},
                      {"learned", tao::learned_help, &p->learned, 0, SIZE_MAX, "width"},
                      {"lanes", "how many tasks may run at a time", &p->lanes, 1, 10'000},
                      {"multiplies", "how many tasks multiply", &p->tasks[0], 0, 1'000'000},
                      {"copies", "how many copy", &p->tasks[1], 0, 1'000'000},
                      {"stencils", "how many are stencils", &p->tasks[2], 0, 1'000'000}},
          .run = [p](const weft::options& opt, progress& bar) { return run(*p, opt, bar); }};
}

}  // namespace weft::apps

// Jacobi's and Seidel's stencils in one to three dimensions (OpenStream §4.3). The blocks of a grid go on from step to
// step, and hand their sides to their neighbours (Fig. 4): most of what a task reads is its own block. Seidel's blocks
// take what those before them have become in the same step, so steps follow each other as waves.
// Check: loops over the whole grid, row after row, give the same bits.
#include <bit>
#include <initializer_list>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "../near/sweep.hpp"
#include "flow.hpp"
#include "stencil_kernel.hpp"

namespace weft::apps {
namespace {

using namespace flow;

struct kind {
  const char* name;
  const char* summary;
  const char* example;
  unsigned dimensions;
  bool is_seidel;
  double cycles;  // a cell; docs/guide/43-flow-programs.md says how they were measured
  extent cells, block;
};

struct parameters {
  extent cells, block;
  std::size_t iterations = 10;
  std::shared_ptr<setting> how = std::make_shared<setting>();
};

double first_value(const grid& g, std::size_t x, std::size_t y, std::size_t z) {
  return near::noise(g.number(x, y, z));
}

class stencil final : public program {
 public:
  stencil(const kind& k, const parameters& p, unsigned workers)
      : program(*p.how, grid(p.cells, p.block).blocks().count()), kind_(k), grid_(p.cells, p.block),
        iterations_(p.iterations), cycles_(p.how->cycles_or(k.cycles)),
        arrays_(k.is_seidel || made == form::dsa ? 1 : 2), a_(grid_.all_room(), p.how->placement(), is_model_only),
        b_(arrays_ == 2 ? grid_.all_room() : 0, p.how->placement(), is_model_only),
        tokens_(made == form::dsa ? 0 : arrays_ * blocks()), own_(made == form::dsa ? blocks() : 0),
        sides_(own_.size() * sides()), is_chained_(p.how->is_chained() && made == form::dsa) {
    allocate(*p.how, own_, sides_);
    const extent& n = grid_.blocks();
    const std::size_t layers = k.dimensions == 1 ? n.x : k.dimensions == 2 ? n.y : n.z;
    const std::size_t most = p.how->creators != 0 ? p.how->creators : workers;
    slabs_ = made != form::serial && !p.how->is_sequential() ? std::min(most, layers) : 1;
  }

  void fill(runtime& rt) {
    fill_blocks(rt, blocks(), [this](std::size_t b) {
      if (!is_model_only)
        grid_.each_cell(b, [this](std::size_t i, std::size_t x, std::size_t y, std::size_t z) {
          *a_.at(i) = first_value(grid_, x, y, z);
        });
      charge(0, a_.stores(b * grid_.room(), cells(b)));
      if (arrays_ == 2) b_.touch(b * grid_.room(), cells(b));
    });
  }

  // Blocks in slabs of whole layers, so that a slab touches the one before it and the one behind it only. Where a step
  // takes what was computed in the same step, a slab is a stage behind the one before. Chained, the tasks of a block
  // submit each other, all but the first.
  [[nodiscard]] std::size_t stages() const override { return (controlled() - 1) * pace() + (slabs_ - 1) * lag() + 1; }
  [[nodiscard]] std::size_t items(std::size_t) const override { return slabs_; }
  [[nodiscard]] bool is_chained() const override { return is_chained_; }
  [[nodiscard]] std::size_t bodies() const override { return steps() * blocks(); }
  void go(runtime& rt, std::size_t stage, std::size_t slab) override {
    if (stage < slab * lag() || (stage - slab * lag()) % pace() != 0) return;
    const std::size_t step = (stage - slab * lag()) / pace();
    if (step >= controlled()) return;
    for (std::size_t b = first_of(slab); b < first_of(slab + 1); ++b)
      made == form::dsa ? go_streams(rt, step, b) : go_shared(rt, step, b);
  }

  // Cells that differ from loops over the whole grid.
  [[nodiscard]] check compare() const;

 private:
  [[nodiscard]] std::size_t lag() const { return kind_.is_seidel ? 1 : 0; }
  [[nodiscard]] std::size_t pace() const { return kind_.is_seidel ? 2 : 1; }
  // With streams one for loading comes first, and one for storing last.
  [[nodiscard]] std::size_t steps() const { return iterations_ + (made == form::dsa ? 2 : 0); }
  [[nodiscard]] std::size_t controlled() const { return is_chained_ ? 1 : steps(); }
  [[nodiscard]] std::size_t sides() const { return 2 * kind_.dimensions; }
  [[nodiscard]] std::size_t blocks() const { return grid_.blocks().count(); }
  [[nodiscard]] std::size_t cells(std::size_t b) const { return grid_.shape(b).count(); }
  [[nodiscard]] std::size_t first_of(std::size_t slab) const {
    const extent& n = grid_.blocks();
    const std::size_t layer = kind_.dimensions == 1 ? 1 : kind_.dimensions == 2 ? n.x : n.x * n.y;
    return blocks() / layer * slab / slabs_ * layer;
  }
  [[nodiscard]] std::size_t beside(std::size_t b, std::size_t side) const {
    const int by = side % 2 == 0 ? -1 : 1;
    return grid_.beside(b, side / 2 == 0 ? by : 0, side / 2 == 1 ? by : 0, side / 2 == 2 ? by : 0);
  }

  // Shared arrays. Step s reads the first of two if s is even; of one it reads and writes the same.
  [[nodiscard]] const area<double>& array(std::size_t step) const { return arrays_ == 1 || step % 2 == 0 ? a_ : b_; }
  [[nodiscard]] handle<void>* token(std::size_t step, std::size_t b) {
    return &tokens_[arrays_ == 1 || step % 2 == 0 ? b : blocks() + b];
  }
  void go_shared(runtime& rt, std::size_t step, std::size_t b) {
    tokens reads, writes;
    writes.add(token(step + 1, b));
    if (arrays_ == 2) reads.add(token(step, b));
    for (std::size_t s = 0; s < sides(); ++s)
      if (const std::size_t other = beside(b, s); other != blocks()) reads.add(token(step, other));
    submit_shared(rt, *this, kind_.name, reads, writes, [this, step, b] { body_shared(step, b); });
  }
  void body_shared(std::size_t step, std::size_t b) {
    const area<double>&from = array(step), &to = array(step + 1);
    const std::size_t at = b * grid_.room();
    data_uses uses;
    uses.add(arrays_ == 1 ? from.updates(at, cells(b)) : from.loads(at, cells(b)));
    planes around;
    around.fill(border);
    for (std::size_t s = 0; s < sides(); ++s)
      if (const std::size_t other = beside(b, s); other != blocks()) {
        around[s] = side_of<const double>(from.at(other * grid_.room()), grid_.shape(other), s ^ 1);
        uses.add(side_loads(from, other, s ^ 1));
      }
    if (arrays_ == 2) uses.add(to.stores(at, cells(b)));
    if (!is_model_only) relax(kind_.dimensions, kind_.is_seidel, grid_.shape(b), from.at(at), to.at(at), around);
    spend(b, cycles_ * static_cast<double>(cells(b)), uses);
  }
  // As a range at that end of the block. Of a side across the rows each cell moves a line of its own.
  [[nodiscard]] data_use side_loads(const area<double>& from, std::size_t b, std::size_t side) const {
    constexpr std::size_t line = 64 / sizeof(double);
    const std::size_t n = plane_of(grid_.shape(b), side).count();
    const std::size_t moved = std::min(side < 2 && kind_.dimensions > 1 ? n * line : n, cells(b));
    return from.loads(b * grid_.room() + (side % 2 == 1 ? cells(b) - moved : 0), moved);
  }

  // Streams: of each block one to itself, and one at each side to its neighbour there.
  void go_streams(runtime& rt, std::size_t step, std::size_t b) {
    switch (kind_.dimensions) {
    case 1: return go_streams(rt, step, b, std::make_index_sequence<2>());
    case 2: return go_streams(rt, step, b, std::make_index_sequence<4>());
    default: return go_streams(rt, step, b, std::make_index_sequence<6>());
    }
  }
  // Behind step 0, which loads, and each other there are new values. What a neighbour at a side wants of them: all but
  // the last, for the next step; with seidel, of those that have just become, all but the first.
  [[nodiscard]] std::size_t given(std::size_t step, std::size_t b, std::size_t side) const {
    const bool is_for_next = !kind_.is_seidel || side % 2 == 0;
    const bool is_wanted = is_for_next ? step < iterations_ : step > 0;
    return is_wanted && beside(b, side) != blocks() ? plane_of(grid_.shape(b), side).count() : 0;
  }
  [[nodiscard]] std::size_t taken(std::size_t b, std::size_t side) const {
    return beside(b, side) != blocks() ? plane_of(grid_.shape(b), side).count() : 0;
  }
  [[nodiscard]] stream<double>& to_side(std::size_t b, std::size_t side) { return sides_[b * sides() + side]; }
  [[nodiscard]] stream<double>& from_side(std::size_t b, std::size_t side) {
    const std::size_t other = beside(b, side);
    return other != blocks() ? to_side(other, side ^ 1) : to_side(b, side);
  }
  template <std::size_t> using input = std::span<const double>;
  template <std::size_t> using output = std::span<double>;
  template <std::size_t... S>
  void go_streams(runtime& rt, std::size_t step, std::size_t b, const std::index_sequence<S...>&) {
    const std::size_t n = cells(b);
    if (step == 0)
      rt.submit(named("load"), computing(0), push(own_[b], n), push(to_side(b, S), given(step, b, S))...,
                [this, &rt, b](std::span<double> now, output<S>... out) {
                  go_on(rt, 0, b);
                  load(b, now, {out...});
                });
    else if (step > iterations_)
      rt.submit(named("store"), computing(0), pop(own_[b], n),
                [this, b](std::span<const double> last) { store(b, last); });
    else
      rt.submit(
          named(kind_.name), computing(cycles_ * static_cast<double>(n)), pop(own_[b], n),
          pop(from_side(b, S), taken(b, S))..., push(own_[b], n), push(to_side(b, S), given(step, b, S))...,
          [this, &rt, step, b](std::span<const double> was, input<S>... in, std::span<double> now, output<S>... out) {
            go_on(rt, step, b);
            body_streams(b, was, {in...}, now, {out...});
          });
  }
  // With a chain the task of the next step is there when this one has what it needs.
  void go_on(runtime& rt, std::size_t step, std::size_t b) {
    if (is_chained_) go_streams(rt, step + 1, b);
  }
  void give(std::size_t b, std::span<const double> now, std::initializer_list<std::span<double>> out) const {
    std::size_t side = 0;
    for (const std::span<double> to : out) {
      if (!to.empty()) pack(side_of(now.data(), grid_.shape(b), side), plane_of(grid_.shape(b), side), to);
      ++side;
    }
  }
  void load(std::size_t b, std::span<double> now, std::initializer_list<std::span<double>> out) {
    if (!is_model_only) std::copy_n(a_.at(b * grid_.room()), now.size(), now.begin()), give(b, now, out);
    data_uses uses;
    uses.add(a_.loads(b * grid_.room(), now.size()));
    spend(b, 0, uses);
  }
  void store(std::size_t b, std::span<const double> last) {
    if (!is_model_only) std::ranges::copy(last, a_.at(b * grid_.room()));
    data_uses uses;
    uses.add(a_.stores(b * grid_.room(), last.size()));
    spend(b, 0, uses);
  }
  void body_streams(std::size_t b, std::span<const double> was, std::initializer_list<std::span<const double>> in,
                    std::span<double> now, std::initializer_list<std::span<double>> out) {
    count_body(b);
    if (is_model_only) return;
    planes around;
    around.fill(border);
    std::size_t side = 0;
    for (const std::span<const double> from : in) {
      around[side] = packed(from, plane_of(grid_.shape(b), side));
      ++side;
    }
    relax(kind_.dimensions, kind_.is_seidel, grid_.shape(b), was.data(), now.data(), around);
    give(b, now, out);
  }

  const kind& kind_;
  const grid grid_;
  const std::size_t iterations_;
  const double cycles_;
  const std::size_t arrays_;
  area<double> a_, b_;
  std::vector<handle<void>> tokens_;
  std::vector<stream<double>> own_, sides_;
  const bool is_chained_;
  std::size_t slabs_ = 1;
};

// The whole grid, row after row.
std::vector<double> plain(const kind& k, const grid& g, std::size_t iterations) {
  const extent& n = g.cells();
  std::vector<double> now(n.count()), was;
  for (std::size_t i = 0; i < now.size(); ++i) now[i] = near::noise(i);
  const auto inside = [&](std::size_t x, std::size_t y, std::size_t z) { return x < n.x && y < n.y && z < n.z; };
  for (std::size_t t = 0; t < iterations; ++t) {
    was = now;
    const std::vector<double>& before = k.is_seidel ? now : was;
    const auto value = [&](const std::vector<double>& of, std::size_t x, std::size_t y, std::size_t z) {
      return inside(x, y, z) ? of[g.number(x, y, z)] : border_value;
    };
    for (std::size_t z = 0; z < n.z; ++z)
      for (std::size_t y = 0; y < n.y; ++y)
        for (std::size_t x = 0; x < n.x; ++x) {
          double sum = was[g.number(x, y, z)] + value(before, x - 1, y, z) + value(was, x + 1, y, z);
          if (k.dimensions > 1) sum = sum + value(before, x, y - 1, z) + value(was, x, y + 1, z);
          if (k.dimensions > 2) sum = sum + value(before, x, y, z - 1) + value(was, x, y, z + 1);
          now[g.number(x, y, z)] = sum * (1.0 / (2 * k.dimensions + 1));
        }
  }
  return now;
}

check stencil::compare() const {
  const std::vector<double> expected = plain(kind_, grid_, iterations_);
  const area<double>& found = array(iterations_);
  std::size_t different = 0, seen = 0;
  for (std::size_t b = 0; b < blocks(); ++b)
    grid_.each_cell(b, [&](std::size_t i, std::size_t x, std::size_t y, std::size_t z) {
      ++seen;
      different +=
          std::bit_cast<std::uint64_t>(*found.at(i)) != std::bit_cast<std::uint64_t>(expected[grid_.number(x, y, z)]);
    });
  return {"same_bits_as_serial", different == 0 && seen == expected.size(),
          std::to_string(different) + " of " + std::to_string(seen) + " cells differ"};
}

result run(const kind& k, const parameters& p, const weft::options& opt, progress& bar) {
  if (!p.how->model_only) require_memory(k.name, 5.0 * sizeof(double) * static_cast<double>(p.cells.count()));
  runtime rt(with_pages(opt, p.how->pages, p.how->migrate));
  stencil work(k, p, rt.workers());
  work.fill(rt);
  result r;
  r.seconds = drive(rt, *p.how, work, bar);
  r.describe(rt);
  r.add("cells", std::uint64_t{p.cells.count()});
  r.add("blocks", std::uint64_t{grid(p.cells, p.block).blocks().count()});
  r.add("iterations", std::uint64_t{p.iterations});
  p.how->describe(r);
  r.add("ns_per_cell", r.seconds * 1e9 / static_cast<double>(p.cells.count() * p.iterations));
  if (!p.how->model_only) r.checks.push_back(work.compare());
  r.checks.push_back(all_ran(work));
  return r;
}

app stencil_app(const kind& k) {
  auto p = std::make_shared<parameters>();
  p->cells = k.cells, p->block = k.block;
  std::vector<option> options = {{"nx", "cells of a row", &p->cells.x, 1, 1u << 30},
                                 {"bx", "of them in a block", &p->block.x, 1, 1u << 30}};
  if (k.dimensions > 1)
    options.insert(options.end(),
                   {{"ny", "rows", &p->cells.y, 1, 1u << 20}, {"by", "of them in a block", &p->block.y, 1, 1u << 20}});
  if (k.dimensions > 2)
    options.insert(options.end(), {{"nz", "layers", &p->cells.z, 1, 1u << 20},
                                   {"bz", "of them in a block", &p->block.z, 1, 1u << 20}});
  options.push_back({"iterations", "how often each cell becomes a mean", &p->iterations, 1, 1'000'000});
  std::ranges::copy(setting::options(p->how), std::back_inserter(options));
  return {.name = k.name,
          .summary = k.summary,
          .example = k.example,
          .options = std::move(options),
          .run = [p, &k](const weft::options& opt, progress& bar) { return run(k, *p, opt, bar); }};
}

constexpr kind kinds[] = {
    {"jacobi-1d",
     "Jacobi's stencil on a row, by blocks",
     "jacobi-1d --form dsa --machine opteron-6282-64",
     1,
     false,
     1.7,
     {1 << 16},
     {1 << 11}},
    {"jacobi-2d",
     "Jacobi's stencil on a square, by blocks",
     "jacobi-2d --form dsa --machine opteron-6282-64",
     2,
     false,
     2.5,
     {256, 256},
     {64, 32}},
    {"jacobi-3d",
     "Jacobi's stencil on a cuboid, by blocks",
     "jacobi-3d --form dsa --machine opteron-6282-64",
     3,
     false,
     4,
     {64, 32, 32},
     {16, 16, 8}},
    {"seidel-1d",
     "Seidel's stencil on a row, by blocks",
     "seidel-1d --form dsa --machine opteron-6282-64",
     1,
     true,
     8,
     {1 << 16},
     {1 << 11}},
    {"seidel-2d",
     "Seidel's stencil on a square, by blocks",
     "seidel-2d --form dsa --machine opteron-6282-64",
     2,
     true,
     11.5,
     {256, 256},
     {64, 32}},
    {"seidel-3d",
     "Seidel's stencil on a cuboid, by blocks",
     "seidel-3d --form dsa --machine opteron-6282-64",
     3,
     true,
     10,
     {64, 32, 32},
     {16, 16, 8}},
};

}  // namespace

std::vector<app> stencil_apps() {
  std::vector<app> apps;
  for (const kind& k : kinds) apps.push_back(stencil_app(k));
  return apps;
}

}  // namespace weft::apps

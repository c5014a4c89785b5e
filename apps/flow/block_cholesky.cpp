// Cholesky's factorization by square blocks (OpenStream §4.4, Fig. 6). Blocks of the lower half go on from step to
// step: step k factors the diagonal block, solves those below it, and subtracts products of these from all to the
// right, so a block that is done is read by a whole row and column of others. With streams each of them peeks at it,
// and what is updated is read in one buffer and written in another. The loops are plain ones, so that each element sees
// the same operations in the same order whatever the blocks. Check: one loop over the whole matrix gives the same bits.
#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>
#include <span>
#include <vector>

#include "../near/sweep.hpp"
#include "flow.hpp"

namespace weft::apps {
namespace {

using namespace flow;

constexpr double cycles_of_product = 0.32;  // a multiplication and a subtraction; docs/guide/43-flow-programs.md

struct parameters {
  std::size_t n = 256, block = 32;
  std::shared_ptr<setting> how = std::make_shared<setting>();
};

// A block in rows.
struct tile {
  double* data;
  std::size_t rows, columns;
  [[nodiscard]] double& at(std::size_t r, std::size_t c) const { return data[r * columns + c]; }
};
struct const_tile {
  const double* data;
  std::size_t rows, columns;
  [[nodiscard]] double at(std::size_t r, std::size_t c) const { return data[r * columns + c]; }
};

void factor(const tile& a) {
  for (std::size_t k = 0; k < a.columns; ++k) {
    a.at(k, k) = std::sqrt(a.at(k, k));
    for (std::size_t r = k + 1; r < a.rows; ++r) a.at(r, k) /= a.at(k, k);
    for (std::size_t r = k + 1; r < a.rows; ++r)
      for (std::size_t c = k + 1; c <= r; ++c) a.at(r, c) -= a.at(r, k) * a.at(c, k);
  }
}

void solve(const const_tile& diagonal, const tile& x) {
  for (std::size_t r = 0; r < x.rows; ++r)
    for (std::size_t c = 0; c < x.columns; ++c) {
      double sum = x.at(r, c);
      for (std::size_t k = 0; k < c; ++k) sum -= x.at(r, k) * diagonal.at(c, k);
      x.at(r, c) = sum / diagonal.at(c, c);
    }
}

// Of a block on the diagonal the lower half.
void subtract_product(const const_tile& a, const const_tile& b, const tile& from, bool is_diagonal) {
  for (std::size_t r = 0; r < from.rows; ++r)
    for (std::size_t c = 0; c < (is_diagonal ? r + 1 : from.columns); ++c) {
      double sum = from.at(r, c);
      for (std::size_t k = 0; k < a.columns; ++k) sum -= a.at(r, k) * b.at(c, k);
      from.at(r, c) = sum;
    }
}

class block_cholesky final : public program {
 public:
  explicit block_cholesky(const parameters& p)
      : program(*p.how, tiles_of(blocks_of(p))), p_(p), blocks_(blocks_of(p)),
        cycles_(p.how->cycles_or(cycles_of_product)), a_(tiles() * room(), p.how->placement(), is_model_only),
        tokens_(is_streams() ? 0 : tiles()), streams_(is_streams() ? tiles() : 0) {
    allocate(*p.how, streams_);
  }

  void fill(runtime& rt) {
    fill_blocks(rt, tiles(), [this](std::size_t t) {
      std::size_t row = 0;
      while (number(row + 1, 0) <= t) ++row;
      const std::size_t column = t - number(row, 0);
      if (!is_model_only) {
        const tile to = shared(row, column);
        for (std::size_t r = 0; r < to.rows; ++r)
          for (std::size_t c = 0; c < to.columns; ++c) to.at(r, c) = first(row * p_.block + r, column * p_.block + c);
      }
      charge(0, a_.stores(t * room(), size(row, column)));
    });
  }

  // Each step is three: the diagonal block, those below it, and the rest. The last one has a diagonal block only. With
  // streams one for loading comes first, and one for storing last.
  [[nodiscard]] std::size_t stages() const override { return 3 * (blocks_ - 1) + 1 + (is_streams() ? 2 : 0); }
  [[nodiscard]] std::size_t items(std::size_t stage) const override {
    if (is_load_or_store(stage)) return tiles();
    const std::size_t step = stage - first_stage(), below = blocks_ - 1 - step / 3;
    return step % 3 == 0 ? 1 : step % 3 == 1 ? below : tiles_of(below);
  }
  [[nodiscard]] std::size_t bodies() const override {
    std::size_t all = 0;
    for (std::size_t s = 0; s < stages(); ++s) all += items(s);
    return all;
  }
  void go(runtime& rt, std::size_t stage, std::size_t item) override {
    if (is_load_or_store(stage)) return stage == 0 ? load(rt, item) : store(rt, item);
    const std::size_t k = (stage - first_stage()) / 3, part = (stage - first_stage()) % 3;
    if (part == 0) return is_streams() ? factor_streams(rt, k) : factor_shared(rt, k);
    if (part == 1) return is_streams() ? solve_streams(rt, k + 1 + item, k) : solve_shared(rt, k + 1 + item, k);
    std::size_t row = 0;
    while (tiles_of(row + 1) <= item) ++row;
    const std::size_t i = k + 1 + row, j = k + 1 + item - tiles_of(row);
    is_streams() ? update_streams(rt, i, j, k) : update_shared(rt, i, j, k);
  }

  // Elements that differ from those of one loop.
  [[nodiscard]] check compare() const;

 private:
  [[nodiscard]] static std::size_t blocks_of(const parameters& p) { return (p.n + p.block - 1) / p.block; }
  [[nodiscard]] static std::size_t tiles_of(std::size_t blocks) { return blocks * (blocks + 1) / 2; }
  [[nodiscard]] bool is_streams() const { return made == form::dsa; }
  [[nodiscard]] std::size_t first_stage() const { return is_streams() ? 1 : 0; }
  [[nodiscard]] bool is_load_or_store(std::size_t stage) const {
    return is_streams() && (stage == 0 || stage + 1 == stages());
  }
  [[nodiscard]] std::size_t tiles() const { return tiles_of(blocks_); }
  [[nodiscard]] std::size_t room() const { return p_.block * p_.block; }
  [[nodiscard]] static std::size_t number(std::size_t row, std::size_t column) { return tiles_of(row) + column; }
  [[nodiscard]] std::size_t extent(std::size_t block) const { return std::min(p_.block, p_.n - block * p_.block); }
  [[nodiscard]] std::size_t size(std::size_t row, std::size_t column) const { return extent(row) * extent(column); }
  // Greater on the diagonal than all others of a row together: positive definite.
  [[nodiscard]] double first(std::size_t row, std::size_t column) const {
    return near::noise(row * p_.n + column) + (row == column ? 2.0 * static_cast<double>(p_.n) : 0);
  }

  [[nodiscard]] tile shared(std::size_t row, std::size_t column) const {
    return {a_.at(number(row, column) * room()), extent(row), extent(column)};
  }
  [[nodiscard]] const_tile shared_input(std::size_t row, std::size_t column) const {
    return {a_.at(number(row, column) * room()), extent(row), extent(column)};
  }
  [[nodiscard]] data_use loads(std::size_t row, std::size_t column) const {
    return a_.loads(number(row, column) * room(), size(row, column));
  }
  [[nodiscard]] data_use updates(std::size_t row, std::size_t column) const {
    return a_.updates(number(row, column) * room(), size(row, column));
  }
  [[nodiscard]] handle<void>* token(std::size_t row, std::size_t column) { return &tokens_[number(row, column)]; }

  // Of a multiplication and a subtraction each; divisions and roots, of which there are few, are as cheap.
  [[nodiscard]] double factor_cycles(std::size_t k) const {
    const auto n = static_cast<double>(extent(k));
    return cycles_ * n * n * n / 6;
  }
  [[nodiscard]] double solve_cycles(std::size_t i, std::size_t k) const {
    return cycles_ * static_cast<double>(size(i, k)) * static_cast<double>(extent(k)) / 2;
  }
  [[nodiscard]] double update_cycles(std::size_t i, std::size_t j, std::size_t k) const {
    return cycles_ * static_cast<double>(size(i, j)) * static_cast<double>(extent(k)) / (i == j ? 2 : 1);
  }

  void factor_shared(runtime& rt, std::size_t k) {
    tokens reads, writes;
    writes.add(token(k, k));
    submit_shared(rt, *this, "factor", reads, writes, [this, k] {
      if (!is_model_only) factor(shared(k, k));
      data_uses uses;
      uses.add(updates(k, k));
      spend(number(k, k), factor_cycles(k), uses);
    });
  }
  void solve_shared(runtime& rt, std::size_t i, std::size_t k) {
    tokens reads, writes;
    reads.add(token(k, k)), writes.add(token(i, k));
    submit_shared(rt, *this, "solve", reads, writes, [this, i, k] {
      if (!is_model_only) solve(shared_input(k, k), shared(i, k));
      data_uses uses;
      uses.add(loads(k, k)), uses.add(updates(i, k));
      spend(number(i, k), solve_cycles(i, k), uses);
    });
  }
  void update_shared(runtime& rt, std::size_t i, std::size_t j, std::size_t k) {
    tokens reads, writes;
    reads.add(token(i, k)), writes.add(token(i, j));
    if (i != j) reads.add(token(j, k));
    submit_shared(rt, *this, "update", reads, writes, [this, i, j, k] {
      if (!is_model_only) subtract_product(shared_input(i, k), shared_input(j, k), shared(i, j), i == j);
      data_uses uses;
      uses.add(loads(i, k)), uses.add(updates(i, j));
      if (i != j) uses.add(loads(j, k));
      spend(number(i, j), update_cycles(i, j, k), uses);
    });
  }

  // Streams: of each block one, from step to step.
  using input = std::span<const double>;
  using output = std::span<double>;
  [[nodiscard]] stream<double>& of(std::size_t row, std::size_t column) { return streams_[number(row, column)]; }
  [[nodiscard]] const_tile as_tile(input in, std::size_t row, std::size_t column) const {
    return {in.data(), extent(row), extent(column)};
  }
  // What it was, where it is to be changed. Nothing if bodies do nothing.
  [[nodiscard]] bool begin(std::size_t row, std::size_t column, input was, output now, tile& to) {
    count_body(number(row, column));
    if (is_model_only) return false;
    std::ranges::copy(was, now.begin());
    to = {now.data(), extent(row), extent(column)};
    return true;
  }
  void factor_streams(runtime& rt, std::size_t k) {
    const std::size_t n = size(k, k);
    rt.submit(named("factor"), computing(factor_cycles(k)), pop(of(k, k), n), push(of(k, k), n),
              [this, k](input was, output now) {
                if (tile to{}; begin(k, k, was, now, to)) factor(to);
              });
  }
  void solve_streams(runtime& rt, std::size_t i, std::size_t k) {
    const std::size_t n = size(i, k);
    rt.submit(named("solve"), computing(solve_cycles(i, k)), peek(of(k, k), size(k, k)), pop(of(i, k), n),
              push(of(i, k), n), [this, i, k](input diagonal, input was, output now) {
                if (tile to{}; begin(i, k, was, now, to)) solve(as_tile(diagonal, k, k), to);
              });
  }
  void update_streams(runtime& rt, std::size_t i, std::size_t j, std::size_t k) {
    const std::size_t n = size(i, j);
    if (i == j)
      rt.submit(named("update"), computing(update_cycles(i, j, k)), peek(of(i, k), size(i, k)), pop(of(i, j), n),
                push(of(i, j), n), [this, i, k](input a, input was, output now) {
                  if (tile to{}; begin(i, i, was, now, to))
                    subtract_product(as_tile(a, i, k), as_tile(a, i, k), to, true);
                });
    else
      rt.submit(named("update"), computing(update_cycles(i, j, k)), peek(of(i, k), size(i, k)),
                peek(of(j, k), size(j, k)), pop(of(i, j), n), push(of(i, j), n),
                [this, i, j, k](input a, input b, input was, output now) {
                  if (tile to{}; begin(i, j, was, now, to))
                    subtract_product(as_tile(a, i, k), as_tile(b, j, k), to, false);
                });
  }
  void load(runtime& rt, std::size_t t) {
    const std::size_t n = size_of(t);
    rt.submit(named("load"), computing(0), push(streams_[t], n), [this, t](output now) {
      if (!is_model_only) std::copy_n(a_.at(t * room()), now.size(), now.begin());
      data_uses uses;
      uses.add(a_.loads(t * room(), now.size()));
      spend(t, 0, uses);
    });
  }
  void store(runtime& rt, std::size_t t) {
    rt.submit(named("store"), computing(0), pop(streams_[t], size_of(t)), [this, t](input last) {
      if (!is_model_only) std::ranges::copy(last, a_.at(t * room()));
      data_uses uses;
      uses.add(a_.stores(t * room(), last.size()));
      spend(t, 0, uses);
    });
  }
  [[nodiscard]] std::size_t size_of(std::size_t t) const {
    std::size_t row = 0;
    while (tiles_of(row + 1) <= t) ++row;
    return size(row, t - tiles_of(row));
  }

  const parameters& p_;
  const std::size_t blocks_;
  const double cycles_;
  area<double> a_;
  std::vector<handle<void>> tokens_;
  std::vector<stream<double>> streams_;
};

check block_cholesky::compare() const {
  std::vector<double> values(p_.n * p_.n);
  const tile whole{values.data(), p_.n, p_.n};
  for (std::size_t r = 0; r < p_.n; ++r)
    for (std::size_t c = 0; c <= r; ++c) whole.at(r, c) = first(r, c);
  factor(whole);
  std::size_t different = 0;
  for (std::size_t r = 0; r < p_.n; ++r)
    for (std::size_t c = 0; c <= r; ++c) {
      const double found = shared(r / p_.block, c / p_.block).at(r % p_.block, c % p_.block);
      different += std::bit_cast<std::uint64_t>(found) != std::bit_cast<std::uint64_t>(whole.at(r, c));
    }
  return {"same_bits_as_one_loop", different == 0,
          std::to_string(different) + " of " + std::to_string(p_.n * (p_.n + 1) / 2) + " elements differ"};
}

result run(parameters p, const weft::options& opt, progress& bar) {
  p.block = std::min(p.block, p.n);
  const auto n = static_cast<double>(p.n);
  if (!p.how->model_only) require_memory("block-cholesky", 3.0 * sizeof(double) * n * n);
  runtime rt(with_pages(opt, p.how->pages, p.how->migrate));
  block_cholesky work(p);
  work.fill(rt);
  result r;
  r.seconds = drive(rt, *p.how, work, bar);
  r.describe(rt);
  r.add("n", std::uint64_t{p.n});
  r.add("block", std::uint64_t{p.block});
  p.how->describe(r);
  r.add("gflops", n * n * n / 3 / r.seconds * 1e-9, "GFLOP/s");
  if (!p.how->model_only) r.checks.push_back(work.compare());
  r.checks.push_back(all_ran(work));
  return r;
}

}  // namespace

app block_cholesky_app() {
  auto p = std::make_shared<parameters>();
  std::vector<option> options = {{"n", "rows of the matrix", &p->n, 1, 1u << 20},
                                 {"block", "of them in a block", &p->block, 1, 1u << 20}};
  std::ranges::copy(setting::options(p->how), std::back_inserter(options));
  return {.name = "block-cholesky",
          .summary = "Cholesky factorization by square blocks that tasks hand on",
          .example = "block-cholesky --form dsa --machine opteron-6282-64",
          .options = std::move(options),
          .run = [p](const weft::options& opt, progress& bar) { return run(*p, opt, bar); }};
}

}  // namespace weft::apps

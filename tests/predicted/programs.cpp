// Programs that no figure of the model was chosen by, as people bring them: what virtual time says of them is compared
// with what real cores take (tests/predicted.py). They say nothing about themselves: no cost clauses, no sizes.
//   sparse_lu N B   N x N blocks of B x B, a fifth of them at first not zero, factorized
//   dag SEED        2000 tasks of 2 to 200 us in a random graph: each reads up to three of 64 data and writes one
//   stencil NS      64 cells, 400 steps: each body of that length reads three neighbours and writes one
//   wavefront B     60 x 60 blocks of B x B cells of an alignment, each behind the two before it
//   tree D          tasks that submit two and wait for them, D levels deep; leaves of 3 to 12 us
//   sums            300 rounds of 24 tasks that add up pieces of 8 KiB, and one that reads all of the sums
//   triads          200 rounds of 16 tasks over three pieces of 64 KiB each: caches and memory decide
// usage: programs NAME [NUMBER...]; prints what the run took in seconds, by the runtime's own clock, and a checksum.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <vector>

#include <weft/weft.hpp>

namespace {

struct result {
  double ns;
  double checksum;
};

std::uint64_t next(std::uint64_t& x) {
  x += 0x9e3779b97f4a7c15u;
  std::uint64_t z = x;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

// So many dependent steps, a little over a nanosecond each: work that is the same on every machine.
double spin(double steps, double x) {
  for (auto i = static_cast<std::int64_t>(steps); i > 0; --i) x = x * 0.999 + 0.5;
  return x;
}

template <class Body> double timed(weft::runtime& rt, const Body& body) {
  const double from = rt.now_ns();
  body();
  rt.wait();
  return rt.now_ns() - from;
}

// --- sparse LU

class blocks {
 public:
  blocks(int n, int size) : n_(n), size_(size), at_(static_cast<std::size_t>(n) * static_cast<std::size_t>(n)) {
    std::uint64_t seed = 1;
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j)
        if (i == j || next(seed) % 5 == 0) fill(i, j, seed);
  }
  [[nodiscard]] bool has(int i, int j) const { return of(i, j) != nullptr; }
  weft::handle<std::vector<double>>& of_block(int i, int j) {
    if (!has(i, j)) of(i, j) = make();
    return *of(i, j);
  }
  [[nodiscard]] double sum() {
    double s = 0;
    for (auto& b : at_)
      if (b != nullptr)
        for (const double x : b->unguarded()) s += std::abs(x);
    return s;
  }

 private:
  using block = weft::handle<std::vector<double>>;
  [[nodiscard]] std::unique_ptr<block> make() const {
    return std::make_unique<block>(
        std::vector<double>(static_cast<std::size_t>(size_) * static_cast<std::size_t>(size_)));
  }
  void fill(int i, int j, std::uint64_t& seed) {
    of(i, j) = make();
    std::vector<double>& x = of(i, j)->unguarded();
    for (double& v : x) v = static_cast<double>(next(seed) % 1000) / 1000;
    if (i == j)
      for (int k = 0; k < size_; ++k) x[static_cast<std::size_t>(k * size_ + k)] += 4.0 * size_;
  }
  std::unique_ptr<block>& of(int i, int j) { return at_[static_cast<std::size_t>(i * n_ + j)]; }
  [[nodiscard]] const std::unique_ptr<block>& of(int i, int j) const {
    return at_[static_cast<std::size_t>(i * n_ + j)];
  }

  int n_, size_;
  std::vector<std::unique_ptr<block>> at_;
};

void factorize(double* a, int n) {
  for (int k = 0; k < n; ++k)
    for (int i = k + 1; i < n; ++i) {
      a[i * n + k] /= a[k * n + k];
      for (int j = k + 1; j < n; ++j) a[i * n + j] -= a[i * n + k] * a[k * n + j];
    }
}
void solve_row(const double* diagonal, double* a, int n) {
  for (int k = 0; k < n; ++k)
    for (int i = k + 1; i < n; ++i)
      for (int j = 0; j < n; ++j) a[i * n + j] -= diagonal[i * n + k] * a[k * n + j];
}
void solve_column(const double* diagonal, double* a, int n) {
  for (int i = 0; i < n; ++i)
    for (int k = 0; k < n; ++k) {
      a[i * n + k] /= diagonal[k * n + k];
      for (int j = k + 1; j < n; ++j) a[i * n + j] -= a[i * n + k] * diagonal[k * n + j];
    }
}
void update(const double* column, const double* row, double* a, int n) {
  for (int i = 0; i < n; ++i)
    for (int k = 0; k < n; ++k)
      for (int j = 0; j < n; ++j) a[i * n + j] -= column[i * n + k] * row[k * n + j];
}

result sparse_lu(weft::runtime& rt, int n, int size) {
  using data = std::vector<double>;
  blocks a(n, size);
  const double ns = timed(rt, [&] {
    for (int k = 0; k < n; ++k) {
      rt.submit(weft::write(a.of_block(k, k)), [size](data& x) { factorize(x.data(), size); });
      for (int j = k + 1; j < n; ++j)
        if (a.has(k, j))
          rt.submit(weft::read(a.of_block(k, k)), weft::write(a.of_block(k, j)),
                    [size](const data& d, data& x) { solve_row(d.data(), x.data(), size); });
      for (int i = k + 1; i < n; ++i)
        if (a.has(i, k))
          rt.submit(weft::read(a.of_block(k, k)), weft::write(a.of_block(i, k)),
                    [size](const data& d, data& x) { solve_column(d.data(), x.data(), size); });
      for (int i = k + 1; i < n; ++i)
        for (int j = k + 1; j < n; ++j)
          if (a.has(i, k) && a.has(k, j))
            rt.submit(weft::read(a.of_block(i, k)), weft::read(a.of_block(k, j)), weft::write(a.of_block(i, j)),
                      [size](const data& c, const data& r, data& x) { update(c.data(), r.data(), x.data(), size); });
    }
  });
  return {ns, a.sum()};
}

// --- graphs

result dag(weft::runtime& rt, std::uint64_t seed) {
  std::vector<weft::handle<double>> data(64);
  for (auto& d : data) d.unguarded() = 1;
  const double ns = timed(rt, [&] {
    for (int t = 0; t < 2000; ++t) {
      const double us = 2 * std::pow(100, static_cast<double>(next(seed) % 1000) / 1000);
      auto& to = data[next(seed) % 64];
      std::vector<weft::handle<double>*> from;
      for (std::uint64_t i = next(seed) % 4; i > 0; --i)
        if (auto& h = data[next(seed) % 64]; &h != &to && std::ranges::find(from, &h) == from.end()) from.push_back(&h);
      const auto body = [us](double& x) { x = spin(us * 700, x); };
      switch (from.size()) {
      case 0: rt.submit(weft::write(to), body); break;
      case 1: rt.submit(weft::read(*from[0]), weft::write(to), [body](double, double& x) { body(x); }); break;
      case 2:
        rt.submit(weft::read(*from[0]), weft::read(*from[1]), weft::write(to),
                  [body](double, double, double& x) { body(x); });
        break;
      default:
        rt.submit(weft::read(*from[0]), weft::read(*from[1]), weft::read(*from[2]), weft::write(to),
                  [body](double, double, double, double& x) { body(x); });
      }
    }
  });
  double sum = 0;
  for (auto& d : data) sum += d.unguarded();
  return {ns, sum};
}

result stencil(weft::runtime& rt, double body_ns) {
  constexpr std::size_t width = 64;
  std::vector<weft::handle<double>> cells(2 * width);
  for (auto& c : cells) c.unguarded() = 1;
  const double steps = body_ns * 0.7;
  const double ns = timed(rt, [&] {
    for (std::size_t s = 0; s < 400; ++s) {
      const std::size_t now = s % 2 * width, then = width - now;
      for (std::size_t i = 0; i < width; ++i)
        rt.submit(weft::read(cells[now + (i + width - 1) % width]), weft::read(cells[now + i]),
                  weft::read(cells[now + (i + 1) % width]), weft::write(cells[then + i]),
                  [steps](double l, double m, double r, double& x) { x = spin(steps, (l + m + r) / 3); });
    }
  });
  double sum = 0;
  for (auto& c : cells) sum += c.unguarded();
  return {ns, sum};
}

// The longest common subsequence of two texts, block by block: a block keeps its last row and its last column.
struct edge {
  std::vector<int> row, column;
};
result wavefront(weft::runtime& rt, int size) {
  constexpr std::size_t n = 60;
  const auto b = static_cast<std::size_t>(size);
  std::vector<char> first(n * b), second(n * b);
  std::uint64_t seed = 5;
  for (char& c : first) c = static_cast<char>(next(seed) % 4);
  for (char& c : second) c = static_cast<char>(next(seed) % 4);
  std::vector<weft::handle<edge>> grid((n + 1) * (n + 1));
  for (auto& g : grid) g.unguarded() = {std::vector<int>(b), std::vector<int>(b)};
  const double ns = timed(rt, [&] {
    for (std::size_t i = 1; i <= n; ++i)
      for (std::size_t j = 1; j <= n; ++j)
        rt.submit(weft::read(grid[(i - 1) * (n + 1) + j]), weft::read(grid[i * (n + 1) + j - 1]),
                  weft::write(grid[i * (n + 1) + j]),
                  [b, f = &first[(i - 1) * b], s = &second[(j - 1) * b]](const edge& up, const edge& left, edge& x) {
                    x.row = up.row;
                    for (std::size_t p = 0; p < b; ++p) {
                      int corner = p == 0 ? 0 : left.column[p - 1], before = left.column[p];
                      for (std::size_t q = 0; q < b; ++q) {
                        const int above = x.row[q];
                        before = f[p] == s[q] ? corner + 1 : std::max(above, before);
                        corner = above;
                        x.row[q] = before;
                      }
                      x.column[p] = before;
                    }
                  });
  });
  return {ns, static_cast<double>(grid.back().unguarded().row.back())};
}

double branch(weft::runtime& rt, int depth, std::uint64_t seed) {
  if (depth == 0) return spin(2000 + static_cast<double>(next(seed) % 6000), 1);
  double left = 0, right = 0;
  rt.submit([&] { left = branch(rt, depth - 1, 2 * seed); });
  rt.submit([&] { right = branch(rt, depth - 1, 2 * seed + 1); });
  rt.wait();
  return left + right;
}
result tree(weft::runtime& rt, int depth) {
  double sum = 0;
  const double ns = timed(rt, [&] { rt.submit([&] { sum = branch(rt, depth, 1); }); });
  return {ns, sum};
}

// --- data

result sums(weft::runtime& rt) {
  constexpr std::size_t pieces = 24;
  const std::size_t length = 1024;
  std::vector<double> data(pieces * length, 1.5);
  std::vector<weft::handle<double>> part(pieces);
  weft::handle<double> all;
  all.unguarded() = 0;
  const double ns = timed(rt, [&] {
    for (int round = 0; round < 300; ++round) {
      for (std::size_t i = 0; i < pieces; ++i)
        rt.submit(weft::read(all), weft::write(part[i]), [length, from = &data[i * length]](double seen, double& x) {
          x = seen * 1e-9;
          for (int again = 0; again < 3; ++again)
            for (std::size_t k = 0; k < length; ++k) x += from[k];
        });
      rt.submit(weft::read(part), weft::write(all), [](weft::view<const double> each, double& x) {
        x = 0;
        for (const double p : each) x += p;
      });
    }
  });
  return {ns, all.unguarded()};
}

result triads(weft::runtime& rt) {
  constexpr std::size_t tasks = 16, length = 8192;
  std::vector<std::vector<double>> a(tasks), b(tasks), c(tasks);
  for (std::size_t i = 0; i < tasks; ++i) a[i].resize(length), b[i].assign(length, 1), c[i].assign(length, 2);
  std::vector<weft::handle<void>> piece(tasks);
  const double ns = timed(rt, [&] {
    for (int round = 0; round < 200; ++round)
      for (std::size_t i = 0; i < tasks; ++i)
        rt.submit(weft::write(piece[i]), [&a, &b, &c, i] {
          for (std::size_t k = 0; k < length; ++k) a[i][k] = b[i][k] + 0.5 * c[i][k];
          std::swap(a[i], b[i]);
        });
  });
  double sum = 0;
  for (const auto& x : b) sum += x[17];
  return {ns, sum};
}

result run(weft::runtime& rt, std::string_view name, const std::vector<int>& with) {
  const auto number = [&with](std::size_t i, int otherwise) { return i < with.size() ? with[i] : otherwise; };
  if (name == "sparse_lu") return sparse_lu(rt, number(0, 24), number(1, 16));
  if (name == "dag") return dag(rt, static_cast<std::uint64_t>(number(0, 1)));
  if (name == "stencil") return stencil(rt, number(0, 890));
  if (name == "wavefront") return wavefront(rt, number(0, 48));
  if (name == "tree") return tree(rt, number(0, 11));
  if (name == "sums") return sums(rt);
  if (name == "triads") return triads(rt);
  std::fprintf(stderr, "programs: there is no %s\n", std::string(name).c_str());
  std::exit(2);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return std::fprintf(stderr, "usage: programs NAME [NUMBER...]\n"), 2;
  std::vector<int> with;
  for (int i = 2; i < argc; ++i) with.push_back(std::atoi(argv[i]));
  weft::runtime rt;
  const result r = run(rt, argv[1], with);
  std::printf("%.9f %.6g\n", r.ns * 1e-9, r.checksum);
}

// Merge sort of integers by tasks near their data (PufferFish §II, Fig. 5; the program of Cilk): four quarters are
// sorted, merged in pairs into a second array, and merged back; a merge is halved by the middle of its longer part.
// Where parts end depends on the values, so does the graph. Check: the result is in order, and has the values of the
// input: their sum, and the sum of a hash of each.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string_view>

#include "sweep.hpp"

namespace weft::apps {
namespace {

using integer = std::int64_t;
constexpr double ns_compare = 1.5;  // a value and level of sorting, on modelled machines
constexpr double ns_merge = 2;      // a value

struct parameters {
  std::size_t count = 1'000'000;
  std::shared_ptr<near::spread> how = [] {
    auto s = std::make_shared<near::spread>();
    s->tile = 1024;
    return s;
  }();
};

std::uint64_t hash(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}
integer value_of(std::size_t i) { return std::bit_cast<integer>(hash(i + 1)) >> 8; }

// Of the array `in` from `at` on so many.
struct piece {
  numa_array<integer>* in;
  std::size_t at;
  std::size_t count;
  [[nodiscard]] integer* begin() const { return in->data() + at; }
  [[nodiscard]] integer* end() const { return begin() + count; }
  [[nodiscard]] piece part(std::size_t from, std::size_t n) const { return {in, at + from, n}; }
  [[nodiscard]] auto hint() const { return weft::near(*in, at, at + count); }
};

class sorter {
 public:
  explicit sorter(const near::spread& s) : spread_(s) {}

  // Sorts a; b is as long, and holds nothing afterwards.
  void sort(const piece& a, const piece& b) const {
    const std::size_t n = a.count;
    if (n <= std::max<std::size_t>(spread_.tile, 4)) return sort_here(a);
    const std::size_t q = n / 4;
    const std::size_t cut[] = {0, q, 2 * q, 3 * q, n};
    const auto of = [&cut](const piece& p, int i, int j) { return p.part(cut[i], cut[j] - cut[i]); };
    finish([&] {
      for (int i = 0; i < 4; ++i)
        near::hinted_async(spread_, of(a, i, i + 1).hint(),
                           [this, x = of(a, i, i + 1), y = of(b, i, i + 1)] { sort(x, y); });
    });
    finish([&] {
      for (int i = 0; i < 4; i += 2)
        near::hinted_async(
            spread_, of(a, i, i + 2).hint(),
            [this, x = of(a, i, i + 1), y = of(a, i + 1, i + 2), z = of(b, i, i + 2)] { merge(x, y, z); });
    });
    merge(of(b, 0, 2), of(b, 2, 4), a);
  }

 private:
  void sort_here(const piece& a) const {
    std::sort(a.begin(), a.end());
    const auto n = static_cast<double>(a.count);
    charge(n < 2 ? 0 : ns_compare * n * std::log2(n), updates(a.begin(), a.count * sizeof(integer)));
  }
  // x and y into `to`, which is as long as both.
  void merge(piece x, piece y, const piece& to) const {
    if (to.count <= std::max<std::size_t>(spread_.tile, 4)) {
      std::merge(x.begin(), x.end(), y.begin(), y.end(), to.begin());
      return charge(ns_merge * static_cast<double>(to.count), loads(x.begin(), x.count * sizeof(integer)),
                    loads(y.begin(), y.count * sizeof(integer)), stores(to.begin(), to.count * sizeof(integer)));
    }
    if (x.count < y.count) std::swap(x, y);
    const std::size_t i = x.count / 2;
    const auto j = static_cast<std::size_t>(std::lower_bound(y.begin(), y.end(), x.begin()[i]) - y.begin());
    const piece low = to.part(0, i + j), high = to.part(i + j, to.count - i - j);
    finish([&] {
      near::hinted_async(spread_, low.hint(), [this, a = x.part(0, i), b = y.part(0, j), low] { merge(a, b, low); });
      near::hinted_async(spread_, high.hint(),
                         [this, a = x.part(i, x.count - i), b = y.part(j, y.count - j), high] { merge(a, b, high); });
    });
  }

  const near::spread& spread_;
};

result run(const parameters& p, const weft::options& opt, progress& bar) {
  const std::size_t n = p.count;
  require_memory("cilksort", 2.0 * sizeof(integer) * static_cast<double>(n));
  runtime rt(opt);
  numa_array<integer> a(n, p.how->placement()), b(n, p.how->placement());
  near::spread filling = *p.how;
  filling.tile = std::max<std::size_t>(filling.tile, 4096);
  near::fill(
      filling, rt.workers(), n, [&](std::size_t from, std::size_t to) { return weft::near(a, from, to); },
      [&](std::size_t from, std::size_t to) {
        for (std::size_t i = from; i < to; ++i) a[i] = value_of(i);
        const auto values = static_cast<double>(to - from);
        if (!filling.fills_all()) return charge(values, stores(a, from, to));
        std::fill(b.begin() + from, b.begin() + to, 0);
        charge(values, stores(a, from, to), stores(b, from, to));
      });
  bar.report(0.1);
  const double start = rt.now_ns();
  const sorter s(*p.how);
  finish([&] { s.sort({&a, 0, n}, {&b, 0, n}); });
  result r;
  r.seconds = (rt.now_ns() - start) * 1e-9;
  r.describe(rt);
  r.add("count", std::uint64_t{n});
  r.add("layout", p.how->layout);
  r.add("hints", !p.how->no_hints);
  r.add("tile", std::uint64_t{p.how->tile});
  r.add("fill", p.how->fill);
  r.add("ns_per_value", r.seconds * 1e9 / static_cast<double>(n));

  std::uint64_t sum = 0, hashes = 0;
  for (std::size_t i = 0; i < n; ++i) {
    sum += std::bit_cast<std::uint64_t>(value_of(i)) - std::bit_cast<std::uint64_t>(a[i]);
    hashes += hash(std::bit_cast<std::uint64_t>(value_of(i))) - hash(std::bit_cast<std::uint64_t>(a[i]));
  }
  const auto wrong = static_cast<std::size_t>(std::is_sorted_until(a.begin(), a.end()) - a.begin());
  r.checks.push_back({"in_order", wrong == n, wrong == n ? "all" : "up to value " + std::to_string(wrong)});
  r.checks.push_back({"same_values", sum == 0 && hashes == 0, "sum and sum of hashes"});
  return r;
}

}  // namespace

app cilksort_app() {
  auto p = std::make_shared<parameters>();
  std::vector<option> options = {{"count", "how many integers", &p->count, 1, 4'000'000'000}};
  for (const option& o : near::spread::options(p->how, "values that are sorted or merged by one task"))
    if (std::string_view(o.name) != "irregular") options.push_back(o);  // it is so by itself
  return {.name = "cilksort",
          .summary = "merge sort with parallel merges, asyncs near what they write",
          .example = "cilksort --count 1000000 --policy near --workers 2",
          .options = std::move(options),
          .run = [p](const weft::options& opt, progress& bar) { return run(*p, opt, bar); }};
}

}  // namespace weft::apps

// K-means clustering (OpenStream §4.3): each point goes to the nearest centroid, and each centroid becomes the mean of
// its points. Blocks of points sum what they send to each centroid; sums of blocks are added by a tree of tasks, whose
// shape is fixed, so the result does not depend on who came first. The points are most of what a task reads.
// Check: loops over all points give the same bits, and every point was counted once.
#include <algorithm>
#include <bit>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "../near/sweep.hpp"
#include "flow.hpp"

namespace weft::apps {
namespace {

using namespace flow;

constexpr double cycles_per_distance = 1.25;  // for one dimension; docs/guide/43-flow-programs.md

struct parameters {
  std::size_t points = 20'000, dimensions = 10, clusters = 11, block = 1'000, iterations = 5;
  std::shared_ptr<setting> how = std::make_shared<setting>();
};

// Of point i. Around one of so many corners, so that there is something to find.
float coordinate(const parameters& p, std::size_t i) {
  const std::size_t point = i / p.dimensions, corner = point * 7919 % p.clusters;
  return static_cast<float>(near::noise(i) + 2 * near::noise(corner * p.dimensions + i % p.dimensions + 12'345));
}

// The sums of a block: for each cluster those of the coordinates, and the number of points.
void assign(const parameters& p, std::span<const float> points, std::span<const float> centroids,
            std::span<double> sums) {
  const std::size_t d = p.dimensions, k = p.clusters;
  std::ranges::fill(sums, 0.0);
  for (std::size_t at = 0; at < points.size(); at += d) {
    float nearest = std::numeric_limits<float>::infinity();
    std::size_t which = 0;
    for (std::size_t c = 0; c < k; ++c) {
      float distance = 0;
      for (std::size_t j = 0; j < d; ++j) {
        const float x = points[at + j] - centroids[c * d + j];
        distance += x * x;
      }
      if (distance < nearest) nearest = distance, which = c;
    }
    for (std::size_t j = 0; j < d; ++j) sums[which * (d + 1) + j] += static_cast<double>(points[at + j]);
    sums[which * (d + 1) + d] += 1;
  }
}
// `to` may be `a`.
void combine(std::span<const double> a, std::span<const double> b, std::span<double> to) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] = a[i] + b[i];
}
// A centroid without points stays. `to` may be `from`.
void move_centroids(const parameters& p, std::span<const double> sums, std::span<const float> from,
                    std::span<float> to) {
  const std::size_t d = p.dimensions;
  for (std::size_t c = 0; c < p.clusters; ++c)
    for (std::size_t j = 0; j < d; ++j) {
      const double count = sums[c * (d + 1) + d];
      to[c * d + j] = count > 0 ? static_cast<float>(sums[c * (d + 1) + j] / count) : from[c * d + j];
    }
}

class kmeans final : public program {
 public:
  explicit kmeans(const parameters& p)
      : program(*p.how, 2 * ((p.points + p.block - 1) / p.block) + 1), p_(p),
        blocks_((p.points + p.block - 1) / p.block),
        cycles_(p.how->cycles_or(cycles_per_distance * static_cast<double>(p.dimensions * p.clusters))),
        points_(p.points * p.dimensions, p.how->placement(), is_model_only),
        sums_(blocks_ * sum(), p.how->placement(), is_model_only),
        centroids_(mean(), p.how->placement(), is_model_only), counted_(p.clusters),
        tokens_(made == form::dsa ? 0 : blocks_), own_(made == form::dsa ? blocks_ : 0), to_block_(own_.size()),
        of_block_(own_.size()) {
    allocate(*p.how, own_, to_block_, of_block_);
    kept_.immediate(p.how->is_immediate());
    for (std::size_t step = 1; step < blocks_; step *= 2) ++levels_;
  }

  void fill(runtime& rt) {
    fill_blocks(rt, blocks_, [this](std::size_t b) {
      if (!is_model_only)
        for (std::size_t i = first(b); i < first(b) + size(b); ++i) *points_.at(i) = coordinate(p_, i);
      charge(0, points_.stores(first(b), size(b)));
      if (b != 0) return;
      if (!is_model_only)
        for (std::size_t i = 0; i < mean(); ++i) *centroids_.at(i) = coordinate(p_, i);
      charge(0, centroids_.stores(0, mean()));
    });
  }

  // Of an iteration: the blocks, the levels of the tree, and the centroids. With streams the centroids come down such a
  // tree first, all is loaded before the first iteration, and the centroids are stored behind the last.
  [[nodiscard]] std::size_t stages() const override { return p_.iterations * stages_each() + (is_streams() ? 2 : 0); }
  [[nodiscard]] std::size_t items(std::size_t stage) const override {
    const position at = place(stage);
    switch (at.what) {
    case work::load:
    case work::assign: return blocks_;
    case work::spread:
    case work::combine: return pairs(at.level);
    default: return 1;
    }
  }
  [[nodiscard]] std::size_t bodies() const override {
    const std::size_t each = blocks_ + (blocks_ - 1) + 1;
    return p_.iterations * (each + (is_streams() ? blocks_ - 1 : 0)) + (is_streams() ? blocks_ + 2 : 0);
  }
  void go(runtime& rt, std::size_t stage, std::size_t item) override {
    const position at = place(stage);
    switch (at.what) {
    case work::load: return load(rt, item);
    case work::spread: return spread(rt, at.level, item);
    case work::assign: return is_streams() ? assign_streams(rt, item, at.is_last) : assign_shared(rt, item);
    case work::combine: return is_streams() ? combine_streams(rt, at.level, item) : combine_shared(rt, at.level, item);
    case work::move: return is_streams() ? move_streams(rt, at.is_last) : move_shared(rt);
    case work::store: return store(rt);
    }
  }

  [[nodiscard]] std::vector<check> compare() const;

 private:
  enum class work : std::uint8_t { load, spread, assign, combine, move, store };
  struct position {
    work what;
    std::size_t level;  // of a tree
    bool is_last;       // iteration
  };
  [[nodiscard]] bool is_streams() const { return made == form::dsa; }
  [[nodiscard]] std::size_t down() const { return is_streams() ? levels_ : 0; }
  [[nodiscard]] std::size_t stages_each() const { return down() + 1 + levels_ + 1; }
  [[nodiscard]] position place(std::size_t stage) const {
    if (is_streams()) {
      if (stage == 0) return {work::load, 0, false};
      if (stage + 1 == stages()) return {work::store, 0, true};
      --stage;
    }
    const bool is_last = stage / stages_each() + 1 == p_.iterations;
    const std::size_t at = stage % stages_each();
    if (at < down()) return {work::spread, down() - 1 - at, is_last};
    if (at == down()) return {work::assign, 0, is_last};
    if (at <= down() + levels_) return {work::combine, at - down() - 1, is_last};
    return {work::move, 0, is_last};
  }
  [[nodiscard]] std::size_t sum() const { return p_.clusters * (p_.dimensions + 1); }  // values of a block's sums
  [[nodiscard]] std::size_t mean() const { return p_.clusters * p_.dimensions; }       // of all centroids
  [[nodiscard]] std::size_t first(std::size_t b) const { return b * p_.block * p_.dimensions; }
  [[nodiscard]] std::size_t size(std::size_t b) const {
    return std::min(p_.block, p_.points - b * p_.block) * p_.dimensions;
  }
  // On a level of the tree, block 2i x step gets what block (2i + 1) x step has.
  [[nodiscard]] std::size_t step(std::size_t level) const { return std::size_t{1} << level; }
  [[nodiscard]] std::size_t pairs(std::size_t level) const { return (blocks_ + step(level) - 1) / (2 * step(level)); }
  [[nodiscard]] std::span<double> sums_of(std::size_t b) const { return {sums_.at(b * sum()), sum()}; }
  [[nodiscard]] double assign_cycles(std::size_t b) const {
    return cycles_ * static_cast<double>(size(b) / p_.dimensions);
  }

  void assign_shared(runtime& rt, std::size_t b) {
    tokens reads, writes;
    reads.add(&centroids_token_), writes.add(&tokens_[b]);
    submit_shared(rt, *this, "assign", reads, writes, [this, b] {
      if (!is_model_only) assign(p_, {points_.at(first(b)), size(b)}, {centroids_.at(0), mean()}, sums_of(b));
      data_uses uses;
      uses.add(points_.loads(first(b), size(b)));
      uses.add(centroids_.loads(0, mean()));
      uses.add(sums_.stores(b * sum(), sum()));
      spend(b, assign_cycles(b), uses);
    });
  }
  void combine_shared(runtime& rt, std::size_t level, std::size_t pair) {
    const std::size_t to = 2 * pair * step(level), from = to + step(level);
    tokens reads, writes;
    reads.add(&tokens_[from]), writes.add(&tokens_[to]);
    submit_shared(rt, *this, "combine", reads, writes, [this, to, from] {
      if (!is_model_only) combine(sums_of(to), sums_of(from), sums_of(to));
      data_uses uses;
      uses.add(sums_.loads(from * sum(), sum()));
      uses.add(sums_.updates(to * sum(), sum()));
      spend(to, static_cast<double>(sum()), uses);
    });
  }
  void move_shared(runtime& rt) {
    tokens reads, writes;
    reads.add(&tokens_[0]), writes.add(&centroids_token_);
    submit_shared(rt, *this, "centroids", reads, writes, [this] {
      const std::span<float> all{centroids_.at(0), mean()};
      if (!is_model_only) move_centroids(p_, sums_of(0), all, all), count(sums_of(0));
      data_uses uses;
      uses.add(sums_.loads(0, sum()));
      uses.add(centroids_.updates(0, mean()));
      spend(blocks_, static_cast<double>(sum()), uses);
    });
  }

  // Streams: of each block its points to itself, the centroids to it, and its sums; and the centroids from one
  // iteration to the next.
  void load(runtime& rt, std::size_t b) {
    rt.submit(named("load"), computing(0), push(own_[b], size(b)), [this, b](std::span<float> points) {
      if (!is_model_only) std::copy_n(points_.at(first(b)), points.size(), points.begin());
      data_uses uses;
      uses.add(points_.loads(first(b), points.size()));
      spend(b, 0, uses);
    });
    if (b != 0) return;
    rt.submit(named("load"), computing(0), push(kept_, mean()), push(to_block_[0], mean()),
              [this](std::span<float> kept, std::span<float> to) {
                if (!is_model_only)
                  for (const std::span<float> x : {kept, to}) std::copy_n(centroids_.at(0), mean(), x.begin());
                data_uses uses;
                uses.add(centroids_.loads(0, mean()));
                spend(blocks_, 0, uses);
              });
  }
  void spread(runtime& rt, std::size_t level, std::size_t pair) {
    const std::size_t from = 2 * pair * step(level), to = from + step(level);
    rt.submit(named("spread"), computing(static_cast<double>(mean())), pop(to_block_[from], mean()),
              push(to_block_[from], mean()), push(to_block_[to], mean()),
              [this, to](std::span<const float> in, std::span<float> on, std::span<float> other) {
                count_body(blocks_ + 1 + to);
                if (is_model_only) return;
                std::ranges::copy(in, on.begin()), std::ranges::copy(in, other.begin());
              });
  }
  void assign_streams(runtime& rt, std::size_t b, bool is_last) {
    rt.submit(named("assign"), computing(assign_cycles(b)), pop(own_[b], size(b)), pop(to_block_[b], mean()),
              push(own_[b], is_last ? 0 : size(b)), push(of_block_[b], sum()),
              [this, b](std::span<const float> points, std::span<const float> centroids, std::span<float> on,
                        std::span<double> sums) {
                count_body(b);
                if (is_model_only) return;
                assign(p_, points, centroids, sums);
                if (!on.empty()) std::ranges::copy(points, on.begin());
              });
  }
  void combine_streams(runtime& rt, std::size_t level, std::size_t pair) {
    const std::size_t to = 2 * pair * step(level), from = to + step(level);
    rt.submit(named("combine"), computing(static_cast<double>(sum())), pop(of_block_[to], sum()),
              pop(of_block_[from], sum()), push(of_block_[to], sum()),
              [this, to](std::span<const double> a, std::span<const double> b, std::span<double> out) {
                count_body(to);
                if (!is_model_only) combine(a, b, out);
              });
  }
  void move_streams(runtime& rt, bool is_last) {
    rt.submit(
        named("centroids"), computing(static_cast<double>(sum())), pop(of_block_[0], sum()), pop(kept_, mean()),
        push(kept_, mean()), push(to_block_[0], is_last ? 0 : mean()),
        [this](std::span<const double> sums, std::span<const float> was, std::span<float> now, std::span<float> to) {
          count_body(blocks_);
          if (is_model_only) return;
          move_centroids(p_, sums, was, now), count(sums);
          if (!to.empty()) std::ranges::copy(now, to.begin());
        });
  }
  void store(runtime& rt) {
    rt.submit(named("store"), computing(0), pop(kept_, mean()), [this](std::span<const float> last) {
      if (!is_model_only) std::ranges::copy(last, centroids_.at(0));
      data_uses uses;
      uses.add(centroids_.stores(0, mean()));
      spend(blocks_, 0, uses);
    });
  }

  void count(std::span<const double> sums) {
    for (std::size_t c = 0; c < p_.clusters; ++c) counted_[c] = sums[c * (p_.dimensions + 1) + p_.dimensions];
  }
  // Of so many blocks from one on, a power of two, as the tree adds them.
  [[nodiscard]] std::vector<double> plain_sums(std::span<const float> points, std::span<const float> centroids,
                                               std::size_t from, std::size_t n) const;

  const parameters& p_;
  const std::size_t blocks_;
  const double cycles_;
  area<float> points_;
  area<double> sums_;
  area<float> centroids_;
  std::vector<double> counted_;
  handle<void> centroids_token_;
  std::vector<handle<void>> tokens_;
  std::vector<stream<float>> own_, to_block_;
  std::vector<stream<double>> of_block_;
  stream<float> kept_;
  std::size_t levels_ = 0;
};

std::vector<double> kmeans::plain_sums(std::span<const float> points, std::span<const float> centroids,
                                       std::size_t from, std::size_t n) const {
  std::vector<double> sums(sum());
  if (n == 1) {
    assign(p_, points.subspan(first(from), size(from)), centroids, sums);
    return sums;
  }
  sums = plain_sums(points, centroids, from, n / 2);
  if (from + n / 2 < blocks_) combine(sums, plain_sums(points, centroids, from + n / 2, n / 2), sums);
  return sums;
}

std::vector<check> kmeans::compare() const {
  std::vector<float> points(p_.points * p_.dimensions);
  for (std::size_t i = 0; i < points.size(); ++i) points[i] = coordinate(p_, i);
  std::vector<float> expected(points.begin(), points.begin() + static_cast<std::ptrdiff_t>(mean()));
  for (std::size_t t = 0; t < p_.iterations; ++t)
    move_centroids(p_, plain_sums(points, expected, 0, step(levels_)), expected, expected);
  std::size_t different = 0;
  for (std::size_t i = 0; i < mean(); ++i)
    different += std::bit_cast<std::uint32_t>(*centroids_.at(i)) != std::bit_cast<std::uint32_t>(expected[i]);
  double counted = 0;
  for (const double n : counted_) counted += n;
  return {{"same_bits_as_serial", different == 0,
           std::to_string(different) + " of " + std::to_string(mean()) + " coordinates of centroids differ"},
          {"each_point_once", counted == static_cast<double>(p_.points),
           std::to_string(counted) + " of " + std::to_string(p_.points)}};
}

result run(const parameters& p, const weft::options& opt, progress& bar) {
  if (p.clusters > p.points) throw error("--clusters is greater than --points: a cluster begins with a point");
  if (!p.how->model_only)
    require_memory("kmeans", 3.0 * sizeof(float) * static_cast<double>(p.points) * static_cast<double>(p.dimensions));
  runtime rt(with_pages(opt, p.how->pages, p.how->migrate));
  kmeans work(p);
  work.fill(rt);
  result r;
  r.seconds = drive(rt, *p.how, work, bar);
  r.describe(rt);
  r.add("points", std::uint64_t{p.points});
  r.add("dimensions", std::uint64_t{p.dimensions});
  r.add("clusters", std::uint64_t{p.clusters});
  r.add("block", std::uint64_t{p.block});
  r.add("iterations", std::uint64_t{p.iterations});
  p.how->describe(r);
  r.add("ns_per_point", r.seconds * 1e9 / static_cast<double>(p.points * p.iterations));
  if (!p.how->model_only) r.checks = work.compare();
  r.checks.push_back(all_ran(work));
  return r;
}

}  // namespace

app kmeans_app() {
  auto p = std::make_shared<parameters>();
  std::vector<option> options = {{"points", "points", &p->points, 1, 1u << 30},
                                 {"dimensions", "coordinates of a point", &p->dimensions, 1, 1000},
                                 {"clusters", "centroids", &p->clusters, 1, 1000},
                                 {"block", "points of a task", &p->block, 1, 1u << 30},
                                 {"iterations", "how often the centroids move", &p->iterations, 1, 1'000'000}};
  std::ranges::copy(setting::options(p->how), std::back_inserter(options));
  return {.name = "kmeans",
          .summary = "k-means clustering, blocks of points and a tree of sums",
          .example = "kmeans --form dsa --machine opteron-6282-64",
          .options = std::move(options),
          .run = [p](const weft::options& opt, progress& bar) { return run(*p, opt, bar); }};
}

}  // namespace weft::apps

// Two filters of an image, one after the other (OpenStream §4.3): a Gaussian blur over the eight neighbours of each
// pixel, then Roberts' cross, which finds edges in the differences along both diagonals. The first reads the image that
// all share, the second what up to four tasks of the first wrote: paths of two tasks. Beyond its border the image goes
// on as at the border. Check: loops over the whole image give the same bits.
#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>
#include <span>
#include <vector>

#include "../near/sweep.hpp"
#include "flow.hpp"
#include "stencil_kernel.hpp"

namespace weft::apps {
namespace {

using namespace flow;

constexpr double cycles_to_blur = 8, cycles_to_cross = 3.5;  // a pixel; docs/guide/43-flow-programs.md

struct parameters {
  std::size_t width = 256, height = 256, block_width = 64, block_height = 32;
  std::shared_ptr<setting> how = std::make_shared<setting>();
};

double smooth(double nw, double n, double ne, double w, double c, double e, double sw, double s, double se) {
  return (nw + 2 * n + ne + 2 * w + 4 * c + 2 * e + sw + 2 * s + se) * (1.0 / 16);
}
double cross(double here, double right, double below, double beyond) {
  return std::abs(here - beyond) + std::abs(right - below);
}

// A block and the pixels around it, of rows of n.x + 2.
void blur(const extent& n, const double* padded, double* out) {
  const std::size_t row = n.x + 2;
  for (std::size_t y = 0; y < n.y; ++y) {
    const double *a = padded + y * row, *b = a + row, *c = b + row;
    for (std::size_t x = 0; x < n.x; ++x)
      out[y * n.x + x] = smooth(a[x], a[x + 1], a[x + 2], b[x], b[x + 1], b[x + 2], c[x], c[x + 1], c[x + 2]);
  }
}
// A block, the column at its right, the row below, and the pixel beyond both.
void find_edges(const extent& n, const double* own, const plane<const double>& right, const plane<const double>& below,
                double corner, double* out) {
  for (std::size_t y = 0; y < n.y; ++y) {
    const double* const row = own + y * n.x;
    const bool is_last = y + 1 == n.y;
    const plane<const double> next = is_last ? below : plane<const double>{row + n.x, 1, 0};
    const std::size_t end = n.x - 1;
    for (std::size_t x = 0; x < end; ++x)
      out[y * n.x + x] = cross(row[x], row[x + 1], next.at(x, 0), next.at(x + 1, 0));
    out[y * n.x + end] = cross(row[end], right.at(y, 0), next.at(end, 0), is_last ? corner : right.at(y + 1, 0));
  }
}

// Which of its neighbours a block has behind it.
struct neighbours {
  std::size_t right, below, beyond;
};

class blur_roberts final : public program {
 public:
  explicit blur_roberts(const parameters& p)
      : program(*p.how, grid({p.width, p.height}, {p.block_width, p.block_height}).blocks().count()),
        grid_({p.width, p.height}, {p.block_width, p.block_height}),
        scale_(p.how->cycles_or(cycles_to_blur + cycles_to_cross) / (cycles_to_blur + cycles_to_cross)),
        image_(grid_.all_room(), p.how->placement(), is_model_only),
        smooth_(made == form::dsa ? 0 : grid_.all_room(), p.how->placement(), is_model_only),
        edges_(grid_.all_room(), p.how->placement(), is_model_only), tokens_(made == form::dsa ? 0 : blocks()),
        own_(made == form::dsa ? blocks() : 0), to_left_(own_.size()), to_above_(own_.size()), to_both_(own_.size()) {
    allocate(*p.how, own_, to_left_, to_above_, to_both_);
  }

  void fill(runtime& rt) {
    fill_blocks(rt, blocks(), [this](std::size_t b) {
      if (!is_model_only)
        grid_.each_cell(b, [this](std::size_t i, std::size_t x, std::size_t y, std::size_t z) {
          *image_.at(i) = near::noise(grid_.number(x, y, z));
        });
      charge(0, image_.stores(b * grid_.room(), cells(b)));
      if (made != form::dsa) smooth_.touch(b * grid_.room(), cells(b));
      edges_.touch(b * grid_.room(), cells(b));
    });
  }

  [[nodiscard]] std::size_t stages() const override { return 2; }
  [[nodiscard]] std::size_t items(std::size_t) const override { return blocks(); }
  [[nodiscard]] std::size_t bodies() const override { return 2 * blocks(); }
  void go(runtime& rt, std::size_t stage, std::size_t b) override {
    if (made == form::dsa)
      stage == 0 ? blur_streams(rt, b) : edges_streams(rt, b);
    else
      stage == 0 ? blur_shared(rt, b) : edges_shared(rt, b);
  }

  [[nodiscard]] check compare() const;

 private:
  [[nodiscard]] std::size_t blocks() const { return grid_.blocks().count(); }
  [[nodiscard]] std::size_t cells(std::size_t b) const { return grid_.shape(b).count(); }
  [[nodiscard]] neighbours behind(std::size_t b) const {
    return {grid_.beside(b, 1, 0, 0), grid_.beside(b, 0, 1, 0), grid_.beside(b, 1, 1, 0)};
  }
  // A pixel of the image; `x` and `y` may be one too small or too great.
  [[nodiscard]] double pixel(std::size_t b, std::ptrdiff_t x, std::ptrdiff_t y) const {
    const extent& all = grid_.cells();
    const extent first = grid_.first_cell(b);
    const auto in = [](std::ptrdiff_t i, std::size_t from, std::size_t n) {
      return std::clamp<std::ptrdiff_t>(i + static_cast<std::ptrdiff_t>(from), 0, static_cast<std::ptrdiff_t>(n) - 1);
    };
    return *image_.at(
        grid_.cell(static_cast<std::size_t>(in(x, first.x, all.x)), static_cast<std::size_t>(in(y, first.y, all.y))));
  }
  // Of the block's shape and one more on each side.
  void pad(std::size_t b, double* to) const {
    const extent n = grid_.shape(b);
    const auto w = static_cast<std::ptrdiff_t>(n.x), h = static_cast<std::ptrdiff_t>(n.y);
    for (std::ptrdiff_t y = -1; y <= h; ++y) {
      *to++ = pixel(b, -1, y);
      if (y < 0 || y == h)
        for (std::ptrdiff_t x = 0; x < w; ++x) *to++ = pixel(b, x, y);
      else
        to = std::copy_n(image_.at(b * grid_.room()) + y * w, w, to);
      *to++ = pixel(b, w, y);
    }
  }
  void blur_to(std::size_t b, double* out) const {
    const extent n = grid_.shape(b);
    auto* const padded = static_cast<double*>(workspace((n.x + 2) * (n.y + 2) * sizeof(double)));
    pad(b, padded);
    blur(n, padded, out);
  }
  // What blurring a block loads: the block, and of those around it rows, and a line of each row's end.
  void image_loads(std::size_t b, data_uses& uses) const {
    constexpr std::size_t line = 64 / sizeof(double);
    uses.add(image_.loads(b * grid_.room(), cells(b)));
    for (int dy = -1; dy <= 1; ++dy)
      for (int dx = -1; dx <= 1; ++dx) {
        const std::size_t other = grid_.beside(b, dx, dy, 0);
        if (other == b || other == blocks()) continue;
        const extent n = grid_.shape(other);
        const std::size_t moved = std::min(cells(other), dx == 0 ? n.x : dy == 0 ? n.y * line : std::size_t{1});
        uses.add(image_.loads(other * grid_.room() + (dy < 0 ? cells(other) - moved : 0), moved));
      }
  }

  void blur_shared(runtime& rt, std::size_t b) {
    tokens reads, writes;
    writes.add(&tokens_[b]);
    submit_shared(rt, *this, "blur", reads, writes, [this, b] {
      if (!is_model_only) blur_to(b, smooth_.at(b * grid_.room()));
      data_uses uses;
      image_loads(b, uses);
      uses.add(smooth_.stores(b * grid_.room(), cells(b)));
      spend(b, scale_ * cycles_to_blur * static_cast<double>(cells(b)), uses);
    });
  }
  void edges_shared(runtime& rt, std::size_t b) {
    tokens reads, writes;
    const auto [right, below, beyond] = behind(b);
    for (const std::size_t other : {b, right, below, beyond})
      if (other != blocks()) reads.add(&tokens_[other]);
    submit_shared(rt, *this, "roberts", reads, writes, [this, b] {
      if (!is_model_only) edges_of_shared(b);
      const auto [r, d, rd] = behind(b);
      constexpr std::size_t line = 64 / sizeof(double);
      data_uses uses;
      uses.add(smooth_.loads(b * grid_.room(), cells(b)));
      if (r != blocks()) uses.add(smooth_.loads(r * grid_.room(), std::min(cells(r), grid_.shape(r).y * line)));
      if (d != blocks()) uses.add(smooth_.loads(d * grid_.room(), grid_.shape(d).x));
      if (rd != blocks()) uses.add(smooth_.loads(rd * grid_.room(), 1));
      uses.add(edges_.stores(b * grid_.room(), cells(b)));
      spend(b, scale_ * cycles_to_cross * static_cast<double>(cells(b)), uses);
    });
  }
  void edges_of_shared(std::size_t b) {
    const auto block = [this](std::size_t i) -> const double* { return smooth_.at(i * grid_.room()); };
    const auto [r, d, rd] = behind(b);
    const extent n = grid_.shape(b);
    edges_to(b, block(b), r != blocks() ? side_of(block(r), grid_.shape(r), 0) : side_of(block(b), n, 1),
             d != blocks() ? side_of(block(d), grid_.shape(d), 2) : side_of(block(b), n, 3),
             rd != blocks() ? block(rd) : nullptr);
  }
  // corner: nullptr at the border, where it is the last pixel of what there is.
  void edges_to(std::size_t b, const double* own, const plane<const double>& right, const plane<const double>& below,
                const double* corner) {
    const extent n = grid_.shape(b);
    const double border = behind(b).below != blocks() ? below.at(n.x - 1, 0) : right.at(n.y - 1, 0);
    find_edges(n, own, right, below, corner != nullptr ? *corner : border, edges_.at(b * grid_.room()));
  }

  // Streams: of each block its pixels, its first column to the left, its first row to above, and its first pixel.
  void blur_streams(runtime& rt, std::size_t b) {
    const extent n = grid_.shape(b);
    const auto some = [&](int dx, int dy, std::size_t count) {
      return grid_.beside(b, dx, dy, 0) != blocks() ? count : 0;
    };
    rt.submit(
        named("blur"), computing(scale_ * cycles_to_blur * static_cast<double>(cells(b))), push(own_[b], cells(b)),
        push(to_left_[b], some(-1, 0, n.y)), push(to_above_[b], some(0, -1, n.x)), push(to_both_[b], some(-1, -1, 1)),
        [this, b](std::span<double> own, std::span<double> left, std::span<double> above, std::span<double> both) {
          if (!is_model_only) {
            const extent shape = grid_.shape(b);
            blur_to(b, own.data());
            const double* const from = own.data();
            if (!left.empty()) pack(side_of(from, shape, 0), plane_of(shape, 0), left);
            if (!above.empty()) pack(side_of(from, shape, 2), plane_of(shape, 2), above);
            if (!both.empty()) both[0] = own[0];
          }
          data_uses uses;
          image_loads(b, uses);
          spend(b, 0, uses);
        });
  }
  void edges_streams(runtime& rt, std::size_t b) {
    const extent n = grid_.shape(b);
    const auto [r, d, rd] = behind(b);
    const auto from = [&](std::vector<stream<double>>& v, std::size_t other) -> stream<double>& {
      return v[other != blocks() ? other : b];
    };
    rt.submit(named("roberts"), computing(scale_ * cycles_to_cross * static_cast<double>(cells(b))),
              pop(own_[b], cells(b)), pop(from(to_left_, r), r != blocks() ? n.y : 0),
              pop(from(to_above_, d), d != blocks() ? n.x : 0), pop(from(to_both_, rd), rd != blocks() ? 1 : 0),
              [this, b](std::span<const double> own, std::span<const double> right, std::span<const double> below,
                        std::span<const double> corner) {
                const extent shape = grid_.shape(b);
                const auto at = [&](std::span<const double> x, std::size_t side) {
                  return x.empty() ? side_of(own.data(), shape, side) : packed(x, plane_of(shape, side));
                };
                if (!is_model_only)
                  edges_to(b, own.data(), at(right, 1), at(below, 3), corner.empty() ? nullptr : corner.data());
                data_uses uses;
                uses.add(edges_.stores(b * grid_.room(), own.size()));
                spend(b, 0, uses);
              });
  }

  const grid grid_;
  const double scale_;
  area<double> image_, smooth_, edges_;
  std::vector<handle<void>> tokens_;
  std::vector<stream<double>> own_, to_left_, to_above_, to_both_;
};

check blur_roberts::compare() const {
  const extent n = grid_.cells();
  std::vector<double> image(n.count()), blurred(n.count());
  for (std::size_t i = 0; i < image.size(); ++i) image[i] = near::noise(i);
  const auto at = [&](const std::vector<double>& of, std::size_t x, std::size_t y) {
    return of[std::min(y, n.y - 1) * n.x + std::min(x, n.x - 1)];
  };
  for (std::size_t y = 0; y < n.y; ++y)
    for (std::size_t x = 0; x < n.x; ++x) {
      const std::size_t w = x == 0 ? 0 : x - 1, up = y == 0 ? 0 : y - 1;
      blurred[y * n.x + x] =
          smooth(at(image, w, up), at(image, x, up), at(image, x + 1, up), at(image, w, y), at(image, x, y),
                 at(image, x + 1, y), at(image, w, y + 1), at(image, x, y + 1), at(image, x + 1, y + 1));
    }
  std::size_t different = 0, seen = 0;
  for (std::size_t b = 0; b < blocks(); ++b)
    grid_.each_cell(b, [&](std::size_t i, std::size_t x, std::size_t y, std::size_t) {
      const double wanted =
          cross(at(blurred, x, y), at(blurred, x + 1, y), at(blurred, x, y + 1), at(blurred, x + 1, y + 1));
      different += std::bit_cast<std::uint64_t>(*edges_.at(i)) != std::bit_cast<std::uint64_t>(wanted);
      ++seen;
    });
  return {"same_bits_as_serial", different == 0 && seen == image.size(),
          std::to_string(different) + " of " + std::to_string(seen) + " pixels differ"};
}

result run(const parameters& p, const weft::options& opt, progress& bar) {
  const auto pixels = static_cast<double>(p.width) * static_cast<double>(p.height);
  if (!p.how->model_only) require_memory("blur-roberts", 5.0 * sizeof(double) * pixels);
  runtime rt(with_pages(opt, p.how->pages, p.how->migrate));
  blur_roberts work(p);
  work.fill(rt);
  result r;
  r.seconds = drive(rt, *p.how, work, bar);
  r.describe(rt);
  r.add("pixels", std::uint64_t{p.width * p.height});
  r.add("blocks", std::uint64_t{work.items(0)});
  p.how->describe(r);
  r.add("ns_per_pixel", r.seconds * 1e9 / pixels);
  if (!p.how->model_only) r.checks.push_back(work.compare());
  r.checks.push_back(all_ran(work));
  return r;
}

}  // namespace

app blur_roberts_app() {
  auto p = std::make_shared<parameters>();
  std::vector<option> options = {{"nx", "pixels of a row", &p->width, 1, 1u << 20},
                                 {"ny", "rows", &p->height, 1, 1u << 20},
                                 {"bx", "pixels of a block's row", &p->block_width, 1, 1u << 20},
                                 {"by", "rows of a block", &p->block_height, 1, 1u << 20}};
  std::ranges::copy(setting::options(p->how), std::back_inserter(options));
  return {.name = "blur-roberts",
          .summary = "Gaussian blur and Roberts' cross of an image, by blocks",
          .example = "blur-roberts --form dsa --machine opteron-6282-64",
          .options = std::move(options),
          .run = [p](const weft::options& opt, progress& bar) { return run(*p, opt, bar); }};
}

}  // namespace weft::apps

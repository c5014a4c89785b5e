// A five-point stencil on ranks: blocks of rows, and of each block its first and last row apart, because these alone
// travel. Owners are neighbours, so each step moves two rows for each border between ranks.
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "weft/cluster.hpp"

namespace weft::programs {

class stencil {
 public:
  using rows = std::vector<double>;
  // `blocks` blocks of `height` rows of `width`.
  stencil(cluster& w, std::size_t blocks, std::size_t height, std::size_t width)
      : w_(w), height_(height), width_(width) {
    for (std::size_t k = 0; k < blocks; ++k) {
      const int owner = static_cast<int>(k * static_cast<std::size_t>(w.size()) / blocks);
      blocks_.push_back(std::make_unique<cluster_handle<rows>>(w, owner, height * width));
      tops_.push_back(std::make_unique<cluster_handle<rows>>(w, owner, width));
      bottoms_.push_back(std::make_unique<cluster_handle<rows>>(w, owner, width));
      w.submit(write(*blocks_[k]), named("fill"), [k](rows& b) {
        for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<double>((k * 7919 + i * 104729) % 1009);
      });
    }
  }

  void step() {
    const std::size_t n = blocks_.size(), width = width_, height = height_;
    for (std::size_t k = 0; k < n; ++k)
      w_.submit(read(*blocks_[k]), write(*tops_[k]), write(*bottoms_[k]), named("edges"),
                [width](const rows& b, rows& top, rows& bottom) {
                  top.assign(b.begin(), b.begin() + static_cast<std::ptrdiff_t>(width));
                  bottom.assign(b.end() - static_cast<std::ptrdiff_t>(width), b.end());
                });
    for (std::size_t k = 0; k < n; ++k)
      w_.submit(read(*bottoms_[(k + n - 1) % n]), read(*tops_[(k + 1) % n]), write(*blocks_[k]), named("update"),
                [width, height](const rows& above, const rows& below, rows& b) {
                  rows next(b.size());
                  for (std::size_t r = 0; r < height; ++r)
                    for (std::size_t c = 0; c < width; ++c) {
                      const double up = r == 0 ? above[c] : b[(r - 1) * width + c];
                      const double down = r + 1 == height ? below[c] : b[(r + 1) * width + c];
                      const double left = b[r * width + (c + width - 1) % width];
                      const double right = b[r * width + (c + 1) % width];
                      next[r * width + c] = 0.5 * b[r * width + c] + 0.125 * (up + down + left + right);
                    }
                  b = next;
                });
  }

  // The same on all ranks, and for any number of them.
  [[nodiscard]] std::uint64_t checksum() {
    std::uint64_t sum = 0;
    for (auto& b : blocks_)
      for (const double x : w_.get(*b)) sum = (sum ^ std::bit_cast<std::uint64_t>(x)) * 0x100000001b3u;
    return sum;
  }

 private:
  cluster& w_;
  std::size_t height_, width_;
  std::vector<std::unique_ptr<cluster_handle<rows>>> blocks_, tops_, bottoms_;
};

}  // namespace weft::programs

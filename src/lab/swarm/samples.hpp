// What each tile of a chip does over time, as in Swarm's Fig. 18: it is added up from sample to sample.
#pragma once
#include <cstdint>
#include <vector>

#include "weft/lab/swarm.hpp"

namespace weft::swarm {

class samples {
 public:
  samples(const swarm_options& options, std::size_t tiles)
      : period_(options.sample_period), from_(options.sample_from), left_(period_ == 0 ? 0 : options.sample_count),
        since_(tiles) {
    for (std::size_t i = 0; i < tiles; ++i) since_[i].tile = static_cast<std::uint32_t>(i);
  }
  // The cycle of the next sample; none is left: the end of all time.
  [[nodiscard]] std::uint64_t next() const noexcept { return left_ == 0 ? UINT64_MAX : from_ + taken_ * period_; }
  // What is added up for a tile until its next sample.
  [[nodiscard]] swarm_sample& of(std::size_t tile) noexcept { return since_[tile]; }
  // The sample of next(). entries(sample): fills in what the queues of its tile hold.
  template <class Entries> void take(const Entries& entries) {
    for (swarm_sample& s : since_) {
      s.cycle = next();
      entries(s);
      if (taken_ != 0) all_.push_back(s);  // what was before the first is of no stretch of time
      const std::uint32_t tile = s.tile;
      s = {};
      s.tile = tile;
    }
    ++taken_;
    --left_;
  }
  [[nodiscard]] const std::vector<swarm_sample>& all() const noexcept { return all_; }

 private:
  std::uint64_t period_, from_, left_;
  std::uint64_t taken_ = 0;
  std::vector<swarm_sample> since_;
  std::vector<swarm_sample> all_;
};

}  // namespace weft::swarm

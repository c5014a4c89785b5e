// A sum that many threads change, and the most that it ever was. Each thread adds to a drift of its own in plain words,
// and carries it over when it has grown to 64 KiB; so the shared word is written seldom. The sum is exact whenever
// nobody adds. The peak is exact where one thread adds at a time and the others have carried nothing back since, as on
// modelled machines, where one thread plays all workers; else it may be off by 64 KiB for each thread.
#pragma once
#include <algorithm>
#include <cstdint>

#include "base/atomic.hpp"

namespace weft::memory {

class gauge {
 public:
  static constexpr std::int64_t drift_max = 65'536;

  // What a thread has added and not yet carried over. Who writes: that thread.
  struct drift {
    detail::cell<std::int64_t> sum;
    detail::cell<std::int64_t> high;  // the most that `sum` was since it was carried over
  };

  // Who: any thread. Cost: a locked addition, and of a new peak a second locked operation.
  void add(std::int64_t n) noexcept { raise(base::shared(sum_).fetch_add(n, base::relaxed) + n); }

  // Who: the drift's thread. Cost: a few plain instructions, and add() in 64 KiB.
  [[gnu::always_inline]] void add(std::int64_t n, drift& mine) noexcept {
    const std::int64_t sum = detail::peek(mine.sum) + n;
    detail::poke(mine.sum, sum);
    if (sum > detail::peek(mine.high)) detail::poke(mine.high, sum);
    if (sum >= drift_max || sum <= -drift_max) [[unlikely]]
      carry(mine);
  }

  // Folds over the drifts of all threads. Who: any thread.
  class reading {
   public:
    explicit reading(const gauge& g) noexcept
        : shared_(detail::peek(g.sum_)), sum_(shared_), peak_(detail::peek(g.peak_)) {}
    void with(const drift& d) noexcept {
      sum_ += detail::peek(d.sum);
      peak_ = std::max(peak_, shared_ + detail::peek(d.high));
    }
    [[nodiscard]] std::uint64_t sum() const noexcept { return at_least_0(sum_); }
    [[nodiscard]] std::uint64_t peak() const noexcept { return at_least_0(std::max(peak_, sum_)); }

   private:
    static std::uint64_t at_least_0(std::int64_t n) noexcept { return static_cast<std::uint64_t>(n < 0 ? 0 : n); }
    std::int64_t shared_, sum_, peak_;
  };

 private:
  [[gnu::noinline]] void carry(drift& mine) noexcept {
    const std::int64_t before = base::shared(sum_).fetch_add(detail::peek(mine.sum), base::relaxed);
    raise(before + detail::peek(mine.high));
    detail::poke(mine.sum, std::int64_t{0});
    detail::poke(mine.high, std::int64_t{0});
  }
  void raise(std::int64_t to) noexcept {
    std::int64_t most = detail::peek(peak_);
    while (to > most && !base::shared(peak_).compare_exchange_weak(most, to, base::relaxed, base::relaxed)) {
    }
  }

  detail::cell<std::int64_t> sum_;
  detail::cell<std::int64_t> peak_;
};

}  // namespace weft::memory

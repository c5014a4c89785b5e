// How long bodies are, as the scheduler sees it: whether moving one to another core pays, and whether what is private
// must be put within reach of thieves before the next body begins. Bodies are timed each while they are long and once
// in a while when they are short, since two looks at the clock cost as much as a tiny task.
// A body that waited is not measured: the time it was set aside says nothing about how long bodies are.
#pragma once
#include <algorithm>
#include <cstdint>

#include "base/atomic.hpp"
#include "base/limits.hpp"

namespace weft::sched {

// A worker's part. Who: its own thread.
struct pace {
  bool coarse = true;         // bodies here are long: keep everything within reach of thieves
  bool timed = true;          // the next body is, as all are while they are long
  bool always = false;        // each body is watched for another reason: a trace
  bool watched = true;        // timed or always
  unsigned short_bodies = 0;  // in a row, while coarse

  void time_next() noexcept { timed = watched = true; }
};

template <class M> class tempo {
 public:
  // Whether bodies are so short that bringing one over to another core costs more than running it here. A hint.
  [[nodiscard]] bool tiny() noexcept { return M::load(body_ns_, base::relaxed) < base::worth_stealing_ns; }

  // A body has run for so long. Who: p's worker. Order: relaxed; the mean is a hint, and a lost update is a sample
  // less.
  void ran(pace& p, std::uint64_t body_ps) noexcept {
    const auto ns = static_cast<std::uint32_t>(std::min<std::uint64_t>(body_ps / 1000, unknown_ns / 8));
    const std::uint32_t before = M::load(body_ns_, base::relaxed);
    const std::uint32_t now = before == unknown_ns ? ns : towards(before, ns);
    if (now != before) M::store(body_ns_, now, base::relaxed);
    const bool is_long = body_ps >= base::long_body_ps;
    p.short_bodies = is_long ? 0 : p.short_bodies + 1;
    p.coarse = is_long || (p.coarse && p.short_bodies < base::short_bodies_max);
    p.timed = p.coarse;
    p.watched = p.timed || p.always;
  }

 private:
  // An eighth of the way, at least one step, so that the mean arrives.
  [[nodiscard]] static std::uint32_t towards(std::uint32_t mean, std::uint32_t ns) noexcept {
    return ns > mean ? mean + (ns - mean + 7) / 8 : mean - (mean - ns + 7) / 8;
  }

  static constexpr std::uint32_t unknown_ns = ~std::uint32_t{0};
  detail::cell<std::uint32_t> body_ns_{unknown_ns};
};

}  // namespace weft::sched

// What the time of each worker goes into: bodies, searches, sleep, the program's own code. Kept only where others may
// look (weft top): then a worker reads the clock as it begins or ends to search, and around its sleep - never for a
// task. Elsewhere each of these steps costs the test of one flag.
// Who looks sees sums that a worker changes meanwhile: since_ps tells when a period was over between two looks at it.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

#include "base/assert.hpp"
#include "sched/workers/crew.hpp"
#include "sched/workers/worker.hpp"

namespace weft::sched {

template <class M> class worker_time {
 public:
  using sums = std::array<std::uint64_t, spends_count>;  // ps, by what they are spent in

  explicit worker_time(M& machine) noexcept : machine_(machine) {}
  // Nobody has begun: the main thread is in the program, the others will say so themselves. Who: the thread that makes
  // the runtime, before any worker runs.
  void open(crew<M>& all, bool on) noexcept {
    WEFT_ASSERT(all.is_open() && !on_);
    if (!on) return;
    const std::uint64_t now = machine_.now_ps();
    for (const auto& w : all) {
      set_now(*w, w->id == 0 && all.has_reserve() ? spends::outside : spends::asleep);
      detail::poke(w->time.since_ps, now);
    }
    on_ = true;
  }
  [[nodiscard]] bool on() const noexcept { return on_; }

  // From here on w spends its time so. Who: its thread.
  void turns(worker<M>& w, spends to) noexcept {
    if (on_) [[unlikely]]
      turn(w, to);
  }
  // For as long as this lives; then as before.
  class during {
   public:
    during(worker_time& times, worker<M>& w, spends in) noexcept : times_(times), w_(w), before_(now_of(w)) {
      times.turns(w, in);
    }
    ~during() { times_.turns(w_, before_); }
    during(const during&) = delete;
    during& operator=(const during&) = delete;

   private:
    worker_time& times_;
    worker<M>& w_;
    const spends before_;
  };

  // Who: anyone.
  [[nodiscard]] static spends now_of(const worker<M>& w) noexcept {
    return static_cast<spends>(detail::peek(w.time.now));
  }
  // Of w up to now, what goes on included. Who: anyone; w goes on meanwhile.
  [[nodiscard]] sums of(const worker<M>& w, std::uint64_t now_ps) const noexcept {
    sums found{};
    std::uint64_t since = 0;
    unsigned tries = 0;
    do {
      since = detail::peek(w.time.since_ps);
      for (std::size_t i = 0; i < spends_count; ++i) found[i] = detail::peek(w.time.sum_ps[i]);
      if (now_ps > since) found[static_cast<std::size_t>(now_of(w))] += now_ps - since;
    } while (detail::peek(w.time.since_ps) != since && ++tries < tries_max);
    return found;
  }

 private:
  static constexpr unsigned tries_max = 8;  // beyond that w turns so often that one period is nothing

  static void set_now(worker<M>& w, spends to) noexcept { detail::poke(w.time.now, static_cast<std::uint8_t>(to)); }
  [[gnu::noinline]] void turn(worker<M>& w, spends to) noexcept {
    const std::uint64_t now = machine_.now_ps();
    const auto was = static_cast<std::size_t>(now_of(w));
    WEFT_ASSERT(was < spends_count && now >= detail::peek(w.time.since_ps));
    detail::poke(w.time.sum_ps[was], detail::peek(w.time.sum_ps[was]) + now - detail::peek(w.time.since_ps));
    set_now(w, to);
    detail::poke(w.time.since_ps, now);
  }

  M& machine_;
  bool on_ = false;
};

}  // namespace weft::sched

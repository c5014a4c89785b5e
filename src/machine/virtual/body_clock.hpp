// The clock that measures bodies where a machine is modelled: how long this thread has computed between two looks.
// What other programs do on this computer's cores meanwhile is no part of a body, and neither is the clock itself. The
// clock that counts a thread's own time is a call of the system, which takes as long as a small body; that of the
// system's time is not. So short stretches are measured by the latter: a thread that loses its core comes back a
// millisecond later, not some microseconds. Only who took long asks how much of that was this thread's own. The most it
// can have been is what the thread has had since it was last asked, and so it is asked at the beginning of a stretch,
// where nobody measures, if the last time is long ago.
// The price of two looks is taken off, as it is on this computer: the mean, since the clock's grain is half of it.
#pragma once
#include <cstdint>

namespace weft::machine {

class body_clock {
 public:
  static constexpr std::uint64_t doubtful_ns = 50'000;  // from here on another program may have had the core meanwhile
  static constexpr std::uint64_t asks_after_ns = 20'000;

  // Two clocks in nanoseconds: of the system, which is cheap to read and never 0; and of this thread alone.
  struct clocks {
    std::uint64_t (*system)() noexcept;
    std::uint64_t (*thread)() noexcept;
  };
  body_clock() noexcept;
  // price_ps: what a stretch in which nothing happens seems to take.
  body_clock(const clocks& c, std::uint64_t price_ps) noexcept : clocks_(c), price_ps_(price_ps) {}

  // A stretch begins. Returns its beginning, which is not 0.
  [[nodiscard]] std::uint64_t begin() noexcept;
  // What this thread has computed since then, in picoseconds.
  [[nodiscard]] std::uint64_t since(std::uint64_t begin) const noexcept;
  [[nodiscard]] std::uint64_t price_ps() const noexcept { return price_ps_; }

 private:
  void ask() noexcept;

  clocks clocks_;
  std::uint64_t price_ps_;
  std::uint64_t asked_at_ = 0, own_ = 0;  // when the thread's own time was last asked for, and what it was
};

}  // namespace weft::machine

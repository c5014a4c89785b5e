// What the tasks do. A body is called with the first cell that its task writes and with the cells that it reads:
// body(written, read...). Three of them: one increment, so that nothing is left to measure but the task; a given time
// and an increment, for METG; and a function of all it may see that is the same in no other order, for proof.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace weft::bench {

using cell_index = std::uint32_t;
using value = std::uint64_t;

// The barrier keeps a compiler from adding up a loop of serial tasks at once.
inline void touch(value& cell) noexcept {
  ++cell;
  asm volatile("" : "+m"(cell));
}

// Keeps a core busy with a chain of dependent multiplications. A clock read in each body would cost more than a task.
inline void spin(std::uint64_t rounds) noexcept {
  value x = rounds;
  for (; rounds > 0; --rounds) {
    x = x * 6364136223846793005U + 1442695040888963407U;
    asm volatile("" : "+r"(x));
  }
}

struct increment {
  static constexpr bool looks = false;  // at the cells that the task reads
  static constexpr increment next() noexcept { return {}; }
  void operator()(value& written) const noexcept { touch(written); }
};

struct spin_and_increment {
  static constexpr bool looks = false;
  std::uint64_t rounds = 0;
  [[nodiscard]] spin_and_increment next() const noexcept { return *this; }
  void operator()(value& written) const noexcept {
    spin(rounds);
    touch(written);
  }
};

// The cells after a pass are what program order leaves there only if each task saw what it should see: multiplication
// and exclusive or do not commute, and the tasks are numbered, so no two of them can change places unnoticed. The
// spins, of lengths that look random, give a system that ignores a dependence time to be caught: one before looking
// (another task may overwrite too early), one before writing (another may look late).
struct mix {
  static constexpr bool looks = true;
  value number = 0;
  mix next() noexcept { return {++number}; }
  template <class... Reads> void operator()(value& written, const Reads&... reads) const noexcept {
    constexpr value odd = 0x9e3779b97f4a7c15U;
    value x = (written ^ number) * odd;
    spin((x >> 20) % 64);
    ((x = (x ^ reads) * odd), ...);
    x = (x ^ x >> 29) * odd;
    spin((x >> 20) % 64);
    written = x;
  }
};

// A body with the cells it works on, for systems that take any callable and keep the cells in an array. As small as the
// body allows: just a pointer for an increment.
template <class Body, std::size_t R> class job {
 public:
  job(value* cells, const std::array<cell_index, R>& reads, cell_index written, Body body) noexcept
      : cells_(cells), reads_(reads), written_(written), body_(body) {}
  void operator()() const noexcept {
    [this]<std::size_t... I>(std::index_sequence<I...>) {
      body_(cells_[written_], cells_[reads_[I]]...);
    }(std::make_index_sequence<R>{});
  }

 private:
  value* cells_;
  std::array<cell_index, R> reads_;
  cell_index written_;
  [[no_unique_address]] Body body_;
};

template <class Body, std::size_t R>
  requires(!Body::looks)
class job<Body, R> {
 public:
  job(value* cells, const std::array<cell_index, R>&, cell_index written, Body body) noexcept
      : written_(cells + written), body_(body) {}
  void operator()() const noexcept { body_(*written_); }

 private:
  value* written_;
  [[no_unique_address]] Body body_;
};

}  // namespace weft::bench

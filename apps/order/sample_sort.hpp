// A sample sort on the threads of a modelled chip: splitters from a sample, each thread puts its part of the entries
// into buckets, and each bucket is sorted by one thread. An entry is two words, a key and what it is about, as in the
// list of a serial program on that chip, and sorting takes as many instructions for each entry and level as there
// (src/lab/swarm/waiting_calls.hpp): halving by a splitter is such a level too.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "paged.hpp"
#include "weft/lab/chip_threads.hpp"

namespace weft::apps::order {

struct keyed {
  std::uint64_t key;
  std::uint64_t at;
};

// A thread's part of n things that lie in a row.
struct part {
  std::size_t from, to;
};
[[nodiscard]] inline part part_of(const chip_thread& t, std::size_t n) noexcept {
  return {n * t.rank() / t.count(), n * (t.rank() + 1) / t.count()};
}

constexpr std::uint64_t sort_instructions = 5;  // of an entry at a level, its loads and stores among them
constexpr std::uint64_t loop_instructions = 3;  // of each round

// What all threads of a team use together. Who: all of them, with the same arguments; a call returns when all are done.
class sample_sort {
 public:
  explicit sample_sort(std::size_t entries_max);

  // Keys in `to`, from the least. No two may be equal, or their order is not said. from and to do not overlap.
  void sort(chip_thread& t, std::span<const keyed> from, std::span<keyed> to);
  // A key with about as many as `rank` keys below, by a sample.
  [[nodiscard]] std::uint64_t near(chip_thread& t, std::span<const keyed> from, std::size_t rank);
  [[nodiscard]] chip_barrier& barrier() noexcept { return barrier_; }

 private:
  static constexpr std::size_t buckets_max = chip_threads_max;  // one for each thread

  // Of a thread: how many entries it has for each bucket; then where the next one of them goes.
  struct alignas(64) row {
    std::uint64_t of[buckets_max];
  };

  void draw(chip_thread& t, std::span<const keyed> from, std::size_t samples);
  void choose(chip_thread& t, std::span<const keyed> from, std::size_t buckets);
  void count(chip_thread& t, std::span<const keyed> from, std::size_t buckets);
  [[nodiscard]] part place(chip_thread& t, std::size_t buckets);

  chip_barrier barrier_;
  paged<std::uint64_t> sample_;
  paged<std::uint64_t> splitters_;
  paged<std::uint16_t> bucket_of_;  // each entry
  paged<row> rows_;                 // of each thread
  paged<std::uint64_t> sizes_;      // of buckets
};

}  // namespace weft::apps::order

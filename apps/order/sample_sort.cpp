#include "sample_sort.hpp"

#include <algorithm>
#include <bit>

namespace weft::apps::order {

namespace {

constexpr std::size_t oversampling = 8;         // samples for each bucket, as in PBBS
constexpr std::size_t samples_for_rank = 1000;  // that near() looks at
constexpr std::size_t bucket_min = 32;          // entries in the mean: fewer are not worth a thread's way there
constexpr std::size_t sort_by_hand = 16;        // entries: in order within two lines (waiting_calls.hpp)
constexpr std::uint64_t hash_instructions = 4;
constexpr std::uint64_t count_instructions = 2;  // where a counter is, and one more

// A quicksort with pivots in the middle: each level goes through all that it has.
template <class T> void tell_sort(chip_thread& t, std::span<T> all) {
  constexpr std::uint64_t words = sizeof(T) / 8;
  for (T& x : all) {
    t.work(sort_instructions - words);
    t.store(x, x);
  }
  if (all.size() <= sort_by_hand) return;
  tell_sort(t, all.first(all.size() / 2));
  tell_sort(t, all.subspan(all.size() / 2));
}

// Where the i-th sample is taken: at random places, the same in each run.
std::size_t sample_place(std::size_t i, std::size_t n) noexcept {
  return static_cast<std::size_t>((i * 0x9e3779b97f4a7c15u >> 20) % n);
}

}  // namespace

sample_sort::sample_sort(std::size_t entries_max)
    : sample_(std::max(oversampling * buckets_max, samples_for_rank)), splitters_(buckets_max), bucket_of_(entries_max),
      rows_(buckets_max), sizes_(buckets_max) {}

// A sample in order. One thread sorts it: it is small.
void sample_sort::draw(chip_thread& t, std::span<const keyed> from, std::size_t samples) {
  const part mine = part_of(t, samples);
  for (std::size_t i = mine.from; i < mine.to; ++i) {
    t.work(loop_instructions + hash_instructions);
    t.store(sample_[i], t.load(from[sample_place(i, from.size())].key));
  }
  barrier_.arrive_and_wait(t);
  if (t.rank() != 0) return;
  const std::span<std::uint64_t> all(sample_.data(), samples);
  std::ranges::sort(all);
  tell_sort(t, all);
}

std::uint64_t sample_sort::near(chip_thread& t, std::span<const keyed> from, std::size_t rank) {
  const std::size_t samples = std::min(samples_for_rank, from.size());
  draw(t, from, samples);
  barrier_.arrive_and_wait(t);
  const std::uint64_t found = t.load(sample_[rank * samples / from.size()]);
  barrier_.arrive_and_wait(t);  // the sample is free again
  return found;
}

void sample_sort::choose(chip_thread& t, std::span<const keyed> from, std::size_t buckets) {
  draw(t, from, oversampling * buckets);
  if (t.rank() == 0)
    for (std::size_t i = 1; i < buckets; ++i) {
      t.work(loop_instructions);
      t.store(splitters_[i - 1], t.load(sample_[i * oversampling]));
    }
  barrier_.arrive_and_wait(t);
}

void sample_sort::count(chip_thread& t, std::span<const keyed> from, std::size_t buckets) {
  row& counts = rows_[t.rank()];
  for (std::size_t b = 0; b < buckets; ++b) t.store(counts.of[b], 0);
  const part mine = part_of(t, from.size());
  for (std::size_t i = mine.from; i < mine.to; ++i) {
    t.work(loop_instructions + count_instructions);
    const std::uint64_t key = t.load(from[i].key);
    std::size_t low = 0, high = buckets - 1;  // so many splitters are not above the key
    while (low < high) {
      const std::size_t middle = (low + high) / 2;
      t.work(sort_instructions - 1);
      if (t.load(splitters_[middle]) <= key)
        low = middle + 1;
      else
        high = middle;
    }
    t.store(bucket_of_[i], static_cast<std::uint16_t>(low));
    t.store(counts.of[low], t.load(counts.of[low]) + 1);
  }
  barrier_.arrive_and_wait(t);
}

// Counts become places: of each bucket by one thread, and then each thread adds where the buckets begin. Returns the
// entries of this thread's own bucket.
part sample_sort::place(chip_thread& t, std::size_t buckets) {
  const std::size_t own = t.rank();
  if (own < buckets) {
    std::uint64_t sum = 0;
    for (std::uint32_t r = 0; r < t.count(); ++r) {
      t.work(loop_instructions + 1);
      const std::uint64_t here = t.load(rows_[r].of[own]);
      t.store(rows_[r].of[own], sum);
      sum += here;
    }
    t.store(sizes_[own], sum);
  }
  barrier_.arrive_and_wait(t);
  part found{0, 0};
  std::uint64_t begin = 0;
  for (std::size_t b = 0; b < buckets; ++b) {
    t.work(loop_instructions + count_instructions);
    std::uint64_t& next = rows_[own].of[b];
    t.store(next, t.load(next) + begin);
    const std::uint64_t size = t.load(sizes_[b]);
    if (b == own) found = {begin, begin + size};
    begin += size;
  }
  return found;
}

void sample_sort::sort(chip_thread& t, std::span<const keyed> from, std::span<keyed> to) {
  if (from.empty()) return;
  const std::size_t buckets = std::clamp<std::size_t>(from.size() / bucket_min, 1, t.count());
  choose(t, from, buckets);
  count(t, from, buckets);
  const part own = place(t, buckets);
  const part mine = part_of(t, from.size());
  for (std::size_t i = mine.from; i < mine.to; ++i) {
    t.work(loop_instructions + count_instructions);
    std::uint64_t& next = rows_[t.rank()].of[t.load(bucket_of_[i])];
    const std::uint64_t at = t.load(next);
    t.store(next, at + 1);
    t.store(to[at], t.load(from[i]));
  }
  barrier_.arrive_and_wait(t);
  const std::span<keyed> bucket = to.subspan(own.from, own.to - own.from);
  std::ranges::sort(bucket, {}, &keyed::key);
  tell_sort(t, bucket);
  barrier_.arrive_and_wait(t);
}

}  // namespace weft::apps::order

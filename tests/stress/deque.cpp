// The deque on real threads: one owner pushes, pops and shares, thieves steal one or several; each record is taken
// exactly once, by whoever. The ring starts small and grows under the thieves' hands. Catches what the model checker's
// few operations cannot reach: growth while a thief holds the old ring, indices far apart, a starved flag that is lost
// for good.
#include "sched/queues/deque.hpp"

#include <atomic>
#include <thread>
#include <vector>

#include "base/random.hpp"
#include "machine/host/host.hpp"
#include "stress.hpp"

using weft::detail::record;
using deque = weft::sched::deque<weft::machine::host>;

namespace {

struct field {
  std::vector<record> records;
  std::vector<std::atomic<unsigned char>> taken;
  explicit field(std::size_t n) : records(n), taken(n) {}

  void take(record* r) {
    const auto i = static_cast<std::size_t>(r - records.data());
    require(i < records.size(), "a record that was never pushed");
    require(r->order == i * 3, "a record was taken before its fields were visible");
    require(taken[i].fetch_add(1, std::memory_order_relaxed) == 0, "a record was taken twice");
  }
};

// Takes what a full ring gives away; its tasks count as taken by the owner.
struct sink final : weft::detail::deque_overflow {
  explicit sink(field& f) : to(f) {}
  void take_over(record* oldest, record* newest, std::uint32_t n) noexcept override {
    overflowed += n;
    for (record* r = oldest; n > 0; --n) {
      record* const next = r->waiting.next;
      require(n > 1 || r == newest, "the last that overflows is not the newest");
      to.take(r);
      r = next;
    }
  }
  field& to;
  std::size_t overflowed = 0;
};

void thief(weft::detail::worker& w, field& f, std::atomic<bool>& over, std::atomic<std::size_t>& stolen,
           std::uint64_t seed) {
  weft::base::random rng(seed);
  std::size_t mine = 0;
  while (!over.load(std::memory_order_acquire)) {
    weft::sched::loot got;
    switch (deque::steal(w, got, [&rng](std::uint32_t n) { return 1 + rng.below(n); })) {
    case weft::sched::steal_result::taken:
      for (std::uint32_t i = 0; i < got.count; ++i) f.take(got.tasks[i]);
      mine += got.count;
      break;
    case weft::sched::steal_result::empty: std::this_thread::yield(); break;
    case weft::sched::steal_result::lost:
    case weft::sched::steal_result::sent_away: break;
    }
  }
  stolen += mine;
}

// Bursts of pushes and pops of random length; `lean` pops as much as it pushes, otherwise the deque grows.
void owner(weft::detail::worker& w, field& f, std::uint64_t seed, bool lean) {
  weft::base::random rng(seed);
  std::size_t next = 0;
  while (next < f.records.size()) {
    for (std::uint32_t burst = rng.below(lean ? 8 : 600); burst > 0 && next < f.records.size(); --burst, ++next) {
      f.records[next].order = next * 3;
      deque::push(w, &f.records[next]);
      if (deque::starved(w)) deque::share(w);
    }
    for (std::uint32_t burst = rng.below(lean ? 8 : 400); burst > 0; --burst) {
      record* r = deque::pop(w);
      if (r == nullptr) break;
      f.take(r);
      if (deque::starved(w)) deque::share(w);
    }
  }
  while (record* r = deque::pop(w)) f.take(r);
}

void play(unsigned thieves, std::size_t n, std::uint64_t seed, bool lean) {
  begin("deque: " + std::to_string(thieves) + " thieves, seed " + std::to_string(seed) + (lean ? ", lean" : ""));
  field f(n);
  weft::detail::worker w;
  sink overflow(f);
  deque::open(w, thieves > 0, {}, &overflow);
  std::atomic<bool> over{false};
  std::atomic<std::size_t> stolen{0};
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < thieves; ++t) threads.emplace_back([&, t] { thief(w, f, over, stolen, seed * 100 + t); });
  owner(w, f, seed, lean);
  over.store(true, std::memory_order_release);
  for (auto& t : threads) t.join();
  deque::close(w);
  for (std::size_t i = 0; i < n; ++i) require(f.taken[i] == 1, "record " + std::to_string(i) + " was lost");
  std::printf("  %zu of %zu stolen, %zu overflowed\n", stolen.load(), n, overflow.overflowed);
}

}  // namespace

int main() {
  std::uint64_t seed = 1;
  for (unsigned thieves : {0u, 1u, 2u, 3u, 7u})
    for (bool lean : {false, true}) play(thieves, amount(3'000'000), seed++, lean);
}

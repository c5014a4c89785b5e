// The deque under thousands of random schedules: one owner, one to three thieves, every shared access a point where
// another may go first. Thieves take one task or several, one thief at a time or all at once. Each task must be taken
// exactly once, and thieves may not starve beside an owner that has work; on some seeds the ring grows to 8 slots and
// no further, and its owner gives the oldest away. The same harness must reject eight broken
// deques, each without one thing that deque.md argues for.
#include <algorithm>
#include <vector>

#include "interleave.hpp"
#include "machine/host/host.hpp"
#include "sched/queues/deque.hpp"

namespace weft::sched {
namespace {

using M = interleave::unsteady;

struct sound : deque<M> {};

// What the deque does, but for its flaw. `none` shows that what the others are caught for is their flaw and not this
// copy.
enum class flaw { none, loads_and_stores, tells_nobody, reads_after_exchange, keeps_what_it_read };
template <flaw Flaw> struct copied_steal : sound {
  template <class HowMany>
  static steal_result steal(detail::worker& victim, loot& out, HowMany wanted, bool = true) noexcept {
    std::uint64_t word = M::load(victim.shared, base::seq_cst);
    shared_part s = shared_part::of(word);
    if (s.size == 0) return steal_result::empty;
    const std::uint32_t n = wanted(s.size);
    ring* r = M::load(victim.shared_ring, base::acquire);
    if (Flaw != flaw::reads_after_exchange) read(r, s, n, out);
    if (Flaw == flaw::loads_and_stores) M::store(victim.shared, s.without_oldest(n).word(), base::release);
    while (Flaw != flaw::loads_and_stores &&
           !M::compare_exchange(victim.shared, word, s.without_oldest(n).word(), base::acq_rel)) {
      const std::uint64_t top = s.top;
      s = shared_part::of(word);
      if (s.size < n || (s.top != top && Flaw != flaw::keeps_what_it_read)) return steal_result::lost;
    }
    if (Flaw == flaw::reads_after_exchange) read(r, s, n, out);
    if (s.size == n && Flaw != flaw::tells_nobody) M::store(victim.starved, std::uint8_t{1}, base::release);
    out.count = n;
    return steal_result::taken;
  }

 private:
  static void read(ring* r, const shared_part& s, std::uint32_t n, loot& out) noexcept {
    for (std::uint32_t i = 0; i < n; ++i) out.tasks[i] = M::load(r->slots()[(s.top + i) & r->mask], base::relaxed);
  }
};

// Takes tasks back without going round the ring: when it has put others into their slots and shared those, a thief that
// read the slots before finds the word as it was.
struct untagged_reclaim : sound {
  [[nodiscard]] static record* pop(detail::worker& w, bool) noexcept {
    detail::deque_owner& d = w.deque;
    std::uint64_t word = M::load(w.shared, base::acquire);
    for (shared_part s = shared_part::of(word); !has_private(w) && s.size > 1; s = shared_part::of(word)) {
      const std::uint32_t back = s.size / 2;
      if (!M::compare_exchange(w.shared, word, shared_part{s.top, s.size - back}.word(), base::acq_rel)) continue;
      d.split.raw -= back;
    }
    return sound::pop(w, false);
  }
};

// Takes back all that is shared, also the task at top, and does not go round the ring: the same for thieves of one.
struct greedy_reclaim : sound {
  [[nodiscard]] static record* pop(detail::worker& w, bool) noexcept {
    detail::deque_owner& d = w.deque;
    if (has_private(w)) return sound::pop(w, false);
    std::uint64_t word = M::load(w.shared, base::acquire);
    shared_part s = shared_part::of(word);
    while (s.size != 0 && !M::compare_exchange(w.shared, word, shared_part{s.top, 0}.word(), base::acq_rel))
      s = shared_part::of(word);
    if (s.size == 0) return nullptr;
    M::store(w.starved, std::uint8_t{1}, base::release);
    d.split.raw -= s.size;
    --d.bottom.raw;
    return M::load(d.slots[d.bottom.raw & d.mask], base::relaxed);
  }
};

// Clears the flag after it has added to the word: the flag of a thief that came in between is lost.
struct forgetful_share : sound {
  static bool share(detail::worker& w) noexcept {
    detail::deque_owner& d = w.deque;
    const std::uint32_t n = (d.bottom.raw - d.split.raw + 1) / 2;
    if (n == 0) return false;
    static_cast<void>(M::fetch_add(w.shared, std::uint64_t{n}, base::seq_cst));
    M::store(w.starved, std::uint8_t{0}, base::relaxed);
    d.split.raw += n;
    return true;
  }
};

// Gives away what lies at top as if no thief could have come in between.
struct careless_overflow : sound {
  static void push(detail::worker& w, record* r) noexcept {
    detail::deque_owner& d = w.deque;
    const shared_part s = shared_part::of(M::load(w.shared, base::acquire));
    const std::uint32_t n = std::min(s.size, w.slots_max / 2);
    if (n != 0 && d.bottom.raw - static_cast<std::uint32_t>(s.top) == w.slots_max) {
      record* const oldest = M::load(d.slots[s.top & d.mask], base::relaxed);
      record* newest = oldest;
      for (std::uint32_t i = 1; i < n; ++i)
        newest = newest->waiting.next = M::load(d.slots[(s.top + i) & d.mask], base::relaxed);
      M::store(w.shared, s.without_oldest(n).word(), base::release);
      if (n == s.size) M::store(w.starved, std::uint8_t{1}, base::release);
      d.limit = static_cast<std::uint32_t>(s.top) + n + w.slots_max;
      w.overflow->take_over(oldest, newest, n);
    }
    sound::push(w, r);
  }
};

// One owner with a random program and a few thieves, over any deque with the operations of sched::deque.
template <class D> class trial final : detail::deque_overflow {
 public:
  explicit trial(std::uint64_t seed)
      : play_(seed), rng_(seed * 3), unasked_(seed % 2 == 0), coarse_(seed % 5 == 0),
        slots_(seed % 4 < 2 ? 4 : base::deque_capacity_first), slots_max_(seed % 4 == 0 ? 8 : base::deque_capacity_max),
        single_(seed % 3 == 0), thieves_(1 + rng_.below(3)),
        tasks_(seed % 32 == 0 ? base::deque_capacity_first + 1 + rng_.below(300) : 2 + rng_.below(24)),
        taken_(tasks_.size()), inside_(thieves_) {}

  // What is wrong, or nullptr.
  const char* run() {
    const auto core = [this](unsigned id) { id == 1 ? owner() : thief(id - 2); };
    deque<machine::host>::open(w_, true, {slots_, slots_max_}, this);  // the same storage, no machine is needed yet
    const std::uint32_t start = rng_.below(2) == 0 ? 0 : 0u - rng_.below(20);  // on some seeds indices wrap at once
    w_.deque.bottom.raw = w_.deque.split.raw = start;
    w_.deque.limit = start + slots_;
    w_.shared.raw = shared_part{start, 0}.word();
    if (!play_.run(1 + thieves_, core, [this] { return play_.all_left() || wrong_ != nullptr; })) complain("no end");
    for (const int times : taken_)
      if (times == 0) complain("a task was never taken");
    deque<machine::host>::close(w_);
    return wrong_;
  }

 private:
  void complain(const char* what) noexcept {
    if (wrong_ == nullptr) wrong_ = what;
  }
  [[nodiscard]] bool ends() const noexcept { return play_.over() || wrong_ != nullptr; }

  void take(const record* r) noexcept {
    if (r < tasks_.data() || r >= tasks_.data() + tasks_.size()) return complain("a task that never was");
    if (++taken_[static_cast<std::size_t>(r - tasks_.data())] == 2) complain("a task was taken twice");
    ++takes_;
  }

  void take_over(record* oldest, record*, std::uint32_t n) noexcept override {
    for (record* r = oldest; n != 0; --n) {
      record* const next = r->waiting.next;
      take(r);
      r = next;
    }
  }

  void owner() {
    const bool bursts = tasks_.size() > base::deque_capacity_first;
    std::size_t next = 0;
    while (next < tasks_.size() && !ends()) {
      if (rng_.below(bursts ? 20 : 3) != 0) {
        D::push(w_, &tasks_[next++]);
        offer();
      } else if (const record* r = pop_and_offer()) {
        take(r);
      }
    }
    hand_over();
    while (const record* r = ends() ? nullptr : pop_and_offer()) take(r);
    owner_left_ = true;
  }

  // What the engine does after each push, and after each pop before it runs the task. On every other seed the owner now
  // and then also shares unasked, when a thief that emptied the shared part may not have said so yet: that is where
  // late flags come from. Asked only, there is one flag for each part that was emptied, and none can be late.
  void offer() {
    if (coarse_) return static_cast<void>(D::expose(w_)), look();
    if (D::starved(w_) || (unasked_ && rng_.below(4) == 0)) static_cast<void>(D::share(w_));
    look();
  }
  [[nodiscard]] record* pop_and_offer() {
    record* r = D::pop(w_, coarse_);
    if (r != nullptr) offer();
    return r;
  }

  // Invariant 3 of deque.md, at a moment when the owner is outside of share(). Looks without taking a turn.
  void look() noexcept {
    if (shared_part::of(w_.shared.raw).size != 0 || w_.starved.raw != 0) return;
    for (const bool inside : inside_)
      if (inside) return;
    complain("nothing is shared, and the owner will not notice");
  }

  // While the owner has private tasks, some thief gets something within a bounded number of the owner's operations.
  void hand_over() {
    constexpr int patience = 400;
    if (!deque<M>::has_private(w_)) return;
    const std::size_t before = takes_;
    for (int i = 0; i < patience && takes_ == before && !ends(); ++i) offer();
    if (takes_ == before && !ends()) complain("thieves starve beside an owner with tasks");
  }

  void thief(unsigned which) {
    while (!ends()) {
      const bool last = owner_left_;
      loot got;
      inside_[which] = true;
      const auto some = [this](std::uint32_t n) { return single_ ? 1 : 1 + rng_.below(std::min(n, 5u)); };
      const steal_result result = D::steal(w_, got, some, rng_.below(4) == 0);
      inside_[which] = false;
      if (result == steal_result::taken)
        for (std::uint32_t i = 0; i < got.count; ++i) take(got.tasks[i]);
      if (result == steal_result::empty && last) return;
      if (result == steal_result::empty) M::relax(1);
    }
  }

  interleave::play<M> play_;
  base::random rng_;
  bool unasked_;
  bool coarse_;          // as for long bodies: everything is shared, and taken back one by one
  std::uint32_t slots_;  // to begin with; with few of them a slot is soon used again
  std::uint32_t slots_max_;
  bool single_;  // thieves take one task at a time
  unsigned thieves_;
  detail::worker w_;
  std::vector<record> tasks_;
  std::vector<int> taken_;
  std::vector<char> inside_;  // which thieves are in steal()
  std::size_t takes_ = 0;
  bool owner_left_ = false;
  const char* wrong_ = nullptr;
};

template <class D> const char* tried(std::uint64_t seed) { return trial<D>(seed).run(); }

}  // namespace

TEST_CASE("deque model: each task is taken once and no thief starves") { interleave::all_seeds(6000, &tried<sound>); }

TEST_CASE("deque model: must fail without compare-exchange in steal") {
  CHECK(!interleave::caught(500, &tried<copied_steal<flaw::none>>));
  CHECK(interleave::caught(2000, &tried<copied_steal<flaw::loads_and_stores>>));
}
TEST_CASE("deque model: must fail if a thief reads its tasks after its exchange") {
  CHECK(interleave::caught(6000, &tried<copied_steal<flaw::reads_after_exchange>>));
}
TEST_CASE("deque model: must fail if a thief that tries again keeps what it has read though others took it") {
  CHECK(interleave::caught(2000, &tried<copied_steal<flaw::keeps_what_it_read>>));
}
TEST_CASE("deque model: must fail if tasks are taken back without going round the ring") {
  CHECK(interleave::caught(6000, &tried<untagged_reclaim>));
}
TEST_CASE("deque model: must fail if reclaim takes the task at top") {
  CHECK(interleave::caught(6000, &tried<greedy_reclaim>));
}
TEST_CASE("deque model: must fail if an owner gives away what overflows without an exchange") {
  CHECK(interleave::caught(6000, &tried<careless_overflow>));
}
TEST_CASE("deque model: must fail if the last thief tells nobody") {
  CHECK(interleave::caught(2000, &tried<copied_steal<flaw::tells_nobody>>));
}
TEST_CASE("deque model: must fail if share clears the flag late") {
  CHECK(interleave::caught(6000, &tried<forgetful_share>));
}

}  // namespace weft::sched

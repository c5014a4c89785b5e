// The sleep protocol under thousands of random schedules: workers that search, announce, retract and park as the
// engine's do, and publishers that put items in an inbox, or in that of one worker, and notify. In the end everything
// must be consumed and everybody asleep, with no searcher still counted; and on the way no work may stay visible beside
// a sleeper while all others are busy. The same harness must reject three kinds of worker and six copies of the
// protocol that are broken on purpose.
#include <memory>
#include <vector>

#include "interleave.hpp"
#include "sched/idle/sleep.hpp"
#include "sched/queues/inbox.hpp"

namespace weft::sched {
namespace {

using M = interleave::watched;

// The protocol of sleep.hpp without one of the things that sleep.md argues for. `none` is the whole protocol: it shows
// that what the others are caught for is their flaw and not this copy.
enum class flaw {
  none,
  gives_up_without_a_look,
  found_tells_nobody,
  wakes_uncounted,
  reads_before_it_sets,
  looks_too_early,
  asks_by_acquire  // who has published, whether somebody sleeps; only weak memory tells that apart
};
template <flaw Flaw> class copied_sleep {
 public:
  void open(unsigned workers) noexcept { workers_ = workers; }
  [[nodiscard]] bool begin_search() noexcept {
    if (M::load(searching_, base::relaxed) >= workers_) return false;
    static_cast<void>(M::fetch_add(searching_, 1u, base::seq_cst));
    return true;
  }
  void give_up() noexcept { static_cast<void>(M::fetch_sub(searching_, 1u, base::seq_cst)); }
  void found(M& machine) noexcept {
    if (M::fetch_sub(searching_, 1u, base::seq_cst) == 1 && Flaw != flaw::found_tells_nobody) notify(machine);
  }
  template <class Look> void found_own(M& machine, Look anything_visible) noexcept {
    const bool early = Flaw == flaw::looks_too_early && anything_visible();
    if (M::fetch_sub(searching_, 1u, base::seq_cst) != 1) return;
    if (Flaw == flaw::looks_too_early ? early : anything_visible()) notify(machine);
  }
  [[nodiscard]] bool announce(unsigned id) noexcept {
    static_cast<void>(M::fetch_or(asleep_, std::uint64_t{1} << id, base::seq_cst));
    return all_asleep();
  }
  [[nodiscard]] bool all_asleep() noexcept {
    return M::load(asleep_, base::seq_cst) == (std::uint64_t{1} << workers_) - 1;
  }
  [[nodiscard]] bool retract(unsigned id) noexcept {
    const std::uint64_t bit = std::uint64_t{1} << id;
    if (Flaw != flaw::reads_before_it_sets) return (M::fetch_and(asleep_, ~bit, base::seq_cst) & bit) != 0;
    const bool set = (M::load(asleep_, base::seq_cst) & bit) != 0;
    static_cast<void>(M::fetch_and(asleep_, ~bit, base::seq_cst));
    return set;
  }
  void notify(M& machine) noexcept {
    while (M::load(asleep_, Flaw == flaw::asks_by_acquire ? base::acquire : base::seq_cst) != 0) {
      std::uint32_t none = 0;
      if (!M::compare_exchange(searching_, none, 1u, base::seq_cst)) return;
      for (std::uint64_t set = M::load(asleep_, base::seq_cst); set != 0; set &= set - 1) {
        const unsigned id = static_cast<unsigned>(std::countr_zero(set));
        if (!retract(id)) continue;
        if (Flaw == flaw::wakes_uncounted) give_up();
        return machine.wake(id);
      }
      for (unsigned turns = 1; turns <= 40; ++turns) M::relax(turns);  // any delay is legal; here it would hurt most
      give_up();
      if (Flaw == flaw::gives_up_without_a_look) return;
    }
  }
  void notify(M& machine, unsigned id) noexcept {
    if (!retract(id)) return;
    if (Flaw != flaw::wakes_uncounted) static_cast<void>(M::fetch_add(searching_, 1u, base::seq_cst));
    machine.wake(id);
  }

 private:
  unsigned workers_ = 0;
  detail::cell<std::uint32_t> searching_;
  detail::cell<std::uint64_t> asleep_;
};

// What a worker does, beside the protocol: all it should; does not look once more between its announcement and its
// sleep; or takes the work that made it retract, and does not pass on that there may be more. Or the first one is
// expected, and leaves what others can run to those who have nothing to do: as it should, or
// without telling them.
enum class habit { sound, looks_once, keeps_to_itself, expected, expected_and_silent };
template <class Sleep, habit Worker = habit::sound> class trial {
 public:
  explicit trial(std::uint64_t seed)
      : play_(seed), rng_(seed * 5), few_(seed % 2 == 0), workers_(1 + rng_.below(few_ ? 2 : 6)),
        publishers_(1 + rng_.below(3)), each_(1 + rng_.below(few_ ? 2 : 5)), items_(publishers_ * each_),
        boxes_(workers_) {
    sleep_.open(workers_);
    if constexpr (Expects) sleep_.set_expected(0, true);
  }

  // What is wrong, or nullptr.
  const char* run() {
    const auto core = [this](unsigned id) { id <= workers_ ? worker(id - 1) : publisher(id - 1 - workers_); };
    const bool rest = play_.run(workers_ + publishers_, core, [this] { return wrong_ != nullptr || at_rest(); });
    if (!rest) complain(consumed_ == items_.size() ? "somebody never sleeps" : "work is visible and everybody sleeps");
    return wrong_;
  }

 private:
  struct item {
    detail::record r{};
    int only = -1;  // the worker it is for, -1: any
    int times = 0;
  };

  void complain(const char* what) noexcept {
    if (wrong_ == nullptr) wrong_ = what;
  }
  [[nodiscard]] bool ends() const noexcept { return play_.over() || wrong_ != nullptr; }

  // All is consumed and every worker has been in park() for longer than a wake could be on its way. Who: core 0.
  [[nodiscard]] bool at_rest() {
    if (!calm_.for_long(consumed_ == items_.size() && published_ == publishers_ && parked_ == workers_)) return false;
    if (!sleep_.all_asleep()) complain("a worker is parked and not known to sleep");
    if (!last_told_) complain("nobody was told that all sleep");
    // If a count was lost or left, not as many may search now as may at most.
    unsigned searchers = 0;
    while (searchers <= workers_ && sleep_.begin_search()) ++searchers;
    if (searchers != (workers_ <= 4 || Copied ? workers_ : 1)) complain("a searcher was miscounted");
    return true;
  }

  void publisher(unsigned which) {
    for (unsigned i = 0; i < each_ && !ends(); ++i) {
      publish(items_[which * each_ + i]);
      for (std::uint32_t pause = rng_.below(few_ ? 20 : 60); pause > 0; --pause) M::relax(1);
    }
    ++published_;
  }

  void publish(item& x) {
    if (rng_.below(4) == 0) x.only = static_cast<int>(rng_.below(workers_));
    if (x.only >= 0) {
      boxes_[static_cast<unsigned>(x.only)].push(&x.r);
      sleep_.notify(play_.machine(), static_cast<unsigned>(x.only));
    } else {
      central_.push(&x.r);
      sleep_.notify(play_.machine());
    }
  }

  void consume(unsigned id, detail::record* r) {
    item& x = *reinterpret_cast<item*>(r);
    if (x.only >= 0 && x.only != static_cast<int>(id)) complain("a worker got what was for another");
    if (++x.times > 2) complain("an item came out too often");
    last_told_ = false;
    for (std::uint32_t pause = rng_.below(few_ ? 6 : 30); pause > 0; --pause) M::relax(1);
    if (rng_.below(3) == 0) long_body();
    if (x.times == 1 && rng_.below(3) == 0) {  // comes back once, as a task that makes another ready
      x.only = -1;
      return publish(x);
    }
    x.times = 2;
    ++consumed_;
  }

  // A body that lasts until the others have taken what there is: work may not stay visible beside a sleeper because
  // those who relied on this worker's search do not know that it is busy now.
  void long_body() {
    constexpr int patience = 2000;
    int turns = 0;
    while (turns < patience && !central_.empty() && parked_ != 0 && !ends()) M::relax(static_cast<unsigned>(++turns));
    if (turns == patience) complain("work is visible, somebody sleeps, and nobody comes for it");
  }

  [[nodiscard]] detail::record* next(unsigned id) {
    if (detail::record* r = boxes_[id].pop()) return r;
    return leaves(id) ? nullptr : central_.pop();
  }
  [[nodiscard]] bool anything_visible(unsigned id) { return !boxes_[id].empty() || !central_.empty(); }

  // As search::leaves_to_others() and pass_on(). Worker 0 is the one that is expected.
  [[nodiscard]] bool leaves(unsigned id) {
    if constexpr (Expects) return workers_ > 1 && id == 0 && sleep_.somebody_else_is_free(id);
    return false;
  }
  void is_busy(unsigned id, bool yes) {
    if constexpr (Expects) sleep_.set_busy(id, yes);
  }
  void pass_on(unsigned id) {
    if (Worker != habit::expected_and_silent && anything_visible(id)) sleep_.notify(play_.machine());
  }

  void worker(unsigned id) {
    while (!ends()) {
      detail::record* r = next(id);
      if (r == nullptr) {
        const bool counted = !leaves(id) && sleep_.begin_search();
        is_busy(id, false);
        r = search(id, counted);
      }
      is_busy(id, true);
      if (r != nullptr) consume(id, r);
    }
  }

  // As search::wait_for_work(), with a few looks in place of a stretch of time.
  [[nodiscard]] detail::record* search(unsigned id, bool counted) {
    while (!ends()) {
      if (counted) {
        for (std::uint32_t looks = rng_.below(4); looks > 0; --looks) {
          if (detail::record* r = boxes_[id].pop()) {
            // It was called for this, which says nothing about more.
            sleep_.found_own(play_.machine(), [this, id] { return anything_visible(id); });
            return r;
          } else if (!leaves(id) && (r = central_.pop()) != nullptr) {
            return sleep_.found(play_.machine()), r;
          }
        }
        // Between its last look and giving up, others still rely on it.
        for (std::uint32_t pause = rng_.below(16); pause > 0; --pause) M::relax(1);
        sleep_.give_up();
      }
      if (sleep_.announce(id)) last_told_ = true;
      const bool apart = leaves(id);
      const bool sees = apart ? !boxes_[id].empty() : anything_visible(id);
      if (Worker == habit::looks_once || !sees) {
        if (apart) pass_on(id);
        park(id);
        counted = true;
        continue;
      }
      counted = !sleep_.retract(id);
      if (counted) {
        park(id);
      } else {
        if (detail::record* r = next(id)) {
          // There may be more than r, whose publishers relied on the search that this worker has given up since.
          if (Worker != habit::keeps_to_itself) sleep_.notify(play_.machine());
          return r;
        }
        counted = sleep_.begin_search();
      }
    }
    return nullptr;
  }

  void park(unsigned id) {
    ++parked_;
    play_.machine().park(id);
    --parked_;
  }

  static constexpr bool Expects = Worker >= habit::expected;
  static constexpr bool Copied = !std::is_same_v<Sleep, sleep<M>>;
  interleave::play<M> play_;
  base::random rng_;
  bool few_;  // a lost wake-up shows only if nothing follows it, so every other trial is short
  unsigned workers_;
  unsigned publishers_;
  unsigned each_;
  std::vector<item> items_;
  std::vector<inbox<M>> boxes_;
  inbox<M> central_;
  Sleep sleep_;
  std::size_t consumed_ = 0;
  unsigned published_ = 0;
  unsigned parked_ = 0;
  interleave::calm calm_;
  bool last_told_ = false;
  const char* wrong_ = nullptr;
};

template <class Sleep, habit Worker = habit::sound> const char* tried(std::uint64_t seed) {
  return std::make_unique<trial<Sleep, Worker>>(seed)->run();
}

}  // namespace

TEST_CASE("sleep model: no wake-up is lost, everybody comes to rest") { interleave::all_seeds(8000, &tried<sleep<M>>); }

TEST_CASE("sleep model: the copy that the flaws are planted in is sound") {
  interleave::all_seeds(1000, &tried<copied_sleep<flaw::none>>);
}
TEST_CASE("sleep model: must fail without a second look after the announcement") {
  CHECK(interleave::caught(2000, &tried<sleep<M>, habit::looks_once>));
}
TEST_CASE("sleep model: must fail if a worker that retracts keeps to itself that there is work") {
  CHECK(interleave::caught(20000, &tried<sleep<M>, habit::keeps_to_itself>));
}
TEST_CASE("sleep model: with a worker that leaves to others what they can run, as well") {
  interleave::all_seeds(4000, &tried<sleep<M>, habit::expected>);
}
TEST_CASE("sleep model: must fail if a worker that leaves work to others tells none of them") {
  CHECK(interleave::caught(20000, &tried<sleep<M>, habit::expected_and_silent>));
}
TEST_CASE("sleep model: must fail if notify gives up without another look") {
  CHECK(interleave::caught(20000, &tried<copied_sleep<flaw::gives_up_without_a_look>>));
}
TEST_CASE("sleep model: must fail if the last searcher to find work tells nobody") {
  CHECK(interleave::caught(5000, &tried<copied_sleep<flaw::found_tells_nobody>>));
}
TEST_CASE("sleep model: must fail if a woken worker is not counted") {
  CHECK(interleave::caught(2000, &tried<copied_sleep<flaw::wakes_uncounted>>));
}
TEST_CASE("sleep model: must fail if who was called looks for more before it is no searcher any longer") {
  CHECK(interleave::caught(50000, &tried<copied_sleep<flaw::looks_too_early>>, 34000));
}
TEST_CASE("sleep model: weak memory alone must fail if who has published asks by acquire who sleeps") {
  CHECK(interleave::caught(2000, &tried<copied_sleep<flaw::asks_by_acquire>>) == interleave::weak_memory);
}
TEST_CASE("sleep model: must fail if a worker is claimed in two steps") {
  CHECK(interleave::caught(5000, &tried<copied_sleep<flaw::reads_before_it_sets>>));
}

}  // namespace weft::sched

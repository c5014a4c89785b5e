// A thief that acts for the owner, under thousands of random schedules: an owner that pushes, takes the newest back,
// and is away now and then, for good in the end - the main thread in the program, or a worker in a long body - and
// thieves that steal, pull, announce their sleep, look once more and park. Each task must be taken once; none may be
// left with an owner that is away beside thieves that sleep. The same harness must reject seven broken variants. The
// barrier on all threads is a step like others: these schedules are sequentially consistent.
#include <memory>
#include <vector>

#include "interleave.hpp"
#include "sched/place/stealing.hpp"
#include "scheduler.hpp"

namespace weft::sched {
namespace {

using M = interleave::watched;

enum class flaw {
  none,
  takes_unseen,        // the owner takes its newest without a look at split after
  looks_before,        // the owner looks whether thieves starve, and pushes then
  waits_for_nobody,    // the owner goes to its end while a thief is there
  thief_trusts,        // the thief does not look at bottom again
  thief_walks_in,      // the thief does not ask whether the owner is at its end
  thief_says_nothing,  // the thief does not say that it starves
  second_gives_in,     // a thief that finds another one pulling takes that for its own look
};

// What deque<M> does, but for the flaw; private there, so it is written out.
template <flaw Flaw> struct ends : deque<M> {
  static std::int32_t beyond(detail::worker& w) noexcept {
    return static_cast<std::int32_t>(detail::peek(w.deque.bottom) - detail::peek(w.deque.split));
  }
  static void come(detail::worker& w) {
    detail::poke(w.inside, std::uint8_t{1});
    M::between_steps();
    while (Flaw != flaw::waits_for_nobody && detail::peek(w.pulled) != 0) M::relax(1);
  }
  static void go(detail::worker& w) {
    M::between_steps();
    detail::poke(w.inside, std::uint8_t{0});
    M::between_steps();
  }
  static bool expose(detail::worker& w) {
    const bool breaks_it = Flaw == flaw::waits_for_nobody || Flaw == flaw::thief_walks_in || Flaw == flaw::thief_trusts;
    if (!breaks_it) return deque<M>::expose(w);  // else assertions there would speak before this test
    come(w);
    const std::uint32_t split = detail::peek(w.deque.split);
    const std::int32_t n = beyond(w);
    M::between_steps();
    if (n > 0) give(w, split, static_cast<std::uint32_t>(n));
    if (n > 0) detail::poke(w.deque.split, split + static_cast<std::uint32_t>(n));
    go(w);
    return n > 0;
  }
  static void give(detail::worker& w, std::uint32_t, std::uint32_t n) {
    M::store(w.starved, std::uint8_t{0}, base::relaxed);
    static_cast<void>(M::fetch_add(w.shared, std::uint64_t{n}, base::seq_cst));
  }
  static detail::record* pop(detail::worker& w) {
    if (Flaw != flaw::takes_unseen || beyond(w) <= 0) return deque<M>::pop(w);
    const std::uint32_t at = detail::peek(w.deque.bottom) - 1;
    M::between_steps();
    detail::poke(w.deque.bottom, at);
    M::between_steps();
    return M::load(w.deque.slots[at & w.deque.mask], base::relaxed);
  }
  static bool pull(detail::worker& owner) {
    if (M::exchange(owner.pulled, std::uint8_t{1}, base::acq_rel) != 0) return Flaw != flaw::second_gives_in;
    if (Flaw != flaw::thief_says_nothing && !stealable(owner)) M::store(owner.starved, std::uint8_t{1}, base::relaxed);
    static_cast<void>(M::barrier_everywhere());
    const bool got = (Flaw == flaw::thief_walks_in || detail::peek(owner.inside) == 0) && take_over(owner);
    M::store(owner.pulled, std::uint8_t{0}, base::release);
    return got;
  }
  static bool take_over(detail::worker& owner) {
    const std::uint32_t split = detail::peek(owner.deque.split), end = detail::peek(owner.deque.bottom);
    if (static_cast<std::int32_t>(end - split) <= 0) return false;
    M::between_steps();
    detail::poke(owner.deque.split, end);
    static_cast<void>(M::barrier_everywhere());
    if (Flaw != flaw::thief_trusts && static_cast<std::int32_t>(detail::peek(owner.deque.bottom) - end) < 0) {
      detail::poke(owner.deque.split, split);
      return false;
    }
    give(owner, split, end - split);
    return true;
  }
};

template <flaw Flaw> class trial {
 public:
  using D = ends<Flaw>;
  // Whether what thieves do is the real thing; of the others, assertions there would speak before this test.
  static constexpr bool is_whole = Flaw == flaw::none || Flaw == flaw::takes_unseen || Flaw == flaw::looks_before;

  // Of those that break the deque, too.
  static constexpr bool looks_behind = Flaw != flaw::takes_unseen && Flaw != flaw::thief_trusts;

  explicit trial(std::uint64_t seed)
      : play_(seed), rng_(seed * 7), s_(play_.machine(), 1 + thieves(seed)), tasks_(1 + rng_.below(12)) {
    s_.open();
    stealing_.open(s_.policy);
    if (s_.crew.workers() == 2) s_.crew.main().starved.raw = 0;  // as with one worker and the reserve
    s_.crew.main().away.raw = true;
  }

  // What is wrong, or nullptr.
  const char* run() {
    const auto core = [this](unsigned id) { id == 1 ? owner() : thief(id - 1); };
    const bool done = play_.run(s_.crew.workers(), core, [this] { return wrong_ != nullptr || at_rest(); });
    if (!done) complain("thieves do not come to rest");
    return wrong_;
  }

 private:
  static unsigned thieves(std::uint64_t seed) { return 1 + static_cast<unsigned>(seed % 2); }
  void complain(const char* what) noexcept {
    if (wrong_ == nullptr) wrong_ = what;
  }
  [[nodiscard]] bool ends_now() const noexcept { return play_.over() || wrong_ != nullptr; }

  // The owner is away for good and all thieves have been parked for longer than a wake could be on its way.
  [[nodiscard]] bool at_rest() {
    if (!calm_.for_long(is_away_ && parked_ + 1 == s_.crew.workers())) return false;
    for (const testing::task& t : tasks_)
      if (t.called == 0) complain("a task is left with an owner that is away, and all sleep");
    return true;
  }

  void owner() {
    worker<M>& w = s_.crew.main();
    for (testing::task& t : tasks_) {
      if (ends_now()) return;
      transition(t.r, detail::record_state::filling, detail::record_state::ready);
      const bool too_early = Flaw == flaw::looks_before && deque<M>::starved(w);
      D::push(w, &t.r);
      if (Flaw == flaw::looks_before ? too_early : deque<M>::starved(w)) share(w);
      for (std::uint32_t back = rng_.below(3) == 0 ? 1 + rng_.below(3) : 0; back > 0; --back)
        if (detail::record* r = D::pop(w)) {
          if (looks_behind && deque<M>::starved(w)) share(w);
          take(r);
        }
      for (std::uint32_t away = rng_.below(3) == 0 ? rng_.below(300) : 0; away > 0; --away) M::relax(1);
    }
    is_away_ = true;
  }
  void share(worker<M>& w) {
    if (D::expose(w)) s_.sleep.notify(play_.machine());
  }

  void take(detail::record* r) {
    if (++reinterpret_cast<testing::task*>(r)->called != 1) complain("a task was taken twice");
  }
  // As search.hpp does, without the time it goes on looking.
  void thief(unsigned id) {
    worker<M>& w = s_.crew[id];
    while (!ends_now()) {
      while (detail::record* r = look(w)) take(r);
      if (is_whole ? stealing_.pull(w) : D::pull(s_.crew.main())) continue;
      static_cast<void>(s_.sleep.announce(id));
      if (stealing_.visible(w)) {
        if (!s_.sleep.retract(id)) park(id);
      } else {
        park(id);
      }
    }
  }
  [[nodiscard]] detail::record* look(worker<M>& w) {
    if (detail::record* r = deque<M>::pop(w)) return r;
    if (is_whole) return stealing_.take(w);
    detail::record* r = nullptr;
    if (deque<M>::steal(s_.crew.main(), r) == steal_result::taken && r == nullptr) complain("a slot is empty");
    return r;
  }
  void park(unsigned id) {
    ++parked_;
    play_.machine().park(id);
    --parked_;
    if (!play_.over()) s_.sleep.give_up();  // whoever is woken was counted
  }

  interleave::play<M> play_;
  base::random rng_;
  testing::scheduler<M> s_;
  stealing<M> stealing_{play_.machine(), s_.sleep, s_.crew, s_.placement, s_.tempo, s_.recording};
  std::vector<testing::task> tasks_;
  unsigned parked_ = 0;
  interleave::calm calm_;
  bool is_away_ = false;
  const char* wrong_ = nullptr;
};

template <flaw Flaw> const char* tried(std::uint64_t seed) { return trial<Flaw>(seed).run(); }

}  // namespace

TEST_CASE("pull model: each task is taken once, and none is left with an owner that is away") {
  interleave::all_seeds(20000, &tried<flaw::none>);
}
TEST_CASE("pull model: must fail if the owner takes its newest without a look at split after") {
  CHECK(interleave::caught(4000, &tried<flaw::takes_unseen>));
}
TEST_CASE("pull model: must fail if the owner looks before it pushes") {
  CHECK(interleave::caught(4000, &tried<flaw::looks_before>));
}
TEST_CASE("pull model: must fail if the owner does not wait for a thief at its end") {
  CHECK(interleave::caught(4000, &tried<flaw::waits_for_nobody>));
}
TEST_CASE("pull model: must fail if the thief does not look at bottom again") {
  CHECK(interleave::caught(4000, &tried<flaw::thief_trusts>));
}
TEST_CASE("pull model: must fail if the thief does not ask whether the owner is at its end") {
  CHECK(interleave::caught(4000, &tried<flaw::thief_walks_in>));
}
TEST_CASE("pull model: must fail if the thief does not say that it starves") {
  CHECK(interleave::caught(4000, &tried<flaw::thief_says_nothing>));
}
TEST_CASE("pull model: must fail if a thief that finds another one pulling gives in") {
  CHECK(interleave::caught(20000, &tried<flaw::second_gives_in>, 5700));
}

}  // namespace weft::sched

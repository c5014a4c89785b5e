// A thief that acts for the main thread, under thousands of random schedules: an owner that comes in, pushes and
// leaves, as the program's thread does, and thieves that steal, pull, announce their sleep, look once more and park. In
// the end each task must have been taken once, though the owner is away for good. The same harness must reject four
// broken pairs. The barrier on all threads is none here: these schedules are sequentially consistent.
#include <memory>
#include <vector>

#include "ground.hpp"
#include "interleave.hpp"
#include "sched/stealing.hpp"

namespace weft::sched {
namespace {

// Core 0 watches, so worker i is core i + 1.
class M : public interleave::unsteady {
 public:
  using unsteady::unsteady;
  static constexpr bool foreign_threads = true;
  static bool barrier_everywhere() noexcept { return true; }
  void park(unsigned worker) { unsteady::park(worker + 1); }
  void wake(unsigned worker) { unsteady::wake(worker + 1); }
};

enum class flaw {
  none,
  looks_before_it_leaves,  // the owner reads `starved` with the push alone
  tells_nobody,            // the thief does not set it
  passes_by,               // the thief does nothing for an owner that is inside
  comes_in_unasked         // the owner does not wait for a thief at its end
};

template <flaw Flaw> class trial {
 public:
  explicit trial(std::uint64_t seed)
      : play_(seed), rng_(seed * 7), s_(play_.machine(), 1 + thieves(seed)), tasks_(1 + rng_.below(8)) {
    s_.open();
    stealing_.open(s_.rules);
    if (s_.all.workers() == 2) s_.all.main().starved.raw = 0;  // as with one worker and the reserve
  }

  // What is wrong, or nullptr.
  const char* run() {
    const auto core = [this](unsigned id) { id == 1 ? owner() : thief(id - 1); };
    const bool done = play_.run(s_.all.workers(), core, [this] { return wrong_ != nullptr || at_rest(); });
    if (!done) complain("thieves do not come to rest");
    return wrong_;
  }

 private:
  static unsigned thieves(std::uint64_t seed) { return 1 + static_cast<unsigned>(seed % 2); }
  void complain(const char* what) noexcept {
    if (wrong_ == nullptr) wrong_ = what;
  }
  [[nodiscard]] bool ends() const noexcept { return play_.over() || wrong_ != nullptr; }

  // The owner is away for good and all thieves have been parked for longer than a wake could be on its way.
  [[nodiscard]] bool at_rest() {
    calm_ = is_away_ && parked_ + 1 == s_.all.workers() ? calm_ + 1 : 0;
    if (calm_ < 2000) return false;
    for (const ground::task& t : tasks_)
      if (t.called == 0) complain("a task is left with an owner that is away, and all sleep");
    return true;
  }

  // detail::come_in() and go_out(), which are the host's, over accesses that can be held up.
  void come_in(worker<M>& w) {
    M::store(w.inside, std::uint8_t{1}, base::relaxed);
    if (Flaw != flaw::comes_in_unasked && M::load(w.pulled, base::acquire) != 0) stealing<M>::await_pull(w);
  }
  void leave(worker<M>& w) { M::store(w.inside, std::uint8_t{0}, base::release); }
  void go_out(worker<M>& w) {
    leave(w);
    if (Flaw == flaw::looks_before_it_leaves) return;
    for (bool shared = true; shared && M::load(w.starved, base::relaxed) != 0;) {
      come_in(w);
      shared = deque<M>::has_private(w);
      if (shared) share(w);
      leave(w);
    }
  }
  void share(worker<M>& w) {
    at_the_end_ += 1;
    if (at_the_end_ != 1) complain("owner and thief are at one end of the deque");
    if (deque<M>::expose(w)) s_.sleep.notify(play_.machine());
    at_the_end_ -= 1;
  }

  void owner() {
    worker<M>& w = s_.all.main();
    for (ground::task& t : tasks_) {
      if (ends()) return;
      t.r.state = detail::record_state::ready;
      come_in(w);
      deque<M>::push(w, &t.r);
      if (Flaw == flaw::looks_before_it_leaves && deque<M>::starved(w)) share(w);
      go_out(w);
      for (std::uint32_t away = rng_.below(3) == 0 ? rng_.below(300) : 0; away > 0; --away) M::relax(1);
    }
    is_away_ = true;
  }

  [[nodiscard]] bool pull(worker<M>& w) {
    if (Flaw == flaw::none || Flaw == flaw::looks_before_it_leaves) return stealing_.pull(w);
    worker<M>& owner = s_.all.main();
    if (Flaw == flaw::passes_by && M::load(owner.inside, base::relaxed) != 0) return false;
    if (M::exchange(owner.pulled, std::uint8_t{1}, base::acq_rel) != 0) return false;
    if (Flaw != flaw::tells_nobody && !deque<M>::stealable(owner))
      M::store(owner.starved, std::uint8_t{1}, base::relaxed);
    bool got = false;
    if (M::load(owner.inside, base::acquire) == 0) {
      at_the_end_ += 1;
      if (at_the_end_ != 1) complain("owner and thief are at one end of the deque");
      got = deque<M>::expose(owner);
      at_the_end_ -= 1;
    }
    M::store(owner.pulled, std::uint8_t{0}, base::release);
    return got;
  }

  void take(detail::record* r) {
    if (++reinterpret_cast<ground::task*>(r)->called != 1) complain("a task was taken twice");
  }
  // As search.hpp does, without the time it goes on looking.
  void thief(unsigned id) {
    worker<M>& w = s_.all[id];
    while (!ends()) {
      while (detail::record* r = look(w)) take(r);
      if (pull(w)) continue;
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
    return stealing_.take(w);
  }
  void park(unsigned id) {
    ++parked_;
    play_.machine().park(id);
    --parked_;
    if (!play_.over()) s_.sleep.give_up();  // whoever is woken was counted
  }

  interleave::play<M> play_;
  base::random rng_;
  ground::scheduler<M> s_;
  tempo<M> lengths_;
  recording<M> none_{play_.machine()};
  stealing<M> stealing_{play_.machine(), s_.sleep, s_.all, s_.placement, lengths_, none_};
  std::vector<ground::task> tasks_;
  unsigned parked_ = 0;
  unsigned calm_ = 0;
  int at_the_end_ = 0;  // who changes the owner's end of its deque
  bool is_away_ = false;
  const char* wrong_ = nullptr;
};

template <flaw Flaw> const char* tried(std::uint64_t seed) { return trial<Flaw>(seed).run(); }

}  // namespace

TEST_CASE("pull model: nothing is left with an owner that is away, and no two are at its end") {
  interleave::all_seeds(3000, &tried<flaw::none>);
}
TEST_CASE("pull model: must fail if the owner looks before it leaves") {
  CHECK(interleave::caught(3000, &tried<flaw::looks_before_it_leaves>));
}
TEST_CASE("pull model: must fail if the thief does not say that it starves") {
  CHECK(interleave::caught(3000, &tried<flaw::tells_nobody>));
}
TEST_CASE("pull model: must fail if the thief passes by an owner that is inside") {
  CHECK(interleave::caught(3000, &tried<flaw::passes_by>));
}
TEST_CASE("pull model: must fail if the owner does not wait for a thief at its end") {
  CHECK(interleave::caught(3000, &tried<flaw::comes_in_unasked>));
}

}  // namespace weft::sched

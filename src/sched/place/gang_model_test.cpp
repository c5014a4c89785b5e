// Gangs under thousands of random schedules: workers summon gangs of all widths at any time, each takes what stands in
// its box, and one of them, the main thread, goes away and comes back. Each gang must come together, once, with each
// worker that is not the main thread in its own seat; whoever is held must do nothing else until the guest is gone; and
// nobody may sleep for ever. The same harness must reject eight protocols that are broken on purpose.
#include <array>
#include <deque>
#include <memory>
#include <vector>

#include "base/lock.hpp"
#include "interleave.hpp"
#include "sched/place/gang.hpp"

namespace weft::sched {
namespace {

using detail::cell;
using M = interleave::unsteady;
using sound = gang<M>;

enum class flaw {
  none,
  copied,                   // no flaw: the copy that the following are planted in
  fills_box_after_box,      // and not all at one moment
  main_leaves_in_silence,   // without an answer for its seats
  asks_for_main_too_early,  // before the seats are in the boxes, and not after
  holds_in_its_stead,       // whoever takes a seat of the main thread is held there
  answers_twice,            // for a seat of the main thread that it has left before
  calls_without_a_wake,     // stores the call, whatever was there
  sleeps_without_a_look,    // at whether it has been called
  is_ready_too_late         // for the next call: after what it was called for is done
};

// As gang<M>.
template <flaw Flaw> class copied_gang {
 public:
  using answer = sound::answer;
  using call = sound::call;
  using step = sound::step;

  void make(const std::vector<std::uint16_t>& workers) {
    seats_ = std::vector<seat>(workers.size());
    for (unsigned i = 0; i < workers.size(); ++i) seats_[i].worker = workers[i];
    missing_.raw = static_cast<std::uint32_t>(workers.size());
  }
  [[nodiscard]] unsigned size() const { return static_cast<unsigned>(seats_.size()); }
  [[nodiscard]] unsigned worker(unsigned i) const { return seats_[i].worker; }
  [[nodiscard]] step answers(unsigned i, answer a) {
    answer before = answer::none;
    if (Flaw == flaw::answers_twice) {
      M::store(seats_[i].answered, a, base::release);
    } else if (!M::compare_exchange(seats_[i].answered, before, a, base::acq_rel)) {
      return step::too_late;
    }
    return M::fetch_sub(missing_, std::uint32_t{1}, base::acq_rel) == 1 ? step::complete : step::others_missing;
  }
  [[nodiscard]] bool is_held(unsigned i) { return M::load(seats_[i].answered, base::acquire) == answer::held; }
  [[nodiscard]] unsigned first() {
    unsigned i = 0;
    while (i + 1 < size() && !is_held(i)) ++i;
    return i;
  }
  [[nodiscard]] call await(M& machine, unsigned i, std::uint64_t) {
    cell<call>& mine = seats_[i].called;
    call seen = call::awake;
    if (Flaw == flaw::sleeps_without_a_look) {
      if (M::load(mine, base::acquire) == call::awake) {
        M::store(mine, call::asleep, base::release);
        machine.park(seats_[i].worker);
      }
    } else if (M::compare_exchange(mine, seen, call::asleep, base::acq_rel)) {
      machine.park(seats_[i].worker);
    }
    if (Flaw == flaw::is_ready_too_late) return M::load(mine, base::acquire);
    return M::exchange(mine, call::awake, base::acq_rel);
  }
  // Of another worker's seat.
  void sits(unsigned i, unsigned id) { seats_[i].worker = static_cast<std::uint16_t>(id); }
  void done_with(unsigned i) {
    if (Flaw == flaw::is_ready_too_late) M::store(seats_[i].called, call::awake, base::release);
  }
  void tell(M& machine, unsigned i, call c) {
    const unsigned id = seats_[i].worker;
    if (Flaw == flaw::calls_without_a_wake) {
      const bool sleeps = M::load(seats_[i].called, base::acquire) == call::asleep;
      M::store(seats_[i].called, c, base::release);
      if (sleeps) machine.wake(id);
    } else if (M::exchange(seats_[i].called, c, base::acq_rel) == call::asleep) {
      machine.wake(id);
    }
  }

 private:
  struct seat {
    cell<call> called;
    cell<answer> answered;
    std::uint16_t worker = 0;
  };
  std::vector<seat> seats_;
  cell<std::uint32_t> missing_;
};

void sits(sound&, unsigned, unsigned) {}
template <flaw Flaw> void sits(copied_gang<Flaw>& g, unsigned i, unsigned id) { g.sits(i, id); }
void done_with(sound&, unsigned) {}
template <flaw Flaw> void done_with(copied_gang<Flaw>& g, unsigned i) { g.done_with(i); }

// Worker 1 is the main thread; core 0 belongs to the harness.
template <class Gang, flaw Flaw = flaw::none> class trial {
 public:
  explicit trial(std::uint64_t seed) : play_(seed), rng_(seed * 13), n_(2 + rng_.below(3)) {
    for (unsigned id = 1; id <= n_; ++id) to_summon_[id] = rng_.below(4);
    for (unsigned id = 1; id <= n_; ++id) wanted_ += to_summon_[id];
  }

  const char* run() {
    const bool done = play_.run(
        n_, [this](unsigned id) { work(id); }, [this] { return ended_ == wanted_ || wrong_ != nullptr; }, 1 << 16);
    if (!done) complain("a gang never comes together");
    return wrong_;
  }

 private:
  using answer = typename Gang::answer;
  using call = typename Gang::call;
  using step = typename Gang::step;
  struct hosted {
    Gang g;
    unsigned jobs = 0;  // that the guest has for each of its threads
    unsigned hosts = 0;
    cell<std::uint32_t> working;
  };
  struct seat {
    hosted* of;
    unsigned i;
  };
  struct box {
    cell<std::uint8_t> lock;
    cell<std::uint32_t> waiting;
    std::deque<seat> seats;
  };
  static constexpr unsigned main = 1;
  void complain(const char* what) noexcept {
    if (wrong_ == nullptr) wrong_ = what;
  }
  [[nodiscard]] bool stops() const noexcept { return play_.over() || wrong_ != nullptr; }

  void work(unsigned id) {
    while (!stops()) {
      if (id == main && rng_.below(3) == 0) leave_for_a_while();
      if (to_summon_[id] != 0 && rng_.below(3) == 0) {
        --to_summon_[id];
        summon();
      }
      seat s;
      if (take(box_[id], s) || (id != main && M::load(away_, base::seq_cst) != 0 && take(box_[main], s)))
        sit(id, s);
      else
        M::relax(1);
    }
  }
  [[nodiscard]] bool take(box& from, seat& s) {
    if (M::load(from.waiting, base::seq_cst) == 0) return false;
    base::locked<M> guard(from.lock);
    if (from.seats.empty()) return false;
    s = from.seats.front();
    from.seats.pop_front();
    static_cast<void>(M::fetch_sub(from.waiting, 1u, base::seq_cst));
    return true;
  }

  void leave_for_a_while() {
    M::store(away_, 1u, base::seq_cst);
    if (Flaw != flaw::main_leaves_in_silence) main_is_absent();
    const bool for_good = to_summon_[main] == 0;  // what others do must not need it
    for (unsigned turns = rng_.below(200); (for_good || turns > 0) && !stops() && ended_ < wanted_; --turns)
      M::relax(1);
    M::store(away_, 0u, base::seq_cst);
  }
  void main_is_absent() {
    base::locked<M> guard(absent_lock_);
    for (hosted* h : wait_for_main_)
      if (h->g.answers(0, answer::absent) == step::complete) h->g.tell(play_.machine(), h->g.first(), call::host);
    wait_for_main_.clear();
  }

  void summon() {
    const bool early = M::load(away_, base::seq_cst) != 0;
    std::vector<std::uint16_t> ids;
    for (unsigned id = 1; id <= n_; ++id)
      if ((id != main || !early) && (id == n_ || rng_.below(3) != 0)) ids.push_back(static_cast<std::uint16_t>(id));
    all_.push_back(std::make_unique<hosted>());
    hosted& h = *all_.back();
    h.jobs = rng_.below(3);
    h.g.make(ids);
    const bool wants_main = ids.front() == main;
    if (wants_main) {
      base::locked<M> guard(absent_lock_);
      wait_for_main_.push_back(&h);
    }
    if (Flaw != flaw::fills_box_after_box)
      for (const auto id : ids) base::acquire_lock<M>(box_[id].lock);
    for (unsigned i = 0; i < ids.size(); ++i) {
      if (Flaw == flaw::fills_box_after_box) base::acquire_lock<M>(box_[ids[i]].lock);
      box_[ids[i]].seats.push_back({&h, i});
      static_cast<void>(M::fetch_add(box_[ids[i]].waiting, 1u, base::seq_cst));
      if (Flaw == flaw::fills_box_after_box) base::release_lock<M>(box_[ids[i]].lock);
    }
    if (Flaw != flaw::fills_box_after_box)
      for (const auto id : ids) base::release_lock<M>(box_[id].lock);
    if (Flaw != flaw::asks_for_main_too_early && wants_main && M::load(away_, base::seq_cst) != 0) main_is_absent();
  }

  void sit(unsigned id, const seat& s) {
    Gang& g = s.of->g;
    const bool holds = id == g.worker(s.i) || Flaw == flaw::holds_in_its_stead;
    if (g.worker(s.i) == main) {
      base::locked<M> guard(absent_lock_);
      std::erase(wait_for_main_, s.of);
    }
    if (holds) held_by_[id] = s.of;
    if (Flaw == flaw::holds_in_its_stead) sits(g, s.i, id);
    const step answered = g.answers(s.i, holds ? answer::held : answer::absent);
    if (answered == step::too_late) held_by_[id] = nullptr;
    if (answered == step::complete) {
      if (const unsigned first = g.first(); first != s.i)
        g.tell(play_.machine(), first, call::host);
      else
        return host(id, *s.of, s.i);
    }
    if (!holds || answered == step::too_late) return;
    while (!stops()) {
      const call called_for = g.await(play_.machine(), s.i, 0);
      if (stops() || called_for == call::over) break;
      if (called_for == call::host) return host(id, *s.of, s.i);
      if (called_for == call::job) static_cast<void>(M::fetch_sub(s.of->working, 1u, base::acq_rel));
      done_with(g, s.i);
    }
    held_by_[id] = nullptr;
  }
  void look_at_the_held(hosted& h) {
    if (stops()) return;
    for (unsigned i = 0; i < h.g.size(); ++i) {
      if (h.g.is_held(i) && held_by_[h.g.worker(i)] != &h) complain("a worker that should be held is elsewhere");
      if (!h.g.is_held(i) && h.g.worker(i) != main) complain("a gang comes together without one that is there");
    }
  }
  void host(unsigned id, hosted& h, unsigned mine) {
    if (++h.hosts != 1) return complain("two workers run one guest");
    std::vector<unsigned> others;
    for (unsigned i = 0; i < h.g.size(); ++i)
      if (i != mine && h.g.is_held(i)) others.push_back(i);
    for (unsigned job = 0; job < h.jobs && !stops(); ++job) {
      look_at_the_held(h);
      M::store(h.working, static_cast<std::uint32_t>(others.size()), base::relaxed);
      for (const unsigned i : others) h.g.tell(play_.machine(), i, call::job);
      while (M::load(h.working, base::acquire) != 0 && !stops()) M::relax(1);
    }
    look_at_the_held(h);
    held_by_[id] = nullptr;
    for (const unsigned i : others) h.g.tell(play_.machine(), i, call::over);
    ++ended_;
  }

  interleave::play<M> play_;
  base::random rng_;
  unsigned n_;
  std::array<unsigned, 5> to_summon_{};
  std::array<box, 5> box_;
  std::array<hosted*, 5> held_by_{};
  cell<std::uint32_t> away_;
  cell<std::uint8_t> absent_lock_;
  std::vector<hosted*> wait_for_main_;
  std::vector<std::unique_ptr<hosted>> all_;
  unsigned wanted_ = 0, ended_ = 0;
  const char* wrong_ = nullptr;
};

template <class Gang, flaw Flaw = flaw::none> const char* one(std::uint64_t seed) {
  return trial<Gang, Flaw>(seed).run();
}
template <flaw Flaw> const char* broken(std::uint64_t seed) { return one<copied_gang<Flaw>, Flaw>(seed); }

}  // namespace

TEST_CASE("gang: each comes together once, and whoever is held does nothing else") {
  interleave::all_seeds(10000, one<sound>);
  interleave::all_seeds(2000, broken<flaw::copied>);
}

TEST_CASE("gang: the harness finds each planted flaw") {
  CHECK(interleave::caught(4000, broken<flaw::fills_box_after_box>));
  CHECK(interleave::caught(4000, broken<flaw::main_leaves_in_silence>));
  CHECK(interleave::caught(4000, broken<flaw::asks_for_main_too_early>));
  CHECK(interleave::caught(4000, broken<flaw::holds_in_its_stead>));
  CHECK(interleave::caught(4000, broken<flaw::answers_twice>));
  CHECK(interleave::caught(4000, broken<flaw::calls_without_a_wake>));
  CHECK(interleave::caught(4000, broken<flaw::sleeps_without_a_look>));
  CHECK(interleave::caught(4000, broken<flaw::is_ready_too_late>));
}

}  // namespace weft::sched

// The reserve under thousands of random schedules: workers' threads that lend their ids, block until there is room and
// take their ids back, as at a full window; the reserve's thread, as the engine's loop has it come, take turns, rest
// and go; bodies there that wait for room themselves, or for the thread whose id they have; and with one worker a main
// thread that waits or is away, and a thread outside that waits. Each thread must go on; no body may begin under an id
// whose thread is at work, nor the thread go on before the body ends, unless that hangs; and the reserve may not be
// away while an id is lent. The same harness must reject five ways to use it that leave out one step of reserve.md.
#include <memory>
#include <vector>

#include "interleave.hpp"
#include "sched/admit/reserve.hpp"

namespace weft::sched {
namespace {

using word = detail::cell<std::uint32_t>;

// A thread that blocks is one that looks in vain at its word; when the run is over nobody blocks any more.
class M : public interleave::unsteady {
 public:
  using unsteady::unsteady;
  static void signal(word& w) { store(w, 1u, base::release); }
  static void block(word& w) {
    if (clears_first) store(w, 0u, base::relaxed);
    while (load(w, base::acquire) == 0 && !over) relax(1);
  }
  static bool block_for(word& w, std::uint64_t) {
    unsigned turns = 0;
    while (load(w, base::acquire) == 0 && !over && (!tires || ++turns < 40)) relax(1);
    return detail::peek(w) != 0;
  }
  [[nodiscard]] bool start_one(unsigned) { return started = true; }
  static void bring_reserve(bool) noexcept {}
  [[nodiscard]] std::uint64_t reserve_busy_ns() noexcept { return tires || over ? busy_ns : ++busy_ns; }

  static inline thread_local bool over = false;
  static inline thread_local bool tires = false;  // somebody who waits for a body may find that it hangs
  static inline thread_local bool clears_first = false;
  bool started = false;
  std::uint64_t busy_ns = 0;
};

enum class flaw {
  none,
  keeps_its_turn_asleep,     // the reserve does not rest before it parks
  goes_on_at_once,           // a thread does not take its id back
  lends_once,                // not again when it was woken in vain
  recalls_for_its_own_body,  // who wakes a body on the reserve takes it for the thread that lent the id
  clears_its_call_late       // the reserve forgets, when it blocks, what came before
};

template <flaw Flaw> class trial {
 public:
  explicit trial(std::uint64_t seed)
      : play_(seed), rng_(seed * 11), workers_(1 + rng_.below(3)), helped_(rng_.below(2) == 0),
        hangs_(rng_.below(3) == 0), outsider_(workers_ == 1 && !helped_ && rng_.below(2) == 0),
        rounds_(2 + rng_.below(6)), seats_(workers_ + 1), room_{1 + rng_.below(2), 0} {
    M::over = false;
    M::tires = hangs_;
    M::clears_first = Flaw == flaw::clears_its_call_late;
    sleep_.open(workers_, true);
    reserve_.open(workers_, shown_, ticks_, 64, workers_ == 1);
    for (unsigned id = 0; id < workers_; ++id) seats_[id].id = static_cast<std::uint16_t>(id);
    own().lends = false;
    own().of_class = 1;
  }

  // What is wrong, or nullptr.
  const char* run() {
    const auto core = [this](unsigned id) {
      if (id <= workers_) return thread(id - 1);
      if (id == workers_ + 1) return reserve_thread();
      helped_ ? helper() : outsider();
    };
    const unsigned cores = workers_ + 1 + (helped_ || outsider_ ? 1 : 0);
    const bool done = play_.run(
        cores, core, [this] { return M::over = judge(); }, turns_max + long_ago);
    if (!done) complain("the run does not end");
    return wrong_;
  }

 private:
  struct seat {
    std::uint16_t id = 0;
    bool lends = true;
    unsigned of_class = 0;
    word signal;
    bool listed = false;   // it waits for room
    bool woken = false;    // since it looked last
    bool lent = false;     // its id, for certain
    bool at_work = false;  // its thread runs bodies under its id
    word gone_on;          // times that it got its id back; a body that hangs waits for this
  };
  static constexpr std::uint16_t nobody = reserve<M>::no_id;
  static constexpr unsigned long_ago = 1000;  // turns
  static constexpr unsigned turns_max = 60 * long_ago;

  [[nodiscard]] seat& own() noexcept { return seats_[workers_]; }
  void complain(const char* what) noexcept {
    if (wrong_ == nullptr) wrong_ = what;
  }
  [[nodiscard]] bool ends() const noexcept { return play_.over() || M::over || wrong_ != nullptr; }

  // Whether the run is over. Who: core 0, without a turn.
  [[nodiscard]] bool judge() noexcept {
    if (++turns_ == turns_max) complain("a thread waits for ever");
    bool lent = false;
    for (const seat& s : seats_) lent = lent || s.lent;
    forgotten_ = lent && away_ ? forgotten_ + 1 : 0;
    if (forgotten_ > long_ago) complain("the reserve is away although an id is lent");
    if (left_ < workers_ + (outsider_ ? 1 : 0)) return wrong_ != nullptr;
    if (++calm_ > 4 * long_ago) complain("nobody needs the reserve and it does not come to rest");
    return wrong_ != nullptr || away_ || parked_ || !play_.machine().started;
  }

  // --- threads that wait for room, as in admission.hpp

  [[nodiscard]] bool take_room(unsigned of_class) {
    const base::locked<M> guard(pool_lock_);
    if (room_[of_class] == 0) return false;
    --room_[of_class];
    return true;
  }
  void give_room(unsigned of_class) {
    {
      const base::locked<M> guard(pool_lock_);
      ++room_[of_class];
    }
    wake_all(of_class);
  }
  void wake_all(unsigned of_class) {
    const base::locked<M> guard(list_lock_);
    for (seat& s : seats_)
      if (s.listed && s.of_class == of_class && !std::exchange(s.woken, true)) wake(s);
  }
  void wake(seat& s) {
    if (!s.lends && Flaw != flaw::recalls_for_its_own_body) return M::signal(s.signal);
    s.lent = false;
    reserve_.recall(s.lends ? s.id : detail::peek(shown_), s.signal);
  }
  void set(bool& flag, bool yes) {
    const base::locked<M> guard(list_lock_);
    flag = yes;
  }
  [[nodiscard]] bool look(seat& s) {
    set(s.woken, false);
    return take_room(s.of_class);
  }
  void get_room(seat& s) {
    if (take_room(s.of_class)) return;
    set(s.listed, true);
    bool has = look(s);
    if (!s.lends) reserve_.set_blocked(true);
    for (bool first = true; !has && !ends(); first = false) {
      if (s.lends && (first || Flaw != flaw::lends_once)) lend(s);
      static_cast<void>(M::block_for(s.signal, 1));
      M::store(s.signal, 0u, base::relaxed);
      has = look(s);
    }
    if (!s.lends) reserve_.set_blocked(false);
    set(s.listed, false);
    if (s.lends && !ends()) take_back(s);
  }
  void lend(seat& s) {
    s.at_work = false;
    reserve_.lend(s.id, s.signal);
    s.lent = detail::peek(s.signal) == 0 && !s.woken;
  }
  void take_back(seat& s) {
    s.lent = false;
    const bool hung = hanging_;
    if (Flaw != flaw::goes_on_at_once)
      reserve_.take_back(
          s.id, s.signal,
          [] {
            return progress{0, 0, 0};
          },
          [] { return 0; });
    if (ends()) return;
    if (has_id_to_itself() && in_body_ == s.id && !hung && !hanging_)
      complain("a thread goes on while a body runs under its id");
    static_cast<void>(M::fetch_add(s.gone_on, 1u, base::release));
    s.at_work = has_id_to_itself();
  }
  // Of the only worker's thread: while it waits. In the program another thread may have its id at any time.
  [[nodiscard]] bool has_id_to_itself() const noexcept { return workers_ > 1 || main_waits_; }

  void thread(unsigned id) {
    seat& s = seats_[id];
    s.at_work = has_id_to_itself();
    for (unsigned i = 0; i < rounds_ && !ends(); ++i) {
      workers_ == 1 && rng_.below(2) == 0 ? wait(s) : submit(s);
      for (std::uint32_t turns = rng_.below(20); turns > 0; --turns) M::relax(1);
    }
    s.at_work = false;
    ++left_;
  }
  void submit(seat& s) {
    get_room(s);
    ++ready_;
  }
  // The main thread waits: it runs tasks itself.
  void wait(seat& main) {
    main_waits_ = true;
    reserve_.main_waits(true);
    if (reserve_.holds(main.id)) take_back(main);
    main.at_work = true;
    if (in_body_ == main.id && !hanging_ && !ends()) complain("the main thread waits while a body runs under its id");
    for (std::uint32_t n = rng_.below(4); n > 0 && take_ready(); --n) {
      M::relax(1);
      ++bodies_;
      give_room(0);
    }
    if (rng_.below(2) == 0) submit(main);
    main.at_work = main_waits_ = false;
    reserve_.main_waits(false);
  }

  // --- the reserve's thread, as in engine_steps.hpp and search.hpp

  [[nodiscard]] bool take_ready() noexcept { return ready_ != 0 && ready_-- != 0; }
  void reserve_thread() {
    while (!play_.machine().started && !ends()) M::relax(1);
    while (!ends()) {
      bool found = take_ready();
      if (!found) {
        if (Flaw != flaw::keeps_its_turn_asleep) reserve_.rest();
        if (reserve_.is_wanted()) found = park();
      }
      if (ends() || ((!found || !reserve_.has_turn()) && !take_turn(found))) continue;
      body();
    }
  }
  [[nodiscard]] bool park() {
    parked_ = true;
    while (ready_ == 0 && !ends()) M::relax(1);
    parked_ = false;
    return take_ready();
  }
  [[nodiscard]] bool take_turn(bool found) {
    if (reserve_.next_turn()) return found;
    ready_ += found ? 1 : 0;
    if (reserve_.go_away() && !ends()) {
      away_ = true;
      reserve_.block();
      away_ = false;
    }
    return false;
  }
  void body() {
    const std::uint16_t id = detail::peek(shown_);
    if (id >= workers_) return complain("a body begins under no id");
    seat& s = seats_[id];
    if (s.at_work) complain("a body begins under an id whose thread is at work");
    in_body_ = id;
    for (std::uint32_t turns = rng_.below(30); turns > 0; --turns, ++play_.machine().busy_ns) M::relax(1);
    if (hangs_ && s.listed && rng_.below(2) == 0) {
      hanging_ = true;
      const unsigned before = M::load(s.gone_on, base::acquire);
      for (unsigned turns = 1; M::load(s.gone_on, base::acquire) == before && !ends(); ++turns) {
        M::relax(1);
        if (turns % (long_ago / 4) == 0) give_room(0);  // in place of the patience that lets submitters exceed
      }
      hanging_ = false;
    } else if (helped_ && rng_.below(3) == 0) {
      get_room(own());
      ++larger_;
    }
    in_body_ = nobody;
    ++bodies_;
    give_room(0);
  }

  // --- others

  // A worker that blocks never. It also wakes some in vain: somebody else was there before them.
  void helper() {
    room_[1] = 1;
    while (!ends()) {
      M::relax(1);
      for (std::uint32_t turns = rng_.below(60); turns > 0; --turns) M::relax(1);
      if (larger_ != 0 && larger_-- != 0)
        give_room(1);
      else if (rng_.below(4) == 0)
        wake_all(0);
      else if (rng_.below(4) == 0 && take_ready())
        give_room(0);
    }
  }
  void outsider() {
    for (unsigned i = 0; i < 3 && !ends(); ++i) {
      reserve_.outsiders(1);
      const unsigned before = bodies_;
      ++ready_;
      while (bodies_ == before && !ends()) M::relax(1);
      reserve_.outsiders(-1);
    }
    ++left_;
  }

  interleave::play<M> play_;
  base::random rng_;
  const unsigned workers_;
  const bool helped_;
  const bool hangs_;  // bodies may wait for the thread whose id they have
  const bool outsider_;
  const unsigned rounds_;
  std::vector<seat> seats_;  // the reserve's own is the last
  unsigned room_[2];
  sched::sleep<M> sleep_;
  reserve<M> reserve_{play_.machine(), sleep_};
  detail::cell<std::uint16_t> shown_{nobody};
  detail::cell<unsigned> ticks_{64};
  detail::cell<std::uint8_t> list_lock_;
  detail::cell<std::uint8_t> pool_lock_;
  unsigned ready_ = 0, bodies_ = 0;
  unsigned larger_ = 0;  // tasks of the other class, which bodies on the reserve submit
  unsigned left_ = 0;    // threads that are done
  std::uint16_t in_body_ = nobody;
  bool hanging_ = false, main_waits_ = false, away_ = false, parked_ = false;
  unsigned forgotten_ = 0, calm_ = 0, turns_ = 0;
  const char* wrong_ = nullptr;
};

template <flaw Flaw> const char* tried(std::uint64_t seed) { return std::make_unique<trial<Flaw>>(seed)->run(); }

}  // namespace

TEST_CASE("reserve model: every thread goes on, with its id to itself") {
  interleave::all_seeds(3000, &tried<flaw::none>);
}
TEST_CASE("reserve model: must fail if the reserve parks in its turn") {
  CHECK(interleave::caught(3000, &tried<flaw::keeps_its_turn_asleep>));
}
TEST_CASE("reserve model: must fail if a thread does not take its id back") {
  CHECK(interleave::caught(3000, &tried<flaw::goes_on_at_once>));
}
TEST_CASE("reserve model: must fail if a thread that was woken in vain does not lend its id again") {
  CHECK(interleave::caught(3000, &tried<flaw::lends_once>));
}
TEST_CASE("reserve model: must fail if a body on the reserve is woken as the thread whose id it has") {
  CHECK(interleave::caught(3000, &tried<flaw::recalls_for_its_own_body>));
}
TEST_CASE("reserve model: must fail if the reserve forgets a call that came before it blocks") {
  CHECK(interleave::caught(3000, &tried<flaw::clears_its_call_late>));
}

}  // namespace weft::sched

// The window at its limit under a thousand random schedules: submitters that list themselves, look for room and
// block, workers that run what is submitted and give batches back to a real pool, bodies that submit in turn, and tasks
// that cannot run before more is submitted. Nobody may stay blocked while there is room enough, or any room while all
// workers have nothing to do, or when all who could run tasks stand; and nobody goes beyond the limit without leave.
// The same harness must reject seven ways to use the window that leave out one step of window.md. How the limit grows
// below options::window is for window_test.cpp: that depends on time.
#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "interleave.hpp"
#include "sched/admit/window.hpp"
#include "task/pool.hpp"

namespace weft::sched {
namespace {

class M : public interleave::unsteady {
 public:
  using unsteady::unsteady;
  static void signal(detail::cell<std::uint32_t>& word) { store(word, 1u, base::release); }
};

enum class flaw {
  none,
  looks_before_it_is_listed,  // and not after
  is_marked_woken_too_long,   // looks, then calls look_again()
  clears_its_signal_late,     // after its look
  asks_before_it_gives_back,  // whoever gives a batch back
  says_nothing_when_idle,     // a worker that has nothing to do
  counts_one_thread_more,     // than there are
  keeps_its_leave             // to exceed, for a second batch
};

template <flaw Flaw> class trial final : private window_needs {
 public:
  explicit trial(std::uint64_t seed)
      : play_(seed), rng_(seed * 7), submitters_(rng_.below(3)), strangers_(rng_.below(2) + (submitters_ == 0 ? 1 : 0)),
        workers_(1 + rng_.below(2)), nests_(rng_.below(3) == 0), each_(8 + rng_.below(16)),
        most_(base::window_tasks_min * (1 + rng_.below(3))), seats_(cores()), pool_(cores()), window_(*this, most_) {
    window_.open(submitters_ + workers_ + (Flaw == flaw::counts_one_thread_more ? 1 : 0), true);
  }

  // What is wrong, or nullptr.
  const char* run() {
    const auto core = [this](unsigned id) {
      seat& s = seats_[id - 1];
      id <= submitters_ + strangers_ ? submit_all(s, id - 1) : work(s, id - 1);
    };
    const bool done = play_.run(
        cores(), core, [this] { return wrong_ != nullptr || judge() || play_.all_left(); }, turns_max);
    if (!done) complain("it does not come to an end");
    if (window_.anyone_lately()) complain("somebody is counted who waits no more");
    return wrong_;
  }

 private:
  using batch = std::vector<detail::record*>;
  struct seat {
    detail::worker w;
    detail::cell<std::uint32_t> signal;
    bool waits = false;    // between enter() and leave()
    bool blocked = false;  // until it is signalled
    bool listed = false;   // the same, for certain
    bool leave = false;    // the limit has grown since it waits: it may exceed that
    bool owed = false;     // the same, for certain, and it has not done so
    bool has_exceeded = false;
    unsigned roomy = 0;        // turns for which it has been blocked beside room
    unsigned looked_at = ~0u;  // of a worker: the news it has looked after
  };
  static constexpr unsigned long_ago = 1000;  // turns: more than a wake can be on its way
  static constexpr unsigned patience = 2 * long_ago;
  static constexpr unsigned turns_max = 400 * long_ago;

  [[nodiscard]] unsigned cores() const noexcept { return submitters_ + strangers_ + workers_; }
  [[nodiscard]] unsigned first_worker() const noexcept { return submitters_ + strangers_; }
  [[nodiscard]] bool is_stranger(unsigned i) const noexcept { return i >= submitters_ && i < first_worker(); }
  void complain(const char* what) noexcept {
    if (wrong_ == nullptr) wrong_ = what;
  }
  [[nodiscard]] bool ends() const noexcept { return play_.over() || wrong_ != nullptr; }

  // --- window_needs: with the window's lock held

  void wake(submitter& s) noexcept override { M::signal(s.signal); }
  [[nodiscard]] std::uint64_t tasks_begun() noexcept override {  // asked once for each growth
    for (seat& s : seats_) {
      s.leave = s.leave || s.waits;
      s.owed = s.owed || s.listed;
    }
    return begun_;
  }
  [[nodiscard]] bool has_room(std::uint8_t size_class, std::size_t live_max) noexcept override {
    if (live_max != window_.limit() && window_.limit() > most_) complain("a batch came back and the limit stays up");
    return pool_.has_room(size_class, live_max);
  }

  // --- who judges: core 0, without a turn

  [[nodiscard]] bool judge() noexcept {
    const bool enough = pool_.has_room(0, window_.limit() / 4 + base::pool_batch_records);
    const bool any = pool_.has_room(0, window_.limit());
    const bool idle = all_idle();
    bool all_stand = true;
    for (unsigned i = 0; i < cores(); ++i) all_stand = all_stand && (is_stranger(i) || seats_[i].blocked);
    for (seat& s : seats_) {
      const bool forgotten =
          s.blocked && detail::peek(s.signal) == 0 && (enough || (any && idle) || all_stand || s.owed);
      s.roomy = forgotten ? s.roomy + 1 : 0;
      if (s.roomy <= long_ago) continue;
      complain(enough      ? "somebody is blocked although there is room enough"
               : s.owed    ? "somebody may exceed the limit and is not told"
               : all_stand ? "all stand, and nobody may exceed the limit"
                           : "workers have nothing to do, there is room, and somebody is blocked");
    }
    return false;
  }
  [[nodiscard]] bool all_idle() const noexcept {
    for (unsigned i = first_worker(); i < cores(); ++i)
      if (seats_[i].looked_at != news_) return false;
    return true;
  }

  [[nodiscard]] bool is_somebody_forgotten() const noexcept {
    return std::any_of(seats_.begin(), seats_.end(), [](const seat& s) { return s.roomy != 0; });
  }

  // --- who submits

  void submit_all(seat& s, unsigned i) {
    std::vector<batch> later;  // cannot run before more is submitted
    const std::size_t later_max = rng_.below(3) == 0 ? rng_.below(2 * cores() + 4) : 1;
    for (unsigned n = 0; n < each_ && !ends(); ++n) {
      batch b = submit(s, i);
      if (b.empty()) break;
      if (later.size() >= later_max) publish(later);
      if (later_max > 1 || rng_.below(3) == 0)
        later.push_back(std::move(b));
      else
        publish(b);
      for (std::uint32_t turns = rng_.below(8); turns > 0; --turns) M::relax(1);
    }
    publish(later);
    ++left_;
    ++news_;
  }
  void publish(std::vector<batch>& all) {
    for (batch& b : all) publish(b);
    all.clear();
  }
  void publish(batch& b) {
    if (b.empty()) return;
    ready_.push_back(std::move(b));
    b.clear();
    ++news_;
  }

  // As admission::get() and block(), for a whole batch of records. Returns none if the run is over.
  [[nodiscard]] batch submit(seat& s, unsigned i) {
    batch b = take(s, Flaw == flaw::keeps_its_leave && s.has_exceeded);
    if (b.empty()) {
      submitter self(s.signal, 0, is_stranger(i) ? submitter::stranger : i);
      s.leave = false;
      s.waits = true;
      if (!window_.enter(self)) complain("at options::window whoever finds no room blocks");
      s.listed = true;
      if (Flaw != flaw::looks_before_it_is_listed) b = look(s, self);
      while (b.empty() && !ends()) {
        if (!is_stranger(i)) ++news_;  // another thread runs tasks in its place now, and looks around
        block(s, self);
        if (Flaw != flaw::clears_its_signal_late) M::store(s.signal, 0u, base::relaxed);
        b = look(s, self);
        if (Flaw == flaw::clears_its_signal_late) M::store(s.signal, 0u, base::relaxed);
      }
      s.listed = s.owed = false;
      window_.leave(self);
      s.waits = false;
    }
    live_ += b.empty() ? 0 : 1;
    return b;
  }
  [[nodiscard]] batch look(seat& s, submitter& self) {
    if (Flaw == flaw::is_marked_woken_too_long) {
      batch b = take(s, false);
      if (!b.empty()) return b;
      return window_.look_again(self) ? take(s, true) : batch();
    }
    return take(s, window_.look_again(self));
  }
  void block(seat& s, submitter& self) {
    s.blocked = true;
    unsigned turns = 0;
    for (; detail::peek(s.signal) == 0 && turns < patience && !ends(); ++turns) M::relax(1);
    if (turns == patience) window_.judge(self, {begun_, 0, 0});
    s.blocked = false;
  }
  [[nodiscard]] batch take(seat& s, bool beyond) {
    batch b;
    const std::size_t live_max = beyond ? pool_.no_limit : window_.limit();
    while (b.size() < base::pool_batch_records) {
      detail::record* r = pool_.allocate(s.w, 0, live_max);
      if (r == nullptr) break;
      begin(*r, detail::record_state::filling);
      b.push_back(r);
    }
    if (!b.empty() && b.size() < base::pool_batch_records) complain("records do not come by batches");
    if (beyond && !std::exchange(s.leave, false)) complain("somebody goes beyond the limit without leave");
    s.has_exceeded = beyond;
    if (beyond) s.owed = false;
    return b;
  }

  // --- who runs what was submitted

  void work(seat& s, unsigned i) {
    while (!ends() && (left_ < submitters_ + strangers_ || live_ != 0)) {
      if (!ready_.empty()) {
        batch b = std::move(ready_.front());
        ready_.erase(ready_.begin());
        s.looked_at = ~0u;
        body(s, i, b);
      } else if (s.looked_at != news_) {
        idle(s);
      } else {
        M::relax(1);
      }
    }
  }
  void body(seat& s, unsigned i, batch& b) {
    ++begun_;
    for (std::uint32_t turns = rng_.below(60); turns > 0; --turns) M::relax(1);
    // A body that lasts until nobody is blocked beside room: no other batch may have to come back for that.
    const unsigned turns_most = rng_.below(2) == 0 ? patience : 0;
    for (unsigned turns = 0; turns < turns_most && is_somebody_forgotten() && !ends(); ++turns) M::relax(1);
    if (nests_ && rng_.below(2) == 0) {
      batch child = submit(s, i);
      publish(child);
    }
    const bool asked = Flaw == flaw::asks_before_it_gives_back && window_.anyone();
    for (detail::record* r : b) {
      if (!pool_.recycle(s.w, r)) continue;
      if (Flaw == flaw::asks_before_it_gives_back ? asked : window_.anyone()) window_.room_made(0);
    }
    --live_;
    ++news_;
  }
  void idle(seat& s) {
    const unsigned news = news_;
    if (Flaw != flaw::says_nothing_when_idle && window_.anyone_lately()) window_.worker_idle(true);
    if (news != news_) return;
    s.looked_at = news;
    // The last to fall asleep; where a worker's thread is blocked not all sleep, and patience has to find that out.
    if (submitters_ == 0 && all_idle() && window_.anyone()) window_.all_idle();
  }

  interleave::play<M> play_;
  base::random rng_;
  const unsigned submitters_;  // workers' threads
  const unsigned strangers_;
  const unsigned workers_;
  const bool nests_;  // bodies submit
  const unsigned each_;
  const std::size_t most_;
  std::vector<seat> seats_;
  task::pool<M> pool_;
  window<M> window_;
  std::vector<batch> ready_;
  std::uint64_t begun_ = 0;
  unsigned live_ = 0;  // batches that are submitted and have not come back
  unsigned left_ = 0;  // submitters that are done
  unsigned news_ = 0;  // things that make workers look around
  const char* wrong_ = nullptr;
};

template <flaw Flaw> const char* tried(std::uint64_t seed) { return std::make_unique<trial<Flaw>>(seed)->run(); }

}  // namespace

TEST_CASE("window model: nobody is forgotten while there is room, and nobody exceeds the limit without leave") {
  interleave::all_seeds(1000, &tried<flaw::none>);
}
TEST_CASE("window model: must fail if a submitter looks for room before it is listed, and not after") {
  CHECK(interleave::caught(2000, &tried<flaw::looks_before_it_is_listed>));
}
TEST_CASE("window model: must fail if a submitter is marked woken while it looks") {
  CHECK(interleave::caught(2000, &tried<flaw::is_marked_woken_too_long>));
}
TEST_CASE("window model: must fail if a submitter clears its signal after its look") {
  CHECK(interleave::caught(2000, &tried<flaw::clears_its_signal_late>));
}
TEST_CASE("window model: must fail if who gives a batch back asks before whether anybody waits") {
  CHECK(interleave::caught(2000, &tried<flaw::asks_before_it_gives_back>));
}
TEST_CASE("window model: must fail if a worker with nothing to do says nothing") {
  CHECK(interleave::caught(2000, &tried<flaw::says_nothing_when_idle>));
}
TEST_CASE("window model: must fail if the window counts a thread that does not exist") {
  CHECK(interleave::caught(2000, &tried<flaw::counts_one_thread_more>));
}
TEST_CASE("window model: must fail if a submitter keeps its leave for another batch") {
  CHECK(interleave::caught(2000, &tried<flaw::keeps_its_leave>));
}

}  // namespace weft::sched

// The gates of a pipeline under thousands of random schedules: some cores carry items through stages, serial and not,
// and one of the items may fail. Each serial stage must see all items in order, one at a time, up to the one that
// failed at the least; none may be forgotten. The same harness must reject gates that are broken on purpose.
#include <array>
#include <stdexcept>
#include <vector>

#include "interleave.hpp"
#include "sched/join/pipelines.hpp"

namespace weft::sched {
namespace {

using M = interleave::unsteady;

struct crew_of_three {
  static void decides(by) {}
  [[nodiscard]] static unsigned workers() { return 3; }
};
using sound = pipelines<M, crew_of_three>;

enum class flaw {
  none,
  parks_without_a_look,   // at whether the turn has come meanwhile
  leaves_without_a_look,  // at whether the next waits
  asks_without_the_lock   // whether the first stage is free
};

// As pipelines<M>, and with a flaw.
template <flaw Flaw> struct gates_with {
  sound all;
  gates_with(M& m, const crew_of_three& crew) : all(m, crew) {}

  pipeline_work take(pipeline_state& p) {
    if (Flaw == flaw::asks_without_the_lock && M::load(p.lock, base::relaxed) == 0 && !p.held && !p.ended &&
        p.ready_first == detail::no_slot && p.slots[p.next % p.slot_count].item == detail::no_item) {
      M::between_steps();
      p.held = true;
      return {pipeline_work::kind::begin, 0, p.next, 1};
    }
    return all.take(p, 0, false);
  }
  pipeline_turn park(pipeline_state& p, std::uint64_t item, std::uint32_t stage) {
    if (Flaw != flaw::parks_without_a_look) return all.park(p, item, stage);
    const base::locked<M> hold(p.lock);
    p.slots[item % p.slot_count].stage = stage;
    return pipeline_turn::later;
  }
  bool leave(pipeline_state& p, std::uint64_t item, std::uint32_t stage, bool is_last) {
    if (Flaw == flaw::leaves_without_a_look) {
      const base::locked<M> hold(p.lock);
      p.turns[stage] = item + 1;
      if (is_last) p.slots[item % p.slot_count].item = detail::no_item;
      return false;
    }
    return all.leave(p, item, stage, is_last);
  }
};

template <class Gates> class trial {
 public:
  explicit trial(std::uint64_t seed)
      : play_(seed), rng_(seed * 7), gates_(play_.machine(), crew_), cores_(2 + rng_.below(2)),
        items_(1 + rng_.below(12)) {
    p_.slot_count = 1 + rng_.below(4);
    slots_.resize(p_.slot_count);
    p_.slots = slots_.data();
    p_.turns = turns_.data();
    p_.stage_count = 1 + rng_.below(4);
    for (auto& s : is_serial_) s = rng_.below(3) != 0;
    if (rng_.below(4) == 0) {
      fails_item_ = rng_.below(static_cast<std::uint32_t>(items_));
      fails_stage_ = rng_.below(p_.stage_count);
    }
    for (std::uint32_t s = 0; s < p_.stage_count; ++s) p_.turns[s] = 0;
  }

  const char* run() {
    const bool done = play_.run(
        cores_, [this](unsigned) { carry_items(); }, [this] { return play_.all_left() || wrong_ != nullptr; }, 1 << 16);
    if (wrong_ == nullptr && !done) complain("a core does not end");
    if (wrong_ == nullptr) judge();
    return wrong_;
  }

 private:
  void complain(const char* what) noexcept {
    if (wrong_ == nullptr) wrong_ = what;
  }
  [[nodiscard]] bool stops() const noexcept { return play_.over() || wrong_ != nullptr; }
  [[nodiscard]] std::uint32_t last() const noexcept { return p_.stage_count - 1; }

  void carry_items() {
    while (!stops()) {
      const pipeline_work w = gates_.take(p_);
      if (w.what == pipeline_work::kind::nothing) return;
      std::uint64_t n = w.item;
      bool goes_on = w.what == pipeline_work::kind::begin ? begin(n) : pass(n, w.stage);
      while (goes_on && !stops()) goes_on = pass(++n, last());
    }
  }
  bool begin(std::uint64_t n) {
    if (!body(n, 0)) return false;
    if (n == items_) return gates_.all.produced(p_, false);
    static_cast<void>(gates_.all.produced(p_, true));
    return carry(n, 1);
  }
  bool carry(std::uint64_t n, std::uint32_t stage) {
    if (stage > last()) {
      gates_.all.over(p_, n);
      return false;
    }
    if (is_serial_[stage]) {
      pipeline_turn t = gates_.all.arrive(p_, n, stage);
      if (t == pipeline_turn::later) t = gates_.park(p_, n, stage);
      if (t == pipeline_turn::later) return false;
      if (t == pipeline_turn::dropped) return gates_.all.over(p_, n), false;
    }
    return pass(n, stage);
  }
  bool pass(std::uint64_t n, std::uint32_t stage) {
    if (!body(n, stage)) return false;
    if (is_serial_[stage] && gates_.leave(p_, n, stage, stage == last())) return true;
    if (stage == last()) {
      if (!is_serial_[stage]) gates_.all.over(p_, n);
      return false;
    }
    return carry(n, stage + 1);
  }

  // Returns false if it throws, or the trial is over.
  bool body(std::uint64_t n, std::uint32_t stage) {
    if (stage == 0 || is_serial_[stage]) {
      if (inside_[stage]) complain("two are in a serial stage");
      if (n != seen_[stage]) complain("a serial stage sees an item out of order");
      inside_[stage] = true;
    }
    for (std::uint32_t steps = rng_.below(3); steps > 0; --steps) M::relax(1);
    inside_[stage] = false;
    if (stops()) return false;
    if (n == fails_item_ && stage == fails_stage_) {
      gates_.all.fail(p_, n, nullptr);
      return false;
    }
    ++seen_[stage];
    return true;
  }

  void judge() {
    for (std::uint32_t s = 0; s < p_.stage_count; ++s) {
      const bool failed = fails_item_ < items_;
      const std::uint64_t all = s == 0 ? items_ + 1 : items_;
      if (!failed && seen_[s] != all) complain("an item is forgotten");
      if (failed && seen_[s] < fails_item_) complain("an item before the one that failed is forgotten");
      if (failed && s > fails_stage_ && is_serial_[s] && seen_[s] != fails_item_)
        complain("an item behind one that failed goes on");
    }
  }

  interleave::play<M> play_;
  base::random rng_;
  crew_of_three crew_;
  Gates gates_;
  unsigned cores_;
  std::uint64_t items_;
  std::uint64_t fails_item_ = ~std::uint64_t{0};
  std::uint32_t fails_stage_ = 0;
  std::vector<pipeline_slot> slots_;
  std::array<std::uint64_t, 4> turns_{};
  std::array<bool, 4> is_serial_{}, inside_{};
  std::array<std::uint64_t, 4> seen_{};
  pipeline_state p_;
  const char* wrong_ = nullptr;
};

template <class Gates> const char* one(std::uint64_t seed) { return trial<Gates>(seed).run(); }

}  // namespace

TEST_CASE("pipelines: every serial stage sees all items in order, and none is forgotten") {
  interleave::all_seeds(10000, one<gates_with<flaw::none>>);
}

TEST_CASE("pipelines: the harness finds each planted flaw") {
  CHECK(interleave::caught(4000, one<gates_with<flaw::parks_without_a_look>>));
  CHECK(interleave::caught(4000, one<gates_with<flaw::leaves_without_a_look>>));
  CHECK(interleave::caught(4000, one<gates_with<flaw::asks_without_the_lock>>));
}

}  // namespace weft::sched

// What a worker keeps, under thousands of random schedules: an owner that forks within forks, takes back, submits a
// task now and then, and is in long bodies; thieves that steal, pull, announce their sleep and park. Records lie where
// a stack has them, so the next fork at a depth uses the last one's again. Each branch must run once; none may be left
// with an owner in a long body beside thieves that sleep. The same harness must reject five broken variants. The
// barrier on all threads is a step like others: these schedules are sequentially consistent.
#include <array>

#include "interleave.hpp"
#include "sched/join/branches.hpp"
#include "sched/place/stealing.hpp"
#include "scheduler.hpp"

namespace weft::sched {
namespace {

using M = interleave::watched;

enum class flaw {
  none,
  takes_unclaimed,     // the owner takes its newest without a look whether the list is claimed
  looks_before,        // the owner looks whether thieves starve, and keeps the branch then
  trusts_its_list,     // the owner, back at a list that was claimed, does not ask what is gone
  thief_claims_late,   // the thief looks at the list, and claims it then
  thief_leaves_marks,  // the thief takes what is kept, and does not say so in the branches
};

struct node : detail::branch {
  unsigned called = 0;
  bool is_offered = false;
};

// What the inline path of a fork does, step by step (weft/detail/branch.hpp), but for the flaw.
template <flaw Flaw> struct steps {
  static void keep(detail::worker& w, detail::branch& b) {
    detail::poke(b.older, detail::peek(w.kept));
    M::between_steps();
    detail::poke_release(w.kept, &b);
    M::between_steps();
  }
  static bool taken_back(detail::worker& w, detail::branch& b) {
    if (detail::peek(w.kept) != &b) return false;
    M::between_steps();
    detail::branch* const older = detail::peek(b.older);
    M::between_steps();
    detail::poke(w.kept, older);
    M::between_steps();
    if (Flaw == flaw::takes_unclaimed || detail::peek(w.claimed) == 0) return true;
    M::between_steps();
    detail::poke_release(w.kept, &b);
    return false;
  }
  static bool take_kept(detail::worker& w, detail::branch& b) {
    if (Flaw != flaw::trusts_its_list) return deque<M>::take_kept(w, b);
    for (unsigned spins = 0; detail::peek(w.pulled) != 0;) M::relax(++spins);
    if (detail::peek(w.kept) != &b) return false;
    detail::poke(w.claimed, std::uint8_t{0});
    detail::branch* const older = detail::peek(b.older);
    detail::poke<detail::branch*>(w.kept, older == detail::branch::gone() ? nullptr : older);
    return true;
  }
};

template <flaw Flaw> class trial {
 public:
  static constexpr unsigned depth = 6;
  // Whether what thieves do is the real thing; of the others, a walk along a list that changes would not come back.
  static constexpr bool is_whole = Flaw == flaw::none || Flaw == flaw::looks_before;

  explicit trial(std::uint64_t seed)
      : play_(seed), rng_(seed * 7), s_(play_.machine(), 2 + static_cast<unsigned>(seed % 2)) {
    s_.open();
    stealing_.open(s_.policy);
    worker<M>& w = s_.crew.main();
    w.where->on = &w;  // in a body
    w.current = &body_;
    w.hooked.raw = 0;
  }

  // What is wrong, or nullptr.
  const char* run() {
    const auto core = [this](unsigned id) { id == 1 ? owner() : thief(id - 1); };
    const bool done = play_.run(
        s_.crew.workers(), core, [this] { return wrong_ != nullptr || at_rest(); }, 1 << 18);
    if (!done) complain("thieves do not come to rest");
    return wrong_;
  }

 private:
  void complain(const char* what) noexcept {
    if (wrong_ == nullptr) wrong_ = what;
  }
  [[nodiscard]] bool ends_now() const noexcept { return play_.over() || wrong_ != nullptr; }

  // The owner is in its last, long body, or is through, and all thieves have been parked for longer than a wake could
  // be on its way.
  [[nodiscard]] bool at_rest() {
    if (!calm_.for_long(is_long_ && parked_ + 1 == s_.crew.workers())) return false;
    for (const node& b : nodes_)
      if (b.is_offered && b.called == 0) complain("a branch is left with an owner in a long body, and all sleep");
    return true;
  }

  void owner() {
    for (unsigned round = 0; round < 4 && !ends_now(); ++round) fork(0, 1 + rng_.below(depth));
    const unsigned last = 1 + rng_.below(depth);
    is_last_ = true;
    fork(0, last);
  }
  // A body at depth d that forks until depth `to`.
  void fork(unsigned d, unsigned to) {
    if (ends_now()) return;
    if (d == to) return end_of_chain();
    worker<M>& w = s_.crew.main();
    node& b = nodes_[d];
    b.called = 0;
    b.is_offered = true;
    b.parent = nullptr;
    b.state = {};
    if (!is_whole) begin(b, detail::record_state::ready);  // who has it by mistake is for take() to tell
    const bool too_early = Flaw == flaw::looks_before && deque<M>::starved(w);
    steps<Flaw>::keep(w, b);
    if (Flaw == flaw::looks_before ? too_early : deque<M>::starved(w)) share(w);
    if (!is_last_ && rng_.below(6) == 0) submit_and_run(w);
    fork(d + 1, to);
    join(w, b);
    b.is_offered = false;
    if (!ends_now() && b.called != 1) complain("a fork is over, and its branch has not run once");
    if (rng_.below(4) == 0) fork(d + 1, to);
  }
  void end_of_chain() {
    for (std::uint32_t turns = rng_.below(3) == 0 ? rng_.below(300) : 0; turns > 0; --turns) M::relax(1);
    if (!is_last_ || is_long_) return;
    is_long_ = true;
    while (!ends_now()) M::relax(1);
  }
  void submit_and_run(worker<M>& w) {
    task_.called = 0;
    task_.r.state = {};
    testing::begin_in(task_.r, detail::record_state::ready);
    deque<M>::push(w, &task_.r);
    if (kept<M>::any(w)) complain("something is kept that is older than a task in the deque");
    if (deque<M>::starved(w)) share(w);
    if (detail::record* const r = deque<M>::pop(w)) take(r);
    while (task_.called == 0 && !ends_now()) M::relax(1);
    if (!ends_now() && task_.called != 1) complain("a task was taken twice");
  }
  void share(worker<M>& w) {
    deque<M>::offer_half(w);
    if (deque<M>::share(w)) s_.sleep.notify(play_.machine());
  }
  void join(worker<M>& w, node& b) {
    if (ends_now()) return;
    if (steps<Flaw>::taken_back(w, b) || (kept<M>::any(w) && steps<Flaw>::take_kept(w, b))) return take(&b);
    deque<M>::offer_kept(w);
    if (kept<M>::any(w)) return complain("something is still kept that was to be offered");
    if (detail::record* const r = deque<M>::pop(w)) {
      if (b.parent != &body_) complain("a branch in the deque does not say whose it is");
      take(r);
    }
    while (b.called == 0 && !ends_now()) M::relax(1);
  }

  void take(detail::record* r) {
    if (r == nullptr) return complain("a slot is empty");
    if (r == &task_.r) {
      ++task_.called;
      return;
    }
    node& b = static_cast<node&>(*static_cast<detail::branch*>(r));
    if (!b.is_offered || ++b.called != 1) complain("a branch was taken that nobody offers, or twice");
  }
  // As search.hpp does, without the time it goes on looking.
  void thief(unsigned id) {
    worker<M>& w = s_.crew[id];
    while (!ends_now()) {
      while (detail::record* r = look(w)) take(r);
      if (is_whole ? stealing_.pull(w) : pull_wrongly(s_.crew.main())) continue;
      static_cast<void>(s_.sleep.announce(id));
      const bool overlooked = is_whole && stealing_.overlooked(w);
      if (stealing_.visible(w) || overlooked) {
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
  // What pull.hpp does with a list, but for the flaw.
  bool pull_wrongly(detail::worker& owner) {
    if (M::exchange(owner.pulled, std::uint8_t{1}, base::acq_rel) != 0) return false;
    if (!deque<M>::stealable(owner)) M::store(owner.starved, std::uint8_t{1}, base::relaxed);
    static_cast<void>(M::barrier_everywhere());
    bool got = false;
    if (detail::peek(owner.inside) == 0 && kept<M>::any(owner)) {
      if (Flaw != flaw::thief_claims_late) detail::poke(owner.claimed, std::uint8_t{1});
      static_cast<void>(M::barrier_everywhere());
      detail::branch* const newest = detail::peek(owner.kept);
      M::between_steps();
      detail::poke(owner.claimed, std::uint8_t{1});
      got = give_all(owner, newest);
    }
    M::store(owner.pulled, std::uint8_t{0}, base::release);
    return got;
  }
  bool give_all(detail::worker& owner, detail::branch* newest) {
    const std::uint32_t split = detail::peek(owner.deque.split);
    if (detail::peek(owner.deque.bottom) != split) return false;
    std::array<detail::branch*, depth> all{};
    std::uint32_t n = 0;
    for (detail::branch* b = newest; b != nullptr && b != detail::branch::gone() && n < depth;) {
      if (detail::peek(b->older) == detail::branch::gone()) break;
      all[n++] = b;
      b = detail::peek(b->older);
    }
    M::between_steps();
    for (std::uint32_t i = 0; i < n; ++i) {
      detail::poke(owner.deque.slots[(split + n - 1 - i) & owner.deque.mask], static_cast<detail::record*>(all[i]));
      make_ready(*all[i], owner.current);
      if (Flaw != flaw::thief_leaves_marks) detail::poke(all[i]->older, detail::branch::gone());
    }
    if (n == 0) return false;
    detail::poke(owner.deque.bottom, split + n);
    detail::poke(owner.deque.split, split + n);
    M::store(owner.starved, std::uint8_t{0}, base::relaxed);
    static_cast<void>(M::fetch_add(owner.shared, std::uint64_t{n}, base::seq_cst));
    return true;
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
  detail::record body_{};
  std::array<node, depth> nodes_;
  testing::task task_;
  unsigned parked_ = 0;
  interleave::calm calm_;
  bool is_last_ = false;
  bool is_long_ = false;
  const char* wrong_ = nullptr;
};

template <flaw Flaw> const char* tried(std::uint64_t seed) { return trial<Flaw>(seed).run(); }

}  // namespace

TEST_CASE("kept model: each branch runs once, and none is left with an owner in a long body") {
  interleave::all_seeds(4000, &tried<flaw::none>);
}
TEST_CASE("kept model: must fail if the owner takes its newest without a look whether the list is claimed") {
  CHECK(interleave::caught(4000, &tried<flaw::takes_unclaimed>));
}
TEST_CASE("kept model: must fail if the owner looks before it keeps") {
  CHECK(interleave::caught(4000, &tried<flaw::looks_before>));
}
TEST_CASE("kept model: must fail if the owner does not ask what is gone") {
  CHECK(interleave::caught(4000, &tried<flaw::trusts_its_list>));
}
TEST_CASE("kept model: must fail if the thief looks at the list before it claims it") {
  CHECK(interleave::caught(4000, &tried<flaw::thief_claims_late>));
}
TEST_CASE("kept model: must fail if the thief does not say in the branches that it has them") {
  CHECK(interleave::caught(4000, &tried<flaw::thief_leaves_marks>));
}

}  // namespace weft::sched

// Waits for children under thousands of random schedules: the real waits, deques, stacks and counts, on workers whose
// stacks change hands. Bodies submit children and wait for them, in one step or several, also children in turn; thieves
// steal what a waiting body does not get to. Each body runs once; who waits goes on once, when its children and all
// below them are done, and not before; nothing but a child runs on a waiting stack. How a task ends is an engine's part
// (engine_steps.hpp: done, wholly_done) and stands here in few lines. The same harness must reject five copies of the
// wait and two ends of a task that are broken on purpose.
#include <memory>
#include <type_traits>
#include <vector>

#include "interleave.hpp"
#include "little_engine.hpp"
#include "sched/join/waits.hpp"

namespace weft::sched {
namespace {

class M : public interleave::watched {
 public:
  using watched::watched;
  void jump(unsigned worker, fiber& from, fiber& to, fiber::action* after) {
    unsteady::jump(worker + 1, from, to, after);
  }
};

enum class flaw {
  none,
  copied,                 // no flaw: the copy that the following are planted in
  says_so_late,           // that the body waits is published after its share of the count is given up
  gives_up_twice,         // its share
  keeps_nothing,          // it does not take its share back
  does_not_look_again,    // when it finds no more children here
  runs_strangers,         // what is newest here, whose child it may be
  child_looks_too_early,  // in the end of a task: who waits is read before the count
  always_a_call           // a task that was called by its parent counts as that also when its children end it elsewhere
};

// As waits::for_children(), for bodies without exclusive accesses or events.
template <flaw Flaw> class copied_waits {
 public:
  copied_waits(child_runner<M>& runner, placement<M>& places, suspension<M>& away)
      : runner_(runner), placement_(places), suspension_(away) {}

  void for_children(worker<M>& w) {
    detail::record* r = w.current;
    const bool waited = children<M>::any(*r) && run_children(w, r);
    if (!children<M>::any(*r) || (waited && Flaw == flaw::does_not_look_again)) return;
    waiter self;
    const auto publish = [this, r, &self](worker<M>& here) {
      const auto open = static_cast<std::uint32_t>(r->running.children - r->running.ended_here);
      const std::uint32_t some = open - detail::record::body_share - (Flaw == flaw::gives_up_twice ? 1 : 0);
      r->running.awaits_children = Flaw != flaw::says_so_late ? &self.r : nullptr;
      const std::uint32_t left = M::fetch_add(r->pending, some, base::acq_rel) + some;
      if (Flaw == flaw::says_so_late) {
        M::relax(1);  // between the two anything may happen
        r->running.awaits_children = &self.r;
      }
      if (left == 0) placement_.place(here, &self.r);
    };
    static_cast<void>(suspension_.suspend(static_cast<worker<M>&>(*current_worker()), self, {}, publish));
    r->running.ended_here = r->running.children;
    if (Flaw != flaw::keeps_nothing) M::store(r->pending, detail::record::body_share, base::relaxed);
  }

 private:
  [[nodiscard]] bool run_children(worker<M>& w, detail::record* r) {
    bool any = false;
    worker<M>* here = &w;
    while (children<M>::any(*r)) {
      detail::record* x = deque<M>::pop(*here);
      if (x == nullptr) break;
      const bool is_child = x->kind == detail::record_kind::task && (x->parent == r || Flaw == flaw::runs_strangers);
      if (!is_child) {
        deque<M>::push(*here, x);
        break;
      }
      any = true;
      runner_.run_child(*here, x);
      here = static_cast<worker<M>*>(current_worker());
      here->current = r;
    }
    return any;
  }

  child_runner<M>& runner_;
  placement<M>& placement_;
  suspension<M>& suspension_;
};

template <flaw Flaw> class trial final : public child_runner<M> {
 public:
  explicit trial(std::uint64_t seed)
      : play_(seed), rng_(seed * 13), s_(play_.machine(), 1 + rng_.below(3)), waits_(make_waits()) {
    s_.open();
    for (const auto& w : s_.crew) {
      w->tick_limit.raw = 2 + rng_.below(16);
      w->pace.coarse = rng_.below(4) == 0;
    }
    grow_tree();
  }

  // What is wrong, or nullptr.
  const char* run() {
    detail::worker* const before = current_worker();
    const auto core = [this](unsigned id) { work(s_.crew[id - 1]); };
    const bool done =
        play_.run(s_.crew.workers(), core, [this] { return over_ = wrong_ != nullptr || nodes_[0].done; });
    if (!done) complain("a body that waits is forgotten, or a task is never done");
    for (const node& n : nodes_)
      if (n.called != 1) complain("a task did not run once");
    set_current_worker(before);
    return wrong_;
  }

 private:
  struct node : testing::task {
    trial* all = nullptr;
    unsigned first = 0;  // its children are so many nodes from here
    unsigned children = 0;
    unsigned submitted = 0;
    bool waits = false;
    bool returned = false;
    bool done = false;  // and all below it
  };
  static node& of(detail::record* r) noexcept { return static_cast<node&>(reinterpret_cast<testing::task&>(*r)); }
  static worker<M>& here() noexcept { return static_cast<worker<M>&>(*current_worker()); }
  void complain(const char* what) noexcept {
    if (wrong_ == nullptr) wrong_ = what;
  }

  void grow_tree() {
    const unsigned few = 1 + rng_.below(5);
    std::vector<unsigned> below(few);
    unsigned n = 1 + few;
    for (unsigned& x : below) n += x = rng_.below(3) == 0 ? 1 + rng_.below(3) : 0;
    nodes_ = std::vector<node>(n);
    for (node& x : nodes_) {
      x.all = this;
      x.r.invoke = [](detail::record& r, detail::errand) { of(&r).all->body(of(&r)); };
    }
    nodes_[0].first = 1;
    nodes_[0].children = few;
    for (unsigned i = 0, at = 1 + few; i < few; at += below[i++]) {
      nodes_[1 + i].first = at;
      nodes_[1 + i].children = below[i];
    }
  }

  // --- bodies

  void body(node& self) {
    if (++self.called != 1) complain("a body runs twice");
    idle(30);
    while (self.submitted < self.children) {
      static_cast<void>(s_.submit(here().id, nodes_[self.first + self.submitted++]));
      if (rng_.below(8) == 0) wait(self);
      idle(10);
    }
    if (&self == nodes_.data() || rng_.below(4) != 0) wait(self);
    idle(10);
  }
  void wait(node& self) {
    if (over_) return;
    self.waits = true;
    waits_->for_children(here());
    if (!std::exchange(self.waits, false)) complain("a body goes on twice");
    if (here().current != &self.r) complain("a body goes on as another task");
    for (unsigned i = 0; i < self.submitted; ++i)
      if (!nodes_[self.first + i].done) complain("a body goes on before its children are done");
  }
  void idle(unsigned most) {
    for (std::uint32_t turns = rng_.below(most); turns > 0; --turns) M::relax(1);
  }

  // --- as an engine runs and ends tasks

  void run_child(worker<M>& w, detail::record* x) override {
    if (x->parent != w.current) complain("a stranger runs on the stack of a body that waits");
    x->is_call = true;
    run(w, x);
  }
  void run(worker<M>& w, detail::record* r) {
    ++w.tick;
    transition(*r, detail::record_state::ready, detail::record_state::running);
    r->running.ended_here = 0;
    r->running.children = 0;
    w.current = r;
    r->invoke(*r, detail::errand::run);
    here().current = nullptr;
    of(r).returned = true;
    if (r->has_children) {
      transition(*r, detail::record_state::running, detail::record_state::draining);
      const bool is_call = r->is_call;
      r->is_call = is_call && Flaw == flaw::always_a_call;
      if (!children<M>::body_over(*r)) return;
      r->is_call = is_call;
    }
    wholly_done(r);
  }
  void wholly_done(detail::record* r) {
    for (;;) {
      node& self = of(r);
      if (!self.returned || self.waits) return complain("a task counts as done while its body waits");
      if (std::exchange(self.done, true)) return complain("a task is done twice");
      detail::record* const parent = r->parent;
      if (parent == nullptr) return;
      if (r->is_call) return children<M>::ended_here(*parent);
      const detail::record* const early = parent->running.awaits_children;
      if (Flaw == flaw::child_looks_too_early) M::relax(1);
      if (!children<M>::ended(*parent)) return;
      detail::record* const who = parent->running.awaits_children;
      if (Flaw == flaw::child_looks_too_early && early != who) return complain("a body is told whose wait is another");
      if (who != nullptr) return s_.placement.place(here(), who);
      r = parent;
    }
  }

  // --- workers

  void work(worker<M>& w) {
    play_.machine().seat(w.id + 1u, &w);
    set_current_worker(&w);
    fiber thread_stack;
    w.stacks.running = w.stacks.home = &play_.machine().stack(w.id + 1u, thread_stack);
    if (w.id == 0) static_cast<void>(s_.submit(0, nodes_[0]));
    fiber& loop = stacks_.take(w);
    w.stacks.running = &loop;
    play_.machine().jump(w.id, *w.stacks.home, loop, nullptr);  // comes back when the run is over
  }
  static void enter(void* self) { static_cast<trial*>(self)->loop(); }
  void loop() {
    for (;;) {
      worker<M>& w = here();
      if (over_ || play_.over()) {
        fiber& mine = *w.stacks.running;
        w.stacks.running = w.stacks.home;
        play_.machine().jump(w.id, mine, *w.stacks.home, nullptr);
      }
      if (w.tick >= detail::peek(w.tick_limit)) w.tick = 0;
      detail::record* r = deque<M>::pop(w);
      if (r == nullptr) r = s_.place.stealing.take(w);
      if (r == nullptr) {
        M::relax(1);
      } else if (r->kind == detail::record_kind::resume) {
        away_.resume(w, waiter::of(r));
      } else {
        run(w, r);
      }
    }
  }

  using tested =
      std::conditional_t<Flaw == flaw::none || Flaw == flaw::child_looks_too_early || Flaw == flaw::always_a_call,
                         waits<M>, copied_waits<Flaw>>;
  [[nodiscard]] std::unique_ptr<tested> make_waits() {
    if constexpr (std::is_same_v<tested, waits<M>>)
      return std::make_unique<tested>(nullptr, *this, s_, stacks_, s_.registrar, away_, stall_, events_);
    else
      return std::make_unique<tested>(*this, s_.placement, away_);
  }
  struct no_watch final : event_watch {
    [[nodiscard]] bool events_may_come() override { return true; }
  };

  interleave::play<M> play_;
  base::random rng_;
  testing::little_engine<M> s_;
  sched::stacks<M> stacks_{std::size_t{64} << 10, &trial::enter, this};
  suspension<M> away_{play_.machine(), s_.sleep, stacks_, s_.recording, s_.readiness, s_.quiescence};
  // For the waits that this is not about.
  event_board events_;
  no_watch watch_;
  admission<M> admission_{s_, away_, s_.place.stealing, 1024};
  stall<M> stall_{s_, away_, events_, watch_, admission_};
  std::unique_ptr<tested> waits_;
  std::vector<node> nodes_;
  bool over_ = false;
  const char* wrong_ = nullptr;
};

template <flaw Flaw> const char* tried(std::uint64_t seed) { return std::make_unique<trial<Flaw>>(seed)->run(); }

}  // namespace

TEST_CASE("waits model: who waits for its children goes on once, when all are done") {
  interleave::all_seeds(10000, &tried<flaw::none>);
}
TEST_CASE("waits model: the copy that the flaws are planted in is sound") {
  interleave::all_seeds(1000, &tried<flaw::copied>);
}
TEST_CASE("waits model: must fail if it is published late that the body waits") {
  CHECK(interleave::caught(3000, &tried<flaw::says_so_late>));
}
TEST_CASE("waits model: must fail if a body gives up its share twice") {
  CHECK(interleave::caught(3000, &tried<flaw::gives_up_twice>));
}
TEST_CASE("waits model: must fail if a body does not take its share back") {
  CHECK(interleave::caught(3000, &tried<flaw::keeps_nothing>));
}
TEST_CASE("waits model: must fail if a body does not look again when no child is left here") {
  CHECK(interleave::caught(3000, &tried<flaw::does_not_look_again>));
}
TEST_CASE("waits model: must fail if a waiting body runs what is not its child") {
  CHECK(interleave::caught(3000, &tried<flaw::runs_strangers>));
}
TEST_CASE("waits model: must fail if the end of a task reads who waits before it counts down") {
  CHECK(interleave::caught(3000, &tried<flaw::child_looks_too_early>));
}
TEST_CASE("waits model: must fail if a child that others end counts as one that ended on its parent's stack") {
  CHECK(interleave::caught(3000, &tried<flaw::always_a_call>));
}

}  // namespace weft::sched

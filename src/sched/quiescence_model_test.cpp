// The end of everything under random schedules: workers and a guest submit tasks, others finish them, and somebody asks
// all the time whether everything is done. "Yes" is right only if at some moment since the question nothing lived; and
// whoever waits for the end is let go, after what it submitted is done. The same harness must reject sums in the wrong
// order, a wait that lists itself after its look, and letting go without asking again.
#include <algorithm>
#include <vector>

#include "ground.hpp"
#include "interleave.hpp"
#include "sched/quiescence.hpp"

namespace weft::sched {
namespace {

using M = interleave::unsteady;
using ground::task;

enum class flaw { none, reads_created_first, lists_itself_late, does_not_ask_again };

template <flaw Flaw> class trial {
 public:
  explicit trial(std::uint64_t seed)
      : play_(seed), rng_(seed * 7), each_(1 + rng_.below(4)), outside_(play_.machine(), sleep_, pool_),
        tasks_(submitters * rounds * each_) {
    all_.open(4, false);
  }

  // What is wrong, or nullptr.
  const char* run() {
    const auto core = [this](unsigned id) {
      if (id <= submitters) return submit(id - 1);
      id <= submitters + finishers ? finish(all_[id - 2]) : ask();
    };
    const auto over = [this] { return wrong_ != nullptr || play_.all_left(); };
    if (!play_.run(submitters + finishers + 1, core, over)) complain("who waits for the end is never told");
    return wrong_;
  }

 private:
  static constexpr unsigned submitters = 3;  // a thread from outside, worker 0, worker 1
  static constexpr unsigned finishers = 2;   // workers 2 and 3
  static constexpr unsigned rounds = 2;

  void complain(const char* what) noexcept {
    if (wrong_ == nullptr) wrong_ = what;
  }
  [[nodiscard]] bool ends() const noexcept { return play_.over() || wrong_ != nullptr; }

  [[nodiscard]] bool reached() {
    const bool rest = live_ == 0;
    const unsigned zeros = zeros_;
    const bool yes = Flaw == flaw::reads_created_first ? sums_in_the_wrong_order() : end_.reached();
    if (yes && !rest && zeros_ == zeros) complain("the end is declared although something lived all the time");
    return yes;
  }
  [[nodiscard]] bool sums_in_the_wrong_order() {
    std::uint64_t created = outside_.created();
    for (const auto& w : all_) created += M::load(w->created, base::acquire);
    std::uint64_t finished = outside_.finished();
    for (const auto& w : all_) finished += M::load(w->finished, base::acquire);
    return finished == created;
  }

  // Submits, waits for the end, submits again. No turn lies between the store that counts and what the judge knows.
  void submit(unsigned which) {
    for (unsigned round = 0; round < rounds && !ends(); ++round) {
      task* const first = &tasks_[(which * rounds + round) * each_];
      worker<M>& w = which == 0 ? outside_.enter(nullptr) : all_[which - 1];
      for (unsigned i = 0; i < each_; ++i) {
        end_.created(w, first[i].r);
        ++live_;
        ready_.push_back(&first[i]);
      }
      if (which == 0) outside_.leave(w);
      await();
      for (unsigned i = 0; i < each_ && !ends(); ++i)
        if (first[i].called == 0) complain("a wait ended before what it waited for");
    }
    ++left_;
  }
  void await() {
    waiter self;
    if (Flaw != flaw::lists_itself_late) list(self);
    if (reached()) let_go();
    if (Flaw == flaw::lists_itself_late) list(self);
    while (self.signal.raw == 0 && !ends()) M::relax(1);
    static_cast<void>(end_.delist(self));
    std::erase(listed_, &self);
  }
  void list(waiter& self) {
    listed_.push_back(&self);
    end_.await(self);
  }
  // Who: whoever found that it is over for somebody.
  void let_go() {
    if (Flaw != flaw::does_not_ask_again) {
      for (auto over = end_.take_over(); waiter* x = over.pop();) x->signal.raw = 1;
      return;
    }
    for (waiter* x : std::vector<waiter*>(listed_))
      if (std::find(listed_.begin(), listed_.end(), x) != listed_.end() && end_.delist(*x)) x->signal.raw = 1;
  }

  // A worker that finds nothing to run looks for the end once, and then not before it has run something again.
  void finish(worker<M>& w) {
    bool looked = false;
    while (!ends() && left_ < submitters) {
      if (ready_.empty()) {
        if (!looked && end_.is_over_for_some()) let_go();
        looked = ready_.empty();
        M::relax(1);
        continue;
      }
      task* const t = ready_.back();
      ready_.pop_back();
      t->called = 1;
      M::relax(1);
      end_.finished(w);
      if (--live_ == 0) ++zeros_;
      looked = false;
    }
  }

  void ask() {
    while (!ends() && left_ < submitters) static_cast<void>(reached());
  }

  interleave::play<M> play_;
  base::random rng_;
  unsigned each_;
  sched::sleep<M> sleep_;
  crew<M> all_;
  weft::task::pool<M> pool_{4};
  guests<M> outside_;
  quiescence<M> end_{all_, outside_};
  std::vector<task> tasks_;
  std::vector<task*> ready_;
  std::vector<waiter*> listed_;
  unsigned left_ = 0;   // submitters that are done
  unsigned live_ = 0;   // tasks that are created and not finished, as a judge knows who takes no turn
  unsigned zeros_ = 0;  // times that this came down to none
  const char* wrong_ = nullptr;
};

template <flaw Flaw> const char* tried(std::uint64_t seed) { return trial<Flaw>(seed).run(); }

}  // namespace

TEST_CASE("quiescence model: the end is never declared early and never missed") {
  interleave::all_seeds(1500, tried<flaw::none>);
}

TEST_CASE("quiescence model: created counts that are read before finished ones are caught") {
  CHECK(interleave::caught(1500, tried<flaw::reads_created_first>));
}

TEST_CASE("quiescence model: a wait that is listed after its look is caught") {
  CHECK(interleave::caught(1500, tried<flaw::lists_itself_late>));
}

TEST_CASE("quiescence model: letting go of waits without asking again is caught") {
  CHECK(interleave::caught(1500, tried<flaw::does_not_ask_again>));
}

}  // namespace weft::sched

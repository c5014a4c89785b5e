// The end of everything under random schedules: workers and a guest submit tasks, others finish them, and somebody asks
// all the time whether everything is done. "Yes" is right only if at some moment since the question nothing lived; and
// whoever waits for the end is let go, after what it submitted is done. The same harness must reject sums in the wrong
// order, a wait that lists itself after its look, and letting go without asking again.
#include <algorithm>
#include <vector>

#include "base/plain.hpp"
#include "interleave.hpp"
#include "sched/idle/quiescence.hpp"
#include "scheduler.hpp"

namespace weft::sched {
namespace {

using M = interleave::unsteady;
using testing::task;

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
    // Where memory is weak, who has not been told of a task may find the end that was before it.
    if (yes && !rest && zeros_ == zeros && !interleave::weak_memory)
      complain("the end is declared although something lived all the time");
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
        M::store(ready_[(which * rounds + round) * each_ + i], std::uint8_t{1}, base::release);
      }
      if (which == 0) outside_.leave(w);
      await();
      for (unsigned i = 0; i < each_ && !ends(); ++i)
        if (done_[(which * rounds + round) * each_ + i].read() == 0) complain("a wait ended before what it waited for");
    }
    ++left_;
  }
  void await() {
    waiter self;
    if (Flaw != flaw::lists_itself_late) list(self);
    if (reached()) let_go();
    if (Flaw == flaw::lists_itself_late) list(self);
    while (M::load(self.signal, base::acquire) == 0 && !ends()) M::relax(1);
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
      for (auto over = end_.take_over(); waiter* x = over.pop();) M::unseen::store(x->signal, 1u, base::release);
      return;
    }
    for (waiter* x : std::vector<waiter*>(listed_))
      if (std::find(listed_.begin(), listed_.end(), x) != listed_.end() && end_.delist(*x))
        M::unseen::store(x->signal, 1u, base::release);
  }

  // A worker that finds nothing to run looks for the end once, and then not before it has run something again.
  void finish(worker<M>& w) {
    bool looked = false;
    while (!ends() && left_ < submitters) {
      const unsigned i = take();
      if (i == ready_.size()) {
        if (!looked) static_cast<void>(M::fetch_add(announcements_, 1u, base::seq_cst));  // as sleep::announce
        if (!looked && end_.is_over_at_last()) let_go();
        looked = true;
        M::relax(1);
        continue;
      }
      done_[i].write() = 1;
      M::relax(1);
      end_.finished(w);
      if (--live_ == 0) ++zeros_;
      looked = false;
    }
  }

  // One that is ready, or their number. A word for each, so that who takes it knows what who submitted it knew, and no
  // more.
  [[nodiscard]] unsigned take() {
    unsigned i = static_cast<unsigned>(ready_.size());
    while (i-- > 0)
      if (M::load(ready_[i], base::relaxed) != 0 && M::exchange(ready_[i], std::uint8_t{0}, base::acquire) != 0)
        return i;
    return static_cast<unsigned>(ready_.size());
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
  std::vector<detail::cell<std::uint8_t>> ready_ = std::vector<detail::cell<std::uint8_t>>(tasks_.size());
  std::vector<base::plain<unsigned>> done_ = std::vector<base::plain<unsigned>>(tasks_.size());
  std::vector<waiter*> listed_;
  detail::cell<unsigned> announcements_;
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
  if (!interleave::weak_memory) CHECK(interleave::caught(1500, tried<flaw::reads_created_first>));
}

TEST_CASE("quiescence model: a wait that is listed after its look is caught") {
  CHECK(interleave::caught(1500, tried<flaw::lists_itself_late>));
}

TEST_CASE("quiescence model: letting go of waits without asking again is caught") {
  CHECK(interleave::caught(1500, tried<flaw::does_not_ask_again>));
}

}  // namespace weft::sched

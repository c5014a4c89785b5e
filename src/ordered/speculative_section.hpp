// A section on the workers of a runtime (speculative.md). Whoever takes part runs tasks while there are any it may, and
// leaves when there are none: nobody waits in here. Who finds more than it can run itself invites another, a task of
// the runtime like any. What becomes of tasks is the board's; here is who does what when, and whether bodies run ahead
// or in order.
#pragma once
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <utility>
#include <vector>

#include "base/assert.hpp"
#include "base/lock.hpp"
#include "ordered/executors.hpp"
#include "ordered/payoff.hpp"
#include "ordered/speculation_window.hpp"
#include "ordered/speculative_runner.hpp"
#include "ordered/task_board.hpp"
#include "ordered/versions.hpp"
#include "sched/admit/any_engine.hpp"
#include "weft/event.hpp"
#include "weft/ordered.hpp"
#include "weft/runtime.hpp"

namespace weft::speculative {

template <class M> class section;

// Who takes part in a run. It outlives the run: an invitation may come too late.
template <class M> struct crew {
  alignas(64) detail::cell<std::uint8_t> lock;  // the section's
  section<M>* to = nullptr;                     // until the run is over
  unsigned invited = 0;
  unsigned active = 0;
  std::uint32_t traced = 0;  // the number of the run in the trace
};

// The right to take part. It is the capture of a task, which a cancelled scope may drop.
template <class M> class invitation {
 public:
  explicit invitation(std::shared_ptr<crew<M>> to) noexcept : to_(std::move(to)) {}  // counted by who makes it
  // The first of a run, which the program makes. Until it lies in its task nobody else can know of the run, and the
  // program is on no core, so that it could take no lock if there is no memory for the task.
  struct first {};
  invitation(std::shared_ptr<crew<M>> to, first) noexcept : to_(std::move(to)), is_counted_(false) {}
  invitation(invitation&& made) noexcept : to_(std::move(made.to_)) {}
  invitation& operator=(invitation&&) = delete;
  ~invitation() {
    if (to_ == nullptr || !is_counted_) return;
    const base::locked<M> guard(to_->lock);
    WEFT_ASSERT(to_->invited > 0);
    --to_->invited;
  }
  void accept() {
    const std::shared_ptr<crew<M>> c = std::move(to_);
    section<M>::take_part(*c);
  }

 private:
  std::shared_ptr<crew<M>> to_;
  bool is_counted_ = true;
};

template <class M> class section final : public ordered_run::executor, oldest_known {
 public:
  section(runtime& rt, const ordered_options& o) : section(rt, o, sched::rules(rt.rules())) {}
  section(runtime& rt, const ordered_options& o, const sched::rules& r)
      : runtime_(rt), payoff_(rt.workers() > 1, !o.always_ahead, r), window_(rt.workers(), o.window, r), book_(rt),
        options_(o) {}

  void create(const detail::ordered_call& call) override { board_.pending.create(call); }

  void run() override {
    if (board_.pending.empty()) return;
    WEFT_ASSERT(board_.nothing_admitted() && board_.running() == 0 && !in_order_ && !committing_);
    WEFT_ASSERT(!emptying_ && !stopping_);  // of a run before this
    const double began = runtime_.now_ns();
    event over("the end of an ordered section");
    over_ = &over;
    crew_ = std::make_shared<crew<M>>();
    crew_->to = this;
    crew_->invited = 1;
    in_order_next_ = payoff_.begins_in_order();
    if (!in_order_next_) payoff_.begin_ahead(began);
    runtime_.submit(completes(over), named("ordered section"),
                    [i = invitation<M>(crew_, typename invitation<M>::first{})]() mutable { i.accept(); });
    try {
      over.wait();
    } catch (...) {  // the scope around it is cancelled, and it never began
      board_.drop_all();
      throw;
    }
    board_.free_garbage();
    const double ended = runtime_.now_ns();
    if (!in_order_next_) payoff_.end_ahead(ended);
    counts_.seconds += (ended - began) * 1e-9;
    if (failure_ != nullptr) std::rethrow_exception(std::exchange(failure_, nullptr));
  }

  [[nodiscard]] ordered_counts counts() const override {
    ordered_counts c = counts_;
    c.window = window_.tasks();
    c.serial_seconds = payoff_.serial_ns() * 1e-9;
    return c;
  }

  [[nodiscard]] std::uint64_t again() const noexcept override { return again_; }
  [[nodiscard]] double serial_seconds() const noexcept override { return payoff_.serial_ns() * 1e-9; }
  [[nodiscard]] ordered_run::traced_section traced() const noexcept override {
    return {crew_ != nullptr ? crew_->traced : 0, book_.section(), options_.window, options_.always_ahead};
  }

  // The body of a task that was invited.
  static void take_part(crew<M>& c) {
    event* over = nullptr;
    {
      const base::locked<M> guard(c.lock);
      WEFT_ASSERT(c.invited > 0);
      --c.invited;
      section_book<M>::takes_part(c.traced);
      if (c.to == nullptr) return;
      ++c.active;
      section& s = *c.to;
      s.book_.is_of(c.traced);
      s.work_on();
      WEFT_ASSERT(c.active > 0 && c.to == &s);  // while anybody takes part the run is not over
      --c.active;
      if (c.active == 0) {
        WEFT_ASSERT(s.is_over());
        over = s.over_;
        c.to = nullptr;
      }
    }
    if (over != nullptr) over->fulfil();  // nobody touches the section any more
  }

 private:
  enum class turn : std::uint8_t { nothing, ahead, in_order };

  // Who: holds the lock, and holds it again after.
  void work_on() {
    std::unique_ptr<runner<M>> r;
    if (runners_.empty()) {
      oldest_known& self = *this;
      r = std::make_unique<runner<M>>(self, versions_, board_.pending, runtime_);
    } else {
      r = std::move(runners_.back());
      runners_.pop_back();
    }
    r->tells(book_.is_kept() ? &book_ : nullptr);
    task* t = nullptr;
    for (turn mine = next(t); mine != turn::nothing; mine = next(t)) {
      if (mine == turn::in_order)
        run_in_order(*r);
      else
        run_ahead(*r, *t);
    }
    runners_.push_back(std::move(r));
  }

  [[nodiscard]] turn next(task*& t) {
    for (;;) {
      WEFT_ASSERT(base::held(crew_->lock));
      WEFT_ASSERT(emptying_ || !stopping_);
      if (in_order_) return turn::nothing;
      commit();
      if (in_order_) return turn::nothing;
      if (failure_ != nullptr) {
        WEFT_ASSERT(!committing_);  // it would go on with tasks that are dropped
        emptying_ = stopping_ = false;
        board_.drop_all();
        return turn::nothing;
      }
      if (emptying_) {
        if (board_.running() != 0 || committing_) return turn::nothing;
        board_.take_all_back();
        emptying_ = false;
        if (stopping_) {
          stopping_ = false;
          in_order_next_ = true;
          payoff_.end_ahead(runtime_.now_ns());
        }
      }
      if (board_.nothing_admitted()) board_.free_garbage();
      if (in_order_next_) {
        if (board_.pending.empty()) return turn::nothing;
        in_order_ = true;
        return turn::in_order;
      }
      t = board_.pick(window_.tasks());
      return t != nullptr ? turn::ahead : turn::nothing;
    }
  }
  [[nodiscard]] bool is_over() const noexcept {
    return board_.pending.empty() && board_.nothing_admitted() && !in_order_ && !committing_;
  }

  void run_ahead(runner<M>& r, task& t) {
    const bool invite = crew_->active + crew_->invited < runtime_.workers() && board_.has_more(window_.tasks());
    if (invite) ++crew_->invited;
    const bool comes_first = board_.comes_first(t);
    base::release_lock<M>(crew_->lock);
    if (invite) runtime_.submit(named("ordered helper"), [i = invitation<M>(crew_)]() mutable { i.accept(); });
    const outcome came_to = r.run(t, comes_first);
    base::acquire_lock<M>(crew_->lock);
    ++counts_.started;
    again_ += t.runs > 1 ? 1 : 0;
    if (window_.ran(t.runs > 1)) sched::decides(sched::by::in_vain);
    (void)board_.settle(t, came_to, r);
    if (emptying_ || failure_ != nullptr) return;
    stopping_ = !payoff_.go_on(r.ended_ns);
    emptying_ = stopping_ || board_.much_garbage();
  }

  // Bodies one after the other, until the payoff wants to look again whether running ahead is faster. tasks: grows with
  // each that has happened. call_first: takes the first call and runs it. Errors: what that throws.
  template <class CallFirst> void call_in_order(double began, std::uint64_t& tasks, CallFirst call_first) {
    double now = began;
    std::uint64_t step = 8, look_at = step;
    detail::ordered_call call{};
    while (!board_.pending.none_numbered()) {
      const std::uint64_t former = call.timestamp;
      call_first(call);
      WEFT_ASSERT(call.timestamp >= former);
      if (++tasks < look_at) continue;
      const double before = std::exchange(now, runtime_.now_ns());
      if (payoff_.enough_in_order(tasks, now - began)) {
        sched::decides(sched::by::ahead);
        break;
      }
      step = now - before < look_ns / 2 ? 2 * step : now - before > look_ns ? (step + 1) / 2 : step;
      look_at = tasks + step;
    }
  }
  void run_in_order(runner<M>& r) {
    WEFT_ASSERT(board_.nothing_admitted() && board_.running() == 0);
    base::release_lock<M>(crew_->lock);
    std::exception_ptr failure;
    r.be_in_order(true);
    const double began = runtime_.now_ns();
    std::uint64_t tasks = 0;
    try {
      if (book_.is_kept()) [[unlikely]]
        call_in_order(began, tasks, [this, &r](detail::ordered_call& call) {
          const std::uint64_t number = board_.pending.first_number();
          board_.pending.take_first_numbered(call);
          r.call_and_tell(call, number);
        });
      else
        call_in_order(began, tasks, [this, &r](detail::ordered_call& call) {
          board_.pending.take_first_numbered(call);
          r.call_in_order(call);
        });
    } catch (...) {
      failure = std::current_exception();
    }
    r.be_in_order(false);
    const double now = runtime_.now_ns();
    base::acquire_lock<M>(crew_->lock);
    WEFT_ASSERT(in_order_ && board_.nothing_admitted() && !committing_);  // nobody did anything beside
    counts_.started += tasks + (failure != nullptr ? 1 : 0);
    counts_.committed += tasks;
    counts_.in_order += tasks;
    payoff_.was_in_order(tasks, now - began);
    in_order_ = false;
    if (failure != nullptr) failure_ = failure;
    if (!board_.pending.empty() && failure_ == nullptr) {
      in_order_next_ = false;
      payoff_.begin_ahead(now);
    }
  }

  // What has happened is made so, by one at a time and without the lock: of these nothing changes any more.
  void commit() {
    while (!committing_ && failure_ == nullptr) {
      task* batch[commits_at_once];
      std::size_t n = 0;
      for (task* t = board_.next_to_commit(nullptr); t != nullptr; t = board_.next_to_commit(t)) {
        batch[n++] = t;
        if (n == commits_at_once || t->error != nullptr) break;
      }
      if (n == 0) return;
      WEFT_ASSERT(base::held(crew_->lock) && !in_order_);
      committing_ = true;
      base::release_lock<M>(crew_->lock);
      for (std::size_t i = 0; i < n; ++i) {
        task& t = *batch[i];
        if (is_to_be_told(t)) [[unlikely]]
          book_.sees(t.last_run());
        t.last_run().for_each([this](word_access& a) { versions_.commit(a); });
      }
      base::acquire_lock<M>(crew_->lock);
      WEFT_ASSERT(committing_ && failure_ == nullptr);
      committing_ = false;
      for (std::size_t i = 0; i < n; ++i) {
        payoff_.happened(batch[i]->body_ns);
        if (is_to_be_told(*batch[i])) [[unlikely]]
          book_.happens(*batch[i], batch[i]->children.size());
        WEFT_ASSERT(failure_ == nullptr);  // nothing happens behind a body that has thrown
        counts_.committed += batch[i]->error == nullptr ? 1 : 0;
        failure_ = board_.happened(*batch[i]);
      }
    }
  }

  [[nodiscard]] bool is_to_be_told(const task& t) const noexcept {
    return book_.is_kept() && !t.times.is_told && t.error == nullptr;
  }

  [[nodiscard]] bool is_oldest(const task& t) override {
    if (!board_.may_be_oldest(t)) return false;
    const base::locked<M> guard(crew_->lock);
    return board_.is_oldest(t);
  }

  static constexpr double look_ns = 20'000;  // in order, from one look at the clock to the next, about
  static constexpr std::size_t commits_at_once = section_book<M>::seen_max;

  runtime& runtime_;
  versions<M> versions_;
  task_board<M> board_{versions_};
  payoff payoff_;
  speculation_window window_;
  section_book<M> book_;
  const ordered_options options_;
  std::shared_ptr<crew<M>> crew_;
  event* over_ = nullptr;
  std::vector<std::unique_ptr<runner<M>>> runners_;
  std::exception_ptr failure_;
  ordered_counts counts_;
  std::uint64_t again_ = 0;
  bool in_order_next_ = false;
  bool in_order_ = false;    // somebody runs bodies in order, and nobody else does anything
  bool emptying_ = false;    // nothing is admitted until nothing runs
  bool stopping_ = false;    // and then bodies run in order
  bool committing_ = false;  // somebody writes to base memory
};

}  // namespace weft::speculative

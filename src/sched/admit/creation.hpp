// Decoupled creation (TaskGenX §3): a submitter only counts its task and hands it over, as a request; the creator, one
// worker that runs no tasks, gives it its versions and lets it go. That is the code that a submitter runs itself where
// creation is inline, called later.
//
// Order. A request is created before the next one is taken (creating_), and requests are taken in the order in which
// they were handed over (requests.hpp). So the tasks of one submitter get their versions in program order, and a wait
// that first sees to it that all requests so far are created (await) waits for what it would wait for inline. What is
// counted - parents, children, top-level tasks - is counted by the submitter, so other waits need not look at requests
// at all.
//
// Who creates. The creator is never lent to tasks, because while it ran one nobody would get any. It runs only what
// must run there, pinned tasks, and is away meanwhile: then whoever has nothing else to do creates. So does a thread
// that waits for its requests. With two workers nobody can be spared, and the creator is away for good. Protocol with
// sleepers (sleep.md, requests.md): a request is pushed, then away_ is read; the creator stores away_, then looks for
// requests. So one of the two sees the other and wakes somebody.
#pragma once
#include <cstdio>
#include <exception>
#include <utility>

#include "base/assert.hpp"
#include "base/limits.hpp"
#include "base/lock.hpp"
#include "sched/admit/registrar.hpp"
#include "sched/idle/expected.hpp"
#include "sched/place/context.hpp"
#include "sched/place/queues.hpp"
#include "sched/place/stealing.hpp"
#include "sched/queues/requests.hpp"
#include "sched/workers/source.hpp"

namespace weft::sched {

// As a source: requests that wait for anybody, because the creator is away. What only the creator sees, all of them, is
// a source of its own, since what one worker sees of a shared source all see who have it (stall.hpp).
template <class M> class creation final : public source<M> {
 public:
  // own: the source of what the creator has put into its own deque.
  creation(detail::engine_base* engine, context<M>& context, registrar<M>& registrar, stealing<M>& stealing,
           own_source<M>& own)
      : source<M>("requests to create a task", {.shared = true, .while_paused = true, .serves_one = true}),
        engine_(engine), context_(context), registrar_(registrar), stealing_(stealing), own_(own), made_(*this),
        all_(*this) {}

  // Who: the thread that makes the runtime, with all workers made and none running. wanted: 0 for the last worker.
  // Returns whether others create from now on.
  [[nodiscard]] bool open(unsigned wanted) {
    WEFT_ASSERT(!on() && context_.crew.is_open());
    const unsigned n = context_.crew.workers();
    if (n == 1) {  // fewer threads than were asked for
      std::fprintf(stderr, "weft: with one worker left tasks are created inline, by those who submit them.\n");
      return false;
    }
    creator_ = &context_.crew[wanted == 0 || wanted >= n ? n - 1 : wanted];
    for (const auto& w : context_.crew) w->creates_for = nullptr;
    requests_.open();
    if (requests_.has_ring()) submitter_ = &context_.crew.main();
    if (!context_.recording.on()) short_from_ = submitter_;
    if (n == 2) {
      detail::poke(away_, 1u);
    } else {
      creator_->role = role::creator;
      expected<M>::looks_apart(*creator_);
      detail::poke(creator_->tick_limit, creator_->usual_ticks());
      context_.sleep.set_apart(creator_->id);
    }
    return true;
  }
  [[nodiscard]] bool on() const noexcept { return creator_ != nullptr; }
  // One worker creates and runs no tasks.
  [[nodiscard]] bool has_creator_apart() const noexcept { return on() && creator_->role == role::creator; }
  [[nodiscard]] int creator() const noexcept { return on() ? creator_->id : -1; }
  // Of the creator's deque, for others.
  [[nodiscard]] source<M>& made() noexcept { return made_; }
  // All requests, for the creator.
  [[nodiscard]] source<M>& all_requests() noexcept { return all_; }

  // Whether hand_over() will do for what w submits now. Who: w's thread.
  [[nodiscard]] bool is_short_from(const detail::worker& w) const noexcept {
    return &w == short_from_ && w.current == nullptr;
  }
  // r is filled in and counted. Cost: some stores, and loads of words that seldom change.
  [[gnu::always_inline]] void hand_over(worker<M>& w, detail::record* r) {
    WEFT_DEBUG_ASSERT(&w == submitter_ && w.current == nullptr);
    transition(*r, detail::record_state::filling, detail::record_state::requested);
    if (!requests_.put(r)) [[unlikely]]
      return hand_over_later(w, r);
    wake_who_creates();  // r may be gone
  }
  // The same for any w. Who: any thread, as enter().
  void request(worker<M>& w, detail::record* r) {
    WEFT_ASSERT(on());
    if (&w == submitter_ && w.current == nullptr) {
      context_.recording.requested(w, *r);
      return hand_over(w, r);
    }
    M::work(model::step::request);
    M::touch(r, bytes_in_use(*r), true);
    context_.recording.requested(w, *r);
    transition(*r, detail::record_state::filling, detail::record_state::requested);
    requests_.push(r);  // r may be gone from here on
    wake_who_creates();
  }

  // Returns when what the caller has handed over so far is created. A worker helps, unless that is done already; a
  // guest, who has no deque to put tasks in, waits for those who do.
  void await(worker<M>& w) noexcept {
    // At most one more than are queued: the one that is being created. The queue first, or some might be missed.
    const auto queued = requests_.so_far();
    const std::uint64_t until = M::load(created_, base::acquire) + queued.others + 1;
    const auto is_over = [&] { return M::load(created_, base::acquire) >= until && requests_.is_created(queued); };
    for (unsigned spins = 0; !is_over() && !context_.machine.forked();) {
      if (w.role != role::guest && create_one(w)) continue;
      if (requests_.empty() && M::load(creating_, base::acquire) == 0) return;
      M::relax(++spins);
    }
  }
  // Takes no modelled time: a look, for handle_base::idle().
  [[nodiscard]] bool all_created() noexcept {
    return requests_.none() && base::shared(creating_).load(base::acquire) == 0;
  }
  // The runtime ends after a stall: what was never created never will be.
  void abandon() noexcept {
    while (detail::record* r = requests_.pop()) {
      WEFT_ASSERT(r->state == detail::record_state::requested);
      static_cast<void>(requests_.has_created());
      r->invoke(*r, detail::errand::destroy);
    }
  }

  [[nodiscard]] detail::record* take(worker<M>& w) override {
    WEFT_ASSERT(w.role != role::creator);
    while (M::load(away_, base::relaxed) != 0 && create_one(w)) {  // who falls asleep asks again: visible()
      w.look.left_own();
      if (context_.attention.paused()) continue;  // creation goes on, as inline
      if (detail::record* r = own_.take(w)) return r;
    }
    return nullptr;
  }
  [[nodiscard]] bool visible(worker<M>&) noexcept override {
    return M::load(away_, base::seq_cst) != 0 && requests_.any_for_sure();
  }

  // The creator runs something, or is back. Who: the creator.
  void leaves() noexcept {
    WEFT_ASSERT(on() && creator_->role == role::creator);
    M::store(away_, 1u, base::seq_cst);
    if (requests_.any_for_sure()) context_.sleep.notify(context_.machine);
  }
  void is_back() noexcept {
    if (detail::peek(away_) != 0) M::store(away_, 0u, base::seq_cst);
  }
  // Changes with each request that is created.
  [[nodiscard]] std::uint64_t created_so_far() const noexcept {
    return detail::peek(created_) + requests_.created_of_ring();
  }

 private:
  // What the creator has made ready, before anybody robs elsewhere.
  class made_source final : public source<M> {
   public:
    explicit made_source(creation& c) : source<M>("the creator's deque", {.shared = true}), creation_(c) {}
    [[nodiscard]] detail::record* take(worker<M>& w) override {
      WEFT_ASSERT(creation_.on());
      return creation_.creator_->role == role::creator ? creation_.stealing_.rob(w, *creation_.creator_) : nullptr;
    }
    [[nodiscard]] bool visible(worker<M>&) noexcept override { return sched::deque<M>::stealable(*creation_.creator_); }

   private:
    creation& creation_;
  };

  class all_source final : public source<M> {
   public:
    explicit all_source(creation& c)
        : source<M>("all requests to create a task", {.while_paused = true}), creation_(c) {}
    [[nodiscard]] detail::record* take(worker<M>& w) override { return creation_.create_many(w); }
    [[nodiscard]] bool visible(worker<M>&) noexcept override { return creation_.requests_.any_for_sure(); }

   private:
    creation& creation_;
  };

  [[gnu::always_inline]] void wake_who_creates() noexcept {
    if (M::load(away_, base::seq_cst) == 0)
      context_.sleep.notify_apart(context_.machine);
    else
      context_.sleep.notify(context_.machine);
  }
  // The ring is full. The creator is at it; where there is none, the caller creates.
  [[gnu::noinline]] void hand_over_later(worker<M>& w, detail::record* r) {
    for (unsigned spins = 0; !requests_.put(r);)
      if (M::load(away_, base::relaxed) == 0 || !create_one(w)) M::relax(++spins);
    wake_who_creates();
  }

  // From time to time the creator looks elsewhere, so that requests do not shut out a pinned task for ever.
  [[nodiscard]] detail::record* create_many(worker<M>& w) {
    WEFT_ASSERT(&w == creator_);
    for (unsigned n = 0; n < ticks_between_looks && create_one(w); ++n) {
    }
    context_.placement.expose(w);
    return nullptr;
  }

  // Creates the oldest request. Returns whether there was one and nobody else was at it. Who: worker w, its own thread.
  [[nodiscard]] bool create_one(worker<M>& w) {
    if (requests_.empty() || M::exchange(creating_, std::uint8_t{1}, base::acquire) != 0) return false;
    detail::record* r = requests_.pop();
    if (r == nullptr) {
      base::release_lock<M>(creating_);
      return false;
    }
    WEFT_ASSERT(w.role != role::guest);
    pay_creation<M>(*r, false);
    context_.recording.creates(w, *r);
    transition(*r, detail::record_state::requested, detail::record_state::filling);
    access::woken list;
    bool is_ready = true;
    try {
      is_ready = registrar_.any(w, r, list, true);
    } catch (...) {
      refuse(w, *r);
    }
    context_.recording.creation_over(w);
    WEFT_ASSERT(base::held(creating_));
    if (!requests_.has_created()) M::store(created_, detail::peek(created_) + 1, base::release);  // pairs with await()
    base::release_lock<M>(creating_);
    if (is_ready) context_.placement.place(w, r);
    context_.readiness.all(w, list);
    if (w.role == role::creator && sched::deque<M>::starved(w)) context_.placement.expose(w);
    return true;
  }
  void refuse(worker<M>& w, detail::record& r) {
    context_.poison.refuse(r, engine_, std::current_exception());
    if (!context_.recording.on()) return;
    const std::uint32_t n = std::exchange(r.access_count, 0u);  // it has none any more
    context_.recording.submitted(w, r);
    r.access_count = n;
  }

  detail::engine_base* engine_;
  context<M>& context_;
  registrar<M>& registrar_;
  stealing<M>& stealing_;
  own_source<M>& own_;
  made_source made_;
  all_source all_;
  worker<M>* creator_ = nullptr;          // nullptr: tasks are created inline
  detail::cell<std::uint32_t> away_;      // the creator runs a task: whoever is idle creates
  detail::worker* submitter_ = nullptr;   // the main thread, if there is a ring for it
  detail::worker* short_from_ = nullptr;  // the same, if nothing is recorded
  requests<M> requests_;                  // submitted, counted, not yet created
  detail::cell<std::uint8_t> creating_;   // held from taking a request until it is registered
  detail::cell<std::uint64_t> created_;   // requests so far, without the ring's; written under creating_
};

}  // namespace weft::sched

// How a submitter gets a record, and what it does while the window is full (window.hpp).
//
// Where threads are real it may hold a lock that bodies take, so no body may run on its stack, nor on its thread: it
// blocks, lends its id to the reserve, which runs tasks in its place (reserve.hpp), and takes it back before it goes
// on. A machine without a reserve has one thread: there the submitter's stack is set aside, its core runs tasks, and it
// comes back - as a source of its worker - when records are free, or when nothing else can run anywhere.
#pragma once
#include <cstdint>
#include <utility>

#include "base/assert.hpp"
#include "sched/admit/reserve.hpp"
#include "sched/admit/suspension.hpp"
#include "sched/admit/window.hpp"
#include "sched/place/context.hpp"
#include "sched/place/stealing.hpp"
#include "sched/workers/source.hpp"

namespace weft::sched {

// As a source: submitters that this worker set aside; and, now and then while others are blocked, tasks at the old ends
// of deques, where the room may stand that those wait for.
template <class M> class admission final : public source<M>, private window_needs {
 public:
  admission(context<M>& context, suspension<M>& suspension, stealing<M>& stealing, std::size_t window_tasks)
      : source<M>("submitters that wait for room", {.while_paused = true, .now_and_then = true, .serves_one = true}),
        context_(context), suspension_(suspension), stealing_(stealing), window_(*this, window_tasks, context.rules),
        reserve_(context.machine, context.sleep) {}

  // Who: the thread that makes the runtime. creator_apart: one worker creates and runs no tasks.
  // stays: workers take nothing from other nodes, so what the main thread has nobody else may see.
  void open(bool creator_apart, bool stays) {
    if (blocks()) {
      worker<M>& r = context_.crew.reserve();
      WEFT_ASSERT(r.role == role::reserve);
      reserve_.open(r.id, r.shown_id, r.tick_limit, ticks_between_looks, stays || context_.crew.workers() == 1);
    }
    window_.open(context_.crew.seats() - (creator_apart ? 1 : 0), blocks());
  }

  // Who: w's thread. May block, or come back on another worker. Errors: std::bad_alloc.
  [[nodiscard, gnu::always_inline]] detail::record* get(worker<M>& w, std::uint8_t size_class) {
    if (detail::record* r = context_.pool.allocate(w, size_class, window_.limit())) return r;
    return wait_for_room(w, size_class);
  }
  [[nodiscard]] std::size_t limit() noexcept { return window_.limit(); }
  // A batch has become free. Somebody may be waiting for room.
  void batch_back(std::uint8_t size_class) noexcept {
    if (!window_.anyone()) return;
    blocks() ? window_.room_made(size_class) : wake_set_aside();
  }

  [[nodiscard]] detail::record* take(worker<M>& w) override {
    if (w.throttled.head != nullptr) return next_set_aside(w);
    const bool looks = w.tick == 0 && window_.anyone_lately() && blocks() && !context_.attention.paused();
    return looks ? look_aside(w) : nullptr;
  }
  [[nodiscard]] bool visible(worker<M>& w) noexcept override {
    return M::load(beyond_window_, base::seq_cst) != 0 && M::load(w.throttled.here, base::seq_cst);
  }

  // --- for those who look for work

  // A waiter goes on where others are blocked: a body that submits and waits in turns lets its worker look aside.
  void resumes(worker<M>& w) noexcept {
    if (window_.anyone_lately() && blocks()) ++w.tick;
  }
  // A worker found nothing to do. wants_more: whether more tasks would serve it.
  // Returns whether there may be more from now on.
  bool worker_idle(bool wants_more) noexcept {
    return window_.anyone_lately() && blocks() && window_.worker_idle(wants_more);
  }
  // Nothing can run: lets somebody exceed the window. Returns whether anybody waits for room.
  [[nodiscard]] bool let_exceed() noexcept {
    if (!window_.anyone()) return false;
    if (blocks()) {
      window_.all_idle();
    } else {
      M::store(beyond_window_, 1u, base::seq_cst);
      wake_set_aside();
    }
    return true;
  }
  [[nodiscard]] bool somebody_waits() noexcept { return window_.anyone(); }
  // The same as a hint.
  [[nodiscard]] bool submitters_wait() noexcept { return window_.anyone_lately(); }
  [[nodiscard]] reserve<M>& the_reserve() noexcept { return reserve_; }

  // --- who waits for tasks

  // The main thread's wait, from its beginning to its end: it runs tasks itself, and leaves what it has to others.
  // Where there is no reserve it is never away (crew.hpp), and nothing happens.
  class main_wait {
   public:
    main_wait(admission& a, worker<M>& w) : admission_(a) {
      if (!w.on_program_stack() || w.current != nullptr) return;
      a.context_.placement.main_waits();
      if (!detail::peek(w.away)) return;
      worker_ = &w;
      detail::poke(w.away, false);
      a.context_.worker_time.turns(w, spends::busy);
      a.context_.machine.settle();
      a.reserve_.main_waits(true);
      if (a.reserve_.holds(w.id)) a.take_back(w);  // from now on worker 0 shows its id itself
    }
    ~main_wait() {
      if (worker_ == nullptr) return;
      admission_.context_.placement.expose(*worker_);
      admission_.reserve_.main_waits(false);
      admission_.context_.worker_time.turns(*worker_, spends::outside);
      M::store(worker_->away, true, base::seq_cst);
      admission_.context_.placement.team_boxes().main_goes_away();
    }
    main_wait(const main_wait&) = delete;
    main_wait& operator=(const main_wait&) = delete;

   private:
    admission& admission_;
    worker<M>* worker_ = nullptr;
  };

  // A thread that is no worker waits for tasks. Where it may be that only the main thread sees them, which may be
  // away, the reserve runs them.
  class outside_wait {
   public:
    explicit outside_wait(admission& a) noexcept : admission_(a) { a.reserve_.outsiders(1); }
    ~outside_wait() { admission_.reserve_.outsiders(-1); }
    outside_wait(const outside_wait&) = delete;
    outside_wait& operator=(const outside_wait&) = delete;

   private:
    admission& admission_;
  };

 private:
  // A submitter without room blocks where somebody takes its place meanwhile, and is set aside elsewhere.
  [[nodiscard]] bool blocks() const noexcept { return context_.crew.has_reserve(); }
  [[nodiscard, gnu::noinline]] detail::record* wait_for_room(worker<M>& w, std::uint8_t size_class) {
    if (!blocks()) return set_aside(w, size_class);
    if (w.role == role::guest) {
      const outside_wait here(*this);
      return block(w, size_class);
    }
    const typename readiness<M>::exclusive_wait until_there_is_room(context_.readiness, w);
    return block(w, size_class);
  }

  // --- where it is set aside

  [[nodiscard]] detail::record* set_aside(worker<M>& w, std::uint8_t size_class) {
    waiter self;
    self.r.size_class = size_class;
    suspension_.suspend(w, self, {trace::why::window}, [this, &self](worker<M>& here) {
      self.r.pin = here.id;
      (here.throttled.head == nullptr ? here.throttled.head : here.throttled.tail->waiting.next) = &self.r;
      here.throttled.tail = &self.r;
      M::store(here.throttled.here, true, base::seq_cst);
      window_.comes();
    });
    return reinterpret_cast<detail::record*>(self.a.required);
  }
  // The oldest submitter that this worker set aside, with the record it wants, if there is one to be had.
  [[nodiscard]] detail::record* next_set_aside(worker<M>& w) {
    detail::record* r = w.throttled.head;
    detail::record* room = allocate(w, r->size_class, take_leave_to_exceed());
    if (room == nullptr) return nullptr;
    waiter::of(r).a.required = reinterpret_cast<std::uintptr_t>(room);
    w.throttled.head = r->waiting.next;
    if (w.throttled.head == nullptr) M::store(w.throttled.here, false, base::relaxed);
    window_.goes();
    return r;
  }
  [[nodiscard]] bool take_leave_to_exceed() noexcept {
    return M::load(beyond_window_, base::relaxed) != 0 && M::exchange(beyond_window_, 0u, base::relaxed) != 0;
  }
  void wake_set_aside() noexcept {
    for (const auto& w : context_.crew)
      if (M::load(w->throttled.here, base::seq_cst)) context_.sleep.notify(context_.machine, w->id);
  }

  // --- where it blocks

  [[nodiscard]] detail::record* block(worker<M>& w, std::uint8_t size_class) {
    const bool is_guest = w.role == role::guest;
    const bool is_reserve = w.role == role::reserve;
    if (!is_guest) context_.placement.expose(w);  // others must be able to run what this worker has
    submitter self(w.throttled.let_go, size_class, is_guest ? submitter::stranger : detail::peek(w.shown_id));
    self.replaceable = !is_reserve;
    if (window_.grows()) w.decides(by::first_window);
    while (!window_.enter(self))
      if (detail::record* r = allocate(w, size_class, false)) return r;
    const auto from = context_.recording.waits(w, w.current);
    detail::record* r = allocate(w, size_class, window_.look_again(self));
    if (r == nullptr) r = block_until_room(w, self);
    window_.leave(self);
    if (!is_guest && !is_reserve) take_back(w);
    context_.recording.goes_on(w, w.current, {trace::why::window}, from);
    return r;
  }
  [[nodiscard]] detail::record* block_until_room(worker<M>& w, submitter& self) {
    const bool is_reserve = w.role == role::reserve;
    const bool lends = w.role != role::guest && !is_reserve;
    if (is_reserve) reserve_.set_blocked(true);
    if (lends && w.id == 0) context_.machine.settle();
    const typename M::stay here(context_.machine, lends);
    const typename worker_time<M>::during asleep(context_.worker_time, w, spends::asleep);
    detail::record* r = nullptr;
    while (r == nullptr) {
      if (lends) reserve_.lend(w.id, self.signal);
      if (!M::block_for(self.signal, window_.patience(self))) judge(w, self);
      M::store(self.signal, 0u, base::relaxed);
      r = allocate(w, self.size_class, window_.look_again(self));
    }
    if (is_reserve) reserve_.set_blocked(false);
    return r;
  }
  [[nodiscard]] detail::record* allocate(worker<M>& w, std::uint8_t size_class, bool beyond) {
    return context_.pool.allocate(w, size_class, beyond ? context_.pool.no_limit : window_.limit());
  }
  // It was not woken in its patience.
  void judge(worker<M>& w, submitter& self) noexcept {
    if (window_.looks_soon()) w.decides(by::first_patience);
    if (window_.judges(self)) window_.judge(self, look());
  }
  [[nodiscard]] progress look() noexcept {
    return {context_.crew.tasks_begun(), context_.machine.busy_ns(), context_.machine.now_ps()};
  }

  struct standing {
    window<M>& w;
    explicit standing(window<M>& its_window) noexcept : w(its_window) { w.stand(); }
    ~standing() { w.stand_no_longer(); }
    standing(const standing&) = delete;
    standing& operator=(const standing&) = delete;
  };
  // Returns when no body runs on the reserve under w's id.
  void take_back(worker<M>& w) noexcept {
    reserve_.take_back(
        w.id, w.throttled.let_go, [this] { return look(); }, [this] { return standing(window_); });
  }

  // Who runs tasks while others are blocked may hold up those for ever: its own tasks never end, and the room that the
  // others wait for comes from tasks that stand in their deques, or at the old end of its own. So now and then it takes
  // one from there.
  [[nodiscard]] detail::record* look_aside(worker<M>& w) {
    context_.placement.expose(w);
    const unsigned seats = context_.crew.seats();
    for (unsigned i = 0; i < seats; ++i) {
      const unsigned at = w.throttled.aside_next;
      w.throttled.aside_next = at + 1 < seats ? at + 1 : 0;
      if (detail::record* r = stealing_.rob(w, context_.crew[at])) return r;
    }
    return nullptr;
  }

  // --- window_needs
  void wake(submitter& s) noexcept override {
    // A body on the reserve has the id of a thread that may be blocked as well, and recall() would be for that one.
    if (s.id == submitter::stranger || !s.replaceable) return M::signal(s.signal);
    reserve_.recall(static_cast<std::uint16_t>(s.id), s.signal);
  }
  [[nodiscard]] std::uint64_t tasks_begun() noexcept override { return context_.crew.tasks_begun(); }
  [[nodiscard]] bool has_room(std::uint8_t size_class, std::size_t live_max) noexcept override {
    return context_.pool.has_room(size_class, live_max);
  }

  context<M>& context_;
  suspension<M>& suspension_;
  stealing<M>& stealing_;
  window<M> window_;
  reserve<M> reserve_;
  detail::cell<std::uint32_t> beyond_window_;  // set aside: nothing else can run, the next submitter may exceed it
};

}  // namespace weft::sched

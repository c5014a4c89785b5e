// Where the order of tasks on a modelled machine is written down or decided (order.hpp): all that is ready goes to one
// pool instead of queues, and an actor goes there at each of its calls. Without such an order this costs a modelled
// machine the test of one pointer, and on the host it is not there.
#pragma once
#include <cstdint>
#include <memory>
#include <utility>

#include "access/walk.hpp"
#include "base/assert.hpp"
#include "sched/idle/sleep.hpp"
#include "sched/replay/order.hpp"
#include "sched/workers/source.hpp"

namespace weft::sched {

template <class M> class ordering final : public source<M> {
 public:
  ordering(M& machine, sleep<M>& sleep)
      : source<M>("the pool of ordered tasks", {.shared = true}), machine_(machine), sleep_(sleep) {}

  // Before the runtime opens.
  void begin(std::unique_ptr<task_order> o) noexcept {
    WEFT_ASSERT(order_ == nullptr);
    order_ = std::move(o);
  }
  [[nodiscard]] bool chooses() const noexcept {
    const task_order* const o = kept();
    return o != nullptr && o->chooses();
  }
  // Whether it is written down or chosen. Then a body is one step of it, with all its branches.
  [[nodiscard]] bool is_kept() const noexcept { return kept() != nullptr; }
  // Whether r goes to the pool before it has its exclusive access, so that adds come in the order that is chosen.
  [[nodiscard]] bool chooses_among_adds(const detail::record& r) const noexcept {
    return chooses() && r.kind == detail::record_kind::task && r.exclusives == 1;
  }
  [[nodiscard]] bool has_none() const noexcept { return order_->empty(); }

  // r is counted and nobody can run it yet.
  void submitted(detail::record& r) {
    if (task_order* const o = kept()) [[unlikely]]
      o->submitted(r);
  }
  // Code of the program begins or goes on: of the task `body`, or if nullptr of the main thread.
  void step(const detail::record* body) noexcept {
    if (task_order* const o = kept()) [[unlikely]]
      o->step(body);
  }
  // The body of r gives its turn to all others.
  void yields(const detail::record* r) noexcept {
    if (task_order* const o = kept()) [[unlikely]]
      o->yields(r);
  }
  void ended(const detail::record& r) noexcept {
    if (task_order* const o = kept()) [[unlikely]]
      o->ended(r);
  }

  // r is ready.
  void add(worker<M>& w, detail::record* r) {
    WEFT_ASSERT(chooses() && r->state == detail::record_state::ready);
    const unsigned pin = r->pin;
    order_->add(r);
    // Stands for the queue that this replaces, and lets other cores in, as that would. seq_cst, as sleep.hpp wants it.
    static_cast<void>(M::fetch_add(changes_, 1u, base::seq_cst));
    if (pin == detail::record::unpinned)
      sleep_.notify(machine_);
    else if (pin != w.id)
      sleep_.notify(machine_, pin);
  }
  // An add that is chosen and cannot have its handle queues for it, and comes back to the pool when it has it.
  [[nodiscard]] detail::record* take(worker<M>& w) override {
    WEFT_ASSERT(chooses());
    static_cast<void>(M::load(changes_, base::seq_cst));
    detail::record* r = order_->take(w.id);
    while (r != nullptr && chooses_among_adds(*r) && r->waiting.cursor == r->access_count) {
      access::woken list;  // stays empty: with a single exclusive access nothing is given back
      transition(*r, detail::record_state::ready, detail::record_state::blocked);
      if (access::advance_exclusive<M>(r, list)) {
        transition(*r, detail::record_state::blocked, detail::record_state::ready);
        break;
      }
      r = order_->take(w.id);
    }
    return r;
  }
  [[nodiscard]] bool visible(worker<M>& w) noexcept override { return order_->has_for(w.id); }

  // A call from the program: when it is over, the caller's code goes on. Declared after the visit, so that it ends
  // before.
  class program_call {
   public:
    explicit program_call(ordering& o) noexcept : ordering_(o) {}
    ~program_call() {
      if (ordering_.kept() != nullptr) [[unlikely]]
        ordering_.step(detail::body_around(current_worker()->current));
    }
    program_call(const program_call&) = delete;
    program_call& operator=(const program_call&) = delete;

   private:
    ordering& ordering_;
  };

 private:
  [[nodiscard]] task_order* kept() const noexcept { return M::keeps_order() ? order_.get() : nullptr; }

  M& machine_;
  sleep<M>& sleep_;
  std::unique_ptr<task_order> order_;  // nullptr: nothing is written down, and the scheduler decides
  detail::cell<std::uint32_t> changes_;
};

}  // namespace weft::sched

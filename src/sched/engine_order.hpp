// Part of engine.hpp. Where the order of tasks on a modelled machine is written down or decided (order.hpp). Without
// such an order this costs a modelled machine the test of one pointer, and on the host it is not there.
#pragma once

namespace weft::sched {

// A call from the program: when it is over, the caller's code goes on. Declared after the visit, so that it ends
// before.
template <machine::machine M> class engine<M>::program_call {
 public:
  explicit program_call(engine& e) noexcept : engine_(e) {}
  ~program_call() {
    if constexpr (M::modelled) engine_.note_step(current_worker()->current);
  }
  program_call(const program_call&) = delete;
  program_call& operator=(const program_call&) = delete;

 private:
  engine& engine_;
};

template <machine::machine M> void engine<M>::note_step(const detail::record* body) noexcept {
  if (order_ != nullptr) [[unlikely]]
    order_->step(body);
}

// The caller goes to where all that is ready waits for its turn, and comes back when it has it.
template <machine::machine M> void engine<M>::offer_turn(worker& w) {
  if (!chooses() || order_->empty() || paused()) return;
  waiter self;
  detail::record* body = w.current;
  set_aside(w, self, [&self](worker& here, engine& e) {
    self.r.pin = here.id;  // no real machine moves a body to another worker at such a call
    e.make_ready(here, &self.r);
  });
  static_cast<worker&>(*current_worker()).current = body;
}

template <machine::machine M> void engine<M>::make_ready_by_order(worker& w, detail::record* r) {
  const unsigned pin = r->pin;
  order_->add(r);
  // Stands for the queue that this replaces, and lets other cores in, as that would. seq_cst, as sleep.hpp wants it.
  static_cast<void>(M::fetch_add(order_changes_, 1u, base::seq_cst));
  if (pin == detail::record::unpinned)
    sleep_.notify(machine_);
  else if (pin != w.id)
    sleep_.notify(machine_, pin);
}

// An add that is chosen and cannot have its handle queues for it, and comes back to the pool when it has it.
template <machine::machine M> detail::record* engine<M>::take_by_order(worker& w) {
  detail::record* r = order_->take(w.id);
  while (r != nullptr && chooses_among_adds(*r) && r->cursor == r->access_count) {
    woken list;  // stays empty: with a single exclusive access nothing is given back
    if (access::advance_exclusive<M>(r, list)) break;
    r = order_->take(w.id);
  }
  return r;
}

template <machine::machine M> detail::record* engine<M>::next_by_order(worker& w) {
  w.body_end_ps = 0;
  static_cast<void>(M::load(order_changes_, base::seq_cst));
  if (paused()) return next_throttled(w);
  if (detail::record* r = take_by_order(w)) return r;
  if (detail::record* r = next_throttled(w)) return r;
  if (M::load(quiescent_waiting_, base::seq_cst) == 0 || !quiescent()) return nullptr;
  end_quiescent_waits(&w);
  return take_by_order(w);
}

}  // namespace weft::sched

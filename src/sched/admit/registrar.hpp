// Step 1 of a task's life where its accesses meet others': each gets the version it requires, after the internal tasks
// that must come before it. Who submits calls this, or where creation is decoupled the creator: the same code, later.
//
// A group of reduces on a handle is closed by an internal task that writes the handle and applies what the reduces left
// over (weft/reduction.hpp). It is registered before any access of another kind, and at every wait that could be
// followed by a look.
#pragma once
#include <cstddef>
#include <cstdint>
#include <new>

#include "access/plain.hpp"
#include "access/registration.hpp"
#include "base/assert.hpp"
#include "sched/idle/quiescence.hpp"
#include "sched/place/placement.hpp"
#include "sched/place/readiness.hpp"
#include "sched/replay/ordering.hpp"
#include "sched/replay/recording.hpp"
#include "task/pool.hpp"

namespace weft::sched {

// What the submitter fills in and the worker reads, but for captures beyond the first words. Never what lies behind r,
// which may be another record or, by where the memory came from, anything.
[[nodiscard]] inline std::size_t bytes_in_use(const detail::record& r) noexcept {
  const std::size_t bytes = sizeof r + r.access_count * sizeof(access::entry) + 32;
  return r.size_class < detail::record_classes ? std::min(bytes, detail::record_bytes[r.size_class]) : bytes;
}

// What creating r takes, by whoever does it: its submitter fills it in, a creator only reads it.
template <class M> void pay_creation(const detail::record& r, bool filled_in_here) {
  M::work(model::step::submit);
  M::touch(&r, bytes_in_use(r), filled_in_here);
}

template <class M> class registrar {
 public:
  using woken = access::woken;

  registrar(detail::engine_base* engine, task::pool<M>& pool, recording<M>& recording, ordering<M>& order,
            quiescence<M>& quiescence, placement<M>& placement, readiness<M>& readiness)
      : engine_(engine), pool_(pool), recording_(recording), ordering_(order), quiescence_(quiescence),
        placement_(placement), readiness_(readiness) {}

  // For plain tasks. long_way: nothing was done.
  [[nodiscard, gnu::always_inline]] access::short_outcome plain(worker<M>& w, detail::record* r) {
    return access::register_plain<M>(r, engine_, recording_.of_submission(w));
  }

  // Returns whether r is ready. `list` receives what its registration made runnable. beside: r is counted already, by
  // its submitter, and internal tasks belong beside it. Errors: weft::error, and then nothing is registered.
  [[nodiscard]] bool any(worker<M>& w, detail::record* r, woken& list, bool beside) {
    WEFT_ASSERT(r->state == detail::record_state::filling);
    if (r->access_count == 0) {
      if (recording_.on()) [[unlikely]]
        recording_.submitted(w, *r);
      return true;
    }
    if (r->plain) {
      const access::short_outcome done = plain(w, r);
      if (done != access::short_outcome::long_way) return done == access::short_outcome::ready;
      r->plain = false;
    }
    put_closers_aside(w, *r);
    for (unsigned spins = 0;;) {
      const access::registered done = access::register_task<M>(
          r, engine_, open_, w.spare_closers, list, recording_.of_submission(w), ordering_.chooses_among_adds(*r));
      if (done.what != access::outcome::apply_first) return done.what == access::outcome::ready;
      if (!close(w, open_.take(*done.reduction), beside ? r : nullptr)) M::relax(++spins);
    }
  }

  // Closes every group of reduces that is open, so that what follows a wait sees whole results. Fails never: a wait
  // whose body was left would take from its children what they use.
  void close_all(worker<M>& w) noexcept {
    while (close(w, open_.take_first(), nullptr)) {
    }
    for (unsigned spins = 0; open_.any_closing();) M::relax(++spins);  // others do; what they close is counted then
  }
  // When this returns nobody else is about to close h either: who waits for h from now on waits for the last write.
  void close_if_open(worker<M>& w, detail::handle_state& h) noexcept {
    for (unsigned spins = 0; is_open(h);)
      if (!close(w, open_.take(h), nullptr)) M::relax(++spins);
  }
  [[nodiscard]] bool any_open() noexcept { return open_.any(); }
  // After a stall: nobody will apply them.
  void forget_all() noexcept {
    for (auto c = open_.take_first(); c.closer != nullptr; c = open_.take_first()) {
      c.h->group_kind = 0;
      open_.closed();
    }
  }

 private:
  struct closure {
    access::apply_function apply;
    detail::handle_state* h;
  };

  // For the groups that r may open, before anything is registered. Errors: std::bad_alloc.
  void put_closers_aside(worker<M>& w, detail::record& r) {
    std::size_t most = 0;
    for (std::uint32_t i = 0; i < r.access_count; ++i)
      if (access::kind_of(r.accesses()[i]) == detail::kind_reduce) ++most;
    while (w.spare_closers.count() < most) [[unlikely]]
      w.spare_closers.add([&] { return spare_record(w); });
  }
  // Beyond the window if need be: a submitter that is in the middle of registering must not be set aside.
  [[nodiscard]] detail::record* spare_record(worker<M>& w) {
    constexpr std::uint8_t size_class =
        detail::record_class(sizeof(detail::record) + sizeof(access::entry) + sizeof(closure));
    detail::record* const r = pool_.allocate(w, size_class, pool_.no_limit);
    WEFT_ASSERT(r != nullptr && r->state == detail::record_state::free);
    return r;
  }

  [[nodiscard]] bool is_open(detail::handle_state& h) noexcept {
    base::locked<M> guard(h.lock);
    return access::reduction_open(h);
  }

  // Returns false if c is none: the group is closed, or somebody else is at it and it will be in a moment. before: the
  // counted task that calls for it, or nullptr.
  bool close(worker<M>& w, const typename access::open_reductions<M>::closing& c,
             const detail::record* before) noexcept {
    if (c.closer == nullptr) return false;
    fill_in(*c.closer, *c.h);
    pay_creation<M>(*c.closer, true);
    if (before != nullptr)
      quiescence_.created_beside(w, *c.closer, *before);
    else
      quiescence_.created(w, *c.closer);
    ordering_.submitted(*c.closer);
    woken list;
    const access::registered done =
        access::register_task<M>(c.closer, engine_, open_, w.spare_closers, list, recording_.of_submission(w), false);
    open_.closed();
    WEFT_ASSERT(done.what != access::outcome::apply_first);
    if (done.what == access::outcome::ready) placement_.place(w, c.closer);
    readiness_.all(w, list);
    return true;
  }

  static void fill_in(detail::record& r, detail::handle_state& h) noexcept {
    const std::uint8_t its_class = r.size_class;
    r = detail::record{};
    r.size_class = its_class;
    begin(r, detail::record_state::filling);
    r.pin = detail::record::unpinned;
    r.name = "apply reduction";
    r.cost_ps = detail::record::charged_bit;
    r.access_count = 1;
    r.internal = true;
    detail::poke(r.pending, detail::record::body_share);
    r.accesses()[0].handle_and_kind = reinterpret_cast<std::uintptr_t>(&h) | detail::kind_bits(detail::kind_write);
    new (r.closure()) closure{access::reduction_of(h), &h};
    r.invoke = [](detail::record& self, detail::errand what) {
      const closure& mine = *static_cast<closure*>(self.closure());
      if (what != detail::errand::destroy) mine.apply(*mine.h);
    };
  }

  detail::engine_base* engine_;
  task::pool<M>& pool_;
  recording<M>& recording_;
  ordering<M>& ordering_;
  quiescence<M>& quiescence_;
  placement<M>& placement_;
  readiness<M>& readiness_;
  access::open_reductions<M> open_;
};

}  // namespace weft::sched

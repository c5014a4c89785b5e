// A scheduler that submits tasks and ends them as the engine does, for the tests of what is built on that. It has no
// loop; and handles that nobody has used belong to "no engine", which is this one.
#pragma once

#include <algorithm>

#include "sched/admit/registrar.hpp"
#include "sched/place/place_room.hpp"
#include "scheduler.hpp"

namespace weft::testing {

template <class M> struct little_engine : scheduler<M> {
  explicit little_engine(M& on, unsigned workers, bool with_reserve = false)
      : scheduler<M>(on, workers, with_reserve) {}

  // Without a policy every task stays where it became ready.
  void open() {
    scheduler<M>::open();
    place.stealing.open(this->policy);
  }

  // Submits t on worker `id`: counted and registered, and if it is ready, placed. Returns whether it was.
  bool submit(unsigned id, task& t) {
    sched::worker<M>& w = this->crew[id];
    access::woken list;
    t.r.plain = is_plain(t);
    t.r.exclusives = exclusives_of(t);
    this->quiescence.created(w, t.r);
    const bool is_ready = registrar.any(w, &t.r, list, false);
    if (is_ready) this->placement.place(w, &t.r);
    this->readiness.all(w, list);
    return is_ready;
  }
  // As an engine ends a body on worker `id`. Returns what runs next there.
  record* finish(unsigned id, task& t) {
    access::woken list;
    access::settle<M>(t.r, list);
    this->quiescence.finished(this->crew[id]);
    return this->readiness.all_but_one(this->crew[id], list);
  }

  sched::place_room<M> place{*this};
  sched::registrar<M> registrar{nullptr,          this->pool,      this->recording, this->ordering,
                                this->quiescence, this->placement, this->readiness};

 private:
  // As clauses say it (weft/detail/submit.hpp).
  [[nodiscard]] static bool is_plain(const task& t) {
    if (t.r.access_count == 0 || t.r.urgent || t.r.pin != record::unpinned) return false;
    for (std::uint32_t i = 0; i < t.r.access_count; ++i)
      if ((access::kind_of(t.a[i]) & ~(detail::kind_read | detail::kind_write)) != 0 || access::is_exclusive(t.a[i]))
        return false;
    return true;
  }
  [[nodiscard]] static std::uint8_t exclusives_of(const task& t) {
    unsigned n = 0;
    for (std::uint32_t i = 0; i < t.r.access_count; ++i)
      if (access::is_exclusive(t.a[i])) ++n;
    return static_cast<std::uint8_t>(std::min(n, 2u));
  }
};

}  // namespace weft::testing

// The nouns of src/sched that stand on those of ground.hpp, put together as the engine does it, for the tests of what
// is built on them in turn. There is no engine: handles that nobody has used belong to "no engine", which is this one.
#pragma once

#include <algorithm>

#include "ground.hpp"
#include "sched/admit/creation.hpp"
#include "sched/admit/registrar.hpp"

namespace weft::ground {

template <class M> struct storey : scheduler<M> {
  explicit storey(M& on, unsigned workers, bool with_reserve = false) : scheduler<M>(on, workers, with_reserve) {}

  // Submits t on worker `id`: counted and registered, and if it is ready, placed. Returns whether it was.
  bool submit(unsigned id, task& t) {
    sched::worker<M>& w = this->all[id];
    access::woken list;
    t.r.plain = is_plain(t);
    t.r.exclusives = exclusives_of(t);
    quiescence.created(w, t.r);
    const bool is_ready = registrar.any(w, &t.r, list, false);
    if (is_ready) this->placement.place(w, &t.r);
    readiness.all(w, list);
    return is_ready;
  }
  // As an engine ends a body on worker `id`. Returns what runs next there.
  record* finish(unsigned id, task& t) {
    access::woken list;
    access::settle<M>(t.r, list);
    quiescence.finished(this->all[id]);
    return readiness.all_but_one(this->all[id], list);
  }

  weft::task::pool<M> pool{this->all.seats()};
  sched::guests<M> outside{this->machine, this->sleep, pool};
  sched::quiescence<M> quiescence{this->all, outside};
  sched::recording<M> recording{this->machine};
  access::reservations<M> reservations;
  sched::readiness<M> readiness{this->placement, reservations, this->order, quiescence};
  sched::registrar<M> registrar{nullptr, pool, recording, this->order, quiescence, this->placement, readiness};

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

// And the nouns that make tasks for others, on top of those.
template <class M> struct maker_storey : storey<M> {
  explicit maker_storey(M& on, unsigned workers, bool with_reserve = false) : storey<M>(on, workers, with_reserve) {
    this->open();
    thieves.open(this->rules);
  }
  // own: the source of what a creator has put into its own deque.
  [[nodiscard]] sched::creation_parts<M> parts(sched::own_source<M>& own) {
    return {this->machine,
            this->sleep,
            this->all,
            this->attention,
            this->recording,
            this->registrar,
            this->readiness,
            this->placement,
            bad,
            thieves,
            own};
  }

  sched::failures<M> failed;
  sched::poison<M> bad{failed};
  sched::stealing<M> thieves{this->machine, this->sleep, this->all, this->placement, this->lengths, this->recording};
};

}  // namespace weft::ground

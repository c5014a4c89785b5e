// What the nouns of the rooms above share: one of each noun up to what makes a task ready, in the order of their
// floors. The engine has one context, and hands it to those that stand on it; what else one of them uses it names
// itself. A context decides nothing.
#pragma once
#include "access/reservation.hpp"
#include "sched/balance/rules.hpp"
#include "sched/balance/tempo.hpp"
#include "sched/fail/failures.hpp"
#include "sched/fail/poison.hpp"
#include "sched/idle/attention.hpp"
#include "sched/idle/guests.hpp"
#include "sched/idle/quiescence.hpp"
#include "sched/idle/sleep.hpp"
#include "sched/idle/worker_time.hpp"
#include "sched/place/placement.hpp"
#include "sched/place/readiness.hpp"
#include "sched/replay/ordering.hpp"
#include "sched/replay/passes.hpp"
#include "sched/replay/recording.hpp"
#include "sched/workers/crew.hpp"
#include "task/pool.hpp"

namespace weft::sched {

template <class M> struct context {
  // threads: how many may take records from the pool, guests not counted. Lives: machine and rules, longer than this.
  context(M& on, unsigned threads, const sched::rules& ruled_by = rules::usual())
      : machine(on), rules(ruled_by), pool(threads) {}
  context(const context&) = delete;
  context& operator=(const context&) = delete;

  M& machine;
  const sched::rules& rules;
  task::pool<M> pool;
  sched::crew<M> crew{rules};
  sched::sleep<M> sleep{rules};
  sched::attention<M> attention;
  sched::tempo<M> tempo{rules};
  sched::failures<M> failures;
  access::reservations<M> reservations;
  sched::guests<M> guests{machine, sleep, pool};
  sched::quiescence<M> quiescence{crew, guests};
  sched::recording<M> recording{machine};
  sched::passes<M> passes{machine, recording.strands()};
  sched::poison<M> poison{failures};
  sched::ordering<M> ordering{machine, sleep};
  sched::placement<M> placement{machine, sleep, crew, attention, ordering, tempo};
  sched::readiness<M> readiness{placement, reservations, ordering, quiescence};
  sched::worker_time<M> worker_time{machine};
};

}  // namespace weft::sched

// Guests (weft/guest.hpp) as the scheduler meets them. The member that comes last gives each worker of its team a seat:
// a task of the runtime's own, a child of that member's, which goes to the box where members go. Whoever comes to a
// seat is held there (gang.hpp). The first that is held runs the guest, lets the others go, and opens the barrier in
// which the members wait. Protocol and proof: gang.md.
#pragma once
#include <algorithm>
#include <cstdint>
#include <memory>
#include <new>
#include <vector>

#include "base/assert.hpp"
#include "base/limits.hpp"
#include "base/lock.hpp"
#include "sched/admit/registrar.hpp"
#include "sched/place/context.hpp"
#include "sched/place/gang.hpp"
#include "sched/teams/gate.hpp"
#include "sched/teams/teams.hpp"
#include "weft/guest.hpp"

namespace weft::sched {

template <class M> class hosting {
 public:
  using gate = sched::gate<M>;

  hosting(context<M>& context, teams<M>& teams) : context_(context), teams_(teams) {}

  // See weft/guest.hpp. Who: a member of t, in its body on w. May return on another worker. Errors: std::bad_alloc, and
  // then t has failed.
  void guest(worker<M>& w, detail::team_state& t, detail::guest_call& c) {
    const std::uint32_t now = gate::phase(t);
    if (!gate::comes(t)) {
      teams_.await(w, t, now);
    } else if (gate::has_failed(t) || !gate::all_are_in(t)) {
      teams_.open_gate(w, t);
    } else if (context_.ordering.chooses()) {  // boxes have no order there, and nothing can be held
      run_alone(w, c);
      end(static_cast<worker<M>&>(*current_worker()), t, now, c.why != nullptr);
    } else {
      summon(w, t, c, now);
      teams_.await(w, t, now);
    }
    c.end = gate::had_failed(t)     ? detail::guest_end::team_failed
            : t.hosted == (now | 1) ? detail::guest_end::was_here
                                    : detail::guest_end::member_gone;
  }
  // The guest of a team of one, or of no team.
  void run_alone(worker<M>& w, detail::guest_call& c) {
    const bool has_place = w.role == role::ordinary;
    const int cpu = has_place ? context_.machine.cpu_of(w.id) : -1;
    const typename M::on_cpus here({&cpu, 1});
    detail::guest_crew crew{.threads = 1, .cpus = &cpu, .at_once = nullptr};
    context_.machine.leave_runtime();
    invoke(c, crew);
    context_.machine.enter_runtime();
  }

 private:
  struct hosted_gang : gang<M>, detail::guest_crew {
    hosting* home = nullptr;
    detail::team_state* team = nullptr;
    detail::guest_call* what = nullptr;
    std::uint32_t barrier = 0;
    std::vector<unsigned> seat_of;  // of each thread
    std::vector<int> cpu_of;
    void (*job)(void*, unsigned) = nullptr;
    void* job_argument = nullptr;
    detail::cell<std::uint32_t> working;  // threads that have not done that
    detail::cell<std::uint32_t> records;  // seats that are not gone
  };
  // What the record of a seat keeps.
  struct seat {
    hosted_gang* of;
    unsigned i;
  };
  static constexpr std::size_t seat_bytes = sizeof(detail::record) + sizeof(seat);

  // --- made and ended

  // Errors: std::bad_alloc, and then the members have been let go: the caller has come to their barrier, and must not
  // leave it closed behind itself.
  void summon(worker<M>& w, detail::team_state& t, detail::guest_call& c, std::uint32_t now) {
    std::vector<std::uint16_t>& ids = w.teams.gathered;
    try {
      gather(w, t.width, ids);
      hosted_gang& g = idle_gang();
      try {
        prepare(g, ids, t, c, now);
        make_seats(w, g);
      } catch (...) {
        give_back(g);
        throw;
      }
    } catch (...) {
      end(w, t, now, true);
      throw;
    }
    M::store(t.summons, std::uint8_t{1}, base::relaxed);
    context_.placement.team_boxes().summon(ids, w.teams.members);
    w.teams.members.clear();
  }
  // The workers whose seats these are.
  void gather(worker<M>& w, std::uint32_t width, std::vector<std::uint16_t>& ids) {
    const bool main_is_away = context_.crew.main_is_away();
    teams_.who().around(w.id < context_.crew.workers() ? w.id : 0, width, main_is_away ? 0 : groups::nobody, ids);
    if (main_is_away) std::erase(ids, 0);
    std::sort(ids.begin(), ids.end());
    WEFT_ASSERT(!ids.empty());
  }
  void prepare(hosted_gang& g, const std::vector<std::uint16_t>& ids, detail::team_state& t, detail::guest_call& c,
               std::uint32_t now) {
    g.make(ids);
    g.home = this;
    g.team = &t;
    g.what = &c;
    g.barrier = now;
    g.seat_of.clear();
    g.seat_of.reserve(ids.size());
    g.cpu_of.clear();
    g.cpu_of.reserve(ids.size());
    M::store(g.records, static_cast<std::uint32_t>(ids.size()), base::relaxed);
  }
  void make_seats(worker<M>& w, hosted_gang& g) {
    std::vector<detail::record*>& seats = w.teams.members;
    WEFT_ASSERT(seats.empty() && w.current != nullptr);
    context_.placement.team_boxes().seats_of_main().expect(g);
    try {
      seats.reserve(g.size());
      while (seats.size() < g.size())
        seats.push_back(context_.pool.allocate(w, detail::record_class(seat_bytes), context_.pool.no_limit));
    } catch (...) {
      for (detail::record* r : seats) {
        begin(*r, detail::record_state::filling);
        static_cast<void>(context_.pool.recycle(w, r));
      }
      seats.clear();
      context_.placement.team_boxes().seats_of_main().taken(g);
      throw;
    }
    for (unsigned i = 0; i < g.size(); ++i) fill_in(w, g, i, *seats[i]);
  }
  void fill_in(worker<M>& w, hosted_gang& g, unsigned i, detail::record& r) {
    detail::prepare(r, &invoke_seat, seat_bytes, 0, 0, true);
    r.name = "guest";
    r.internal = true;  // the body that it serves has begun, so no cancellation skips it
    r.cost_ps = detail::record::charged_bit | detail::record::paid_bit;  // it takes what the guest takes
    new (r.closure()) seat{&g, i};
    pay_creation<M>(r, true);
    context_.quiescence.created(w, r);
    context_.ordering.submitted(r);
    if (context_.recording.on()) context_.recording.submitted(w, r);
    transition(r, detail::record_state::filling, detail::record_state::ready);
  }
  static void invoke_seat(detail::record& r, detail::errand what) {
    const seat self = *static_cast<seat*>(r.closure());
    hosting& home = *self.of->home;
    if (what == detail::errand::run) home.sit(static_cast<worker<M>&>(*current_worker()), *self.of, self.i);
    if (M::fetch_sub(self.of->records, std::uint32_t{1}, base::acq_rel) == 1) home.give_back(*self.of);
  }

  // --- held

  void sit(worker<M>& w, hosted_gang& g, unsigned i) {
    using step = typename gang<M>::step;
    const bool holds = w.id == g.worker(i) && w.role == role::ordinary;
    WEFT_ASSERT(holds || g.worker(i) == 0);
    if (g.worker(i) == 0) context_.placement.team_boxes().seats_of_main().taken(g);
    if (holds) context_.placement.expose(w);  // others must be able to run what this worker has
    const step answered = g.answers(i, holds ? gang<M>::answer::held : gang<M>::answer::absent);
    if (answered == step::complete) {
      if (const unsigned first = g.first(); first != i)
        g.tell(context_.machine, first, gang<M>::call::host);
      else
        return host(g, i);
    }
    if (!holds || answered == step::too_late) return;
    for (std::uint64_t patience_ps = 0;; patience_ps = context_.crew.rules().ps(by::guest_wait)) {
      const auto called_for = g.await(context_.machine, i, patience_ps);
      if (patience_ps != 0) w.decides(by::guest_wait);
      if (called_for == gang<M>::call::over) return;
      if (called_for == gang<M>::call::host) return host(g, i);
      work(g, i);
    }
  }
  // All who could be held are, and this worker is the first of them.
  void host(hosted_gang& g, unsigned i) {
    assign_threads(g, i);
    detail::guest_call& c = *g.what;
    {
      const typename M::on_cpus here(g.cpu_of);
      invoke(c, g);  // may come back elsewhere, if it waits although it must not
    }
    for (const unsigned other : g.seat_of)
      if (other != i) g.tell(context_.machine, other, gang<M>::call::over);
    end(static_cast<worker<M>&>(*current_worker()), *g.team, g.barrier, c.why != nullptr);
  }
  // The calling worker is the first.
  void assign_threads(hosted_gang& g, unsigned i) {
    g.seat_of.push_back(i);
    for (unsigned other = 0; other < g.size(); ++other)
      if (other != i && g.is_held(other)) g.seat_of.push_back(other);
    for (const unsigned at : g.seat_of) g.cpu_of.push_back(context_.machine.cpu_of(g.worker(at)));
    const unsigned held = static_cast<unsigned>(g.seat_of.size());
    const bool bound = std::find(g.cpu_of.begin(), g.cpu_of.end(), -1) == g.cpu_of.end();
    if (!bound) std::fill(g.cpu_of.begin(), g.cpu_of.end(), -1);
    g.threads = bound ? held : std::clamp(held * context_.machine.usable_cpus() / context_.crew.workers(), 1u, held);
    g.cpus = g.cpu_of.data();
    g.at_once = &at_once_of;
  }
  static void invoke(detail::guest_call& c, detail::guest_crew& crew) noexcept {
    guest_context self(crew);
    try {
      c.run(c.body, self);
    } catch (...) {
      c.why = std::current_exception();
    }
  }
  // The guest is gone: the members go on.
  void end(worker<M>& w, detail::team_state& t, std::uint32_t now, bool has_failed) {
    if (has_failed) gate::fails(t);
    t.hosted = now | 1;
    M::store(t.summons, std::uint8_t{0}, base::relaxed);
    teams_.open_gate(w, t);
  }

  // --- what the guest has its threads do

  static void at_once_of(detail::guest_crew& crew, void (*job)(void*, unsigned), void* argument) {
    auto& g = static_cast<hosted_gang&>(crew);
    g.home->at_once(g, job, argument);
  }
  void at_once(hosted_gang& g, void (*job)(void*, unsigned), void* argument) noexcept {
    g.job = job;
    g.job_argument = argument;
    M::store(g.working, g.threads - 1, base::relaxed);  // published by the calls
    for (unsigned i = 1; i < g.threads; ++i) g.tell(context_.machine, g.seat_of[i], gang<M>::call::job);
    job(argument, 0);
    for (unsigned spins = 0; M::load(g.working, base::acquire) != 0;) M::relax(++spins);
  }
  void work(hosted_gang& g, unsigned i) noexcept {
    const auto thread = std::find(g.seat_of.begin(), g.seat_of.end(), i) - g.seat_of.begin();
    g.job(g.job_argument, static_cast<unsigned>(thread));
    static_cast<void>(M::fetch_sub(g.working, std::uint32_t{1}, base::release));  // pairs with at_once()
  }

  // --- kept for the next

  [[nodiscard]] hosted_gang& idle_gang() {
    base::locked<M> guard(lock_);
    if (idle_.empty()) {
      all_.push_back(std::make_unique<hosted_gang>());
      idle_.reserve(all_.size());
      M::fresh(all_.back().get(), sizeof(hosted_gang));
      return *all_.back();
    }
    hosted_gang& g = *idle_.back();
    idle_.pop_back();
    return g;
  }
  void give_back(hosted_gang& g) noexcept {
    base::locked<M> guard(lock_);
    idle_.push_back(&g);
  }

  context<M>& context_;
  teams<M>& teams_;
  alignas(64) detail::cell<std::uint8_t> lock_;
  std::vector<std::unique_ptr<hosted_gang>> all_;
  std::vector<hosted_gang*> idle_;
};

}  // namespace weft::sched

// Teams (weft/team.hpp) as the scheduler meets them: a task whose body begins gets members, each a child of it that
// calls the body; they meet in barriers, and the last to leave ends what they share. When members are gathered they go
// to the boxes of workers (placement.hpp), and who is gathered groups.hpp says. Protocol and proof: teams.md.
#pragma once
#include <algorithm>
#include <cstdint>
#include <memory>
#include <new>
#include <vector>

#include "base/assert.hpp"
#include "base/limits.hpp"
#include "base/lock.hpp"
#include "sched/gate.hpp"
#include "sched/groups.hpp"
#include "sched/ordering.hpp"
#include "sched/placement.hpp"
#include "sched/quiescence.hpp"
#include "sched/recording.hpp"
#include "sched/registrar.hpp"
#include "sched/stall.hpp"
#include "sched/suspension.hpp"
#include "task/pool.hpp"
#include "weft/detail/submit.hpp"
#include "weft/team.hpp"

namespace weft::sched {

template <class M> struct teams_parts {
  M& machine;
  task::pool<M>& pool;
  sched::ordering<M>& order;
  sched::placement<M>& placement;
  sched::quiescence<M>& quiescence;
  sched::recording<M>& recording;
  sched::suspension<M>& suspension;
  sched::stall<M>& stall;
};

template <class M> class teams {
 public:
  using gate = sched::gate<M>;

  explicit teams(const teams_parts<M>& parts) : use_(parts) {}

  [[nodiscard]] groups& who() noexcept { return who_; }

  // Gives r, whose body has begun on w, `width` members, at least two. Returns the one that w calls now, or nullptr: it
  // will come to it. Who: w's thread. Errors: std::bad_alloc, and then r has no members.
  [[nodiscard]] detail::record* gather(worker<M>& w, detail::record& r, const detail::team_clause& wish, unsigned width,
                                       detail::team_body body) {
    WEFT_ASSERT(w.current == &r && r.state == detail::record_state::running);
    WEFT_ASSERT(width >= 2 && width <= who_.widest() && r.subtasks);
    // The reserve has no place of its own and takes the first one's.
    const bool has_place = w.role != role::reserve;
    std::vector<std::uint16_t>& ids = w.gathered;
    std::vector<detail::record*>& members = w.members;
    who_.around(has_place ? w.id : 0, width, use_.placement.main_is_away() ? 0 : groups::nobody, ids);
    team& t = open(w, r, wish, width, body);
    allocate(w, t, members);
    for (unsigned rank = 0; rank < width; ++rank) fill_in(w, t, rank, *members[rank]);
    share_cost(r, members);
    const bool at_once = use_.placement.gather(w, ids, members);
    detail::record* const first = members.front();
    members.clear();
    return at_once ? first : nullptr;
  }

  // See weft/team.hpp. Who: a member, in its body on w. May return on another worker.
  [[nodiscard]] bool barrier(worker<M>& w, detail::team_state& t) {
    const std::uint32_t now = gate::phase(t);
    if (gate::comes(t))
      open_gate(w, t);
    else if (!spin(t, now))
      wait(w, t, now);
    return !gate::had_failed(t);
  }
  // The two halves of that, for a barrier in which something else is done before it opens. await: for who is not the
  // last to come, or has seen to it that another opens; returns at once to where a seat for this worker may stand. Who:
  // as barrier().
  void await(worker<M>& w, detail::team_state& t, std::uint32_t now) {
    if (!spin(t, now, true)) wait(w, t, now);
  }
  void open_gate(worker<M>& w, detail::team_state& t) {
    for (detail::record* r = gate::opens(t); r != nullptr;) {
      detail::record* const next = r->next;  // it is gone once placed
      use_.placement.call_back(w, waiter::of(r).came_from, r);
      r = next;
    }
  }
  [[nodiscard]] std::uint64_t take(detail::team_state& t, std::uint64_t count, std::uint64_t least, bool guided,
                                   std::uint64_t& taken) noexcept {
    std::uint64_t at = M::load(t.next, base::relaxed);
    do {
      if (at >= count) return count;
      const std::uint64_t share = guided ? (count - at) / (std::uint64_t{2} * t.width) : least;
      taken = std::min(count - at, std::max(share, least));
    } while (!M::compare_exchange(t.next, at, at + taken, base::relaxed));
    return at;
  }

 private:
  struct team : detail::team_state {
    teams* home = nullptr;
    std::vector<const void*> slots;
  };
  // What the record of a member keeps.
  struct member {
    team* of;
    unsigned rank;
  };
  static constexpr std::size_t member_bytes = sizeof(detail::record) + sizeof(member);

  // --- made and ended

  [[nodiscard]] team& open(worker<M>& w, detail::record& r, const detail::team_clause& wish, unsigned width,
                           detail::team_body body) {
    team& t = idle_team();
    t.home = this;
    t.engine = w.engine;
    t.task = &r;
    t.body = body;
    t.starts_together = wish.starts_together;
    if (t.slots.size() < width) t.slots.resize(width);
    std::fill_n(t.slots.begin(), width, nullptr);
    t.shown = t.slots.data();
    t.hosted = 0;
    gate::make(t, width);
    return t;
  }
  void allocate(worker<M>& w, team& t, std::vector<detail::record*>& members) {
    WEFT_ASSERT(members.empty());
    try {
      members.reserve(t.width);
      while (members.size() < t.width)
        members.push_back(use_.pool.allocate(w, detail::record_class(member_bytes), use_.pool.no_limit));
    } catch (...) {
      for (detail::record* m : members) {
        m->state = detail::record_state::filling;
        m->size_class = detail::record_class(member_bytes);
        static_cast<void>(use_.pool.recycle(w, m));
      }
      members.clear();
      give_back(t);
      throw;
    }
  }
  void fill_in(worker<M>& w, team& t, unsigned rank, detail::record& m) {
    detail::prepare(m, &invoke_member, member_bytes, 0, 0, true);
    m.name = t.task->name;
    new (m.closure()) member{&t, rank};
    pay_creation<M>(m, true);
    use_.quiescence.created(w, m);
    use_.order.submitted(m);
    if (use_.recording.on()) use_.recording.submitted(w, m);
    transition(m, detail::record_state::ready);
  }
  // What r declares is the work of all, and its own body does nothing.
  static void share_cost(detail::record& r, const std::vector<detail::record*>& members) noexcept {
    constexpr std::uint64_t bits = detail::record::cycles_bit;
    const std::uint64_t amount = r.cost_ps & ~(bits | detail::record::charged_bit);
    if (r.cost_ps != 0)
      for (detail::record* m : members)
        m->cost_ps = (r.cost_ps & bits) | std::max<std::uint64_t>(1, amount / members.size());
    r.cost_ps = detail::record::charged_bit | detail::record::paid_bit;
  }

  static void invoke_member(detail::record& m, detail::errand what) {
    const member self = *static_cast<member*>(m.closure());
    if (what == detail::errand::destroy) return self.of->home->leaves(*self.of, self.rank, true);
    self.of->home->call(m, *self.of, self.rank);
  }
  void call(detail::record& m, team& t, unsigned rank) {
    try {
      team_context self(t, rank);
      if (t.starts_together) self.barrier();
      t.body(*t.task, self);
      use_.machine.end_member(m, *t.task, t.width);
      if (t.starts_together) self.barrier();
    } catch (const team_error&) {  // who has thrown says it
      return leaves(t, rank, true);
    } catch (...) {
      leaves(t, rank, true);
      throw;
    }
    leaves(t, rank, false);
  }
  // The member is gone, and counts as having come to the barrier that others are in. The last one ends the closure of
  // the task, which may wait for a handle, and so return on another worker.
  void leaves(team& t, unsigned rank, bool has_failed) {
    t.shown[rank] = nullptr;
    switch (gate::leaves(t, has_failed)) {
    case gate::departure::others_go_on: return;
    case gate::departure::opens: return open_gate(static_cast<worker<M>&>(*current_worker()), t);
    case gate::departure::was_last: break;
    }
    t.task->invoke(*t.task, detail::errand::destroy);
    give_back(t);
  }

  // --- the barrier

  // For about what setting a stack aside costs, or until workers are summoned. Returns whether the barrier is over.
  [[nodiscard]] bool spin(detail::team_state& t, std::uint32_t now, bool may_be_summoned = false) {
    if (use_.order.chooses()) return false;
    const std::uint64_t until = use_.machine.now_ps() + base::barrier_patience_ps;
    unsigned spins = 0;
    do {
      for (unsigned i = 0; i < looks_per_clock; ++i) {
        if (gate::is_over(t, now)) return true;
        if (may_be_summoned && M::load(t.summons, base::relaxed) != 0) return false;
        M::relax(++spins);
      }
    } while (use_.machine.now_ps() < until);
    return false;
  }
  void wait(worker<M>& w, detail::team_state& t, std::uint32_t now) {
    waiter self;
    self.in_team = &t;
    self.came_from = w.id;
    use_.suspension.suspend(w, self, {trace::why::barrier}, [this, &self, &t, now](worker<M>& here) {
      if (!gate::lists(t, &self.r, now)) use_.placement.place(here, &self.r);
    });
    if (self.stalled) use_.stall.raise(false);
  }

  // --- kept for the next

  [[nodiscard]] team& idle_team() {
    base::locked<M> guard(lock_);
    if (idle_.empty()) {
      all_.push_back(std::make_unique<team>());
      idle_.reserve(all_.size());
      M::fresh(static_cast<detail::team_state*>(all_.back().get()), sizeof(detail::team_state));
      return *all_.back();
    }
    team& t = *idle_.back();
    idle_.pop_back();
    return t;
  }
  void give_back(team& t) noexcept {
    base::locked<M> guard(lock_);
    idle_.push_back(&t);
  }

  static constexpr unsigned looks_per_clock = 16;
  teams_parts<M> use_;
  groups who_;
  alignas(64) detail::cell<std::uint8_t> lock_;
  std::vector<std::unique_ptr<team>> all_;
  std::vector<team*> idle_;
};

}  // namespace weft::sched

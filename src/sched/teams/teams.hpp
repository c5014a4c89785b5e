// Teams (weft/team.hpp) as the scheduler meets them: a task whose body begins gets members, each a child of it that
// calls the body; they meet in barriers, and the last to leave ends what they share. When members are gathered they go
// to the boxes of workers (placement.hpp), and who is gathered groups.hpp says. Protocol and proof: teams.md.
#pragma once
#include <algorithm>
#include <cstdint>
#include <new>
#include <vector>

#include "base/assert.hpp"
#include "base/limits.hpp"
#include "sched/admit/registrar.hpp"
#include "sched/admit/suspension.hpp"
#include "sched/balance/rules.hpp"
#include "sched/join/stall.hpp"
#include "sched/place/context.hpp"
#include "sched/queues/deque.hpp"
#include "sched/teams/gate.hpp"
#include "sched/teams/team_pool.hpp"
#include "sched/teams/widths.hpp"
#include "sched/workers/children.hpp"
#include "sched/workers/groups.hpp"
#include "weft/detail/submit.hpp"
#include "weft/team.hpp"

namespace weft::sched {

template <class M> class teams {
 public:
  using gate = sched::gate<M>;

  teams(context<M>& context, suspension<M>& suspension, stall<M>& stall)
      : context_(context), suspension_(suspension), stall_(stall), widths_(context.rules) {}

  [[nodiscard]] groups& who() noexcept { return who_; }
  // Whether m stands for a member; then its parent is the task of the team.
  [[nodiscard]] static bool is_member(const detail::record& m) noexcept { return m.invoke == &invoke_member; }

  // How wide the team r, whose body begins on w, is by what others took. Then comes gather() or was_alone(); if that
  // fails, gives_up().
  [[nodiscard]] team_course<M> learned(worker<M>& w, detail::record& r, const detail::team_clause& wish, unsigned least,
                                       unsigned most, bool others_wait) {
    using aim = width_table::aim;
    const auto course = widths_.choose(who_, context_.placement.seat_of(w), r, wish, least, most,
                                       others_wait ? aim::cost : aim::time, context_.machine.now_ps());
    if (course.is_joint) w.decides(by::joint);
    if (course.as.is_trial) w.decides(by::width_trials);
    return {course.as.of.width, course, true, context_.machine.now_ps()};
  }
  // r is as wide as its clause or the policy says.
  [[nodiscard]] team_course<M> fixed(unsigned width) {
    team_course<M> course;
    course.width = width;
    course.is_timed = context_.recording.on();
    if (course.is_timed) course.since_ps = context_.machine.now_ps();
    return course;
  }
  // The team r of one has been through.
  void was_alone(worker<M>& w, const detail::record& r, const team_course<M>& course) {
    if (!course.is_timed) return;
    const std::uint64_t now = context_.machine.now_ps();
    is_over(w, r, course, now, now - course.since_ps);
  }
  void gives_up(const team_course<M>& course) { widths_.gives_up(course.learns, context_.machine.now_ps()); }

  // Gives r, whose body has begun on w, members as its course says, at least two. Returns the one that w calls now, or
  // nullptr: it will come to it. Who: w's thread. Errors: std::bad_alloc, and then r has no members.
  [[nodiscard]] detail::record* gather(worker<M>& w, detail::record& r, const detail::team_clause& wish,
                                       const team_course<M>& course, detail::team_body body) {
    const unsigned width = course.width;
    WEFT_ASSERT(w.current == &r && r.state == detail::record_state::running);
    WEFT_ASSERT(width >= 2 && width <= who_.widest() && r.subtasks);
    std::vector<detail::record*>& members = w.teams.members;
    const std::vector<std::uint16_t>& ids = w.teams.last.around(who_, context_.placement.seat_of(w), width,
                                                                context_.crew.main_is_away() ? 0 : groups::nobody);
    team& t = open(w, r, wish, course, body);
    allocate(w, t, members);
    for (unsigned rank = 0; rank < width; ++rank) fill_in(w, t, rank, *members[rank]);
    share_cost(r, members);
    const bool at_once = context_.placement.gather(w, ids, members, t.asleep.list());
    t.asleep.publish();
    wake_sleepers(t);
    detail::record* const first = members.front();
    members.clear();
    return at_once ? first : nullptr;
  }

  // The body of r, which called its own member, is over but for the others. Where a body below it on this stack waits
  // for r, and nothing else is to do here, it looks for a moment whether they are done: then nothing is set aside, and
  // that body goes on where its data is. Who: w, on the stack of r's body.
  void see_off(worker<M>& w, detail::record& r) {
    if (!r.is_call || sched::deque<M>::size(w) != 0) return;
    static_cast<void>(
        spin(context_.rules.ps(by::barrier_wait), [&] { return !children<M>::any(r) || !w.team_box.empty(); }));
  }

  // See weft/team.hpp. Who: a member, in its body on w. May return on another worker.
  [[nodiscard]] bool barrier(worker<M>& w, detail::team_state& t) {
    const std::uint32_t now = gate::phase(t);
    if (gate::comes(t))
      open_gate(w, t);
    else if (!spin(t, [&] { return gate::is_over(t, now); }))
      wait(w, t, [&t, now](detail::record* r) { return gate::lists(t, r, now); });
    return !gate::had_failed(t);
  }
  // The two halves of that, for a barrier in which something else is done before it opens. await: for who is not the
  // last to come, or has seen to it that another opens; returns at once to where a seat for this worker may stand. Who:
  // as barrier().
  void await(worker<M>& w, detail::team_state& t, std::uint32_t now) {
    bool is_over = false;
    const auto stops = [&] { return (is_over = gate::is_over(t, now)) || M::load(t.summons, base::relaxed) != 0; };
    if (!spin(t, stops) || !is_over) wait(w, t, [&t, now](detail::record* r) { return gate::lists(t, r, now); });
  }
  void open_gate(worker<M>& w, detail::team_state& t) { call_back(w, gate::opens(t)); }
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
  // May return on another worker than it was called on.
  [[nodiscard]] std::uint32_t unit(detail::team_state& t, const detail::unit_order& order, std::uint32_t done) {
    unit_queue<M>& all = static_cast<team&>(t).units;
    for (;; done = detail::no_unit) {
      worker<M>& w = static_cast<worker<M>&>(*current_worker());
      const auto got = all.take(t, order, done);
      call_back(w, got.woken);
      if (got.unit != all.none_yet) return got.unit;
      if (spin(t, [&] { return all.news() != got.seen; })) continue;
      wait(w, t, [&all, seen = got.seen](detail::record* r) { return all.lists(r, seen); });
    }
  }

 private:
  using team = sched::team<M>;
  // What the record of a member keeps.
  struct member {
    team* of;
    unsigned rank;
  };
  static constexpr std::size_t member_bytes = sizeof(detail::record) + sizeof(member);

  // --- made and ended

  [[nodiscard]] team& open(worker<M>& w, detail::record& r, const detail::team_clause& wish,
                           const team_course<M>& course, detail::team_body body) {
    const unsigned width = course.width;
    team& t = idle_.take(w);
    try {
      if (t.slots.size() < width) t.slots.resize(width);
      t.asleep.open(width);
    } catch (...) {
      idle_.give_back(t);
      throw;
    }
    t.home = this;
    t.engine = w.engine;
    t.task = &r;
    t.body = body;
    t.starts_together = wish.starts_together;
    t.course = course;
    if (course.is_timed) M::store(t.busy_ps, std::uint64_t{0}, base::relaxed);
    t.keeps_cores = wish.keeps_cores;
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
        members.push_back(context_.pool.allocate(w, detail::record_class(member_bytes), context_.pool.no_limit));
    } catch (...) {
      for (detail::record* m : members) {
        begin(*m, detail::record_state::filling);
        m->size_class = detail::record_class(member_bytes);
        static_cast<void>(context_.pool.recycle(w, m));
      }
      members.clear();
      idle_.give_back(t);
      throw;
    }
  }
  void fill_in(worker<M>& w, team& t, unsigned rank, detail::record& m) {
    detail::prepare(m, &invoke_member, member_bytes, 0, 0, true);
    m.name = t.task->name;
    new (m.closure()) member{&t, rank};
    pay_creation<M>(m, true);
    context_.quiescence.created(w, m);
    context_.ordering.submitted(m);
    if (context_.recording.on()) {
      context_.recording.submitted(w, m);
      context_.recording.is_member(w, m, rank);
    }
    transition(m, detail::record_state::filling, detail::record_state::ready);
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
  void wake_sleepers(team& t) {
    t.asleep.wake([this](std::uint16_t id) { context_.placement.team_boxes().call_up(id); });
  }
  void call(detail::record& m, team& t, unsigned rank) {
    wake_sleepers(t);
    const std::uint64_t since = t.course.is_timed ? context_.machine.now_ps() : 0;
    try {
      // A member that could not be set aside in a barrier would keep all others there.
      suspension_.ensure_stack(static_cast<worker<M>&>(*current_worker()));
      team_context self(t, rank);
      if (t.starts_together) self.barrier();
      t.body(*t.task, self);
      context_.machine.end_member(m, *t.task, t.width);
      if (t.starts_together) self.barrier();
    } catch (const team_error&) {  // who has thrown says it
      return leaves(t, rank, true);
    } catch (...) {
      leaves(t, rank, true);
      throw;
    }
    if (t.course.is_timed) M::fetch_add(t.busy_ps, context_.machine.now_ps() - since, base::relaxed);
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
    if (t.course.is_timed && M::load(t.failed, base::relaxed) != 0)
      gives_up(t.course);
    else if (t.course.is_timed)
      is_over(static_cast<worker<M>&>(*current_worker()), *t.task, t.course, context_.machine.now_ps(),
              M::load(t.busy_ps, base::relaxed));
    t.task->invoke(*t.task, detail::errand::destroy);
    idle_.give_back(t);
  }
  void is_over(worker<M>& w, const detail::record& r, const team_course<M>& course, std::uint64_t now,
               std::uint64_t busy_ps) {
    const bool is_learned = course.learns.of != nullptr;
    if (is_learned && widths_.measured(course.learns, now, now - course.since_ps, busy_ps)) w.decides(by::joint_trials);
    if (context_.recording.on())
      context_.recording.team(w, r,
                              {course.width,
                               !is_learned                                       ? trace::aim::fixed
                               : course.learns.as.goal == width_table::aim::time ? trace::aim::time
                                                                                 : trace::aim::cost,
                               course.since_ps, now, busy_ps});
  }

  // --- waits

  void call_back(worker<M>& w, detail::record* r) {
    while (r != nullptr) {
      detail::record* const next = r->waiting.next;  // it is gone once placed
      context_.placement.call_back(w, waiter::of(r).came_from, r);
      r = next;
    }
  }
  // For about what setting a stack aside costs, unless members stay awake. Returns whether it is over.
  template <class Over> [[nodiscard]] bool spin(const detail::team_state& t, Over is_over) {
    return spin(t.keeps_cores ? base::awake_patience_ps : context_.rules.ps(by::barrier_wait), is_over);
  }
  template <class Over> [[nodiscard]] bool spin(std::uint64_t patience, Over is_over) {
    if (context_.ordering.chooses()) return false;
    const std::uint64_t until = context_.machine.now_ps() + patience;
    unsigned spins = 0;
    do {
      for (unsigned i = 0; i < looks_per_clock; ++i) {
        if (is_over()) return true;
        M::relax(++spins);
      }
    } while (context_.machine.now_ps() < until);
    return false;
  }
  // lists(r): r stands for the member and is known to who will call it back; false if there is nothing to wait for.
  // Then it goes on here, too, and not where a thief takes it, whose own member it would be in the way of ever after.
  template <class Lists> void wait(worker<M>& w, detail::team_state& t, Lists lists) {
    waiter self;
    self.in_team = &t;
    self.came_from = w.id;
    if (!t.keeps_cores && context_.rules.is_on(by::barrier_wait)) w.decides(by::barrier_wait);
    suspension_.suspend(w, self, {trace::why::barrier}, [this, &self, lists](worker<M>& here) {
      if (!lists(&self.r)) context_.placement.call_back(here, here.id, &self.r);
    });
    if (self.stalled) stall_.raise(false);
  }

  static constexpr unsigned looks_per_clock = 16;
  context<M>& context_;
  suspension<M>& suspension_;
  stall<M>& stall_;
  groups who_;
  widths<M> widths_;
  team_pool<M> idle_;
};

}  // namespace weft::sched

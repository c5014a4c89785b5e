// Parallel regions: crews, members, barriers.
//
// A member whose region is over looks for the next one for a while before its body ends: whoever begins a region
// within that time hands it over by one word (member::word). Protocol: only the member writes `spinning` and only it
// takes `spinning` to `gone`; only who begins a region writes `called`, over `spinning` - handed over - or over `gone`,
// and then submits a body. A member writes `spinning` or `gone` before it leaves the region, so that who begins the
// next one, after the last has left, finds either.
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <map>

#include "omp/depends.hpp"
#include "omp/team.hpp"

namespace weft::omp {

namespace {

constexpr unsigned shares_of_crew = 64;  // constructs without a barrier that a member may be ahead of another
constexpr unsigned shares_alone = 2;
constexpr unsigned looks_before_sleep = 20'000;  // some 100 us

[[nodiscard]] bool may_spin(const team& t) noexcept { return set().spins && t.size <= set().cpus; }

}  // namespace

struct crew {
  crew(unsigned n, bool is_kept)
      : keeps(is_kept), members(new member[n]), shares(new workshare[shares_of_crew]),
        all(n, members.get(), shares.get(), shares_of_crew), rt({.workers = n,
                                                                 .window = std::size_t{1} << 40,
                                                                 .stack_kib = set().stack_kib,
                                                                 .pin = is_kept && n <= set().cpus && set().cpus > 1,
                                                                 .stuck_ms = 0}) {
    for (unsigned i = 0; i < shares_of_crew; ++i) shares[i].ticket.store(4 * i, std::memory_order_relaxed);
    if (rt.workers() != n) refuse("the system gives %u threads of %u; set OMP_NUM_THREADS", rt.workers(), n);
    all.of = this;
    owner = getpid();
  }

  ~crew() {
    for (unsigned i = 0; i < all.size; ++i) delete members[i].implicit.edges;  // before their runtime
  }
  crew(const crew&) = delete;
  crew& operator=(const crew&) = delete;

  void run(unsigned number) noexcept;
  bool is_called_again(member& m) noexcept;
  void begin(thread& th, function f, void* data, preparation before) noexcept;

  const bool keeps;  // members look for the next region
  std::unique_ptr<member[]> members;
  std::unique_ptr<workshare[]> shares;
  team all;
  runtime rt;
  handle<void> region;  // member 0 uses it
  pid_t owner;
};

namespace {

// A thread that no region of ours has made: the program's first, and any that the program makes itself.
struct root {
  root() : alone(1, &only, shares, shares_alone) {
    shares[1].ticket.store(4, std::memory_order_relaxed);
    first.of = &alone;
    first.icv = &set().first;
    first.is_implicit = true;
    only.implicit = first;
  }
  std::map<unsigned, std::unique_ptr<crew>> crews;
  member only;
  workshare shares[shares_alone];
  team alone;
  task first;
};

constinit thread_local thread this_thread;
constinit thread_local root* this_root = nullptr;

// The end of a thread ends its crews. In a region - somebody called exit() - they are left to the system, and in a
// child of fork() they are another process's.
struct root_owner {
  ~root_owner() {
    root* const mine = this_root;
    if (mine == nullptr) return;
    this_root = nullptr;
    const bool in_region = this_thread.now != &mine->first;
    this_thread.now = nullptr;
    const bool foreign =
        std::any_of(mine->crews.begin(), mine->crews.end(), [](const auto& c) { return c.second->owner != getpid(); });
    if (!in_region && !foreign) delete mine;
  }
};

void forget_crews() noexcept {
  if (this_root == nullptr) return;
  for (auto& c : this_root->crews) static_cast<void>(c.second.release());  // threads of the parent
  this_root->crews.clear();
}

}  // namespace

thread& here_raw() noexcept { return this_thread; }

thread& begin_root() noexcept {
  static const int once = pthread_atfork(nullptr, nullptr, forget_crews);
  static_cast<void>(once);
  thread_local root_owner owner;
  static_cast<void>(owner);
  if (this_root == nullptr) this_root = new root;
  this_thread.now = &this_root->first;
  this_thread.number = 0;
  return this_thread;
}

runtime& runtime_of(const team& t) noexcept { return t.of->rt; }

void before_wait(const task& t) noexcept {
  if (!t.is_untied) stay();
}

void goes_on(task& t) noexcept {
  thread& th = here_raw();
  th.now = &t;
  th.number = t.of->of == nullptr ? 0 : static_cast<unsigned>(worker_id());
}

namespace {

// A wait in a taskgroup is for what is in it; a taskwait is for what was made before it, too. So the groups that t is
// in are ended, and begun again.
void wait_in_groups(task& t, group* g) {
  if (g == nullptr || g->owner != &t) return runtime_of(*t.of).wait();
  if (g->scope == nullptr) return wait_in_groups(t, g->outer);
  g->scope->close();
  g->scope.reset();
  wait_in_groups(t, g->outer);
  g->scope = std::make_unique<finish_scope>();
}

}  // namespace

void wait_for_children(task& t) noexcept {
  if (!t.has_children) return;
  t.has_children = false;
  before_wait(t);
  try {
    wait_in_groups(t, t.groups);
  } catch (const std::exception& e) {
    refuse("%s", e.what());
  }
  goes_on(t);
}

void wait_for_events(task& t) noexcept {
  try {
    for (const auto& e : t.of->events) {
      before_wait(t);
      e->wait();
      goes_on(t);
    }
    t.of->events.clear();
  } catch (const std::exception& e) {
    refuse("%s", e.what());
  }
}

void team::wake_sleepers() noexcept {
  if (sleepers.load(std::memory_order_seq_cst) == 0) return;
  for (unsigned i = 0; i < size; ++i)
    if (members[i].asleep.load(std::memory_order_seq_cst) &&
        members[i].asleep.exchange(false, std::memory_order_seq_cst))
      members[i].wake->fulfil();
}

namespace {

void check_process(const team& t) noexcept {
  if (t.of != nullptr && t.of->owner != getpid())
    refuse("a child that fork() made inside a parallel region uses OpenMP; its threads are the parent's. Call exec in "
           "it, or fork outside of parallel regions");
}

// Member `number`, which t is, waits until is_true() - which whoever makes it true follows by wake_sleepers() - and its
// worker runs tasks if there are any.
template <class F> void await(team& g, task& t, unsigned number, F is_true) noexcept {
  for (unsigned i = may_spin(g) ? looks_before_sleep : 0; i > 0; --i) {
    if (is_true()) return;
    if (g.has_tasks.load(std::memory_order_relaxed)) break;
    relax();
  }
  if (is_true()) return;
  check_process(g);
  member& m = g.members[number];
  while (!is_true()) {
    event e("barrier");
    m.wake = &e;
    // Either this look sees what whoever wakes has stored before, or that one sees who sleeps: all four seq_cst.
    m.asleep.store(true, std::memory_order_seq_cst);
    g.sleepers.fetch_add(1, std::memory_order_seq_cst);
    if (!is_true() || !m.asleep.exchange(false, std::memory_order_seq_cst)) {
      try {
        e.wait();
      } catch (const std::exception& x) {
        refuse("%s", x.what());
      }
      goes_on(t);
    }
    g.sleepers.fetch_sub(1, std::memory_order_relaxed);
  }
}

}  // namespace

bool barrier(thread& th) noexcept {
  task& t = *th.now;
  team& g = *t.of;
  if (g.size == 1) return false;
  const unsigned number = th.number;
  wait_for_children(t);
  const auto over = [&g] { return g.cancelled.load(std::memory_order_acquire); };
  if (over()) return true;
  const unsigned turn = g.turn.load(std::memory_order_relaxed);
  if (g.arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == g.size) {
    g.arrived.store(0, std::memory_order_relaxed);
    g.has_tasks.store(false, std::memory_order_relaxed);
    g.turn.store(turn + 1, std::memory_order_seq_cst);
    g.wake_sleepers();
  } else {
    await(g, t, number, [&] { return g.turn.load(std::memory_order_seq_cst) != turn || over(); });
  }
  return over();
}

// Looks for the next region for a while, unless there are tasks that this worker could run. Who: member m.
bool crew::is_called_again(member& m) noexcept {
  for (unsigned i = looks_before_sleep; m.word.load(std::memory_order_acquire) == member::spinning; --i) {
    relax();
    unsigned still = member::spinning;
    if ((i == 0 || all.has_tasks.load(std::memory_order_relaxed)) &&
        m.word.compare_exchange_strong(still, member::gone, std::memory_order_acquire))
      return false;
    if (i == 0) i = 1;
  }
  return true;
}

// What member `number` does, from the moment it has been called until nobody calls it again.
void crew::run(unsigned number) noexcept {
  member& m = members[number];
  thread& th = here_raw();
  for (;;) {
    th.now = &m.implicit;
    th.number = number;
    all.body(all.data);
    wait_for_children(m.implicit);
    const bool spins = number != 0 && keeps && may_spin(all) && !all.has_tasks.load(std::memory_order_relaxed);
    if (number != 0) m.word.store(spins ? member::spinning : member::gone, std::memory_order_relaxed);
    if (number == 0)
      return await(all, m.implicit, 0, [this] { return all.inside.load(std::memory_order_seq_cst) == 0; });
    if (all.inside.fetch_sub(1, std::memory_order_seq_cst) == 1) all.wake_sleepers();
    if (!spins || !is_called_again(m)) return;
  }
}

// Who: the thread that made the crew, while no region of it is under way. Returns when the region is over.
void crew::begin(thread& th, function f, void* data, preparation before) noexcept {
  all.body = f;
  all.data = data;
  all.cancelled.store(false, std::memory_order_relaxed);
  all.has_tasks.store(false, std::memory_order_relaxed);
  all.arrived.store(0, std::memory_order_relaxed);
  all.inside.store(all.size - 1, std::memory_order_relaxed);
  const controls* icv = th.now->icv;
  if (all.level < set().levels && all.level > 0) {  // the list of OMP_NUM_THREADS has a number for what is inside
    all.renewed.push_back(std::make_unique<controls>(*icv));
    all.renewed.back()->threads = set().threads_by_level[all.level];
    icv = all.renewed.back().get();
  }
  for (unsigned i = 0; i < all.size; ++i) {
    task& t = members[i].implicit;
    depends* const kept = t.edges;
    t = task{.of = &all, .icv = icv, .edges = kept, .is_final = th.now->is_final, .is_implicit = true};
    members[i].at = position{};
    members[i].is_over_limit = false;
  }
  for (unsigned i = 0; i < shares_of_crew; ++i) {
    shares[i].ticket.store(4 * i, std::memory_order_relaxed);
    shares[i].left.store(0, std::memory_order_relaxed);
  }
  if (before.call != nullptr) before.call(all, before.with);
  for (unsigned i = 1; i < all.size; ++i)
    if (members[i].word.exchange(member::called, std::memory_order_acq_rel) == member::gone)
      rt.submit(pin(i), named("member"), [this, i]() noexcept { run(i); });
  rt.submit(pin(0), read(region), named("member"), [this]() noexcept { run(0); });
  rt.wait(region);  // not for all: the others may look for the next one
}

namespace {

// Between regions of a crew: what tasks have left behind goes.
void clean(team& t) noexcept {
  t.orphans.clear();
  t.events.clear();
  t.renewed.clear();
  constexpr std::size_t kept = 1U << 16;  // addresses
  for (unsigned i = 0; i < t.size; ++i)
    if (depends*& d = t.members[i].implicit.edges; d != nullptr && d->size() > kept) {
      delete d;
      d = nullptr;
    }
}

void alone(thread& th, function f, void* data, preparation before) noexcept {
  member only;
  workshare shares[shares_alone];
  shares[1].ticket.store(4, std::memory_order_relaxed);
  team t(1, &only, shares, shares_alone);
  task& outer = *th.now;
  const unsigned outer_number = th.number;
  t.outer = outer.of;
  t.outer_number = outer_number;
  t.level = outer.of->level + 1;
  t.active_level = outer.of->active_level;
  t.league = outer.of->league;
  t.league_number = outer.of->league_number;
  only.implicit = task{.of = &t, .icv = outer.icv, .is_final = outer.is_final, .is_implicit = true};
  th.now = &only.implicit;
  th.number = 0;
  if (before.call != nullptr) before.call(t, before.with);
  f(data);
  wait_for_events(only.implicit);
  thread& after = here_raw();
  after.now = &outer;
  after.number = outer_number;
}

}  // namespace

unsigned threads_for(const task& t, unsigned asked) noexcept {
  unsigned n = asked != 0 ? asked : t.icv->threads;
  if (t.of->active_level >= t.icv->levels_max) return 1;
  if (t.icv->dynamic) n = std::min(n, set().cpus);
  unsigned limit = set().thread_limit;
  if (t.of->active_level == 0 && set().teams_thread_limit != 0 && t.of->league > 1)
    limit = std::min(limit, set().teams_thread_limit);
  constexpr unsigned workers_most = 1024;
  return std::max(1U, std::min({n, limit, workers_most}));
}

void parallel(function f, void* data, unsigned threads, preparation before) noexcept {
  thread& th = here();
  if (threads == 1) return alone(th, f, data, before);
  task& outer = *th.now;
  const unsigned outer_number = th.number;
  check_process(*outer.of);
  const bool is_outermost = outer.of->active_level == 0 && this_root != nullptr && outer.of->of == nullptr;
  try {
    std::unique_ptr<crew> mine;
    crew* c = nullptr;
    if (is_outermost) {
      std::unique_ptr<crew>& kept = this_root->crews[threads];
      if (kept == nullptr) kept = std::make_unique<crew>(threads, true);
      c = kept.get();
    } else {
      mine = std::make_unique<crew>(threads, false);
      c = mine.get();
    }
    c->all.outer = outer.of;
    c->all.outer_number = outer_number;
    c->all.level = outer.of->level + 1;
    c->all.active_level = outer.of->active_level + 1;
    c->all.league = outer.of->league;
    c->all.league_number = outer.of->league_number;
    c->begin(th, f, data, before);
    thread& after = here_raw();
    after.now = &outer;
    after.number = outer_number;
    clean(c->all);
  } catch (const std::exception& e) {
    refuse("%s", e.what());
  }
}

controls& own_controls(task& t) {
  const std::lock_guard guard(t.of->lock);
  // Where tasks are calls nobody else looks at those of an implicit task that has some of its own already.
  if (t.is_implicit && t.of->of == nullptr && !t.of->renewed.empty() && t.of->renewed.back().get() == t.icv)
    return *t.of->renewed.back();
  t.of->renewed.push_back(std::make_unique<controls>(*t.icv));
  t.icv = t.of->renewed.back().get();
  return *t.of->renewed.back();
}

}  // namespace weft::omp

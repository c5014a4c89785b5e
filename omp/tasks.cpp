// Explicit tasks: GOMP_task, taskloop, taskwait, taskgroup, taskyield, events, cancellation of taskgroups.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>

#include "omp/abi.hpp"
#include "omp/depends.hpp"
#include "omp/team.hpp"

namespace weft::omp {

namespace {

// Tasks of a crew that are there and not done. Above, one that nothing orders is a call of who makes it, as OpenMP
// allows, and who makes others lets those go first: without it a loop that makes ten million tasks would hold as many.
// Below the runtime's own window, whose reserve thread has no threadprivate variables of a member.
constexpr std::uint64_t live_max = 2048;
constexpr unsigned made_between_looks = 64;

[[nodiscard]] std::uint64_t live(const team& t) noexcept {
  std::uint64_t made = 0, ended = 0;
  for (unsigned i = 0; i < t.size; ++i) ended += t.members[i].ended.load(std::memory_order_relaxed);
  for (unsigned i = 0; i < t.size; ++i) made += t.members[i].made.load(std::memory_order_relaxed);
  return made - ended;
}

// Each counter has one writer, but for a thread that stands in for a worker: such a slip is of one task.
void count(std::atomic<std::uint64_t>& counter) noexcept {
  counter.store(counter.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

[[nodiscard]] bool is_cancelled(const task& t) noexcept {
  if (!set().cancellation) return false;
  if (t.of->cancelled.load(std::memory_order_acquire)) return true;
  for (const group* g = t.groups; g != nullptr; g = g->outer)
    if (g->cancelled.load(std::memory_order_acquire)) return true;
  return false;
}

// What a task has from where it was made.
struct job {
  function f;
  team* of;
  const controls* icv;
  group* groups;
  bool is_final;
  bool is_untied;
  bool is_heap;  // its data are a block of their own
};

// The handles of its children go when nobody uses them any more.
void leave_edges(task& t) noexcept {
  if (t.edges == nullptr) return;
  std::unique_ptr<depends> mine(t.edges);
  t.edges = nullptr;
  if (!t.has_children || mine->idle()) return;
  const std::lock_guard guard(t.of->lock);
  auto& all = t.of->orphans;
  if (all.size() >= 64 && (all.size() & (all.size() - 1)) == 0)
    std::erase_if(all, [](const std::unique_ptr<depends>& d) { return d->idle(); });
  all.push_back(std::move(mine));
}

void run(const job& j, void* data) noexcept {
  task t{.of = j.of, .icv = j.icv, .groups = j.groups, .is_final = j.is_final, .is_untied = j.is_untied};
  goes_on(t);
  if (!is_cancelled(t)) j.f(data);
  leave_edges(t);
  count(j.of->members[here_raw().number].ended);
}

// A task whose data are in its record.
template <std::size_t Size> struct body : job {
  body(const job& j, const void* from, std::size_t size) noexcept : job(j) { std::memcpy(data, from, size); }
  void operator()() noexcept { run(*this, data); }
  alignas(16) unsigned char data[Size];
};
// One whose data are elsewhere, or none.
template <> struct body<0> : job {
  body(const job& j, void* block) noexcept : job(j), data(block) {}
  void operator()() noexcept {
    run(*this, data);
    if (is_heap) std::free(data);
  }
  void* data;
};

constexpr const char* task_name = "task";

template <class Body> void submit_ordered(runtime& rt, const accesses& a, bool urgent, Body&& b) {
  if (urgent || !a.adds.empty() || !a.concurrents.empty() || a.writes.size() > 1 || a.reads.size() > 3)
    return rt.submit(priority(urgent ? 1 : 0), read(a.reads), write(a.writes), add(a.adds), concurrent(a.concurrents),
                     named(task_name), static_cast<Body&&>(b));
  const auto& r = a.reads;
  if (a.writes.empty()) return rt.submit(read(r), named(task_name), static_cast<Body&&>(b));
  handle<void>& w = *a.writes[0];
  switch (r.size()) {
  case 0: return rt.submit(write(w), named(task_name), static_cast<Body&&>(b));
  case 1: return rt.submit(read(*r[0]), write(w), named(task_name), static_cast<Body&&>(b));
  case 2: return rt.submit(read(*r[0]), read(*r[1]), write(w), named(task_name), static_cast<Body&&>(b));
  default: return rt.submit(read(*r[0]), read(*r[1]), read(*r[2]), write(w), named(task_name), static_cast<Body&&>(b));
  }
}

template <class Body> void submit(runtime& rt, const accesses* a, bool urgent, Body&& b) {
  if (a != nullptr) return submit_ordered(rt, *a, urgent, static_cast<Body&&>(b));
  if (urgent) return rt.submit(priority(1), named(task_name), static_cast<Body&&>(b));
  rt.submit(named(task_name), static_cast<Body&&>(b));
}

// A copy of the task's data: by its own function, if it has one, and where it stays, for it may point into itself.
[[nodiscard]] void* block_of(const task_call& c) {
  const std::size_t align = c.align > 16 ? static_cast<std::size_t>(c.align) : 16;
  const std::size_t size = (static_cast<std::size_t>(c.size) + align - 1) / align * align;
  void* const block = std::aligned_alloc(align, size != 0 ? size : align);
  if (block == nullptr) throw std::bad_alloc();
  if (c.copy != nullptr)
    c.copy(block, c.data);
  else
    std::memcpy(block, c.data, static_cast<std::size_t>(c.size));
  return block;
}

void submit_copy(runtime& rt, const task_call& c, job j, const accesses* a, bool urgent) {
  const auto size = static_cast<std::size_t>(c.size);
  if (c.copy == nullptr && c.align <= 16 && size <= 256) {
    if (size <= 16) return submit(rt, a, urgent, body<16>(j, c.data, size));
    if (size <= 48) return submit(rt, a, urgent, body<48>(j, c.data, size));
    if (size <= 112) return submit(rt, a, urgent, body<112>(j, c.data, size));
    return submit(rt, a, urgent, body<256>(j, c.data, size));
  }
  j.is_heap = true;
  submit(rt, a, urgent, body<0>(j, block_of(c)));
}

// At once, on the stack of who makes it. The compiler's function may destroy what it was given, so it gets a copy where
// there is a function for that.
void call(task& outer, const task_call& c, bool is_final) noexcept {
  thread& th = here_raw();
  task t{.of = outer.of,
         .icv = outer.icv,
         .groups = outer.groups,
         .is_final = outer.is_final || is_final,
         .is_untied = outer.is_untied};
  const unsigned number = th.number;
  th.now = &t;
  if (is_cancelled(t)) {
  } else if (c.copy == nullptr) {
    c.f(c.data);
  } else {
    void* const block = block_of(c);
    c.f(block);
    std::free(block);
  }
  if (t.has_children) outer.has_children = true;  // they are the children of the body that both are in
  leave_edges(t);
  thread& after = here_raw();
  after.now = &outer;
  after.number = outer.is_untied && outer.of->of != nullptr ? static_cast<unsigned>(worker_id()) : number;
}

[[nodiscard]] depends& edges_of(task& t) {
  if (t.edges == nullptr) t.edges = new depends;
  return *t.edges;
}

void tell_tasks(task& t) noexcept {
  t.has_children = true;
  if (!t.of->has_tasks.load(std::memory_order_relaxed)) t.of->has_tasks.store(true, std::memory_order_relaxed);
}

// Returns when what the list names may be used as it says.
void wait_for(task& t, void** list) {
  accesses& a = edges_of(t).of(list);
  a.writes.insert(a.writes.end(), a.adds.begin(), a.adds.end());  // alone, for as long as the caller uses it
  event e("taskwait depend");
  tell_tasks(t);
  runtime_of(*t.of).submit(read(a.reads), write(a.writes), concurrent(a.concurrents), named("taskwait"),
                           [&e]() noexcept { e.fulfil(); });
  before_wait(t);
  e.wait();
  goes_on(t);
}

// Whether the team has so many tasks that t had better not make another one now.
[[nodiscard]] bool is_over_limit(task& t, member& m) noexcept {
  if (m.made.load(std::memory_order_relaxed) % made_between_looks == 0 || m.is_over_limit)
    m.is_over_limit = live(*t.of) > live_max;
  return m.is_over_limit;
}

// Others go first, until there is room - or nothing has moved for a while: they may wait for what t is to do.
void let_others(task& t) noexcept {
  std::uint64_t before = live(*t.of);
  for (unsigned in_vain = 0; before > live_max / 2 && in_vain < 1000;) {
    before_wait(t);
    yield();
    goes_on(t);
    const std::uint64_t now = live(*t.of);
    in_vain = now < before ? 0 : in_vain + 1;
    if (in_vain > 10) sched_yield();
    before = now;
  }
}

[[nodiscard]] event& new_event(team& t, const task_call& c) {
  auto made = std::make_unique<event>("detach");
  event& e = *made;
  void* const as_handle = &e;
  std::memcpy(c.detach, &as_handle, sizeof as_handle);
  const std::lock_guard guard(t.lock);
  t.events.push_back(std::move(made));
  return e;
}

void set_event(void* data, event& e) noexcept {  // the compiler keeps it in the first word of the data
  void* const as_handle = &e;
  std::memcpy(data, &as_handle, sizeof as_handle);
}

void make_detached(task& t, const task_call& c, const job& j, bool urgent) {
  event& e = new_event(*t.of, c);
  job mine = j;
  mine.is_heap = true;
  void* const block = block_of(c);
  set_event(block, e);
  static const accesses none;
  const accesses& a = c.depend != nullptr ? edges_of(t).of(c.depend) : none;
  runtime_of(*t.of).submit(completes(e), priority(urgent ? 1 : 0), read(a.reads), write(a.writes), add(a.adds),
                           concurrent(a.concurrents), named(task_name), body<0>(mine, block));
}

void make(thread& th, const task_call& c) {
  task& t = *th.now;
  team& g = *t.of;
  const bool is_final = (c.flags & task_final) != 0;
  if (g.of == nullptr || t.is_final) {
    if ((c.flags & task_depend) != 0) wait_for_events(t);
    if ((c.flags & task_detach) == 0) return call(t, c, is_final);
    set_event(c.data, new_event(g, c));
    return call(t, c, is_final);
  }
  void** const list = (c.flags & task_depend) != 0 ? c.depend : nullptr;
  const job j{c.f, &g, t.icv, t.groups, t.is_final || is_final, (c.flags & task_untied) != 0, false};
  const bool urgent = (c.flags & task_priority) != 0 && c.priority > 0 && set().priority_max > 0;
  member& m = g.members[th.number];
  if ((c.flags & task_detach) != 0) {
    count(m.made);
    tell_tasks(t);
    make_detached(t, c, j, urgent);
    if (!c.deferred) wait_for_children(t);
    return;
  }
  if (!c.deferred) {
    if (list != nullptr) wait_for(t, list);
    return call(t, c, is_final);
  }
  if (is_over_limit(t, m)) [[unlikely]] {
    if (list == nullptr) return call(t, c, is_final);
    let_others(t);
  }
  count(g.members[here_raw().number].made);
  tell_tasks(t);
  submit_copy(runtime_of(g), c, j, list != nullptr ? &edges_of(t).of(list) : nullptr, urgent);
}

void guarded_make(const task_call& c) noexcept {
  try {
    make(here(), c);
  } catch (const std::exception& e) {
    refuse("%s", e.what());
  }
}

}  // namespace

void begin_group(task& t, group& g, bool is_taskgroup) {
  g.outer = t.groups;
  g.is_taskgroup = is_taskgroup;
  t.groups = &g;
  g.owner = &t;
  if (is_taskgroup && t.of->of != nullptr) g.scope = std::make_unique<finish_scope>();
}

void end_group(task& t) {
  group* const g = t.groups;
  if (g->scope != nullptr) {
    before_wait(t);
    g->scope->close();
    goes_on(t);
  } else if (g->is_taskgroup) {
    wait_for_events(t);
  }
  t.groups = g->outer;
  delete g;
}

// The chunks of a taskloop of `n` iterations: how many, and how many of the first have one iteration more.
struct division {
  std::uint64_t tasks, size, larger;
};
[[nodiscard]] static division divide(std::uint64_t n, unsigned flags, std::uint64_t asked, unsigned threads) noexcept {
  std::uint64_t tasks = asked;
  if ((flags & task_grainsize) != 0) {
    if ((flags & task_strict) != 0) {
      return {(n + asked - 1) / asked, asked, 0};  // the last has what is left
    }
    tasks = asked > n ? 1 : n / asked;
  } else if (asked == 0) {
    tasks = threads == 1 ? 1 : std::uint64_t{threads} * 8;
  }
  if (tasks > n) tasks = n;
  return {tasks, n / tasks, n % tasks};
}

void taskloop(const task_call& c, const iterations& i, std::uint64_t asked) noexcept {
  try {
    thread& th = here();
    task& t = *th.now;
    const bool reduces = (c.flags & task_reduction) != 0;
    std::uintptr_t* reductions = nullptr;
    if (reduces) std::memcpy(&reductions, static_cast<char*>(c.data) + 2 * sizeof(long), sizeof reductions);
    if (i.count == 0) {
      if (reduces) reductions[2] = 0;
      return;
    }
    const bool waits = (c.flags & task_nogroup) == 0;
    if (waits) begin_group(t, *new group, true);
    if (reduces) register_reductions(*t.of, t.groups, reductions);
    const division d = divide(i.count, c.flags, asked, t.of->size);
    std::uint64_t from = 0;
    for (std::uint64_t k = 0; k < d.tasks; ++k) {
      const std::uint64_t to = std::min(i.count, from + d.size + (k < d.larger ? 1 : 0));
      const std::uint64_t bounds[2] = {i.first + from * i.step, i.first + to * i.step};
      std::memcpy(c.data, bounds, sizeof bounds);
      task_call one = c;
      one.flags &= task_untied | task_final | task_mergeable | task_priority;
      one.deferred = (c.flags & task_if) != 0;
      make(here(), one);
      from = to;
    }
    if (waits) end_group(t);
  } catch (const std::exception& e) {
    refuse("%s", e.what());
  }
}

}  // namespace weft::omp

using namespace weft::omp;

extern "C" {

WEFT_OMP void GOMP_task(function f, void* data, void (*copy)(void*, void*), long size, long align, bool deferred,
                        unsigned flags, void** depend, int priority, void* detach) {
  guarded_make(
      {f, data, copy, size, align, deferred, flags, (flags & task_depend) != 0 ? depend : nullptr, priority, detach});
}

WEFT_OMP void GOMP_taskloop(function f, void* data, void (*copy)(void*, void*), long size, long align, unsigned flags,
                            unsigned long asked, int priority, long start, long end, long step) {
  taskloop({f, data, copy, size, align, true, flags, nullptr, priority, nullptr}, signed_iterations(start, end, step),
           asked);
}

WEFT_OMP void GOMP_taskloop_ull(function f, void* data, void (*copy)(void*, void*), long size, long align,
                                unsigned flags, unsigned long asked, int priority, unsigned long long start,
                                unsigned long long end, unsigned long long step) {
  taskloop({f, data, copy, size, align, true, flags, nullptr, priority, nullptr},
           unsigned_iterations((flags & task_up) != 0, start, end, step), asked);
}

WEFT_OMP void GOMP_taskwait() {
  task& t = *here().now;
  t.of->of == nullptr ? wait_for_events(t) : wait_for_children(t);
}

WEFT_OMP void GOMP_taskwait_depend(void** depend) {
  task& t = *here().now;
  if (t.of->of == nullptr) return wait_for_events(t);
  try {
    wait_for(t, depend);
  } catch (const std::exception& e) {
    refuse("%s", e.what());
  }
}

WEFT_OMP void GOMP_taskyield() {
  task& t = *here().now;
  if (t.of->of == nullptr) return;
  before_wait(t);
  weft::yield();
  goes_on(t);
}

WEFT_OMP void GOMP_taskgroup_start() { begin_group(*here().now, *new group, true); }
WEFT_OMP void GOMP_taskgroup_end() {
  try {
    end_group(*here().now);
  } catch (const std::exception& e) {
    refuse("%s", e.what());
  }
}

WEFT_OMP void omp_fulfill_event(weft::event* e) {
  try {
    e->fulfil();
  } catch (const std::exception& x) {
    refuse("omp_fulfill_event: %s", x.what());
  }
}
}

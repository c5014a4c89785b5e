// Loops, sections, single, ordered, doacross; what the members of a team share of them.
#include "omp/worksharing.hpp"

#include <algorithm>
#include <cstdarg>
#include <exception>
#include <new>

namespace weft::omp {

namespace {

enum phase : std::uint64_t { empty, being_set_up, set_up };

}  // namespace

met_share meet(thread& th) noexcept {
  task& t = *th.now;
  if (!t.is_implicit) refuse("a worksharing construct inside an explicit task");
  team& g = *t.of;
  position& p = at(th);
  p.index = p.met++;
  workshare& w = g.shares[p.index % g.share_count];
  p.share = &w;
  p.round = 0;
  p.has_chunk = false;
  const std::uint64_t mine = p.index * 4;
  if (w.ticket.load(std::memory_order_acquire) < mine)
    poll(t, [&] { return w.ticket.load(std::memory_order_acquire) >= mine; });
  std::uint64_t expected = mine + empty;
  if (w.ticket.compare_exchange_strong(expected, mine + being_set_up, std::memory_order_acquire)) {
    w.cancelled.store(false, std::memory_order_relaxed);
    w.next.store(0, std::memory_order_relaxed);
    w.in_order.store(0, std::memory_order_relaxed);
    w.is_ordered = false;
    w.shared = nullptr;
    return {w, true};
  }
  if (expected == mine + being_set_up)
    poll(t, [&] { return w.ticket.load(std::memory_order_acquire) == mine + set_up; });
  return {w, false};
}

void ready(thread& th, workshare& w) noexcept { w.ticket.store(at(th).index * 4 + set_up, std::memory_order_release); }

void leave(thread& th) noexcept {
  team& g = *th.now->of;
  position& p = at(th);
  workshare& w = *p.share;
  p.share = nullptr;
  if (w.left.fetch_add(1, std::memory_order_acq_rel) + 1 != g.size) return;
  w.left.store(0, std::memory_order_relaxed);
  w.posted.reset();
  w.ticket.store((p.index + g.share_count) * 4 + empty, std::memory_order_release);
}

namespace {

// A loop as its first member finds it.
struct loop {
  iterations all;
  schedule kind = schedule::fixed;
  std::uint64_t chunk = 0;
  bool is_ordered = false;
  std::uintptr_t* reductions = nullptr;
  void** memory = nullptr;
};

void set_up_loop(workshare& w, const loop& l) noexcept {
  w.first = l.all.first;
  w.step = l.all.step;
  w.count = l.all.count;
  w.kind = l.kind == schedule::automatic ? schedule::fixed : l.kind;
  w.chunk = l.kind == schedule::automatic ? 0 : l.chunk;
  if (w.kind != schedule::fixed && w.chunk == 0) w.chunk = 1;
  if (w.chunk > w.count && w.count != 0) w.chunk = w.count;
  w.is_ordered = l.is_ordered;
}

// The next chunk of a static schedule. Without a chunk size each thread has one, the first of them one iteration more.
[[nodiscard]] bool next_fixed(const workshare& w, position& p, unsigned number, unsigned threads) noexcept {
  if (w.chunk == 0) {
    if (p.round++ != 0) return false;
    const std::uint64_t size = w.count / threads, larger = w.count % threads;
    p.from = number * size + std::min<std::uint64_t>(number, larger);
    p.to = p.from + size + (number < larger ? 1 : 0);
    return p.from < p.to;
  }
  const std::uint64_t chunks = (w.count - 1) / w.chunk + 1, mine = p.round * threads + number;
  if (w.count == 0 || mine >= chunks) return false;
  ++p.round;
  p.from = mine * w.chunk;
  p.to = std::min(w.count, p.from + w.chunk);
  return true;
}

// By addition where that cannot overflow, else by exchange.
[[nodiscard]] bool next_dynamic(workshare& w, position& p) noexcept {
  constexpr std::uint64_t small = std::uint64_t{1} << 40;
  std::uint64_t from = 0;
  if (w.count < small) [[likely]] {
    from = w.next.fetch_add(w.chunk, std::memory_order_relaxed);  // once more than there are, for each member
    if (from >= w.count) return false;
  } else {
    from = w.next.load(std::memory_order_relaxed);
    do {
      if (from >= w.count) return false;
    } while (!w.next.compare_exchange_weak(from, from + std::min(w.chunk, w.count - from), std::memory_order_relaxed));
  }
  p.from = from;
  p.to = from + std::min(w.chunk, w.count - from);
  return true;
}

[[nodiscard]] bool next_guided(workshare& w, position& p, unsigned threads) noexcept {
  std::uint64_t from = w.next.load(std::memory_order_relaxed), size = 0;
  do {
    if (from >= w.count) return false;
    const std::uint64_t left = w.count - from;
    size = std::min(left, std::max(w.chunk, (left - 1) / threads + 1));
  } while (!w.next.compare_exchange_weak(from, from + size, std::memory_order_relaxed));
  p.from = from;
  p.to = from + size;
  return true;
}

}  // namespace

void await_turn(thread& th, workshare& w) noexcept {
  const std::uint64_t from = at(th).from;
  const auto is_due = [&] {
    return w.in_order.load(std::memory_order_acquire) == from || w.cancelled.load(std::memory_order_relaxed) ||
           th.now->of->cancelled.load(std::memory_order_relaxed);
  };
  if (!is_due()) poll(*th.now, is_due);
}

namespace {

void pass_turn(thread& th, workshare& w) noexcept {
  position& p = at(th);
  if (!w.is_ordered || !p.has_chunk) return;
  await_turn(th, w);
  w.in_order.store(p.to, std::memory_order_release);
}

[[nodiscard]] bool next_chunk(thread& th) noexcept {
  position& p = at(th);
  workshare& w = *p.share;
  team& g = *th.now->of;
  if (w.is_ordered) pass_turn(th, w);
  p.has_chunk = false;
  if (set().cancellation &&
      (w.cancelled.load(std::memory_order_relaxed) || g.cancelled.load(std::memory_order_relaxed)))
    return false;
  switch (w.kind) {
  case schedule::dynamic: p.has_chunk = next_dynamic(w, p); break;
  case schedule::guided: p.has_chunk = next_guided(w, p, g.size); break;
  default: p.has_chunk = next_fixed(w, p, th.number, g.size);
  }
  return p.has_chunk;
}

template <class T> [[nodiscard]] bool answer(thread& th, bool any, T* from, T* to) noexcept {
  if (!any) return false;
  const position& p = at(th);
  *from = static_cast<T>(p.share->first + p.from * p.share->step);
  *to = static_cast<T>(p.share->first + p.to * p.share->step);
  return true;
}

void with_run_schedule(const thread& th, loop& l) noexcept {
  if (l.kind != schedule::run_time) return;
  l.kind = th.now->icv->run_schedule;
  l.chunk = th.now->icv->run_chunk;
}

void begin_loop(thread& th, loop l) {
  with_run_schedule(th, l);
  const auto [w, is_first] = meet(th);
  if (l.reductions != nullptr) begin_shared_reductions(th, w, l.reductions, is_first);
  if (is_first) {
    set_up_loop(w, l);
    if (l.memory != nullptr) w.memory.assign(reinterpret_cast<std::uintptr_t>(*l.memory) + 64, 0);
    ready(th, w);
  } else if (l.reductions != nullptr) {
    join_shared_reductions(th, w, l.reductions);
  }
  if (l.memory != nullptr) {
    const auto begin = reinterpret_cast<std::uintptr_t>(w.memory.data());
    *l.memory = reinterpret_cast<void*>((begin + 63) / 64 * 64);  // NOLINT
  }
}

template <class T> [[nodiscard]] bool start(const loop& l, T* from, T* to) noexcept {
  thread& th = here();
  try {
    begin_loop(th, l);
  } catch (const std::exception& e) {
    refuse("%s", e.what());
  }
  if (from == nullptr) return true;
  return answer(th, next_chunk(th), from, to);
}
template <class T> [[nodiscard]] bool next(T* from, T* to) noexcept {
  thread& th = here();
  return answer(th, next_chunk(th), from, to);
}

void parallel_loop(function f, void* data, unsigned threads, const loop& given) noexcept {
  thread& th = here();
  loop l = given;
  with_run_schedule(th, l);
  const auto prepare = [](team& of, void* with) {  // as if its first member had met it
    workshare& w = of.shares[0];
    w.cancelled.store(false, std::memory_order_relaxed);
    w.next.store(0, std::memory_order_relaxed);
    set_up_loop(w, *static_cast<const loop*>(with));
    w.ticket.store(set_up, std::memory_order_relaxed);
    for (unsigned i = 0; i < of.size; ++i) {
      of.members[i].at.met = 1;
      of.members[i].at.share = &w;
    }
  };
  parallel(f, data, threads_for(*th.now, threads), {prepare, &l});
}

void end_loop(thread& th) noexcept {
  pass_turn(th, *at(th).share);
  leave(th);
}

// --- doacross

[[nodiscard]] bool start_doacross(unsigned count, const std::uint64_t* extents, loop l, long* from, long* to) noexcept {
  thread& th = here();
  l.all = {0, 1, extents[0]};
  with_run_schedule(th, l);
  const auto [w, is_first] = meet(th);
  if (is_first) {
    set_up_loop(w, l);
    w.extents.assign(extents, extents + count);
    std::uint64_t all = 1;
    constexpr std::uint64_t most = std::uint64_t{1} << 32;
    for (unsigned i = 0; i < count; ++i) {
      if (extents[i] != 0 && all > most / extents[i])
        refuse("a doacross loop of more than %llu iterations is not supported", static_cast<unsigned long long>(most));
      all *= extents[i];
    }
    w.posted.reset(new (std::nothrow) std::atomic<bool>[all]());
    if (w.posted == nullptr)
      refuse("no memory for a doacross loop of %llu iterations", static_cast<unsigned long long>(all));
    ready(th, w);
  }
  return answer(th, next_chunk(th), from, to);
}

void post(const std::uint64_t* vector) noexcept {
  const workshare& w = *at(here()).share;
  std::uint64_t k = 0;
  for (std::size_t i = 0; i < w.extents.size(); ++i) k = k * w.extents[i] + vector[i];
  w.posted[k].store(true, std::memory_order_release);
}

void await_posted(std::uint64_t first, std::va_list rest) noexcept {
  thread& th = here();
  const workshare& w = *at(th).share;
  std::uint64_t k = first;
  bool is_there = first < w.extents[0];
  for (std::size_t i = 1; i < w.extents.size(); ++i) {
    const std::uint64_t x = va_arg(rest, unsigned long);
    is_there = is_there && x < w.extents[i];
    k = k * w.extents[i] + x;
  }
  if (!is_there) return;  // no such iteration
  const auto is_posted = [&] {
    return w.posted[k].load(std::memory_order_acquire) || th.now->of->cancelled.load(std::memory_order_relaxed);
  };
  if (!is_posted()) poll(*th.now, is_posted);
}

// --- sections: a dynamic loop of them, numbered from 1

[[nodiscard]] unsigned next_section(thread& th) noexcept {
  return next_chunk(th) ? static_cast<unsigned>(at(th).from) + 1 : 0;
}
[[nodiscard]] loop sections(unsigned count) noexcept { return {{0, 1, count}, schedule::dynamic, 1}; }

[[nodiscard]] constexpr schedule kind_of(long bits) noexcept {
  return static_cast<schedule>(bits & 0x7fffffff);  // without `monotonic`, which all of them are
}

}  // namespace

}  // namespace weft::omp

using namespace weft::omp;
using ull = unsigned long long;

// The entries for each schedule, in both types. Calls that say `nonmonotonic` allow more than is made use of.
#define WEFT_LOOP(NAME, KIND, ORDERED)                                                                                 \
  WEFT_OMP bool GOMP_loop_##NAME##_start(long a, long b, long step, long chunk, long* from, long* to) {                \
    return start(loop{signed_iterations(a, b, step), KIND, static_cast<std::uint64_t>(chunk), ORDERED}, from, to);     \
  }                                                                                                                    \
  WEFT_OMP bool GOMP_loop_##NAME##_next(long* from, long* to) { return next(from, to); }                               \
  WEFT_OMP bool GOMP_loop_ull_##NAME##_start(bool up, ull a, ull b, ull step, ull chunk, ull* from, ull* to) {         \
    return start(loop{unsigned_iterations(up, a, b, step), KIND, chunk, ORDERED}, from, to);                           \
  }                                                                                                                    \
  WEFT_OMP bool GOMP_loop_ull_##NAME##_next(ull* from, ull* to) { return next(from, to); }
#define WEFT_RUN_LOOP(NAME, ORDERED)                                                                                   \
  WEFT_OMP bool GOMP_loop_##NAME##_start(long a, long b, long step, long* from, long* to) {                            \
    return start(loop{signed_iterations(a, b, step), schedule::run_time, 0, ORDERED}, from, to);                       \
  }                                                                                                                    \
  WEFT_OMP bool GOMP_loop_##NAME##_next(long* from, long* to) { return next(from, to); }                               \
  WEFT_OMP bool GOMP_loop_ull_##NAME##_start(bool up, ull a, ull b, ull step, ull* from, ull* to) {                    \
    return start(loop{unsigned_iterations(up, a, b, step), schedule::run_time, 0, ORDERED}, from, to);                 \
  }                                                                                                                    \
  WEFT_OMP bool GOMP_loop_ull_##NAME##_next(ull* from, ull* to) { return next(from, to); }
#define WEFT_PARALLEL_LOOP(NAME, KIND)                                                                                 \
  WEFT_OMP void GOMP_parallel_loop_##NAME(function f, void* data, unsigned threads, long a, long b, long step,         \
                                          long chunk, unsigned) {                                                      \
    parallel_loop(f, data, threads, {signed_iterations(a, b, step), KIND, static_cast<std::uint64_t>(chunk)});         \
  }
#define WEFT_PARALLEL_RUN_LOOP(NAME)                                                                                   \
  WEFT_OMP void GOMP_parallel_loop_##NAME(function f, void* data, unsigned threads, long a, long b, long step,         \
                                          unsigned) {                                                                  \
    parallel_loop(f, data, threads, {signed_iterations(a, b, step), schedule::run_time, 0});                           \
  }
#define WEFT_DOACROSS(NAME, KIND)                                                                                      \
  WEFT_OMP bool GOMP_loop_doacross_##NAME##_start(unsigned n, const std::uint64_t* extents, long chunk, long* from,    \
                                                  long* to) {                                                          \
    return start_doacross(n, extents, {{}, KIND, static_cast<std::uint64_t>(chunk)}, from, to);                        \
  }                                                                                                                    \
  WEFT_OMP bool GOMP_loop_ull_doacross_##NAME##_start(unsigned n, const std::uint64_t* extents, ull chunk, long* from, \
                                                      long* to) {                                                      \
    return start_doacross(n, extents, {{}, KIND, chunk}, from, to);                                                    \
  }

extern "C" {

WEFT_LOOP(static, schedule::fixed, false)
WEFT_LOOP(dynamic, schedule::dynamic, false)
WEFT_LOOP(guided, schedule::guided, false)
WEFT_LOOP(nonmonotonic_dynamic, schedule::dynamic, false)
WEFT_LOOP(nonmonotonic_guided, schedule::guided, false)
WEFT_LOOP(ordered_static, schedule::fixed, true)
WEFT_LOOP(ordered_dynamic, schedule::dynamic, true)
WEFT_LOOP(ordered_guided, schedule::guided, true)
WEFT_RUN_LOOP(runtime, false)
WEFT_RUN_LOOP(nonmonotonic_runtime, false)
WEFT_RUN_LOOP(maybe_nonmonotonic_runtime, false)
WEFT_RUN_LOOP(ordered_runtime, true)
WEFT_PARALLEL_LOOP(static, schedule::fixed)
WEFT_PARALLEL_LOOP(dynamic, schedule::dynamic)
WEFT_PARALLEL_LOOP(guided, schedule::guided)
WEFT_PARALLEL_LOOP(nonmonotonic_dynamic, schedule::dynamic)
WEFT_PARALLEL_LOOP(nonmonotonic_guided, schedule::guided)
WEFT_PARALLEL_RUN_LOOP(runtime)
WEFT_PARALLEL_RUN_LOOP(nonmonotonic_runtime)
WEFT_PARALLEL_RUN_LOOP(maybe_nonmonotonic_runtime)
WEFT_DOACROSS(static, schedule::fixed)
WEFT_DOACROSS(dynamic, schedule::dynamic)
WEFT_DOACROSS(guided, schedule::guided)

WEFT_OMP bool GOMP_loop_doacross_runtime_start(unsigned n, const std::uint64_t* extents, long* from, long* to) {
  return start_doacross(n, extents, {{}, schedule::run_time, 0}, from, to);
}
WEFT_OMP bool GOMP_loop_ull_doacross_runtime_start(unsigned n, const std::uint64_t* extents, long* from, long* to) {
  return start_doacross(n, extents, {{}, schedule::run_time, 0}, from, to);
}
WEFT_OMP void GOMP_doacross_post(const std::uint64_t* vector) { post(vector); }
WEFT_OMP void GOMP_doacross_ull_post(const std::uint64_t* vector) { post(vector); }
WEFT_OMP void GOMP_doacross_wait(unsigned long first, ...) {
  std::va_list rest;
  va_start(rest, first);
  await_posted(first, rest);
  va_end(rest);
}
WEFT_OMP void GOMP_doacross_ull_wait(unsigned long first, ...) {
  std::va_list rest;
  va_start(rest, first);
  await_posted(first, rest);
  va_end(rest);
}

WEFT_OMP bool GOMP_loop_start(long a, long b, long step, long kind, long chunk, long* from, long* to,
                              std::uintptr_t* reductions, void** memory) {
  return start(
      loop{signed_iterations(a, b, step), kind_of(kind), static_cast<std::uint64_t>(chunk), false, reductions, memory},
      from, to);
}
WEFT_OMP bool GOMP_loop_ull_start(bool up, ull a, ull b, ull step, long kind, ull chunk, ull* from, ull* to,
                                  std::uintptr_t* reductions, void** memory) {
  return start(loop{unsigned_iterations(up, a, b, step), kind_of(kind), chunk, false, reductions, memory}, from, to);
}
WEFT_OMP bool GOMP_loop_ordered_start(long a, long b, long step, long kind, long chunk, long* from, long* to,
                                      std::uintptr_t* reductions, void** memory) {
  return start(
      loop{signed_iterations(a, b, step), kind_of(kind), static_cast<std::uint64_t>(chunk), true, reductions, memory},
      from, to);
}
WEFT_OMP bool GOMP_loop_ull_ordered_start(bool up, ull a, ull b, ull step, long kind, ull chunk, ull* from, ull* to,
                                          std::uintptr_t* reductions, void** memory) {
  return start(loop{unsigned_iterations(up, a, b, step), kind_of(kind), chunk, true, reductions, memory}, from, to);
}

WEFT_OMP void GOMP_loop_end_nowait() { end_loop(here()); }
WEFT_OMP void GOMP_loop_end() {
  thread& th = here();
  end_loop(th);
  barrier(th);
}
WEFT_OMP bool GOMP_loop_end_cancel() {
  thread& th = here();
  end_loop(th);
  return barrier(th);
}

WEFT_OMP unsigned GOMP_sections2_start(unsigned count, std::uintptr_t* reductions, void** memory) {
  thread& th = here();
  try {
    loop l = sections(count);
    l.reductions = reductions;
    l.memory = memory;
    begin_loop(th, l);
  } catch (const std::exception& e) {
    refuse("%s", e.what());
  }
  return next_section(th);
}
WEFT_OMP unsigned GOMP_sections_start(unsigned count) { return GOMP_sections2_start(count, nullptr, nullptr); }
WEFT_OMP unsigned GOMP_sections_next() { return next_section(here()); }
WEFT_OMP void GOMP_sections_end_nowait() { end_loop(here()); }
WEFT_OMP void GOMP_sections_end() { GOMP_loop_end(); }
WEFT_OMP bool GOMP_sections_end_cancel() { return GOMP_loop_end_cancel(); }
WEFT_OMP void GOMP_parallel_sections(function f, void* data, unsigned threads, unsigned count, unsigned) {
  parallel_loop(f, data, threads, sections(count));
}

WEFT_OMP void GOMP_scope_start(std::uintptr_t* reductions) {
  thread& th = here();
  try {
    const auto [w, is_first] = meet(th);
    begin_shared_reductions(th, w, reductions, is_first);
    is_first ? ready(th, w) : join_shared_reductions(th, w, reductions);
    leave(th);
  } catch (const std::exception& e) {
    refuse("%s", e.what());
  }
}
}

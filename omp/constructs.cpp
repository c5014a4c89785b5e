// Regions, barriers, single, ordered and cancellation, as the compiler calls them.
#include <exception>

#include "omp/worksharing.hpp"

namespace weft::omp {

namespace {

bool cancelled(const thread& th) noexcept { return th.now->of->cancelled.load(std::memory_order_acquire); }

void cancel_shared(thread& th) noexcept {
  if (workshare* const w = at(th).share) w->cancelled.store(true, std::memory_order_release);
}

bool is_share_cancelled(thread& th) noexcept {
  const workshare* const w = at(th).share;
  return w != nullptr && w->cancelled.load(std::memory_order_acquire);
}

}  // namespace

}  // namespace weft::omp

using namespace weft::omp;

extern "C" {

WEFT_OMP bool GOMP_single_start() {
  thread& th = here();
  if (th.now->of->size == 1) return true;
  const auto [w, is_first] = meet(th);
  if (is_first) ready(th, w);
  leave(th);
  return is_first;
}
WEFT_OMP void* GOMP_single_copy_start() {
  thread& th = here();
  const auto [w, is_first] = meet(th);
  if (is_first) {
    ready(th, w);
    return nullptr;
  }
  barrier(th);
  void* const data = w.shared;
  leave(here());
  return data;
}
WEFT_OMP void GOMP_single_copy_end(void* data) {
  thread& th = here();
  at(th).share->shared = data;
  barrier(th);
  leave(here());
}

WEFT_OMP void GOMP_ordered_start() {
  thread& th = here();
  position& p = at(th);
  if (p.share != nullptr && p.share->is_ordered && p.has_chunk) await_turn(th, *p.share);
}
WEFT_OMP void GOMP_ordered_end() {}

WEFT_OMP bool GOMP_cancel(int what, bool is_wanted) {
  thread& th = here();
  task& t = *th.now;
  if (!set().cancellation) return false;
  const auto kind = static_cast<unsigned>(what);
  if (is_wanted) {
    if ((kind & (cancel_loop | cancel_sections)) != 0) cancel_shared(th);
    if ((kind & cancel_taskgroup) != 0 && t.groups != nullptr)
      t.groups->cancelled.store(true, std::memory_order_release);
    if ((kind & cancel_parallel) != 0) {
      t.of->cancelled.store(true, std::memory_order_seq_cst);
      t.of->wake_sleepers();
    }
    return true;
  }
  if ((kind & cancel_taskgroup) != 0) {
    for (const group* g = t.groups; g != nullptr; g = g->outer)
      if (g->cancelled.load(std::memory_order_acquire)) return true;
    return cancelled(th);
  }
  return cancelled(th) || ((kind & (cancel_loop | cancel_sections)) != 0 && is_share_cancelled(th));
}
WEFT_OMP bool GOMP_cancellation_point(int what) { return GOMP_cancel(what, false); }

WEFT_OMP void GOMP_barrier() { barrier(here()); }
WEFT_OMP bool GOMP_barrier_cancel() { return barrier(here()); }
WEFT_OMP void GOMP_parallel(function f, void* data, unsigned threads, unsigned) {
  thread& th = here();
  parallel(f, data, threads_for(*th.now, threads), {});
}
}

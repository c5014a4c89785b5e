// A stack that only one worker may enter, the program's or that of a pinned body, waits for one thing. What the worker
// begins meanwhile may take long, so it leaves what others can run to those who have nothing to do (oneTBB #942, rayon
// #957; docs/decisions/0065). Such a worker is expected. It is no searcher, for nobody may rely on it, and it is woken
// last: sleep.md, "Expected".
#pragma once
#include <algorithm>
#include <cstdint>
#include <span>

#include "base/assert.hpp"
#include "sched/idle/sleep.hpp"
#include "sched/workers/worker.hpp"

namespace weft::sched {

template <class M> struct expected {
  // x is to be resumed on w, and nowhere else. Who: w.
  static void begin(sleep<M>& all, worker<M>& w, const waiter& x, bool is_program) noexcept {
    WEFT_ASSERT(waits_for_one(w, x) && (!is_program || w.expects.program == nullptr));
    if (w.expects.stacks++ == 0) all.set_expected(w.id, true);
    if (is_program) w.expects.program = &x;
    w.expects.looks_apart = true;
  }
  // The creator, which runs only what must run there. Who: the thread that makes the runtime.
  static void looks_apart(worker<M>& w) noexcept {
    WEFT_ASSERT(w.role == role::creator);
    w.expects.looks_apart = true;
  }
  static void end(sleep<M>& all, worker<M>& w, bool is_program) noexcept {
    WEFT_ASSERT(w.expects.stacks != 0);
    if (is_program) w.expects.program = nullptr;
    if (--w.expects.stacks != 0) return;
    all.set_expected(w.id, false);
    w.expects.looks_apart = false;
  }
  // Whether x, which is to be resumed on w alone, waits for something that others need not wait for: not for
  // everything, nor for room. The creator runs only what must run there, and has nothing to leave.
  [[nodiscard]] static bool waits_for_one(const worker<M>& w, const waiter& x) noexcept {
    if (w.role == role::creator) return false;
    return x.awaited != nullptr || x.outer != nullptr || x.in_team != nullptr || x.joins != nullptr ||
           x.children_of != nullptr;
  }
  // Whether what w's program waits for, at the least, waits for r: then it is as well to run it here.
  [[nodiscard]] static bool brings_about(const worker<M>& w, detail::record& r) noexcept {
    const waiter* const x = w.expects.program;
    if (x == nullptr) return false;
    if (x->joins != nullptr) return &r == x->joins;
    if (!detail::is_task(r)) return false;
    if (x->children_of != nullptr) return r.parent == x->children_of;
    const auto address = reinterpret_cast<std::uintptr_t>(x->awaited);
    const std::span all(r.accesses(), r.access_count);
    return address != 0 && std::any_of(all.begin(), all.end(), [address](const detail::access& a) {
             return (a.handle_and_kind & detail::handle_address_mask) == address;
           });
  }
};

}  // namespace weft::sched

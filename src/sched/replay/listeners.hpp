// Who listens to a runtime (weft/listener.hpp): each of them is told what happens, where it happens, by the thread that
// does it. recording.hpp calls this where it writes a trace, and placement where a task is ready. A callback that calls
// its runtime would find locks that its own thread holds: that is seen by whoever it calls, and ends the program.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#include "access/version.hpp"
#include "sched/workers/crew.hpp"
#include "trace/event.hpp"
#include "trace/recorder.hpp"
#include "weft/listener.hpp"

namespace weft::sched {

template <class M> class listeners {
 public:
  explicit listeners(M& machine) noexcept : machine_(machine) {}
  // Who: the thread that makes the runtime, before any worker runs.
  void open(std::vector<listener> all, unsigned runtime) noexcept {
    all_ = std::move(all);
    runtime_ = runtime;
  }
  [[nodiscard]] bool any() const noexcept { return !all_.empty(); }

  // r has its id, and its accesses their versions; nobody can run it yet.
  void submitted(worker<M>& w, const detail::record& r) noexcept {
    if (!any()) return;
    const std::vector<heard_access> accesses = accesses_of(const_cast<detail::record&>(r));
    const std::uint32_t parent = r.parent != nullptr ? r.parent->trace_id() : 0;
    tell(w, &listener::submitted, task_of(&r), parent, accesses.data(), accesses.size());
  }
  void ready(worker<M>& w, const detail::record& r) noexcept {
    if (is_told(r)) tell(w, &listener::ready, task_of(&r));
  }
  void begins(worker<M>& w, const detail::record& r) noexcept { tell(w, &listener::begins, task_of(&r)); }
  void ends(worker<M>& w, const detail::record& r, trace::outcome how) noexcept {
    tell(w, &listener::ends, task_of(&r), static_cast<heard_end>(how));
  }
  void stolen(worker<M>& w, const detail::record& r, unsigned victim) noexcept {
    tell(w, &listener::stolen, task_of(detail::is_task(r) ? &r : nullptr), victim);
  }
  void sleeps(worker<M>& w) noexcept { tell(w, &listener::sleeps); }
  void wakes(worker<M>& w) noexcept { tell(w, &listener::wakes); }
  void waits(worker<M>& w, const detail::record* body) noexcept { tell(w, &listener::waits, task_of(body)); }
  void goes_on(worker<M>& w, const detail::record* body, trace::why why) noexcept {
    tell(w, &listener::goes_on, task_of(body), static_cast<heard_wait>(why));
  }

  // The thread of w calls the runtime, which no callback may.
  static void check_call(const worker<M>& w) noexcept {
    if (!w.hearing.inside) return;
    std::fputs(
        "weft: a callback of a listener calls its runtime, whose locks this thread may hold; it may only look and "
        "write down. The program ends.\n",
        stderr);
    std::abort();
  }

 private:
  template <class... Args, class... Given>
  void tell(worker<M>& w, void (*listener::*what)(void*, const heard&, Args...) noexcept, Given... given) noexcept {
    for (const listener& l : all_) {
      if (l.*what == nullptr) continue;
      const heard at{machine_.now_ps() / 1000, runtime_, w.role == role::guest ? -1 : static_cast<int>(w.id)};
      const bool outer = std::exchange(w.hearing.inside, true);
      (l.*what)(l.data, at, given...);
      w.hearing.inside = outer;
    }
  }
  // What was there before anybody could hear of it has no id.
  [[nodiscard]] static bool is_told(const detail::record& r) noexcept {
    return detail::is_task(r) && r.trace_id() != 0;
  }
  // Branches and scopes stand for bodies, and are none.
  [[nodiscard]] static heard_task task_of(const detail::record* r) noexcept {
    const detail::record* const body = r == nullptr ? nullptr : detail::body_around(const_cast<detail::record*>(r));
    if (body == nullptr || body->kind == detail::record_kind::branch) return {0, nullptr};
    return {body->trace_id(), body->name};
  }
  [[nodiscard]] static heard_access::kind kind_of(const detail::access& a) noexcept {
    using enum heard_access::kind;
    switch (trace::kind_code(a)) {
    case detail::kind_read: return read;
    case detail::kind_write: return write;
    case detail::kind_add: return add;
    case detail::kind_concurrent: return concurrent;
    case detail::kind_reduce: return reduce;
    case detail::kind_resource: return resource;
    default: return other;
    }
  }
  // Without memory for them a task is told without accesses.
  [[nodiscard]] static std::vector<heard_access> accesses_of(detail::record& r) noexcept {
    std::vector<heard_access> found;
    try {
      found.reserve(r.access_count);
    } catch (const std::bad_alloc&) {
      return {};
    }
    for (std::uint32_t i = 0; i < r.access_count; ++i) {
      const detail::access& a = r.accesses()[i];
      if (access::is_repeated(a)) continue;  // what is named twice counts once
      found.push_back({access::handle_of(a).id, kind_of(a), a.required});
    }
    return found;
  }

  static_assert(static_cast<int>(heard_end::skipped) == static_cast<int>(trace::outcome::skipped));
  static_assert(static_cast<int>(heard_wait::spawn) == static_cast<int>(trace::why::spawn));
  M& machine_;
  std::vector<listener> all_;
  unsigned runtime_ = 0;
};

}  // namespace weft::sched

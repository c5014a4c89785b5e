// The slow halves of weft/detail/branch.hpp and scope.hpp: a call of the runtime that the worker belongs to, if there
// is one.
#include "weft/detail/branch.hpp"

#include <exception>
#include <string>

#include "sched/fail/cancellation.hpp"
#include "weft/cancellation.hpp"
#include "weft/detail/scope.hpp"
#include "weft/error.hpp"
#include "weft/fork_each.hpp"

namespace weft::detail {

// It is hooked, so what a fork keeps is taken out again at once.
worker& nobodys_worker() noexcept {
  static thread_local worker me;
  return me;
}

not_begun heed(place_of_body& at, branch& b) {
  worker& w = *at.on;
  const std::uint8_t hooked = peek_acquire(w.hooked);
  if (hooked == 0) {
    w.engine->share(w);
    return not_begun::nothing;
  }
  if ((hooked & hooked_alone) != 0 || w.engine == nullptr) poke(w.kept, peek(b.older));  // nobody else looks there
  return fork_slowly(w, b);
}

void keep_again(worker& w, branch& b) noexcept { poke_release(w.kept, &b); }

not_begun fork_slowly(worker& w, branch& b) {
  if (w.engine != nullptr) return w.engine->fork(w, b);
  make_ready(b, nullptr);
  return lone_scope::any_cancelled() ? not_begun::both : not_begun::nothing;
}

bool join_slowly(worker& w, branch& b) {
  if (w.engine != nullptr) return w.engine->join(w, b);
  if (!lone_scope::any_cancelled()) return true;
  b.invoke(b, errand::skip);
  throw cancelled_error();
}

void drop_slowly(worker& w, branch& b) noexcept {
  if (w.engine != nullptr) return w.engine->drop(w, b);
  if (lone_scope::innermost == nullptr) return;
  const std::exception_ptr e = std::current_exception();
  if (!lone_scope::any_cancelled() || !is_cancelled_error(e)) cancel(lone_scope::innermost->of, e);
  b.invoke(b, errand::skip);
}

bool is_stopped(const worker& w) noexcept {
  if (w.engine == nullptr) return lone_scope::any_cancelled();
  return peek(*w.attention) != 0 && is_cancelled_above(w.current);
}

bool is_stopped_in_loop(worker& w, std::uint64_t left, bool begins) {
  if (w.engine != nullptr) w.engine->look_in_loop(w, left, begins);
  return is_stopped(w);
}

void end_loop_slowly(worker& w) {
  if (w.engine != nullptr) w.engine->loop_over(w);
}

void give_up(const worker& w, std::uint64_t parts) {
  count_not_begun(w.current, parts);
  throw cancelled_error();
}

void give_up_fork(place_of_body& at, branch& b, not_begun which, std::uint64_t of_first, std::uint64_t of_b) {
  if (which == not_begun::both) give_up(*at.on, of_first + of_b);
  try {
    give_up(*at.on, of_first);
  } catch (...) {
    drop_slowly(*at.on, b);  // whoever has it counts it
    throw;
  }
}

void count_not_begun(const record* in, std::uint64_t parts) noexcept {
  in == nullptr ? lone_scope::count(parts) : sched::count_skipped(sched::cancellable_above(in), parts);
}

void throw_too_many_bodies(std::size_t n, std::size_t most) {
  throw error("weft: fork_each<" + std::to_string(most) + "> is called for " + std::to_string(n) +
              " bodies; give it a larger bound, or use for_each");
}

void open_slowly(worker& w, scope& s) { w.engine->open_scope(w, s); }

void close_slowly(worker& w, scope& s) { w.engine->close_scope(w, s); }

void throw_async_outside() {
  throw error("weft: async with an access, a pin, a priority or an event is called on a thread that no runtime knows; "
              "call runtime::submit there, or make the runtime on this thread");
}

}  // namespace weft::detail

// Futures that nobody has any more while tasks still use them.
#include <utility>

#include "base/assert.hpp"
#include "base/atomic.hpp"
#include "base/process_lock.hpp"
#include "weft/detail/future_state.hpp"
#include "weft/detail/worker.hpp"
#include "weft/error.hpp"

namespace weft::detail {

namespace {

struct left_futures {
  base::process_lock lock;
  future_core* first = nullptr;
  std::size_t count = 0;
  std::size_t looks_at = 16;  // as many again must come before the next look, so a look is a part of what was left
};
left_futures& left() noexcept {
  static left_futures* const all = new left_futures;  // futures may go when the program's statics have
  return *all;
}

// Nobody has a share any more. Often that is seen by a task whose own access is not over; then the rest goes later.
void leave(future_core* s) noexcept {
  if (s->is_unused()) {
    delete s;
    return;
  }
  s->drop_value();
  left_futures& all = left();
  const base::process_hold hold(all.lock);
  s->next = std::exchange(all.first, s);
  ++all.count;
}

}  // namespace

void throw_no_future() { throw error("weft: this future is of no task: it is empty, or was moved from"); }

void throw_value_is_shared() {
  throw error("weft: this future has copies, and its value cannot be copied; look at it by get() of one that stays");
}

bool future_core::is_done() noexcept {
  const handle_state& h = done();
  return peek_acquire(h.word) >> alarm_bits != 0;  // pairs with the end of the access
}
bool future_core::is_unused() noexcept { return done().idle() && over.idle(); }

void future_core::await() {
  if (!is_done()) engine->wait_version(done(), 1);
  if (failure != nullptr) std::rethrow_exception(failure);
  if (peek(done().poisoned))  // by a child or an event, after the body
    if (const std::exception_ptr why = engine->failure_of(done())) std::rethrow_exception(why);
  if (!has_value) throw error("weft: the task of a future was not called, because what it was to use had failed");
}

void future_core::await_readers() {
  if (handle_state& h = done(); !h.idle()) engine->wait_handle(h);
}

void future_core::was_not_called() noexcept { failure = engine->failure_of(done()); }

void add_share(future_core& s) noexcept { base::shared(s.shares).fetch_add(1, base::relaxed); }

// acq_rel: what others did with the value comes before its end.
void drop_share(future_core& s) noexcept {
  if (base::shared(s.shares).fetch_sub(1, base::acq_rel) == 1) leave(&s);
}

bool is_only_share(future_core& s) noexcept { return base::shared(s.shares).load(base::acquire) == 1 && s.is_unused(); }

void end_left_futures() noexcept {
  left_futures& all = left();
  future_core* these = nullptr;
  {
    const base::process_hold hold(all.lock);
    if (all.count < all.looks_at) return;
    these = std::exchange(all.first, nullptr);
    all.count = 0;
  }
  future_core* kept = nullptr;
  std::size_t n = 0;
  while (these != nullptr) {
    future_core* const s = std::exchange(these, these->next);
    if (s->is_unused()) {
      delete s;
    } else {
      s->next = std::exchange(kept, s);
      ++n;
    }
  }
  const base::process_hold hold(all.lock);
  all.count += n;
  all.looks_at = 2 * n + 16;
  while (kept != nullptr) {
    future_core* const s = std::exchange(kept, kept->next);
    s->next = std::exchange(all.first, s);
  }
}

}  // namespace weft::detail

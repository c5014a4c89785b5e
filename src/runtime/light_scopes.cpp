// What of light scopes (weft/detail/light_scope.hpp) is out of the way of those in which nothing happens: their
// records, asyncs that others had, and what is thrown. src/sched/join/branches.md, "Light scopes".
#include "weft/detail/light_scope.hpp"

#include <cstddef>
#include <exception>

#include "base/assert.hpp"
#include "base/exception_or.hpp"
#include "weft/cancellation.hpp"
#include "weft/detail/submit.hpp"

namespace weft::detail {

void kept_async::run(record& r, errand what) {
  kept_async& self = static_cast<kept_async&>(r);
  if (what == errand::run) return self.call(detail::self()->where, self);
  if (what != errand::skip) return;
  count_not_begun(r.parent, 1);
  self.call(nullptr, self);
}

namespace {

// What was thrown first in program order, of what is told from the last to the first.
class earliest {
 public:
  // One that is skipped, or gives up, is no error beside others.
  void tell(const std::exception_ptr& e) {
    if (e == nullptr || (first_ != nullptr && is_cancelled_error(e))) return;
    first_ = e;
  }
  [[nodiscard]] const std::exception_ptr& first() const noexcept { return first_; }

 private:
  std::exception_ptr first_;
};

// Returns what was thrown by what was submitted in the record of s, if it has one.
[[nodiscard]] std::exception_ptr thrown_in_full(here& at, light_scope& s) {
  if (!s.is_open) return nullptr;
  try {
    close_full(at, s);
  } catch (...) {
    return std::current_exception();
  }
  return nullptr;
}

// An async of s that has been called, and threw e if that is not null: what was submitted in it comes before e.
void tell_of_called(here& at, light_scope& s, const std::exception_ptr& e, earliest& thrown) {
  if (e != nullptr) at.on->engine->failed(*at.on, e);
  thrown.tell(e);
  thrown.tell(thrown_in_full(at, s));
}

// An async of s is over, or is called.
void bring_back(here& at, light_scope& s, kept_async& b, earliest& thrown) {
  try {
    if (!taken_back(at, b) && !join_slowly(*at.on, b)) return;
  } catch (...) {
    return thrown.tell(std::current_exception());
  }
  std::exception_ptr e;
  try {
    b.call(&at, b);
  } catch (...) {
    e = std::current_exception();
  }
  tell_of_called(at, s, e, thrown);
}

void bring_back_rest(here& at, light_scope& s, earliest& thrown) {
  while (s.left != 0) {
    give_back(at, s, s.left);
    --s.left;
    bring_back(at, s, s.async(s.left), thrown);
  }
}

// All that was submitted in the body of s.
void bring_back_all(here& at, light_scope& s, earliest& thrown) {
  thrown.tell(thrown_in_full(at, s));
  s.left = s.used;
  s.used = light_scope::closed;
  s.now = light_scope::phase::asyncs;
  bring_back_rest(at, s, thrown);
}

}  // namespace

void open_light(worker& w) {
  light_scope& s = *w.light;
  WEFT_ASSERT(!s.is_open && s.now != light_scope::phase::over);
  scope& full = *new (&s.full.value) scope;
  full.of = &s;
  open(w, full);
  w.light = nullptr;
  s.is_open = true;
}

void close_full(here& at, light_scope& s) {
  struct at_end {
    here& at;
    light_scope& s;
    ~at_end() { at.on->light = &s; }
  } const closed{at, s};
  s.is_open = false;
  close(at, s.full.value);
}

// As for any record: it may block while the window is full. Of s no record is opened for that.
bool borrow(here& at, light_scope& s) {
  if (s.now != light_scope::phase::body || s.rooms == light_scope::most) return false;
  const behind_full_scope around(at);
  record* const r = allocate(*at.on->engine, at.on, light_scope::borrowed_bytes);
  begin(*r, record_state::filling);
  r->size_class = record_class(light_scope::borrowed_bytes);
  r->waiting.next = s.borrowed;
  s.borrowed = r;
  s.rooms += light_scope::rooms_in_record;
  return true;
}

void give_back(here& at, light_scope& s, std::uint32_t n) noexcept {
  constexpr std::uint8_t c = record_class(light_scope::borrowed_bytes);
  while (s.rooms != light_scope::own_rooms && s.rooms - light_scope::rooms_in_record >= n) {
    s.rooms -= light_scope::rooms_in_record;
    record* const r = s.borrowed;
    s.borrowed = r->waiting.next;
    worker& w = *at.on;
    if (w.free[c] == nullptr || w.free_count[c] == magazine::capacity) {
      w.engine->discard(r);
    } else {
      transition(*r, record_state::filling, record_state::free);
      w.free[c]->slot[w.free_count[c]++] = r;
    }
  }
}

void skip_async(here& at, light_scope& s, kept_async& b) {
  b.invoke(b, errand::skip);
  s.has_skipped = true;
  open_light(*at.on);
}

void end_light(here& at, light_scope& s, const std::exception_ptr& e) {
  if (s.now == light_scope::phase::over) return;
  earliest thrown;
  if (s.now == light_scope::phase::body) {
    thrown.tell(e);
    bring_back_all(at, s, thrown);
  } else {
    tell_of_called(at, s, e, thrown);
    bring_back_rest(at, s, thrown);
  }
  if (s.has_skipped) thrown.tell(base::exception_or_bad_alloc([] { return cancelled_error(); }));
  at.on->light = s.outer;
  s.now = light_scope::phase::over;
  give_back(at, s, 0);
  if (thrown.first() != e) std::rethrow_exception(thrown.first());
}

namespace {

// The light scope that the body on w is in, if that is the innermost, with a record or without.
[[nodiscard]] light_scope* light_around(worker& w) noexcept {
  if (w.light != nullptr) return w.light;
  if ((peek(w.hooked) & hooked_always) != 0 || w.current == nullptr || !is_scope(*w.current)) return nullptr;
  // Where nothing is hooked from the beginning nothing stands in for the record of a scope.
  static_assert(offsetof(scope, own) == 0);
  return reinterpret_cast<scope*>(w.current)->of;
}

}  // namespace

// An async of a light scope that waits, waits for what was submitted in it: for the record that was opened for that.
void wait_all(engine_base& e) {
  worker* const w = self();
  light_scope* const s = w != nullptr && w->engine == &e ? light_around(*w) : nullptr;
  if (s == nullptr || s->is_open_by_async()) return e.wait_all();
  if (s->now == light_scope::phase::asyncs) return;
  here& at = *w->where;  // stays the body's, which may go on elsewhere
  earliest thrown;
  bring_back_all(at, *s, thrown);
  give_back(at, *s, 0);
  s->used = 0;
  s->now = light_scope::phase::body;
  if (thrown.first() != nullptr) std::rethrow_exception(thrown.first());
}

}  // namespace weft::detail

// Registration of a task's accesses: every one gets the version it requires (SuperGlue §3.1, Listing 3).
// All handles of the task are locked together, in the order of their ids. Two tasks that are submitted at the same time
// by different threads are therefore in one order on all handles they share: without that, each could be given a
// version that the other must produce first, and neither would ever run.
// While the locks are held the first walk is done as well, which saves a task that must wait one lock.
#pragma once
#include <cstdint>
#include <memory>

#include "access/reduction.hpp"
#include "access/walk.hpp"
#include "weft/error.hpp"

namespace weft::access {

// The distinct handles of a task in lock order. Few are kept in place; only very wide tasks allocate.
class lock_set {
 public:
  // Errors: weft::error if one handle is named with two kinds. Nothing is locked then.
  explicit lock_set(record& r) {
    if (r.access_count == 1)
      few_[size_++] = &handle_of(r.accesses()[0]);
    else
      collect(r);
  }

  template <class M> void acquire() noexcept {
    for (std::uint32_t i = 0; i < size_; ++i) {
      WEFT_ASSERT(i == 0 || comes_before(*handles_[i - 1], *handles_[i]));
      base::acquire_lock<M>(handles_[i]->lock);
    }
  }
  template <class M> void release() noexcept {
    for (std::uint32_t i = 0; i < size_; ++i) {
      WEFT_ASSERT(is_locked(*handles_[i]));
      base::release_lock<M>(handles_[i]->lock);
    }
  }
  [[nodiscard]] handle_state** begin() noexcept { return handles_; }
  [[nodiscard]] handle_state** end() noexcept { return handles_ + size_; }

 private:
  void collect(record& r);
  // Both return whether a handle is named more than once.
  [[nodiscard]] bool collect_few(record& r);
  [[nodiscard]] bool collect_many(record& r);

  static constexpr std::uint32_t in_place = 16;
  handle_state* few_[in_place];
  std::unique_ptr<handle_state*[]> many_;
  handle_state** handles_ = few_;
  std::uint32_t size_ = 0;
};

// Marks `a`, an entry with the same handle as `first` before it, as its repetition. It may be marked already: by the
// submitter, and then it is an amount, or because the task's registration had to wait for the end of a reduction and it
// is collected again. Errors: weft::error if the two are of two kinds, or a resource.
void repeat(const entry& first, entry& a);

// Whether r names h only to reduce on it, or is what closes the group of reduces.
[[nodiscard]] bool joins_reduction(record& r, const handle_state& h) noexcept;

// Whether the runtime that last used h has not finished with it. Who: holder of h's lock.
template <class M> [[nodiscard]] bool in_use(handle_state& h) noexcept {
  WEFT_ASSERT(is_locked(h));
  return h.engine != nullptr && (outstanding(M::load(h.word, base::acquire), h.registered) != 0 || reduction_open(h));
}

[[noreturn]] void throw_in_use(const handle_state& h);
[[noreturn]] void throw_too_many(const handle_state& h);

// A handle on which an access of r, with what is outstanding there, would advance the version so far that it could not
// be told from one of long ago; nullptr if there is none. Who: holder of the locks of all r's handles.
template <class M> [[nodiscard]] handle_state* too_many(record& r) noexcept {
  for (std::uint32_t i = 0; i < r.access_count; ++i) {
    if (is_repeated(r.accesses()[i])) continue;
    handle_state& h = handle_of(r.accesses()[i]);
    if (outstanding(M::load(h.word, base::relaxed), h.registered) + amount_of(r, i) > outstanding_max) return &h;
  }
  return nullptr;
}

enum class outcome : std::uint8_t { ready, waits, apply_first };
struct registered {
  outcome what;
  handle_state* reduction = nullptr;  // apply_first: the handle on which a group of reduces is open
};

// Registers r, whose accesses are filled in, for `engine`. When it returns `waits`, r is listed and may already be
// gone; when it returns `apply_first`, nothing was registered, and what reduces left over must be applied before r
// registers. `spare`: at least as many as r has reduces; it takes those of the groups that it opens. `seen` is called
// with r once all versions are known and while nobody else can run it. leave_exclusive: that walk is left to the
// caller, who has a say in which of several adds comes first. Errors: weft::error as lock_set, or if a handle is in use
// by another runtime; r is untouched then.
template <class M, class Seen = decltype([](record&) noexcept {})>
[[nodiscard]] registered register_task(record* r, detail::engine_base* engine, open_reductions<M>& open, closers& spare,
                                       woken& out, Seen seen = {}, bool leave_exclusive = false) {
  lock_set handles(*r);
  for (handle_state* h : handles) M::fresh_unless(h->engine, engine, h, sizeof *h);
  handles.acquire<M>();
  for (handle_state* h : handles) {
    if (h->engine == engine && !reduction_open(*h)) [[likely]]
      continue;
    if (h->engine != engine) {  // written only when it changes: reduces that run read it
      if (in_use<M>(*h)) {
        handles.release<M>();
        throw_in_use(*h);
      }
      h->engine = engine;
    }
    if (reduction_open(*h) && !joins_reduction(*r, *h)) {
      handles.release<M>();
      return {outcome::apply_first, h};
    }
  }
  if constexpr (versions_are_narrow)
    if (handle_state* h = r->internal ? nullptr : too_many<M>(*r)) {
      handles.release<M>();
      throw_too_many(*h);
    }
  bool waits = false;
  const std::uint32_t n = r->access_count;
  r->waiting.cursor = n;
  for (std::uint32_t i = 0; i < n; ++i) {
    entry& a = r->accesses()[i];
    const condition c = condition_of(a);
    if (c == condition::none) continue;
    handle_state& h = handle_of(a);
    M::work(model::step::submit_access, &h);
    if (kind_of(a) == detail::kind_reduce && !reduction_open(h)) [[unlikely]]
      open.add(h, spare);
    by_kind(c, [&](auto kind) { kind.enter(h, a, amount_of(*r, i)); });
    const condition first = waits ? condition::none : first_condition(*r, a);
    if (first == condition::none || is_met<M>(first, a)) continue;
    r->waiting.cursor = i;
    waits = wait_unless_available<M>(h, r);
    if (!waits) r->waiting.cursor = n;
  }
  const bool last_walk = !waits && r->exclusives != 0 && !leave_exclusive;
  seen(*r);
  handles.release<M>();
  if (last_walk) waits = !advance_exclusive<M>(r, out);
  return {waits ? outcome::waits : outcome::ready};
}

}  // namespace weft::access

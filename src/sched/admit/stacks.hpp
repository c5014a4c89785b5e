// The stacks that worker loops run on. When a body waits its whole stack is set aside and a fresh loop goes on in its
// place, on a stack from here; the loop that enters a stack that waited leaves its own here, for the next wait.
// A worker keeps as many as the machine says: where they are few, because after deep waits here a deep descent
// elsewhere would make all its stacks anew, the others are everybody's.
#pragma once
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include "base/assert.hpp"
#include "base/limits.hpp"
#include "base/lock.hpp"
#include "machine/float_control.hpp"
#include "sched/workers/worker.hpp"

namespace weft::sched {

template <class M> class stacks {
 public:
  // `bytes` for a body, wherever it begins: a body that runs on the stack of one that waits (waits.hpp) begins in the
  // upper half of a stack of twice that. entry(argument) is the loop; it ends by jumping away.
  stacks(std::size_t bytes, void (*entry)(void*), void* argument) : bytes_(bytes), entry_(entry), argument_(argument) {}

  // Whether a further body may begin on the stack that w is on.
  [[nodiscard]] bool has_room_for_body(const worker<M>& w) const noexcept {
    return reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) > w.where->calls_end;
  }

  // Whether w has an idle stack, or may have one more where that is a wish and no need. Who: w's thread.
  [[nodiscard]] bool has_one_more(const worker<M>& w) noexcept {
    return !w.stacks.idle.empty() || detail::peek(made_) < base::wished_stacks_max;
  }

  // Puts a stack aside for w: that its loop begins on, or that it takes when there is no memory for one more. Made
  // before it is wanted, it takes no modelled time until then. Who: w's thread, or the one that makes the runtime,
  // before any worker runs. Errors: std::bad_alloc.
  void put_aside(worker<M>& w) {
    w.stacks.idle.reserve(base::idle_stacks_max);  // so that giving one back allocates nothing
    if (w.stacks.put_aside != nullptr) return;
    w.stacks.put_aside = &make<typename M::section>();
    const typename M::section guard(lock_);
    detail::poke(made_, detail::peek(made_) - 1);
  }
  // That w can be left by the next that waits on it, without memory. Who: w's thread. Errors: std::bad_alloc.
  void ensure_one(worker<M>& w) {
    if (w.stacks.idle.empty()) put_aside(w);
  }

  // A stack on which a loop may go on. Who: w's thread. A wait that threw would unwind the frame that the children it
  // did not wait for still use: so where there is no memory for one, it is asked for again until others may have given
  // some back, and after that the program ends.
  [[nodiscard]] fiber& take(worker<M>& w) noexcept {
    for (unsigned tries = 0;; ++tries) {
      if (fiber* f = take_idle(w)) return *f;
      if (w.stacks.put_aside != nullptr) {
        base::locked<M> guard(lock_);
        detail::poke(made_, detail::peek(made_) + 1);
        return *std::exchange(w.stacks.put_aside, nullptr);
      }
      try {
        return make<base::locked<M>>();
      } catch (const std::bad_alloc&) {
        if (tries == base::stack_tries_max) give_up();
      }
      M::relax(tries + 1);
    }
  }

  // Who: w's thread, on another stack than f.
  void leave(worker<M>& w, fiber* f) noexcept {
    WEFT_ASSERT(f != w.stacks.running);
    if (w.stacks.idle.size() < M::idle_stacks_max()) return w.stacks.idle.push_back(f);  // only w takes it from there
    base::locked<M> guard(lock_);
    WEFT_ASSERT(spare_.size() < spare_.capacity());
    spare_.push_back(f);
  }

  // A body has returned to a loop, which computes as the program did when it made the runtime, whatever the body has
  // set.
  [[gnu::always_inline]] void body_over() const noexcept {
    if (!machine::float_control::is_usual()) [[unlikely]]
      floats_.apply();
  }
  // While a body calls another one that is none of its statements: what either sets is not the other's.
  class other_body {
   public:
    explicit other_body(const stacks& all) noexcept : all_(all) {
      if (machine::float_control::is_usual()) [[likely]]
        return;
      before_.emplace();
      all_.floats_.apply();
    }
    ~other_body() {
      if (before_) [[unlikely]]
        before_->apply();
      else
        all_.body_over();
    }
    other_body(const other_body&) = delete;
    other_body& operator=(const other_body&) = delete;

   private:
    const stacks& all_;
    std::optional<machine::float_control> before_;
  };

 private:
  [[nodiscard]] fiber* take_idle(worker<M>& w) {
    if (!w.stacks.idle.empty()) {
      fiber* f = w.stacks.idle.back();
      w.stacks.idle.pop_back();
      return f;
    }
    const typename M::section guard(lock_);
    if (spare_.empty()) return nullptr;
    fiber* f = spare_.back();
    spare_.pop_back();
    return f;
  }
  // Guard: of the list; what is made before it is wanted takes no modelled time. Errors: std::bad_alloc, and then
  // nothing has changed.
  template <class Guard> [[nodiscard]] fiber& make() {
    auto made = std::make_unique<fiber>(2 * bytes_, entry_, argument_, floats_);
    const Guard guard(lock_);
    if (all_.size() == all_.capacity()) all_.reserve(2 * all_.size() + 8);
    spare_.reserve(all_.capacity());  // so that giving one back allocates nothing
    all_.push_back(std::move(made));
    detail::poke(made_, detail::peek(made_) + 1);
    return *all_.back();
  }
  [[noreturn]] void give_up() noexcept {
    std::fprintf(stderr,
                 "weft: no memory for one more stack of %zu KiB beside the %zu that waits inside tasks hold; nest "
                 "them less deeply, or choose a smaller stack_kib.\n",
                 2 * bytes_ / 1024, all_.size());
    std::abort();
  }

  std::size_t bytes_;
  machine::float_control floats_;  // as the thread that makes the runtime computes
  void (*entry_)(void*);
  void* argument_;
  detail::cell<std::uint8_t> lock_;
  std::vector<std::unique_ptr<fiber>> all_;  // guarded by lock_
  detail::cell<std::uint32_t> made_;         // without those put aside; written under lock_, and no modelled event
  std::vector<fiber*> spare_;                // idle ones beyond those of the workers; guarded by lock_
};

}  // namespace weft::sched

// What a worker knows of the look for work that it is at (engine/search.hpp). Its sources tell it what they found; the
// search asks. One thread's, but for `is_guarded`, which whoever looks for a stall reads, too.
#pragma once
#include <utility>

#include "base/assert.hpp"
#include "weft/detail/cell.hpp"

namespace weft::sched {

class looking {
 public:
  // Something may stand in the worker's own deque, which it looks at no more once a search has begun: until
  // nothing_own().
  void left_own() noexcept { has_own_ = true; }
  void nothing_own() noexcept { has_own_ = false; }
  [[nodiscard]] bool has_own() const noexcept { return has_own_; }

  // A search begins; and what it has found is a member of a team for this worker.
  void begins() noexcept { found_member_ = false; }
  void found_member() noexcept { found_member_ = true; }
  [[nodiscard]] bool has_found_member() const noexcept { return found_member_; }

  // The next look at the box passes it over: a body that has yielded stands there, and goes on here alone.
  // Also if the one before has not come to the box.
  void pass_box_over() noexcept { passes_box_over_ = true; }
  [[nodiscard]] bool passes_box_over() noexcept { return std::exchange(passes_box_over_, false); }

  // While there is one the worker looks at every other, and not only at those whose turn it is.
  class everywhere {
   public:
    explicit everywhere(looking& l) noexcept : look_(l) {
      WEFT_ASSERT(!l.is_everywhere_);
      l.is_everywhere_ = true;
    }
    ~everywhere() { look_.is_everywhere_ = false; }
    everywhere(const everywhere&) = delete;
    everywhere& operator=(const everywhere&) = delete;

   private:
    looking& look_;
  };
  [[nodiscard]] bool is_everywhere() const noexcept { return is_everywhere_; }

  // For one look: another worker searches, who sees to some of what is left (sleep.md, "Guarded").
  void guarded(bool on) noexcept { detail::poke(guarded_, on); }
  [[nodiscard]] bool is_guarded() const noexcept { return detail::peek(guarded_); }

 private:
  bool has_own_ = false;
  bool found_member_ = false;
  bool passes_box_over_ = false;
  bool is_everywhere_ = false;
  detail::cell<bool> guarded_;
};

}  // namespace weft::sched

// How far a team is with a graph of units (weft/team_graph.hpp): for each unit how many it still waits for, and one
// queue of those that are ready, which all members share (TAO §6). All of it under one lock. Who finds nothing ready
// looks for news for a while and then lists itself; whoever makes more ready than it takes itself, ends the last unit,
// or fails, says that there is news and gets those who are listed. Protocol and proof: teams.md. Kept with the state of
// a team, and made anew by the first member that comes to a graph after a barrier.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/assert.hpp"
#include "base/lock.hpp"
#include "weft/detail/team.hpp"
#include "weft/error.hpp"

namespace weft::sched {

template <class M> class unit_queue {
 public:
  using record = detail::record;
  static constexpr std::uint32_t none_yet = detail::units_max + 1;

  struct answer {
    std::uint32_t unit;  // or none_yet, units_over, units_failed
    std::uint32_t seen;  // with none_yet: the news so far
    record* woken;       // members that were set aside, each to be placed
  };

  // The caller's unit `done` is done (or no_unit, unit_threw); what it does next. Who: a member of t. Order: the
  // lock's; what a unit did comes before those that come after it. Cost: the lock, and a line for each unit that comes
  // after. Errors: std::bad_alloc, and then it is as if nobody had come yet; weft::error where another member has come
  // with a graph of another size.
  [[nodiscard]] answer take(detail::team_state& t, const detail::unit_order& order, std::uint32_t done) {
    base::locked<M> guard(lock_);
    if (M::load(t.next, base::relaxed) == 0) {
      begin(order);
      M::store(t.next, std::uint64_t{1}, base::relaxed);
    }
    if (order.count != count_) [[unlikely]]
      throw error("weft: the members of a team run team_graphs of " + std::to_string(count_) + " and of " +
                  std::to_string(order.count) + " units; all must run the same");
    if (done == detail::unit_threw)
      has_failed_ = true;
    else if (done != detail::no_unit)
      settle(order, done);
    return next();
  }
  // What changes when there is something for those who had nothing. Order: relaxed; who hears of it takes the lock.
  [[nodiscard]] std::uint32_t news() noexcept { return M::load(news_, base::relaxed); }
  // r stands for a member that saw no more than `seen`. Returns false if there is news.
  [[nodiscard]] bool lists(record* r, std::uint32_t seen) noexcept {
    base::locked<M> guard(lock_);
    if (M::load(news_, base::relaxed) != seen) return false;
    WEFT_ASSERT(left_ != 0 && taken_ == made_ready_ && !has_failed_);
    r->waiting.next = aside_;
    aside_ = r;
    return true;
  }

 private:
  void begin(const detail::unit_order& order) {
    aside_ = nullptr;  // after a stall it names who is gone
    ready_.make_room(order.count);
    waits_for_.make_room(order.count);
    taken_ = made_ready_ = 0;
    for (std::uint32_t i = 0; i < order.count; ++i) {
      waits_for_[i] = order.before[i];
      if (waits_for_[i] == 0) ready_[made_ready_++] = i;
    }
    WEFT_ASSERT(order.count == 0 || made_ready_ != 0);
    count_ = left_ = order.count;
    has_failed_ = false;
  }
  void settle(const detail::unit_order& order, std::uint32_t done) noexcept {
    WEFT_ASSERT(done < order.count && waits_for_[done] == 0 && left_ != 0);
    --left_;
    for (std::uint32_t e = order.first[done]; e < order.first[std::size_t{done} + 1]; ++e) {
      const std::uint32_t later = order.after[e];
      M::touch(&waits_for_[later], sizeof later, true);
      WEFT_ASSERT(waits_for_[later] != 0 && made_ready_ < order.count);
      if (--waits_for_[later] == 0) ready_[made_ready_++] = later;
    }
  }
  [[nodiscard]] answer next() noexcept {
    std::uint32_t unit = none_yet;
    if (has_failed_)
      unit = detail::units_failed;
    else if (left_ == 0)
      unit = detail::units_over;
    else if (taken_ < made_ready_) {
      M::touch(&ready_[taken_], sizeof unit, false);
      unit = ready_[taken_++];
    }
    const std::uint32_t for_others = unit > none_yet ? ~std::uint32_t{0} : made_ready_ - taken_;
    const std::uint32_t seen = M::load(news_, base::relaxed);
    if (for_others == 0) return {unit, seen, nullptr};
    M::store(news_, seen + 1, base::relaxed);
    return {unit, seen, first_aside(for_others)};
  }
  // So many of those who are set aside, or all if there are fewer.
  [[nodiscard]] record* first_aside(std::uint32_t most) noexcept {
    record *first = nullptr, **end = &first;
    for (; most != 0 && aside_ != nullptr; --most) {
      *end = aside_;
      end = &aside_->waiting.next;
      aside_ = aside_->waiting.next;
    }
    *end = nullptr;
    return first;
  }

  // Numbers in whole lines, so that what a modelled machine pays for them does not depend on where they lie.
  class numbers {
   public:
    void make_room(std::uint32_t n) {
      if (n <= lines_.size() * in_line) return;
      lines_.resize((n + in_line - 1) / in_line);
      M::fresh(lines_.data(), lines_.size() * sizeof(line));
    }
    [[nodiscard]] std::uint32_t& operator[](std::uint32_t i) noexcept { return lines_[i / in_line].at[i % in_line]; }

   private:
    static constexpr std::uint32_t in_line = 16;
    struct alignas(64) line {
      std::uint32_t at[in_line];
    };
    std::vector<line> lines_;
  };

  alignas(64) detail::cell<std::uint8_t> lock_;  // of all but news_
  detail::cell<std::uint32_t> news_;             // its writers have the lock
  bool has_failed_ = false;
  std::uint32_t count_ = 0;                   // units of the graph
  std::uint32_t left_ = 0;                    // units that are not done
  std::uint32_t taken_ = 0, made_ready_ = 0;  // of ready_: those that members have, and all
  record* aside_ = nullptr;
  numbers ready_;      // in the order in which they became so
  numbers waits_for_;  // [unit]
};

}  // namespace weft::sched

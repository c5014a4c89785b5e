// What the counters of a running program are at this moment, for whoever looks from outside (weft top). It reads cells
// that are there anyway, by relaxed loads, while their workers go on: no worker learns of it. Numbers of one answer
// need not be of one instant, but none of them goes back from one answer to the next, but for the length of a queue and
// what is live. How long a body goes on nobody writes down. A worker that is busy and has begun no task since the last
// look is still in the body that it was in then, as far as one sees from here: so that is a lower bound, from the
// second look on.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/assert.hpp"
#include "base/foreign_text.hpp"
#include "sched/place/context.hpp"
#include "sched/queues/shared_part.hpp"
#include "trace/live_page.hpp"

namespace weft::sched {

template <class M> class live_view {
 public:
  explicit live_view(context<M>& context) noexcept : context_(context) {}

  // Writes one row for each seat of the crew, and what the head says of the moment. Who: one thread at a time, any,
  // while the workers run.
  void look(trace::live_head& head, std::span<trace::live_row> rows) {
    const std::uint64_t now_ps = context_.machine.now_ps();
    WEFT_ASSERT(rows.size() == context_.crew.seats());
    seen_.resize(rows.size());
    head.now_ns = now_ps / 1000;
    head.live = context_.quiescence.live();
    for (unsigned seat = 0; seat < rows.size(); ++seat) write(context_.crew[seat], now_ps, seen_[seat], rows[seat]);
  }

 private:
  // At the last look.
  struct seen {
    std::uint64_t tasks = 0;
    std::uint64_t since_ps = 0;  // it has had that number; 0: it was not busy
  };

  void write(const worker<M>& w, std::uint64_t now_ps, seen& before, trace::live_row& row) noexcept {
    row.worker = w.id;
    row.role = w.role == role::reserve   ? trace::live_role::reserve
               : w.role == role::creator ? trace::live_role::creator
                                         : trace::live_role::ordinary;
    const spends does = worker_time<M>::now_of(w);
    row.does = static_cast<trace::live_does>(does);
    row.queued = queued(w);
    row.tasks = detail::peek(w.tasks);
    row.called = detail::peek(w.counted.called);
    row.steals = detail::peek(w.counted.steals);
    row.elsewhere = detail::peek(w.counted.elsewhere);
    row.sleeps = detail::peek(w.counted.sleeps);
    row.suspends = detail::peek(w.counted.suspends);
    const auto spent = context_.worker_time.of(w, now_ps);
    for (std::size_t i = 0; i < spent.size(); ++i) row.spent_ns[i] = spent[i] / 1000;
    const bool stays = does == spends::busy && row.tasks != 0;
    if (!stays)
      before = {};
    else if (before.since_ps == 0 || before.tasks != row.tasks || before.since_ps < detail::peek(w.time.since_ps))
      before = {row.tasks, now_ps};
    row.body_ns = stays ? (now_ps - before.since_ps) / 1000 : 0;
    base::copy_foreign_text(row.body, sizeof row.body, stays ? detail::peek(w.body_name) : nullptr);
  }
  // Three words that change one by one: a guess while the owner works on them.
  [[nodiscard]] static std::uint32_t queued(const worker<M>& w) noexcept {
    const std::uint32_t is_private = detail::peek(w.deque.bottom) - detail::peek(w.deque.split);
    const std::uint32_t all = is_private + shared_part::of(detail::peek(w.shared)).size;
    return all <= base::deque_capacity_max ? all : 0;
  }

  static_assert(spends_count == trace::live_does_count);
  static_assert(static_cast<int>(spends::outside) == static_cast<int>(trace::live_does::outside));
  context<M>& context_;
  std::vector<seen> seen_;
};

}  // namespace weft::sched

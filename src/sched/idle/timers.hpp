// Events that come at a time, on a modelled machine (weft::event::fulfil_after). Whoever looks for work when one is due
// settles it; the machine has a worker that sleeps wake for that (machine.hpp, alarm). The earliest first, and of equal
// ones the one that was asked for first, so that every run is the same. Real machines have none.
// Who: everybody here is one thread, and nothing in here lets another core in.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/assert.hpp"
#include "sched/idle/events.hpp"
#include "sched/workers/source.hpp"

namespace weft::sched {

template <class M> class timers final : public source<M> {
 public:
  // What is done with an event that has come.
  struct settler {
    virtual void settle_on(worker<M>& w, const event_end& of) = 0;

   protected:
    ~settler() = default;
  };
  timers(M& machine, event_board& events, settler& to)
      : source<M>("events that are due",
                  {.shared = true, .while_paused = true, .now_and_then = true, .serves_one = true}),
        machine_(machine), events_(events), settler_(to) {}

  // s comes at that time, and not when it was to come before; event_board::at_no_time: not by itself.
  void set(event_state& s, std::uint64_t at_ps) {
    std::erase_if(all_, [&s](const entry& e) { return e.event == &s; });
    s.timed = at_ps != event_board::at_no_time;
    if (s.timed) {
      const auto later = [at_ps](const entry& e) { return e.at_ps > at_ps; };
      all_.insert(std::find_if(all_.begin(), all_.end(), later), {at_ps, &s});
    }
    rearm();
  }
  [[nodiscard]] bool pending() const noexcept { return !all_.empty(); }
  // The runtime ends.
  void close() noexcept {
    for (const entry& e : all_) events_.forget_time(*e.event);
    all_.clear();
    rearm();
  }

  // Never a record: what has become ready stands in a queue.
  [[nodiscard]] detail::record* take(worker<M>& w) override {
    while (is_due()) {
      event_state& s = *all_.front().event;
      WEFT_ASSERT(s.timed);
      all_.erase(all_.begin());
      rearm();
      settler_.settle_on(w, events_.end(s));
      w.look.left_own();
    }
    return nullptr;
  }
  [[nodiscard]] bool visible(worker<M>&) noexcept override { return is_due(); }

 private:
  void rearm() noexcept {
    WEFT_ASSERT(all_.size() < 2 || all_[0].at_ps <= all_[1].at_ps);
    events_.timed = all_.size();
    machine_.alarm(all_.empty() ? event_board::at_no_time : all_.front().at_ps);
  }
  struct entry {
    std::uint64_t at_ps;
    event_state* event;
  };
  [[nodiscard]] bool is_due() const noexcept { return !all_.empty() && all_.front().at_ps <= machine_.now_ps(); }

  M& machine_;
  event_board& events_;
  settler& settler_;
  std::vector<entry> all_;
};

}  // namespace weft::sched

// The gates of pipelines (weft/pipeline.hpp) whose items several workers carry. One lock for each pipeline guards all
// of it: who is in the first stage, whose turn it is at each serial one, which items wait there, and which of these may
// go on. So there is one order of all steps, and what a worker finds to do it has for itself. pipelines.md has the
// states and why no item is forgotten.
// A lock for each step is cheap enough because a pipeline comes here only where an item takes longer than that
// (detail::pipeline_pace); and whether several gain anything is measured, by whoever is in the first stage.
#pragma once
#include <cstdint>
#include <exception>
#include <utility>

#include "base/assert.hpp"
#include "base/limits.hpp"
#include "base/lock.hpp"
#include "sched/balance/rules.hpp"
#include "weft/detail/pipeline_state.hpp"

namespace weft::sched {

using detail::pipeline_slot;
using detail::pipeline_state;
using detail::pipeline_turn;
using detail::pipeline_work;

// Crew: who says how many workers there are.
template <class M, class Crew> class pipelines final : public detail::pipeline_gates {
 public:
  pipelines(M& machine, const Crew& crew, const rules& r = rules::usual())
      : machine_(machine), crew_(crew), rules_(r) {}

  void set_pace(detail::pipeline_pace& p) const noexcept override {
    p.share_min = rules_.ps(by::pipeline_share);
    p.again = rules_.ps(by::pipeline_again);
  }

  [[nodiscard]] std::uint64_t now_ps() override {
    const call in(machine_);
    return machine_.now_ps();
  }
  [[nodiscard]] unsigned workers() const noexcept override { return crew_.workers(); }

  void open(pipeline_state& p, std::uint64_t next) override {
    WEFT_ASSERT(p.slot_count != 0 && p.slots != nullptr && p.turns != nullptr);
    p.held = true;
    p.closing = false;
    p.asked = p.came = p.losses = 0;
    p.has_gained = false;
    crew_.decides(by::pipeline_share);
    M::store(p.helped, 0u, base::relaxed);
    start(p, next);
  }

  void admit(pipeline_state& p, std::uint64_t next, std::uint64_t alone_ps) override {
    const locked hold(machine_, p);
    WEFT_ASSERT(p.held && p.next <= next);
    for (std::uint32_t s = 0; s < p.stage_count; ++s) p.turns[s] = next;
    start(p, next);
    p.alone_ps = alone_ps;
    p.held = false;
    tell(p);
  }

  [[nodiscard]] pipeline_work take(pipeline_state& p, std::uint64_t since_ps, bool is_first) override {
    std::uint64_t now = now_ps();
    const std::uint64_t until = now + rules_.ps(by::pipeline_wait);
    bool is_waiting = false;
    for (unsigned spins = 0;;) {
      // Older news than the lock shows ends the wait below too soon, which is no harm. Newer cannot be: it is written
      // under the lock, so who reads it comes behind that.
      const std::uint32_t news = M::load(p.news, base::relaxed);
      {
        const locked hold(machine_, p);
        if (is_first) come(p);
        is_first = false;
        if (since_ps != 0) p.carried_ps += now - since_ps;
        since_ps = 0;
        pipeline_work w = next_work(p);
        w.at_ps = now;
        const bool waits = w.what == pipeline_work::kind::nothing && !p.ended && !p.closing && now < until;
        if (waits != is_waiting) p.waiting += waits ? 1 : ~0u;
        if (waits && !is_waiting) crew_.decides(by::pipeline_wait);
        is_waiting = waits;
        if (!waits) return w;
      }
      do {
        M::relax(++spins);
        now = now_ps();
      } while (now < until && M::load(p.news, base::relaxed) == news);
    }
  }

  [[nodiscard]] bool produced(pipeline_state& p, bool one) override {
    const locked hold(machine_, p);
    WEFT_ASSERT(p.held);
    p.held = false;
    tell(p);
    if (!one) {
      p.ended = true;
      return false;
    }
    pipeline_slot& s = slot_of(p, p.next);
    WEFT_ASSERT(s.item == detail::no_item && s.stage == 0);
    s.item = p.next++;
    if (p.next % base::pipeline_look_items == 0) look(p);
    return !p.ended && !p.closing && p.asked == p.came && p.asked < base::pipeline_helpers_max + workers();
  }

  void ask(pipeline_state& p) override {
    const locked hold(machine_, p);
    ++p.asked;
  }

  [[nodiscard]] pipeline_turn arrive(pipeline_state& p, std::uint64_t item, std::uint32_t stage) override {
    const locked hold(machine_, p);
    return turn_of(p, item, stage);
  }

  [[nodiscard]] pipeline_turn park(pipeline_state& p, std::uint64_t item, std::uint32_t stage) override {
    const locked hold(machine_, p);
    const pipeline_turn t = turn_of(p, item, stage);
    if (t == pipeline_turn::later) slot_of(p, item).stage = stage;
    return t;
  }

  [[nodiscard]] bool leave(pipeline_state& p, std::uint64_t item, std::uint32_t stage, bool is_last) override {
    const locked hold(machine_, p);
    WEFT_ASSERT(p.turns[stage] == item);
    p.turns[stage] = item + 1;
    if (is_last) end(p, item);
    pipeline_slot& s = slot_of(p, item + 1);
    if (s.item != item + 1 || s.stage != stage || item + 1 > p.failed) return false;
    if (is_last) {
      s.stage = 0;
      return true;
    }
    append(p, s);
    return false;
  }

  void over(pipeline_state& p, std::uint64_t item) override {
    const locked hold(machine_, p);
    end(p, item);
  }

  void fail(pipeline_state& p, std::uint64_t item, std::exception_ptr why) override {
    const locked hold(machine_, p);
    p.ended = true;
    tell(p);
    if (item >= p.failed) return;
    p.failed = item;
    std::swap(p.why, why);
  }

 private:
  // A body calls in: its own time is not the runtime's.
  class call {
   public:
    explicit call(M& m) : machine_(m) { machine_.enter_runtime(); }
    ~call() { machine_.leave_runtime(); }
    call(const call&) = delete;
    call& operator=(const call&) = delete;

   private:
    M& machine_;
  };
  // The lines under the lock move to whoever has it, and a modelled machine counts that.
  class locked {
   public:
    locked(M& m, pipeline_state& p) : in_(m), guard_(p.lock) { M::touch(&p, sizeof p, true); }

   private:
    call in_;
    base::locked<M> guard_;
  };

  [[nodiscard]] static pipeline_slot& slot_of(pipeline_state& p, std::uint64_t item) noexcept {
    return p.slots[item % p.slot_count];
  }
  static void tell(pipeline_state& p) noexcept {
    if (p.waiting != 0) M::store(p.news, M::load(p.news, base::relaxed) + 1, base::relaxed);
  }

  void start(pipeline_state& p, std::uint64_t next) noexcept {
    p.next = p.looked_at = next;
    p.looked_ps = machine_.now_ps();
    p.carried_ps = 0;
  }

  static void come(pipeline_state& p) noexcept {
    ++p.came;
    WEFT_ASSERT(p.came <= p.asked);
    M::store(p.helped, 1u, base::relaxed);
  }

  // What has begun comes first: it makes room.
  [[nodiscard]] static pipeline_work next_work(pipeline_state& p) noexcept {
    while (p.ready_first != detail::no_slot) {
      pipeline_slot& s = p.slots[p.ready_first];
      p.ready_first = s.next;
      if (s.item > p.failed) continue;  // lies there until the end
      return {pipeline_work::kind::resume, std::exchange(s.stage, 0), s.item, 0};
    }
    if (p.held || p.ended || p.closing || slot_of(p, p.next).item != detail::no_item) return {};
    p.held = true;
    return {pipeline_work::kind::begin, 0, p.next, 0};
  }

  [[nodiscard]] static pipeline_turn turn_of(pipeline_state& p, std::uint64_t item, std::uint32_t stage) noexcept {
    WEFT_ASSERT(slot_of(p, item).item == item && slot_of(p, item).stage == 0 && p.turns[stage] <= item);
    if (item > p.failed) return pipeline_turn::dropped;
    return p.turns[stage] == item ? pipeline_turn::mine : pipeline_turn::later;
  }

  static void append(pipeline_state& p, pipeline_slot& s) noexcept {
    const auto index = static_cast<std::uint32_t>(&s - p.slots);
    s.next = detail::no_slot;
    (p.ready_first == detail::no_slot ? p.ready_first : p.slots[p.ready_last].next) = index;
    p.ready_last = index;
    tell(p);
  }

  static void end(pipeline_state& p, std::uint64_t item) noexcept {
    pipeline_slot& s = slot_of(p, item);
    WEFT_ASSERT(s.item == item && s.stage == 0);
    s.item = detail::no_item;
    tell(p);
  }

  // Whether it is worth it: an item passes in less time than its stages take, and than one worker alone took. Both,
  // because stages take longer where cores are shared with others, and items may have become shorter since.
  void look(pipeline_state& p) noexcept {
    const std::uint64_t now = machine_.now_ps(), items = p.next - p.looked_at;
    if (items < base::pipeline_look_items / 2) return;  // it has only just begun
    const std::uint64_t each = (now - p.looked_ps) / items, work = p.carried_ps / items;
    const bool gains =
        each < work - work / 8 && each < p.alone_ps - p.alone_ps / 16 && work >= rules_.ps(by::pipeline_share) / 2;
    p.has_gained = p.has_gained || gains;
    p.losses = gains ? 0 : p.losses + 1;
    if (p.losses == rules_[by::pipeline_alone]) {
      p.closing = true;
      crew_.decides(by::pipeline_alone);
      if (rules_.is_on(by::pipeline_again)) crew_.decides(by::pipeline_again);  // not before then
    }
    start(p, p.next);
  }

  M& machine_;
  const Crew& crew_;
  const rules& rules_;
};

}  // namespace weft::sched

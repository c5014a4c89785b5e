// What a worker does next. Its own deque first, newest first; then its sources, in their order; then, for the time that
// a wake-up would cost, again; then it sleeps. Protocol of searching and sleeping: sleep.md.
#pragma once
#include <cstdint>

#include "base/assert.hpp"
#include "sched/admit/admission.hpp"
#include "sched/admit/creation.hpp"
#include "sched/balance/rules.hpp"
#include "sched/idle/expected.hpp"
#include "sched/join/stall.hpp"
#include "sched/place/context.hpp"
#include "sched/place/stealing.hpp"
#include "sched/workers/source.hpp"

namespace weft::sched {

template <class M> class search {
 public:
  using deque = sched::deque<M>;

  search(context<M>& context, stealing<M>& stealing, creation<M>& creation, admission<M>& admission, stall<M>& stall,
         std::uint64_t search_ns)
      : context_(context), stealing_(stealing), creation_(creation), admission_(admission), stall_(stall),
        search_ps_(search_ns * 1000), looks_in_vain_(static_cast<unsigned>(context.rules[by::main_moves])) {}

  // The runtime ends: every search returns nullptr. The caller wakes who sleeps.
  void stop() noexcept { M::store(stopping_, 1u, base::seq_cst); }
  [[nodiscard]] bool stopping() noexcept { return M::load(stopping_, base::seq_cst) != 0; }

  // Whether w, which has been a searcher and will look for no work now, leaves some to others: what it sees, or what
  // the main thread may have kept, tasks or forks, because somebody searched.
  [[nodiscard]] bool anything_left(worker<M>& w) noexcept {
    return anything_visible(w) ||
           (context_.sleep.is_relied_on() && (context_.crew.main_is_away() || stealing_.may_turn_down()));
  }

  // A record for w to run, sooner or later; nullptr when the runtime stops. Who: w's thread, on a loop's stack.
  [[nodiscard, gnu::always_inline]] detail::record* next_or_sleep(worker<M>& w) {
    if (w.expects.looks_apart) [[unlikely]]
      return w.role == role::creator ? next_of_creator(w) : next_of_expected(w);
    detail::record* r = next(w);
    return r != nullptr ? r : nothing_at_once(w);
  }

 private:
  [[nodiscard, gnu::noinline]] detail::record* nothing_at_once(worker<M>& w) {
    if (w.role != role::reserve) return wait_for_work(w);
    admission_.the_reserve().rest();
    return admission_.the_reserve().is_wanted() ? wait_for_work(w) : nullptr;
  }

  // A worker that never runs dry serves others, too, now and then.
  [[nodiscard, gnu::always_inline]] detail::record* next(worker<M>& w) {
    if (context_.ordering.chooses()) return look(w);
    if (context_.attention.called()) [[unlikely]] {
      w.look.left_own();
      if (context_.attention.paused()) return nullptr;
      return look(w);
    }
    if (w.tick >= detail::peek(w.tick_limit)) [[unlikely]]
      if (detail::record* r = look_up(w)) return r;
    detail::record* r = deque::pop(w, w.pace.coarse);
    if (r == nullptr) return look(w);
    context_.placement.keep_within_reach(w);
    return r;
  }

  [[nodiscard]] detail::record* look_up(worker<M>& w) {
    w.tick = 0;
    w.pace.time_next();
    stealing_.look_up(w, admission_.submitters_wait());
    return take_now_and_then(w);
  }

  // Everywhere, once.
  [[nodiscard, gnu::noinline]] detail::record* look(worker<M>& w) {
    const bool paused = context_.attention.called_now() && context_.attention.paused();
    detail::record* const r = leaves_to_others(w) ? take_own(w, paused) : take_any(w, paused);
    if (r != nullptr) context_.sleep.takes(w.id);
    return r;
  }

  // A stack waits for one thing that w alone goes on with: the program, or a pinned body. What w begins now may take
  // long, so it leaves that to others while some have nothing to do; not where bodies are so short that they are not
  // worth the way, nor where others may not see what is here.
  [[nodiscard]] bool leaves_to_others(const worker<M>& w) noexcept {
    return w.expects.stacks != 0 && !context_.ordering.chooses() && !context_.placement.stays() &&
           stealing_.worth_the_way() && context_.sleep.somebody_else_is_free(w.id) && !context_.machine.forked();
  }
  [[nodiscard, gnu::noinline]] detail::record* next_of_expected(worker<M>& w) {
    if (!leaves_to_others(w) || context_.attention.called()) {
      detail::record* const r = next(w);
      return r != nullptr ? r : nothing_at_once(w);
    }
    w.decides(by::worth_the_way);
    if (detail::record* const own = deque::pop(w, w.pace.coarse)) {
      if (expected<M>::brings_about(w, *own)) {
        context_.placement.keep_within_reach(w);
        return own;
      }
      context_.placement.bring(w, own);
    }
    context_.placement.expose(w);
    detail::record* const r = look(w);
    return r != nullptr ? r : nothing_at_once(w);
  }
  // The same with every worker, and not only those whose turn it is.
  [[nodiscard]] detail::record* look_at_all(worker<M>& w) {
    const looking::everywhere all(w.look);
    return look(w);
  }

  // For the time that a wake-up would cost, whether others rely on it or not.
  [[nodiscard]] detail::record* look_around(worker<M>& w) {
    const std::uint64_t until = context_.machine.now_ps() + search_ps_;
    unsigned spins = 0;
    do {
      if (detail::record* r = look(w)) return r;
      if (M::load(stopping_, base::relaxed) != 0) return nullptr;
      M::search_pause(++spins, until);
      if (spins == looks_in_vain_) stealing_.watch_main(w);
    } while (context_.machine.now_ps() < until);
    return nullptr;
  }

  [[nodiscard]] bool anything_visible(worker<M>& w) noexcept {
    return stopping() || any_visible(w, context_.attention.paused());
  }
  // w leaves to others what there may be, and has announced sleep or is no searcher any more: one of them is awake and
  // searches, or wakes; where none sleeps but w, it is w.
  void pass_on(worker<M>& w) noexcept {
    if (any_visible(w, context_.attention.paused())) context_.sleep.notify(context_.machine);
  }

  // Nothing to do here.
  [[nodiscard, gnu::noinline]] detail::record* wait_for_work(worker<M>& w) {
    WEFT_ASSERT(w.role != role::guest && w.current == nullptr && !w.sources.empty());
    const bool leaves = leaves_to_others(w);
    const bool counted = !leaves && context_.sleep.begin_search();
    if (!leaves && !counted && context_.sleep.one_counts()) w.decides(by::one_searcher);
    context_.sleep.set_busy(w.id, false);
    const typename worker_time<M>::during searching(context_.worker_time, w, spends::searching);
    detail::record* r = search_and_sleep(w, counted);
    if (r != nullptr) context_.sleep.set_busy(w.id, true);
    return r;
  }
  [[nodiscard]] detail::record* search_and_sleep(worker<M>& w, bool counted) {
    for (;;) {
      w.look.begins();
      if (detail::record* r = look_around(w)) {
        if (counted) found(w);
        return r;
      }
      if (counted) context_.sleep.give_up();
      if (stopping()) return nullptr;
      counted = stealing_.insists(w, [this, &w] { return anything_visible(w) && context_.sleep.begin_search(); });
      if (counted) continue;
      if (w.role == role::reserve && !admission_.the_reserve().is_wanted()) return nullptr;
      const bool main_moves = stealing_.main_moves(w);
      counted = (stealing_.asks_again() || main_moves) && context_.sleep.search_alone();
      if (counted) continue;
      if (stealing_.pull(w)) {
        counted = context_.sleep.begin_search();
        if (detail::record* r = look_at_all(w)) {
          counted ? context_.sleep.found(context_.machine) : context_.sleep.notify(context_.machine);
          return r;
        }
        continue;
      }
      if (admission_.worker_idle(!stealing_.leaves_tiny_ones())) w.decides(by::idle_grows);
      // Passed over because of a pause, and perhaps the last that is left: who looks for a stall must see it.
      if (w.look.has_own()) static_cast<void>(deque::expose(w));
      if (detail::record* r = fall_asleep(w, main_moves, counted)) return r;
    }
  }

  // w, a searcher, has work.
  void found(worker<M>& w) {
    if (!w.look.has_found_member()) return context_.sleep.found(context_.machine);
    context_.sleep.found_own(context_.machine, [this, &w] { return anything_left(w); });
  }

  // Announces sleep, looks once more, and sleeps or takes the announcement back. main_moves: so if another searches,
  // that one will come by it. counted: whether w is a searcher after.
  [[nodiscard]] detail::record* fall_asleep(worker<M>& w, bool main_moves, bool& counted) {
    if (context_.sleep.announce(w.id)) stall_.look(w);
    counted = true;
    const bool relies = main_moves && context_.sleep.somebody_searches();  // asked now, when w is known to sleep
    const bool pulled = stealing_.pulls_late() && !relies && stealing_.pull_from_main(w);
    const bool guarded = context_.sleep.somebody_searches();  // asked as late
    w.look.guarded(guarded);
    const bool leaves = leaves_to_others(w);
    const bool overlooked = !guarded && stealing_.overlooked(w) && !leaves;
    const bool sees =
        leaves ? stopping() || own_visible(w, context_.attention.paused()) : anything_visible(w) || overlooked;
    w.look.guarded(false);
    if (!pulled && !sees) {
      if (leaves) pass_on(w);
      park(w);
      if (!context_.machine.rang(w.id)) return nullptr;
    }
    if (!context_.sleep.retract(w.id)) {
      context_.machine.park(w.id);  // takes the wake that is on its way, and no alarm that comes before
      return nullptr;
    }
    if (detail::record* r = look_at_all(w)) {
      // Others may have relied on the search that was given up; there may be more.
      context_.sleep.notify(context_.machine);
      return r;
    }
    counted = context_.sleep.begin_search();
    return nullptr;
  }

  void park(worker<M>& w) {
    const typename worker_time<M>::during asleep(context_.worker_time, w, spends::asleep);
    context_.recording.park(w);
  }

  // The creator is no searcher: nobody may rely on it to find tasks, and it is woken by its number.
  [[nodiscard]] detail::record* next_of_creator(worker<M>& w) {
    WEFT_ASSERT(creation_.creator() == w.id && w.current == nullptr);
    creation_.is_back();
    for (;;) {
      if (detail::record* r = create_for_a_while(w)) {
        creation_.leaves();
        return r;
      }
      if (stopping()) return nullptr;
      if (context_.sleep.announce(w.id)) stall_.look(w);
      if (!anything_visible(w)) {
        park(w);
        if (!context_.machine.rang(w.id)) continue;
      }
      if (!context_.sleep.retract(w.id)) context_.machine.park(w.id);  // as in fall_asleep()
    }
  }
  [[nodiscard]] detail::record* create_for_a_while(worker<M>& w) {
    std::uint64_t until = context_.machine.now_ps() + search_ps_;
    unsigned spins = 0;
    do {
      const std::uint64_t before = creation_.created_so_far();
      if (detail::record* r = look(w)) return r;
      if (M::load(stopping_, base::relaxed) != 0) return nullptr;
      if (creation_.created_so_far() != before)
        until = context_.machine.now_ps() + search_ps_;
      else
        M::relax(++spins);
    } while (context_.machine.now_ps() < until);
    return nullptr;
  }

  context<M>& context_;
  stealing<M>& stealing_;
  creation<M>& creation_;
  admission<M>& admission_;
  stall<M>& stall_;
  const std::uint64_t search_ps_;  // about what a wake-up costs, or as options::search_us says
  const unsigned looks_in_vain_;   // then it notes where the main thread is; 0: it does not
  detail::cell<std::uint32_t> stopping_;
};

}  // namespace weft::sched

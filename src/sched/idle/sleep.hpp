// Who sleeps, who searches, and whom to wake. A worker without work searches for a bounded time, then sleeps in the
// kernel; whoever makes work visible wakes one sleeper, unless somebody searches already. Protocol and proof: sleep.md.
#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>

#include "base/assert.hpp"
#include "base/atomic.hpp"
#include "base/limits.hpp"
#include "sched/balance/rules.hpp"

namespace weft::sched {

template <class M> class sleep {
 public:
  explicit sleep(const rules& r = rules::usual()) noexcept : rules_(r) {}
  // Who: the thread that makes the runtime, before any other worker runs. Everybody counts as awake, but the reserve,
  // worker number `workers`, if there is one: it begins away.
  void open(unsigned workers, bool reserve = false) noexcept {
    WEFT_ASSERT(workers_ == 0 && workers != 0 && workers <= base::workers_max);
    workers_ = workers;
    words_ = (workers + (reserve ? 1 : 0) + 63) / 64;
    has_reserve_ = reserve;
    const bool all_count = workers <= rules_[by::one_searcher];
    searchers_max_ = all_count ? workers : 1;
    waking_max_ = all_count ? 1 : std::max(1u, workers / 4);
    for (unsigned id = 1; id < workers; ++id) detail::poke(free_[id], std::uint8_t{1});
  }
  // Worker `id` looks for no tasks, so it is woken by its number only and never counts as a searcher: whoever made a
  // task visible must not rely on it. Who: as open(), after it.
  void set_apart(unsigned id) noexcept {
    WEFT_ASSERT(apart_ == nobody && id < workers_);
    apart_ = id;
  }

  // From now on who is woken is no longer the lowest number, but whoever comes next after a number that is drawn, as it
  // is where all of them poll. Who: as open().
  void wake_by_chance() noexcept { by_chance_ = true; }

  // Counts the caller as a searcher, on whom those rely who make work visible, unless there is one already (with few
  // workers: unless all are). The count is one line for all, so whoever is not counted searches all the same, and who
  // loses the exchange has seen that there is another. While nobody sleeps there is nobody to be woken either, so with
  // many workers nobody is counted. A searcher must call found() or give_up(). Order of what raises the count, here and
  // below: relaxed. Whoever relies on a searcher relies on what that does when it has lowered the count, by a seq_cst
  // one.
  [[nodiscard]] bool begin_search() noexcept {
    if (searchers_max_ < workers_ && !any_asleep()) return false;
    std::uint32_t others = M::load(searching_, base::relaxed);
    return others < searchers_max_ && M::compare_exchange(searching_, others, others + 1, base::relaxed);
  }
  // Whether one searcher counts, and not all.
  [[nodiscard]] bool one_counts() const noexcept { return searchers_max_ < workers_; }
  // Counts the caller as the one searcher, whoever sleeps, if there is none.
  [[nodiscard]] bool search_alone() noexcept {
    relied_on();
    std::uint32_t none = 0;
    return M::load(searching_, base::relaxed) == 0 &&
           M::compare_exchange(searching_, none, std::uint32_t{1}, base::relaxed);
  }
  // Whether somebody searches, or nobody sleeps: so somebody will look for what is private to the main thread before
  // all sleep (deque.md, "Collecting"). Order: seq_cst.
  [[nodiscard]] bool somebody_comes_by() noexcept {
    relied_on();
    return somebody_searches() || !any_asleep();
  }
  [[nodiscard]] bool somebody_searches() noexcept { return M::load(searching_, base::seq_cst) != 0; }
  // Whether anyone ever relied on that. Who has been a searcher, and does not look for work any more, asks. Order:
  // seq_cst, behind its give_up() or found_own().
  [[nodiscard]] bool is_relied_on() noexcept { return M::load(relied_on_, base::seq_cst) != 0; }
  void give_up() noexcept {
    const std::uint32_t before = M::fetch_sub(searching_, std::uint32_t{1}, base::seq_cst);
    WEFT_ASSERT(before != 0);
  }
  // A searcher has work. If it was the last one, those who made work visible meanwhile relied on it: it passes it on.
  void found(M& machine) noexcept {
    const std::uint32_t before = M::fetch_sub(searching_, std::uint32_t{1}, base::seq_cst);
    WEFT_ASSERT(before != 0);
    if (before == 1) notify(machine);
  }

  // The same of one that was called for what it has, which says nothing about more: it looks before it wakes anyone.
  // Order: the look comes after the seq_cst subtraction, as the last look before falling asleep does.
  template <class Look> void found_own(M& machine, Look anything_visible) noexcept {
    const std::uint32_t before = M::fetch_sub(searching_, std::uint32_t{1}, base::seq_cst);
    WEFT_ASSERT(before != 0);
    if (before == 1 && anything_visible()) notify(machine);
  }

  // A stack waits for one thing that only worker `id` goes on with, or none does any more (expected.hpp): it is woken
  // last for what others may run, and is none that others leave anything to. Who: it.
  void set_expected(unsigned id, bool yes) noexcept {
    yes ? M::unseen::fetch_or(expected_[id / 64], bit(id), base::relaxed)
        : M::unseen::fetch_and(expected_[id / 64], ~bit(id), base::relaxed);
  }
  // Whether a worker beside `id` has nothing to do, and is not expected to do anything else: what is visible is its.
  // Not worker 0, whose thread comes and goes. A hint, which takes no time on a modelled machine.
  [[nodiscard]] bool somebody_else_is_free(unsigned id) const noexcept {
    for (unsigned other = 1; other < workers_; ++other)
      if (other != id && other != apart_ && detail::peek(free_[other]) != 0 &&
          (detail::peek(expected_[other / 64]) & bit(other)) == 0)
        return true;
    return false;
  }

  // Worker `id` has taken a task, or looks for one. A hint: who asks whether all is done, which takes a look at as many
  // lines as there are workers, asks here first. Not to be relied on before falling asleep.
  void set_busy(unsigned id, bool busy) noexcept {
    M::store(busy_[id], std::uint8_t{busy}, base::relaxed);
    detail::poke(free_[id], std::uint8_t{!busy});
  }
  // Worker `id` has found a task, perhaps its first and without a search: it is free no more. Takes no time on a
  // modelled machine, and nothing changes for somebody_is_busy().
  void takes(unsigned id) noexcept {
    if (detail::peek(free_[id]) != 0) detail::poke(free_[id], std::uint8_t{0});
  }
  // Whether it is. A hint, which takes no time on a modelled machine.
  [[nodiscard]] bool is_free(unsigned id) const noexcept { return detail::peek(free_[id]) != 0; }
  [[nodiscard]] bool somebody_is_busy() noexcept {
    for (unsigned id = 0; id < workers_; ++id)
      if (M::load(busy_[id], base::relaxed) != 0) return true;
    return false;
  }

  // Declares worker `id` asleep. It must then look everywhere once more, and park or retract.
  // Returns whether every worker now sleeps.
  [[nodiscard]] bool announce(unsigned id) noexcept {
    static_cast<void>(M::fetch_add(announcements_, std::uint64_t{1}, base::release));  // pairs with announcements()
    const bool slept = id == apart_ ? M::exchange(apart_asleep_, std::uint8_t{1}, base::seq_cst) != 0
                                    : (M::fetch_or(asleep_[id / 64], bit(id), base::seq_cst) & bit(id)) != 0;
    WEFT_ASSERT(!slept);  // whoever announces is awake
    return all_asleep();
  }
  // Whether worker `id` has announced sleep. Order: seq_cst: who has made work for it visible before, and is told no,
  // need not wake it.
  [[nodiscard]] bool is_asleep(unsigned id) noexcept {
    if (id == apart_) return M::load(apart_asleep_, base::seq_cst) != 0;
    return (M::load(asleep_[id / 64], base::seq_cst) & bit(id)) != 0;
  }
  // How often anyone has announced sleep: unchanged between two all_asleep() means that nobody ran in between.
  // Order: acquire; who then looks for what is visible sees all that was so before those announcements.
  [[nodiscard]] std::uint64_t announcements() noexcept { return M::load(announcements_, base::acquire); }
  [[nodiscard]] bool all_asleep() noexcept { return all_set(0); }
  // Whether every worker but number 0 sleeps, whose thread may be in the program instead.
  [[nodiscard]] bool all_asleep_but_first() noexcept { return all_set(1); }
  // Whoever looks for a stall must look again: counts as an announcement. Order: release.
  void look_again() noexcept { static_cast<void>(M::fetch_add(announcements_, std::uint64_t{1}, base::release)); }
  // Whether no worker sleeps or searches: all run something. A guess while they go on.
  [[nodiscard]] bool nobody_idle() noexcept { return !any_asleep() && M::load(searching_, base::relaxed) == 0; }
  // The reserve comes or goes. While it is away it neither sleeps nor searches and nobody wakes it. Who: whoever calls
  // it or itself, under the engine's lock for that. Counts as an announcement: who looks for a stall must look again.
  // Order: release; all_asleep() loads it again, by seq_cst, when it has gone.
  void set_reserve_away(bool away) noexcept {
    look_again();
    M::store(reserve_away_, std::uint32_t{away ? 1u : 0u}, base::release);
  }
  // Takes the announcement back. False: somebody has claimed the worker already and a wake is on its way, with the
  // worker counted as a searcher.
  [[nodiscard]] bool retract(unsigned id) noexcept { return claim(id); }

  // Call after making work visible. Wakes one sleeper unless somebody searches.
  // Order: the caller's publication must be seq_cst, as the loads here are.
  void notify(M& machine) noexcept {
    while (any_asleep()) {
      if (M::load(searching_, base::seq_cst) != 0) return;  // spares the exchange, which takes the line away
      std::uint32_t none = 0;
      // The woken worker is counted as a searcher from here on, so that others do not wake a second one for this.
      if (!M::compare_exchange(searching_, none, std::uint32_t{1}, base::relaxed)) return;
      if (wake_one(machine)) return;
      give_up();  // and look again: somebody may have relied on our count while we found no sleeper
    }
  }

  // Wakes some more beside searchers that there are, for a worker that has found `surplus` tasks more than it can run
  // soon: so many workers wake in the time of a few wakes, and not one after the other.
  // Returns whether it woke any.
  bool spread(M& machine, unsigned surplus) noexcept {
    bool any = false;
    for (unsigned n = std::min(surplus, static_cast<unsigned>(rules_[by::wakes])); n > 0 && any_asleep(); --n) {
      std::uint32_t others = M::load(searching_, base::relaxed);
      if (others >= std::min(surplus, waking_max_)) return any;
      // Else somebody else wakes or finds.
      if (!M::compare_exchange(searching_, others, others + 1, base::relaxed)) return any;
      if (!wake_one(machine)) {
        found(machine);  // somebody may have relied on our count
        return any;
      }
      any = true;
    }
    return any;
  }

  // The same as notify(machine, id) for the worker that is set apart. Cost: a load, where it is awake.
  [[gnu::always_inline]] void notify_apart(M& machine) noexcept {
    WEFT_DEBUG_ASSERT(apart_ != nobody);
    if (claim_apart()) machine.wake(apart_);
  }
  // Wakes worker `id` if it sleeps. For work that only `id` can do. Same order as notify().
  void notify(M& machine, unsigned id) noexcept {
    if (!claim(id)) return;
    if (id != apart_) static_cast<void>(M::fetch_add(searching_, std::uint32_t{1}, base::relaxed));
    machine.wake(id);
  }

 private:
  [[nodiscard]] static std::uint64_t bit(unsigned id) noexcept { return std::uint64_t{1} << (id % 64); }

  void relied_on() noexcept {
    if (M::load(relied_on_, base::relaxed) == 0) M::store(relied_on_, std::uint8_t{1}, base::seq_cst);
  }
  // Whether all bits are set, those of `taken_as_set` in the first word aside. The reserve, if not away, is the last
  // bit.
  [[nodiscard]] bool all_set(std::uint64_t taken_as_set) noexcept {
    const unsigned seats = workers_ + (has_reserve_ && M::load(reserve_away_, base::seq_cst) == 0 ? 1 : 0);
    for (unsigned w = 0, left = seats; left != 0; ++w) {
      const std::uint64_t all = left >= 64 ? ~std::uint64_t{0} : bit(left) - 1;
      const std::uint64_t elsewhere = (w == 0 ? taken_as_set : 0) | (w == apart_ / 64 ? bit(apart_) : 0);
      if ((M::load(asleep_[w], base::seq_cst) | elsewhere) != all) return false;
      left -= left < 64 ? left : 64;
    }
    return apart_ == nobody || M::load(apart_asleep_, base::seq_cst) != 0;
  }
  [[nodiscard, gnu::always_inline]] bool claim_apart() noexcept {
    return M::load(apart_asleep_, base::seq_cst) != 0 &&
           M::exchange(apart_asleep_, std::uint8_t{0}, base::relaxed) != 0;
  }
  // Order: release, pairs with the announcement of who takes its bit for gone, or sets it after: that sees what was
  // made visible before.
  [[nodiscard]] bool claim(unsigned id) noexcept {
    if (id == apart_) [[unlikely]]
      return claim_apart();
    return (M::fetch_and(asleep_[id / 64], ~bit(id), base::release) & bit(id)) != 0;
  }
  [[nodiscard]] bool any_asleep() noexcept {
    for (unsigned w = 0; w < words_; ++w)
      if (M::load(asleep_[w], base::seq_cst) != 0) return true;
    return false;
  }
  // A number below that of workers. The same on every run: the n-th draw is a hash of n.
  [[nodiscard]] unsigned drawn() noexcept {
    const std::uint64_t n = detail::peek(draws_) + 1;
    detail::poke(draws_, n);
    std::uint64_t h = n * 0x9e3779b97f4a7c15u;
    h = (h ^ (h >> 32)) * 0xd6e8feb86659fd93u;
    return static_cast<unsigned>(((h >> 32) * workers_) >> 32);
  }
  // Lowest id first: it keeps the same few workers warm and is the same on every run. Or by chance, where the last of
  // the words looked at is the rest of the first. Who is expected comes last.
  // Order: relaxed; who finds nobody looks again by any_asleep().
  [[nodiscard]] bool wake_one(M& machine) noexcept {
    const unsigned first = by_chance_ ? drawn() : 0;
    const unsigned looks = words_ + (first % 64 != 0 ? 1 : 0);
    bool passed_over = false;
    do {
      const bool all = std::exchange(passed_over, false);
      for (unsigned i = 0; i < looks; ++i) {
        const unsigned w = (first / 64 + i) % words_;
        std::uint64_t set = M::load(asleep_[w], base::relaxed);
        if (i == 0) set &= ~std::uint64_t{0} << (first % 64);
        if (i == words_) set &= bit(first) - 1;
        const std::uint64_t last = all ? 0 : set & detail::peek(expected_[w]);
        passed_over |= last != 0;
        for (set &= ~last; set != 0; set &= set - 1) {
          const unsigned id = w * 64 + static_cast<unsigned>(std::countr_zero(set));
          if (!claim(id)) continue;
          machine.wake(id);
          return true;
        }
      }
    } while (passed_over);
    return false;
  }

  const rules& rules_;
  unsigned workers_ = 0;
  unsigned words_ = 0;
  unsigned searchers_max_ = 0;  // who only looks around need not be counted
  unsigned waking_max_ = 0;     // beyond this many searchers spread() wakes nobody
  bool has_reserve_ = false;
  static constexpr unsigned nobody = ~0u;
  unsigned apart_ = nobody;
  bool by_chance_ = false;
  detail::cell<std::uint64_t> draws_;  // two at a time may draw the same, which is as good
  detail::cell<std::uint8_t> apart_asleep_;
  detail::cell<std::uint32_t> reserve_away_{1};
  detail::cell<std::uint8_t> relied_on_;
  detail::cell<std::uint64_t> announcements_;
  alignas(64) detail::cell<std::uint8_t> busy_[base::workers_max + 1];
  // Not the opposite of it: a worker in its first body, which it need not have searched for, is neither.
  alignas(64) detail::cell<std::uint8_t> free_[base::workers_max + 1];
  alignas(64) detail::cell<std::uint64_t> expected_[base::workers_max / 64 + 1];
  alignas(64) detail::cell<std::uint32_t> searching_;
  alignas(64) detail::cell<std::uint64_t> asleep_[base::workers_max / 64 + 1];
};

}  // namespace weft::sched

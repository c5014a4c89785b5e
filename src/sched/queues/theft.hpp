// The thieves' end of a deque (deque.hpp): how tasks leave the shared part by another's hand.
//
// One thief at a time. All want the word that says what is shared, and each exchange takes it away from the others, the
// owner among them, whether it succeeds or not; and who takes many tasks reads many slots before its exchange, so of
// several those would win who take one. So a thief says that it is there, on a line apart, and who sees that goes
// elsewhere. That is a courtesy and no lock: what decides is the exchange of the word, and who has been sent away often
// goes in all the same, since the thief inside may have lost its core. Protocol: deque.md.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>

#include "base/assert.hpp"
#include "base/atomic.hpp"
#include "base/limits.hpp"
#include "sched/queues/shared_part.hpp"
#include "weft/detail/worker.hpp"

namespace weft::sched {

using detail::record;

enum class steal_result : std::uint8_t { taken, empty, lost, sent_away };

// What a thief has taken, oldest first.
struct loot {
  std::uint32_t count = 0;
  std::array<record*, base::steal_max> tasks;
};

template <class M> class theft {
 public:
  // Takes the how_many(n) oldest of n shared tasks, 1 <= how_many(n) <= n, or fewer if `out` has no more room.
  // insists: whether another thief is there or not. Who: any thief. Order: acquire, pairs with give(); then
  // release, so that the slots were read before who acquires the word writes them anew.
  // Cost: three loads, one for each task, two read-modify-writes. Errors: empty; lost to another thief or the owner, or
  // sent away by a thief that is there (retrying is fair).
  template <class HowMany>
  static steal_result steal(detail::worker& victim, loot& out, HowMany how_many, bool insists = false) noexcept {
    if (!stealable(victim)) return steal_result::empty;
    if (insists) return take(victim, out, how_many, base::steal_max);
    if (M::load(victim.robbed, base::relaxed) != 0) return steal_result::sent_away;  // spares the others the exchange
    if (M::exchange(victim.robbed, std::uint8_t{1}, base::relaxed) != 0) return steal_result::sent_away;
    // Only the owner is beside it now, which takes one back for each body: so if it was faster, fewer, and in less
    // time.
    steal_result result = steal_result::lost;
    for (std::uint32_t most = base::steal_max; most != 0 && result == steal_result::lost; most /= 4)
      result = take(victim, out, how_many, most);
    M::store(victim.robbed, std::uint8_t{0}, base::relaxed);
    return result;
  }
  // The same for one task.
  static steal_result steal(detail::worker& victim, record*& out) noexcept {
    loot one;
    const steal_result result = steal(victim, one, [](std::uint32_t) { return 1u; });
    if (result == steal_result::taken) out = one.tasks[0];
    return result;
  }

  // Whether a thief would find something. Order: seq_cst, for the last look before sleeping (sleep.md).
  [[nodiscard]] static bool stealable(detail::worker& victim) noexcept {
    return shared_part::of(M::load(victim.shared, base::seq_cst)).size != 0;
  }

  // Says to the owner that thieves find nothing there. Order: relaxed; who emptied the shared part has the word from
  // publish(), whose stores come before. Of two words on
  // one line a modelled machine sees one.
  static void starve(detail::worker& victim) noexcept {
    M::unseen::store(victim.asked, std::uint8_t{1}, base::relaxed);
    M::store(victim.starved, std::uint8_t{1}, base::relaxed);
  }

 private:
  template <class HowMany>
  static steal_result take(detail::worker& victim, loot& out, HowMany how_many, std::uint32_t most) noexcept {
    std::uint64_t word = M::load(victim.shared, base::acquire);  // pairs with publish(), for the tasks
    shared_part s = shared_part::of(word);
    if (s.size == 0) return steal_result::empty;
    const std::uint32_t n = std::min<std::uint32_t>(how_many(s.size), most);
    WEFT_ASSERT(n >= 1 && n <= s.size);
    const std::uint64_t top = s.top;
    detail::ring* r = M::load(victim.shared_ring, base::acquire);
    // May be stale, but then top is another one and the exchange fails: while it stands, its slots do not change.
    for (std::uint32_t i = 0; i < n; ++i) out.tasks[i] = M::load(r->slots()[(top + i) & r->mask], base::relaxed);
    while (!M::compare_exchange(victim.shared, word, s.without_oldest(n).word(), base::release)) {
      s = shared_part::of(word);
      if (s.top != top || s.size < n) return steal_result::lost;  // else the owner has shared more
    }
    if (s.size == n) starve(victim);  // comes behind give()'s store
    out.count = n;
    return steal_result::taken;
  }
};

}  // namespace weft::sched

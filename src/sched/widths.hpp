// The widths of teams that say team(learned): for each kind of task - its name, or where it has none its body, and how
// large its work is - a table of measured times (width_table.hpp), and what a team on its way through it must remember.
// A team that begins while others are on their way says little by itself: its members come when others' are done, and
// go where others' could be. So those have one table, whatever their kind, and one width, and what counts is what the
// machine gets done: from the end of one team to the end of the next, for the work of that one, which is what the first
// of its kind took with one member.
// Who: any worker. Order: the kinds are published by their count; a table is its lock's. A worker that finds the lock
// taken does not wait: it does as the last one did, or forgets what it has measured.
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "access/registration.hpp"
#include "base/assert.hpp"
#include "base/lock.hpp"
#include "sched/groups.hpp"
#include "sched/width_table.hpp"
#include "weft/detail/record.hpp"
#include "weft/detail/team.hpp"

namespace weft::sched {

template <class M> class widths {
 public:
  // One kind of task; its fields are for this class.
  struct kind {
    const char* name;
    void (*body)(detail::record&, detail::errand);
    unsigned size_class;
    detail::cell<std::uint8_t> lock;
    detail::cell<std::uint32_t> last;  // the width that was chosen last
    width_table table;
    detail::cell<std::uint64_t> worth;   // what the members of the first, the narrowest, used; 0: not known yet
    detail::cell<std::uint32_t> beside;  // so many of it more take it that others run beside them
  };
  using aim = width_table::aim;
  // A team on its way through a table; without one its width was not learned.
  struct course {
    kind* of = nullptr;
    width_table::choice as{};
    // Whether the kinds' common table was asked.
    [[nodiscard]] bool is_together() const noexcept { return as.at_once > 1; }
  };

  // How wide the team r is, which worker `leader` begins: at least `least`, at most `most`, which is at most
  // who.widest(). What it returns must be given to one of measured() and gives_up(). Errors: std::bad_alloc.
  [[nodiscard]] course choose(const groups& who, unsigned leader, detail::record& r, const detail::team_clause& wish,
                              unsigned least, unsigned most, aim goal, std::uint64_t now_ps) {
    WEFT_ASSERT(least != 0 && least <= most && most <= who.widest());
    const options all = options_of(who, leader, least, most);
    course c{find(r, wish), {all.list[all.count - 1], goal}};
    if (c.of == nullptr) return c;
    const std::uint32_t at_once = M::fetch_add(at_once_, 1u, base::relaxed) + 1;
    const bool is_together = overlap(*c.of, at_once, now_ps);
    kind& k = is_together ? together_ : *c.of;
    c.as.at_once = is_together ? 2 : 1;
    if (is_together && M::load(c.of->worth, base::relaxed) == 0) {
      c.as.of = all.list[0];
    } else if (!try_lock(k.lock)) {
      c.as.of = nearest(all, M::load(k.last, base::relaxed));
    } else {
      c.as = choose_of(k, all, options_of(who, leader, 1, who.widest()), goal);
      base::release_lock<M>(k.lock);
    }
    return c;
  }
  // The team has been through. elapsed: from entry to last exit; busy: the sum over its members; used: the same without
  // that for which they had given their cores away.
  void measured(const course& c, std::uint64_t now_ps, std::uint64_t elapsed_ps, std::uint64_t busy_ps,
                std::uint64_t used_ps) {
    if (c.of == nullptr) return;
    const bool is_alone = gives_up(c) == 1 && !c.is_together();
    const std::uint64_t before_ps = is_alone ? 0 : M::exchange(last_end_ps_, now_ps, base::relaxed);
    const std::uint64_t worth = M::load(c.of->worth, base::relaxed);
    if (worth == 0) M::store(c.of->worth, std::max<std::uint64_t>(used_ps, 1), base::relaxed);
    kind& k = c.is_together() ? together_ : *c.of;
    if (!c.as.counts || !try_lock(k.lock)) return;
    const std::uint64_t since_last_ps = now_ps > before_ps ? now_ps - before_ps : 0;
    k.table.measured(c.as, c.is_together() ? since_last_ps : elapsed_ps, busy_ps, c.is_together() ? worth : 0);
    base::release_lock<M>(k.lock);
  }
  // The team is on its way no more. Who: measured(), and where a team fails, which says nothing, its last member.
  // Returns how many were, itself included.
  std::uint32_t gives_up(const course& c) {
    if (c.of == nullptr) return 0;
    const std::uint32_t before = M::fetch_sub(at_once_, 1u, base::relaxed);
    WEFT_ASSERT(before != 0);
    return before;
  }

  // The widths that a team around `leader` may have: the powers of two, the sizes of its places, and the bounds.
  struct options {
    std::array<width_table::option, width_table::options_max> list;
    std::size_t count = 0;
  };
  [[nodiscard]] static options options_of(const groups& who, unsigned leader, unsigned least, unsigned most) {
    const groups::sizes near = who.sizes_around(leader);
    options all;
    const auto add = [&](unsigned width) {
      if (width < least || width > most || all.count == all.list.size()) return;
      using place = width_table::place;
      all.list[all.count++] = {static_cast<std::uint16_t>(width), width <= near.leaf   ? place::leaf
                                                                  : width <= near.node ? place::node
                                                                                       : place::machine};
    };
    for (const unsigned width : {least, most, near.leaf, near.node}) add(width);
    for (unsigned width = 1; width <= most; width *= 2) add(width);
    const auto end = all.list.begin() + static_cast<std::ptrdiff_t>(all.count);
    std::sort(all.list.begin(), end, [](const auto& a, const auto& b) { return a.width < b.width; });
    all.count = static_cast<std::size_t>(std::unique(all.list.begin(), end) - all.list.begin());
    return all;
  }

  // In what class r is: the binary logarithm of how large its work is - as its clause says; else the bytes that its
  // accesses name; else what it is declared to cost.
  [[nodiscard]] static unsigned size_class(detail::record& r, const detail::team_clause& wish) noexcept {
    std::uint64_t size = wish.size;
    if (size == 0)
      for (std::uint32_t i = 0; i < r.access_count; ++i) {
        const detail::access& a = r.accesses()[i];
        const detail::handle_state& h = access::handle_of(a);
        if (!access::is_resource(a) && !access::is_repeated(a) && h.sized) size += detail::bytes_of(h);
      }
    if (size == 0) size = r.declared_cost_ps(1);
    return static_cast<unsigned>(std::bit_width(size));
  }

 private:
  static constexpr unsigned kinds_max = 256;
  static constexpr std::uint32_t overlap_memory = 64;  // teams of a kind

  [[nodiscard]] static bool try_lock(detail::cell<std::uint8_t>& lock) noexcept {
    return M::load(lock, base::relaxed) == 0 && M::exchange(lock, std::uint8_t{1}, base::acquire) == 0;
  }
  [[nodiscard]] static width_table::option nearest(const options& all, unsigned width) noexcept {
    std::size_t at = 0;
    while (at + 1 < all.count && all.list[at + 1].width <= width) ++at;
    return all.list[at];
  }

  // Whether others run beside teams of that kind, now or not long ago.
  [[nodiscard]] bool overlap(kind& k, std::uint32_t at_once, std::uint64_t now_ps) {
    const std::uint32_t most = M::load(most_at_once_, base::relaxed);
    if (at_once == 1 && most == 0) return false;  // no others ever were
    if (at_once > most) M::store(most_at_once_, at_once, base::relaxed);
    if (at_once == 1 || most == 0) M::store(last_end_ps_, now_ps, base::relaxed);  // nobody has ended before it
    const std::uint32_t left = M::load(k.beside, base::relaxed);
    const std::uint32_t now = at_once > 1 ? overlap_memory : left - (left != 0 ? 1 : 0);
    if (now != left) M::store(k.beside, now, base::relaxed);
    return now != 0;
  }

  // Under k's lock. Of several kinds at once all have one width, within the bounds of each.
  [[nodiscard]] width_table::choice choose_of(kind& k, const options& allowed, const options& widest, aim goal) {
    const bool is_common = &k == &together_;
    const options& from = is_common ? widest : allowed;
    width_table::choice as = k.table.choose({from.list.data(), from.count}, is_common ? aim::time : goal,
                                            is_common ? M::load(most_at_once_, base::relaxed) : 1);
    M::store(k.last, std::uint32_t{as.of.width}, base::relaxed);
    const width_table::option fits = nearest(allowed, as.of.width);
    as.counts = as.counts && fits == as.of;
    as.of = fits;
    return as;
  }

  // nullptr: there are too many kinds, and this one learns nothing.
  [[nodiscard]] kind* find(detail::record& r, const detail::team_clause& wish) {
    const unsigned size = size_class(r, wish);
    const auto among = [&](unsigned from, unsigned to) -> kind* {
      for (unsigned i = from; i < to; ++i)
        if (kind& k = *kinds_[i]; k.size_class == size && is_same(k, r)) return &k;
      return nullptr;
    };
    const unsigned known = M::load(count_, base::acquire);
    if (kind* const k = among(0, known)) return k;
    if (known == kinds_max) return nullptr;
    const base::locked<M> guard(lock_);
    const unsigned now = M::load(count_, base::relaxed);
    if (kind* const k = among(known, now); k != nullptr || now == kinds_max) return k;
    kinds_[now] = std::make_unique<kind>(r.name, r.invoke, size);
    M::fresh(kinds_[now].get(), sizeof(kind));
    M::store(count_, now + 1, base::release);
    return kinds_[now].get();
  }
  [[nodiscard]] static bool is_same(const kind& k, const detail::record& r) noexcept {
    if (k.name == nullptr || r.name == nullptr) return k.name == r.name && k.body == r.invoke;
    return k.name == r.name || std::strcmp(k.name, r.name) == 0;
  }

  kind together_{};                           // teams of all kinds that run at one time
  detail::cell<std::uint32_t> at_once_;       // teams that learn and are on their way,
  detail::cell<std::uint32_t> most_at_once_;  // and the most that ever were
  detail::cell<std::uint64_t> last_end_ps_;   // when the last one ended, or the first of these began
  detail::cell<std::uint32_t> count_;
  detail::cell<std::uint8_t> lock_;
  std::array<std::unique_ptr<kind>, kinds_max> kinds_;
};

}  // namespace weft::sched

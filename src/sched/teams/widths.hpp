// The widths of teams that say team(learned): for each kind of task - its name, or where it has none its body, and how
// large its work is - a table of measured times (width_table.hpp), and what a team on its way through it must remember.
// A kind whose teams are among others for most of their time has one width with those (joint_widths.hpp).
// All times of a kind are taken to be proportional to the size, so that large and small ones of one class compare.
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
#include "sched/balance/joint_widths.hpp"
#include "sched/balance/rules.hpp"
#include "sched/balance/width_table.hpp"
#include "sched/workers/groups.hpp"
#include "weft/detail/record.hpp"
#include "weft/detail/team.hpp"

namespace weft::sched {

template <class M> class widths {
 public:
  explicit widths(const rules& r = rules::usual()) noexcept : rules_(r), joint_(r) {}

  // One kind of task; its fields are for this class. In whole lines, so that where it lies has no say in modelled time.
  struct alignas(64) kind {
    kind(const char* its_name, void (*its_body)(detail::record&, detail::errand), unsigned its_size, const rules& r)
        : name(its_name), body(its_body), size_class(its_size), table(r) {}
    const char* name;
    void (*body)(detail::record&, detail::errand);
    unsigned size_class;
    detail::cell<std::uint8_t> lock;
    detail::cell<std::uint32_t> last;  // the width that was chosen last
    typename joint_widths<M>::share among;
    detail::cell<std::uint64_t> worth;  // how much work a team is: what the members of the first spent; 0: not known
    width_table table;
  };
  using aim = width_table::aim;
  // A team on its way through a table; without one its width was not learned.
  struct course {
    kind* of = nullptr;
    width_table::choice as{};
    typename joint_widths<M>::stamp when{};
    double scale = 1;       // from times of its size to those of the least in its class
    bool is_joint = false;  // the width is that of several kinds
  };

  // How wide the team r is, which worker `leader` begins: at least `least`, at most `most`, which is at most
  // who.widest(). What it returns must be given to one of measured() and gives_up(). Errors: std::bad_alloc.
  [[nodiscard]] course choose(const groups& who, unsigned leader, detail::record& r, const detail::team_clause& wish,
                              unsigned least, unsigned most, aim goal, std::uint64_t now_ps) {
    WEFT_ASSERT(least != 0 && least <= most && most <= who.widest());
    const options all = options_of(who, leader, least, most);
    course c{find(r, wish), {all.list[all.count - 1], goal}};
    if (c.of == nullptr) return c;
    c.scale = scale_of(size_of(r, wish));
    c.when = joint_.begins(now_ps);
    const unsigned width =
        rules_.is_on(by::joint) && c.of->among.is_most() ? joint_.width(c.when, who.widest()) : joint_table::own;
    if (width != joint_table::own) {
      c.as = {nearest(all, width), aim::time, false};
      c.is_joint = true;
      return c;
    }
    if (!try_lock(c.of->lock)) {
      c.as.of = nearest(all, M::load(c.of->last, base::relaxed));
      return c;
    }
    c.as = c.of->table.choose({all.list.data(), all.count}, goal);
    M::store(c.of->last, std::uint32_t{c.as.of.width}, base::relaxed);
    base::release_lock<M>(c.of->lock);
    return c;
  }
  // The team has been through. elapsed: from entry to last exit; busy: the sum over its members. Returns whether a
  // trial of another joint width begins.
  bool measured(const course& c, std::uint64_t now_ps, std::uint64_t elapsed_ps, std::uint64_t busy_ps) {
    if (c.of == nullptr) return false;
    std::uint64_t worth = M::load(c.of->worth, base::relaxed);
    if (worth == 0) M::store(c.of->worth, worth = scaled(busy_ps, c.scale), base::relaxed);
    const auto past = joint_.ends(c.when, now_ps);
    const bool is_trial = joint_.measured(c.when, past.part_ps, scaled(worth, 1 / c.scale));
    c.of->among.add(elapsed_ps - std::min(elapsed_ps, past.alone_ps), elapsed_ps);
    if (!c.as.counts || !try_lock(c.of->lock)) return is_trial;
    c.of->table.measured(c.as, scaled(elapsed_ps, c.scale), scaled(busy_ps, c.scale));
    base::release_lock<M>(c.of->lock);
    return is_trial;
  }

  // The team has failed, which says nothing.
  void gives_up(const course& c, std::uint64_t now_ps) {
    if (c.of == nullptr) return;
    static_cast<void>(joint_.ends(c.when, now_ps));
    static_cast<void>(joint_.measured(c.when, 0, 0));
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
    return static_cast<unsigned>(std::bit_width(size_of(r, wish)));
  }

 private:
  static constexpr unsigned kinds_max = 256;

  [[nodiscard]] static std::uint64_t size_of(detail::record& r, const detail::team_clause& wish) noexcept {
    std::uint64_t size = wish.size;
    if (size == 0)
      for (std::uint32_t i = 0; i < r.access_count; ++i) {
        const detail::access& a = r.accesses()[i];
        const detail::handle_state& h = access::handle_of(a);
        if (!access::is_resource(a) && !access::is_repeated(a) && h.sized) size += detail::bytes_of(h);
      }
    if (size == 0) size = r.declared_cost_ps(1);
    return size;
  }
  [[nodiscard]] static double scale_of(std::uint64_t size) noexcept {
    return size == 0 ? 1 : static_cast<double>(std::bit_floor(size)) / static_cast<double>(size);
  }
  [[nodiscard]] static std::uint64_t scaled(std::uint64_t ps, double scale) noexcept {
    return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(static_cast<double>(ps) * scale));
  }

  [[nodiscard]] static bool try_lock(detail::cell<std::uint8_t>& lock) noexcept {
    return M::load(lock, base::relaxed) == 0 && M::exchange(lock, std::uint8_t{1}, base::acquire) == 0;
  }
  [[nodiscard]] static width_table::option nearest(const options& all, unsigned width) noexcept {
    std::size_t at = 0;
    while (at + 1 < all.count && all.list[at + 1].width <= width) ++at;
    return all.list[at];
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
    kinds_[now] = std::make_unique<kind>(r.name, r.invoke, size, rules_);
    M::fresh(kinds_[now].get(), sizeof(kind));
    M::store(count_, now + 1, base::release);
    return kinds_[now].get();
  }
  [[nodiscard]] static bool is_same(const kind& k, const detail::record& r) noexcept {
    if (k.name == nullptr || r.name == nullptr) return k.name == r.name && k.body == r.invoke;
    return k.name == r.name || std::strcmp(k.name, r.name) == 0;
  }

  detail::cell<std::uint32_t> count_;
  detail::cell<std::uint8_t> lock_;
  std::array<std::unique_ptr<kind>, kinds_max> kinds_;
  const rules& rules_;
  joint_widths<M> joint_;
};

}  // namespace weft::sched

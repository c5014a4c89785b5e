// Which of the teams that learn their widths run at one time, and the one width that these have (joint_table.hpp).
// For each team it is known for how much of its time no other was on its way. A kind whose teams are among others for
// most of their time asks here, until they hardly ever are; all others know nothing of it, and keep their own tables.
// What the machine did for a team is its part of the time: of each moment the same for all that are on their way. So
// the parts of all teams are the time for which there were any, however long each took, and whatever ends when. Who:
// any worker. Order: the table is whose end of a team makes `left_` zero, until it says how many the next batch has:
// nobody waits. What is counted here without a lock are estimates: where two begin or end at one moment a little of the
// time may be lost, and no more.
#pragma once
#include <algorithm>
#include <cstdint>

#include "base/assert.hpp"
#include "base/atomic.hpp"
#include "base/plain.hpp"
#include "sched/balance/joint_table.hpp"
#include "sched/balance/rules.hpp"
#include "weft/detail/record.hpp"

namespace weft::sched {

template <class M> class joint_widths {
 public:
  explicit joint_widths(const rules& r = rules::usual()) noexcept : table_(joint_table(r)) {}

  // How much of the time of a kind's teams others were on their way, too: a mean that follows in some eight teams, and
  // back in some fifty, because teams that are wide are sooner gone, and so less among others.
  class share {
   public:
    // More than half of it; from then on, until it is less than an eighth.
    [[nodiscard]] bool is_most() noexcept { return (M::load(state_, base::relaxed) & most) != 0; }
    void add(std::uint64_t among_ps, std::uint64_t elapsed_ps) noexcept {
      if (elapsed_ps == 0) return;
      const std::uint32_t before = M::load(state_, base::relaxed);
      const double part = static_cast<double>(std::min(among_ps, elapsed_ps)) / static_cast<double>(elapsed_ps);
      const bool was_most = (before & most) != 0;
      const std::uint32_t heard = std::min((before >> heard_shift & 63) + 1, was_most ? 32u : 8u);
      std::uint32_t now = before & (2 * whole - 1);
      now = now - now / heard + static_cast<std::uint32_t>(part * whole) / heard;
      const bool is_most = heard >= 2 && now > (was_most ? whole / 8 : whole / 2);
      now |= heard << heard_shift | (is_most ? most : 0);
      if (now != before) M::store(state_, now, base::relaxed);
    }

   private:
    static constexpr std::uint32_t whole = 1u << 16, heard_shift = 17, most = 1u << 31;
    detail::cell<std::uint32_t> state_;  // the mean, how many are in it, and what it comes to
  };

  // Of a team on its way.
  struct stamp {
    std::uint64_t alone_ps = 0;  // what the sums were when it began
    std::uint64_t part_ps = 0;
    bool was_told = false;    // what width() said
    std::uint32_t batch = 0;  // in which it counts; 0: in none
  };
  struct past {
    std::uint64_t alone_ps = 0;  // for how long of its time no other was on its way
    std::uint64_t part_ps = 0;   // its part of the time, which is divided evenly among those on their way
  };

  // A team begins.
  [[nodiscard]] stamp begins(std::uint64_t now_ps) noexcept {
    const std::uint32_t before = M::fetch_add(active_, 1u, base::relaxed);
    passes(before, now_ps);
    if (before >= M::load(peak_, base::relaxed)) M::store(peak_, before + 1, base::relaxed);
    return {M::load(alone_ps_, base::relaxed), M::load(part_ps_, base::relaxed)};
  }
  // It is over, or has failed.
  past ends(const stamp& s, std::uint64_t now_ps) noexcept {
    const std::uint32_t before = M::fetch_sub(active_, 1u, base::relaxed);
    WEFT_ASSERT(before != 0);
    passes(before, now_ps);
    const auto since = [](std::uint64_t now, std::uint64_t then) { return now > then ? now - then : 0; };
    return {since(M::load(alone_ps_, base::relaxed), s.alone_ps), since(M::load(part_ps_, base::relaxed), s.part_ps)};
  }

  // The width of a team whose kind is among others; joint_table::own: as its own table says.
  [[nodiscard]] std::uint32_t width(stamp& s, unsigned widest) {
    if (M::load(is_open_, base::relaxed) == 0 && M::exchange(is_open_, 1u, base::relaxed) == 0)
      begin(table_.write().open(widest, M::load(peak_, base::relaxed)));
    s.was_told = true;
    if (M::load(settles_, base::relaxed) != 0) return M::load(width_, base::relaxed);
    const auto ticket = static_cast<std::int32_t>(M::fetch_sub(tickets_, 1u, base::acquire));
    if (ticket > 0) s.batch = M::load(batch_, base::relaxed);
    return M::load(ticket > -static_cast<std::int32_t>(M::load(teams_, base::relaxed)) ? width_ : behind_,
                   base::relaxed);
  }
  // A team that was told a width is over, and ends() has said what was its part. worth: how much work it was, in a unit
  // of all kinds.
  // Returns whether a trial of another width begins by that.
  bool measured(const stamp& s, std::uint64_t part_ps, std::uint64_t worth) {
    if (!s.was_told) return false;
    if (M::load(settles_, base::relaxed) == 0) {
      if (s.batch != M::load(batch_, base::relaxed)) return false;
      static_cast<void>(M::fetch_add(worth_, worth, base::relaxed));
      static_cast<void>(M::fetch_add(took_ps_, part_ps, base::relaxed));
    }
    // acquire: the table, from who began the batch (begin()).
    if (M::fetch_sub(left_, 1u, base::acquire) != 1) return false;
    const joint_table::batch next = table_.write().next(M::load(took_ps_, base::relaxed),
                                                        M::load(worth_, base::relaxed), M::load(peak_, base::relaxed));
    begin(next);
    return next.is_trial;
  }

 private:
  void passes(std::uint32_t active, std::uint64_t now_ps) noexcept {
    const std::uint64_t since_ps = M::load(since_ps_, base::relaxed);
    if (now_ps <= since_ps) return;
    M::store(since_ps_, now_ps, base::relaxed);
    const auto add = [](detail::cell<std::uint64_t>& sum, std::uint64_t ps) {
      M::store(sum, M::load(sum, base::relaxed) + ps, base::relaxed);
    };
    if (active == 1) add(alone_ps_, now_ps - since_ps);
    if (active != 0) add(part_ps_, (now_ps - since_ps) / active);
  }
  void begin(joint_table::batch b) {
    M::store(took_ps_, std::uint64_t{0}, base::relaxed);
    M::store(worth_, std::uint64_t{0}, base::relaxed);
    M::store(settles_, b.settles ? 1u : 0u, base::relaxed);
    M::store(peak_, M::load(active_, base::relaxed), base::relaxed);
    M::store(width_, b.width, base::relaxed);
    M::store(batch_, std::max(1u, M::load(batch_, base::relaxed) + 1), base::relaxed);
    M::store(behind_, b.behind, base::relaxed);
    M::store(teams_, b.teams, base::relaxed);
    M::store(tickets_, b.settles ? 0u : b.teams, base::release);  // who has one sees its batch; pairs with width()
    M::store(left_, b.teams, base::release);  // gives the table to who ends the batch; pairs with measured()
  }

  // Of all teams that learn, alone or not: how many are on their way,
  alignas(64) detail::cell<std::uint32_t> active_;
  detail::cell<std::uint32_t> peak_;      // how many lately were,
  detail::cell<std::uint64_t> since_ps_;  // since when,
  detail::cell<std::uint64_t> alone_ps_;  // for how long it was one,
  detail::cell<std::uint64_t> part_ps_;   // and what each had of the time, if it was there from the start.
  // Of those that are among others.
  alignas(64) detail::cell<std::uint32_t> is_open_;
  detail::cell<std::uint32_t> batch_;    // its number, from 1,
  detail::cell<std::uint32_t> tickets_;  // how many more that count may begin; below 0: that have begun since
  detail::cell<std::uint32_t> teams_;
  detail::cell<std::uint32_t> behind_;  // the width of those behind twice as many
  detail::cell<std::uint32_t> width_;
  detail::cell<std::uint32_t> settles_;
  detail::cell<std::uint32_t> left_;  // of the batch; below 0 while somebody is with the table
  detail::cell<std::uint64_t> took_ps_;
  detail::cell<std::uint64_t> worth_;
  base::plain<joint_table> table_;
};

}  // namespace weft::sched

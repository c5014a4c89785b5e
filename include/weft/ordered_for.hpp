// Greedy loops: iterations that must come out as if they ran one after the other, and seldom meet. An iteration first
// says which places it needs, then does its work if no earlier one needs them too, or is tried again:
//
//   std::vector<weft::reservation> places(nodes);
//   weft::ordered_for(0, edges.size(),
//                     [&](std::uint64_t i) {                        // reserve: returns whether there is anything to do
//                       const auto [u, v] = roots_of(edges[i]);
//                       if (u == v) return false;
//                       places[u].reserve(i), places[v].reserve(i);
//                       return true;
//                     },
//                     [&](std::uint64_t i) {                        // commit: returns whether it is done
//                       ...
//                       return places[v].release(i);
//                     });
//
// Iterations run in rounds, so many of the earliest at a time (deterministic reservations: Blelloch, Fineman, Gibbons
// and Shun, PPoPP 2012; the Swarm paper's msf has this as its rival, Swarm §6.2). In a round all reserve, and then all
// commit. Those that are not done come first in the next round. How many a round has follows from how many were not
// done, and from nothing else: so what runs in which round is the same for every number of workers and on every
// machine, and so is the result if bodies do what is said below. Nothing is undone and nothing is logged; for bodies
// that cannot say beforehand what they need there is weft::ordered.
#pragma once
#include "weft/detail/language.hpp"  // before all others

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "weft/detail/cell.hpp"
#include "weft/error.hpp"
#include "weft/for_each.hpp"

namespace weft {

// A place that iterations want: the smallest has it. Who: any thread, at any time. Order: relaxed; what separates
// reserving from committing is the end of a loop, which orders everything.
class reservation {
 public:
  // Cost: a load if an earlier iteration has it, else a locked instruction.
  void reserve(std::uint64_t i) noexcept { detail::lower(first_, i); }
  [[nodiscard]] bool holds(std::uint64_t i) const noexcept { return detail::peek(first_) == i; }
  // Returns whether i held it. Nobody does then.
  bool release(std::uint64_t i) noexcept {
    if (!holds(i)) return false;
    detail::poke(first_, free);
    return true;
  }

 private:
  static constexpr std::uint64_t free = ~std::uint64_t{0};
  detail::cell<std::uint64_t> first_{free};
};

struct ordered_for_options {
  // Iterations of a round: it begins with `round`, is halved when more than a fifth of one were not done, down to
  // `least`, and doubled when less than a tenth were not, up to `most`.
  std::uint64_t round = 1024;
  std::uint64_t least = 64;
  std::uint64_t most = std::uint64_t{1} << 20;
};

struct ordered_for_counts {
  std::uint64_t rounds = 0;
  std::uint64_t tries = 0;  // calls of reserve: those beyond the number of iterations were in vain
};

namespace detail {

#ifdef WEFT_SERIAL
[[noreturn]] inline void throw_bad_round(std::uint64_t, std::uint64_t, std::uint64_t) {
  throw error("weft: a round of ordered_for has from `least` to `most` iterations, and 1 at least");
}
[[noreturn]] inline void throw_not_done(std::uint64_t) {
  throw error("weft: an iteration of ordered_for was not done though nobody came before it");
}
#else
[[noreturn]] void throw_bad_round(std::uint64_t least, std::uint64_t round, std::uint64_t most);  // weft::error
[[noreturn]] void throw_not_done(std::uint64_t i);                                                // weft::error
#endif

// The iterations of a round, in order, and which of them are not done yet.
class ordered_round {
 public:
  ordered_round(std::uint64_t from, std::uint64_t to, const ordered_for_options& o)
      : next_(from), to_(to), size_(o.round), options_(o) {
    if (o.least == 0 || o.least > o.round || o.round > o.most) throw_bad_round(o.least, o.round, o.most);
  }
  // The next: those that are left, and new ones behind them. Returns how many; 0: all are done.
  [[nodiscard]] std::uint64_t begin() {
    const std::uint64_t to_come = next_ < to_ ? to_ - next_ : 0, free = left_ < size_ ? size_ - left_ : 0;
    const std::uint64_t most =
        left_ + (free < to_come ? free : to_come);  // a round may have room for more than there are
    if (index_.size() < most) index_.resize(most), is_left_.resize(most);
    while (left_ < most) index_[left_++] = next_++;
    return here_ = left_ < size_ ? left_ : size_;
  }
  [[nodiscard]] std::uint64_t operator[](std::uint64_t k) const noexcept { return index_[k]; }
  void set_left(std::uint64_t k, bool left) noexcept { is_left_[k] = left; }
  [[nodiscard]] bool is_left(std::uint64_t k) const noexcept { return is_left_[k] != 0; }
  void end() {
    if (is_left_[0] != 0) throw_not_done(index_[0]);
    std::uint64_t kept = 0;
    for (std::uint64_t k = 0; k < here_; ++k)
      if (is_left_[k] != 0) index_[kept++] = index_[k];
    if (kept * 5 > here_ && size_ / 2 >= options_.least)
      size_ /= 2;
    else if (kept * 10 < here_ && size_ <= options_.most / 2)
      size_ *= 2;
    for (std::uint64_t k = here_; k < left_; ++k) index_[kept++] = index_[k];  // more than this round had room for
    left_ = kept;
  }

 private:
  std::vector<std::uint64_t> index_;
  std::vector<unsigned char> is_left_;
  std::uint64_t next_, to_, size_;
  std::uint64_t left_ = 0, here_ = 0;
  ordered_for_options options_;
};

}  // namespace detail

// Runs the iterations of [from, to) as if one after the other.
// reserve(i) calls reservation::reserve(i) for each place that i needs as things are now, and writes to nothing else
// that others see. It returns whether there is something to do; if not, i is done. commit(i) looks which of them it
// holds, does its work if these are enough, releases what it holds, and returns whether it is done; it may write to
// what belongs to places that it holds, and read what nobody may write to. All calls of one kind may run at the same
// time. What an iteration holds and does not release stays its own, so release also where it is not done.
// Cost: two calls an iteration and try, and a pass over the round in one thread between them, some nanoseconds each.
// Errors: weft::error for options that cannot be meant, and if the earliest iteration of a round, which holds all that
// it asks for, is not done; what a body throws, as for_each; std::bad_alloc.
template <class Reserve, class Commit> ordered_for_counts ordered_for(std::uint64_t from, std::uint64_t to,
                                                                      Reserve reserve, Commit commit,
                                                                      const ordered_for_options& options = {}) {
  detail::ordered_round round(from, to, options);
  ordered_for_counts counts;
  while (const std::uint64_t n = round.begin()) {
    ++counts.rounds;
    counts.tries += n;
    for_each(std::uint64_t{0}, n, [&](std::uint64_t k) { round.set_left(k, static_cast<bool>(reserve(round[k]))); });
    for_each(std::uint64_t{0}, n, [&](std::uint64_t k) {
      if (round.is_left(k)) round.set_left(k, !static_cast<bool>(commit(round[k])));
    });
    round.end();
  }
  return counts;
}

}  // namespace weft

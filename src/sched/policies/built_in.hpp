// Weft's own policies: a table with a row each (built_in.cpp), and what its words mean. A row names only the answers in
// which its policy differs from the default, and policy.hpp has the questions.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "sched/policies/locality.hpp"
#include "sched/policies/policy.hpp"
#include "sched/policies/pushing.hpp"
#include "weft/choice.hpp"
#include "weft/detail/cell.hpp"

namespace weft::sched {

struct answers {
  // Where a ready task goes: `own` is the deque of the worker where it became ready. Hints: weft/near.hpp; a task
  // without them is its own, if nothing else is said.
  enum class to : std::uint8_t {
    own,
    central,
    pile,             // of the memory node where it became ready
    hinted,           // the queue of the node that its hints name, own if that is here; central if they span nodes
    hinted_or_all,    // the same, but central in place of own where there are no hints
    address,          // the queue of the node that its hints name, also if that is here; own if they name none
    cheapest,         // pushed to a random worker of the node where its data are cheapest to use; own if that is here,
                      // if they are few, or if nobody knows where they lie
    cheap_by_chance,  // what `cheapest` would push or keep: to a random worker of a random node
    round,            // pushed to one worker after the other, if it was ready when the program submitted it; else own
  };
  enum class from : std::uint8_t { nearest, chance };  // whom to rob first; all others follow
  enum class share : std::uint8_t { half, one };       // of what a victim has

  to ready = to::own;
  from victim = from::nearest;
  share how_many = share::half;
  search_levels levels = search_levels::flat;
  elasticity elastic = elasticity::none;
  bool child_first = false;
  bool wakes_by_chance = false;
  bool once_hinted = false;  // all of this from the first task with hints on; before, and on one node, the defaults
  pushing::counts weighs = pushing::counts::both;  // by `cheapest` and `cheap_by_chance`
};

struct built_in_row {
  choice name;
  answers says;
};

class built_in final : public policy {
 public:
  // Lives: says outlives the policy.
  built_in(const answers& says, const place::tree& places);

  destination ready(unsigned self, const detail::record& r, base::random& rng) override;
  unsigned victim(unsigned self, unsigned i, base::random& rng) override;
  unsigned how_many(unsigned self, unsigned victim, unsigned available) override;
  search_levels levels() const noexcept override { return says_.levels; }
  elasticity elastic() const noexcept override { return says_.elastic; }
  bool child_first() const noexcept override { return says_.child_first; }
  bool wakes_by_chance() const noexcept override { return says_.wakes_by_chance; }
  bool awaits_hints() const noexcept override { return says_.once_hinted; }
  void hint_given() noexcept override { detail::poke(hinted_, std::uint8_t{1}); }
  bool has_partners() const noexcept override {
    return waits_for_hints() || (says_.levels == search_levels::flat && says_.victim == answers::from::nearest);
  }
  bool always_own_deque() const noexcept override { return says_.ready == answers::to::own || says_.once_hinted; }
  bool uses_nodes() const noexcept override {
    using enum answers::to;
    return says_.ready == hinted || says_.ready == hinted_or_all || says_.ready == address;
  }
  bool uses_piles() const noexcept override { return says_.ready == answers::to::pile; }
  bool pushes() const noexcept override {
    using enum answers::to;
    return says_.ready == cheapest || says_.ready == cheap_by_chance || says_.ready == round;
  }
  bool pushes_to_far_end() const noexcept override { return says_.ready == answers::to::round; }

 private:
  // Order: whoever reads an old value answers as before, which is right for all tasks that have no hints; who is asked
  // about one that has them comes after its submission.
  [[nodiscard]] bool waits_for_hints() const noexcept { return says_.once_hinted && detail::peek(hinted_) == 0; }
  [[nodiscard]] destination by_hint(unsigned self, const detail::record& r) const;
  [[nodiscard]] destination by_cost(unsigned self, const detail::record& r, base::random& rng) const;
  [[nodiscard]] destination by_turn(unsigned self, const detail::record& r) noexcept;

  const answers& says_;
  locality wish_;
  std::optional<pushing> cheap_;
  std::vector<unsigned> start_;  // of the sweep, by worker; each touches its own
  // Whose turn it is, by submitting worker; the last is of all threads outside, who may count two tasks as one.
  std::vector<detail::cell<std::uint32_t>> turn_;
  detail::cell<std::uint8_t> hinted_;
};

inline constexpr std::size_t built_in_count = 15;
// The default first.
[[nodiscard]] std::span<const built_in_row, built_in_count> built_in_rows() noexcept;
// Errors: std::bad_alloc.
[[nodiscard]] std::unique_ptr<policy> make_built_in(const answers& says, const place::tree& places);

}  // namespace weft::sched

// A policy that the program brought (weft/policy.hpp), as the scheduler asks one. Its answers are not trusted: what
// cannot be followed is said once, and the default takes its place.
#pragma once
#include <string>

#include "sched/policies/policy.hpp"
#include "weft/detail/cell.hpp"
#include "weft/policy.hpp"

namespace weft::sched {

class outside final : public policy {
 public:
  // Errors: what its make() throws.
  outside(const weft::policy& table, const place::tree& places);
  ~outside() override;
  outside(const outside&) = delete;
  outside& operator=(const outside&) = delete;

  destination ready(unsigned self, const detail::record& r, base::random& rng) override;
  unsigned victim(unsigned self, unsigned i, base::random& rng) override;
  unsigned how_many(unsigned self, unsigned victim, unsigned available) override;
  unsigned width(unsigned self, const detail::record& r, unsigned least, unsigned most) override;
  void ran(unsigned self, const detail::record& r, std::uint64_t body_ps) override;
  search_levels levels() const noexcept override { return table_.levels; }
  elasticity elastic() const noexcept override { return table_.elastic; }
  bool child_first() const noexcept override { return table_.child_first; }
  bool has_partners() const noexcept override { return table_.victim == nullptr; }
  bool always_own_deque() const noexcept override { return table_.ready == nullptr; }
  bool uses_nodes() const noexcept override { return table_.ready != nullptr; }
  bool uses_piles() const noexcept override { return table_.ready != nullptr; }
  bool pushes() const noexcept override { return table_.ready != nullptr; }

 private:
  // What f answers; otherwise: it threw, or is_right says no of that, and `what` is said of it.
  template <class F, class Right, class What>
  auto asked(F f, Right is_right, What what, decltype(f()) otherwise) noexcept -> decltype(f());
  [[nodiscard]] bool can_go(const destination& d) const noexcept;
  void complain(const std::string& what) noexcept;

  const weft::policy& table_;
  policy_places shown_;
  void* state_;
  detail::cell<std::uint8_t> has_complained_;
};

}  // namespace weft::sched
